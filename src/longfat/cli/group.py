"""Groups of commands, whose help has the whole first sentence of each command."""

from __future__ import annotations

import click


class Group(click.Group):
    """A group of commands; click's own cuts sentences off where they pass the line's end."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands."""
        rows = [(name, self.first_sentence(ctx, name)) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl(rows)

    def first_sentence(self, ctx: click.Context, name: str) -> str:
        """Return the first sentence of a command's help."""
        command = self.get_command(ctx, name)
        assert command is not None
        return short_help(command)


def short_help(command: click.Command) -> str:
    """Return the whole first sentence of a command's help."""
    return command.get_short_help_str(limit=len(command.help or "") + 1)
