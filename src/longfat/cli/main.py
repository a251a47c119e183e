"""The `longfat` command: its subcommands, and how errors end it."""

from __future__ import annotations

import ast
import importlib
import os
import sys
from pathlib import Path

import click

from longfat import __version__
from longfat.errors import ExitCode, LongfatError

COMMANDS = (
    *("run", "check", "plan", "runs", "query", "compare", "watch", "labs", "show", "plot"),
    *("packets", "diagnose", "tune", "bdp", "new", "studio", "shell", "attach", "exec", "session"),
    *("convert", "packetdrill", "fidelity", "reproduce", "grade", "schema", "kernel", "images"),
    "doctor",
    "completion",
)
"""The subcommands in the order of the help; each is in the module of its name."""


_FIRST_STEPS = """\b
To begin with:
  longfat labs          which labs there are, from the first steps on
  longfat show lab01    the text of one
  longfat run lab08     run one: tables, plots, a report
  longfat studio        draw a network and run it, in the browser
  longfat doctor        what this host lacks, and how to fix it
"""


class _Lazy(click.Group):
    """Load a subcommand on request: plots and tables take a second to import."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        del ctx
        if cmd_name not in COMMANDS:
            return None
        command = getattr(importlib.import_module(f"longfat.cli.{cmd_name}"), cmd_name)
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of subcommands, and import none of them."""
        names = self.list_commands(ctx)
        width = formatter.width - 6 - max(len(name) for name in names)
        with formatter.section("Commands"):
            formatter.write_dl([(name, _short_help(name, width)) for name in names])


def _short_help(name: str, width: int) -> str:
    """Return the first sentence of a subcommand's docstring, read from its source."""
    source = Path(__file__).with_name(f"{name}.py").read_text(encoding="utf-8")
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef) and node.name == name:
            return click.Command(name, help=ast.get_docstring(node)).get_short_help_str(width)
    raise LookupError(f"{name}.py has no function {name}")


@click.group(
    cls=_Lazy,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=_FIRST_STEPS,
)
@click.version_option(__version__, prog_name="longfat", message="%(prog)s %(version)s")
def commands() -> None:
    """Run networks on real Linux, in virtual time.

    Exit status: 0 good, 1 a claim failed, 2 bad input or usage, 3 the machine
    or the host failed.
    """


def main() -> None:
    """Run the command line and leave with its exit code."""
    try:
        status = commands.main(standalone_mode=False)
    except LongfatError as error:
        print(f"longfat: {error}", file=sys.stderr)
        status = error.exit_code
    except click.exceptions.Exit as ending:
        status = ending.exit_code
    except click.ClickException as error:
        error.show()
        status = ExitCode.BAD_INPUT
    except (click.Abort, KeyboardInterrupt):
        print("longfat: interrupted", file=sys.stderr)
        status = ExitCode.INTERRUPTED
    except BrokenPipeError:
        # The reader of our output is gone; discard the buffer, or its flush fails too.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = ExitCode.GOOD
    sys.exit(int(status or 0))
