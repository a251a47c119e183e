"""The `longfat` command: its subcommands, and how errors end it."""

from __future__ import annotations

import importlib
import os
import sys

import click

from longfat import __version__
from longfat.errors import ExitCode, LongfatError

COMMANDS = (
    *("run", "plan", "runs", "query", "compare", "watch", "labs", "show", "plot"),
    *("diagnose", "tune", "bdp", "studio", "shell", "attach", "exec", "session", "convert"),
    *("packetdrill", "fidelity", "reproduce", "grade", "schema", "kernel", "doctor"),
    "completion",
)
"""The subcommands in the order of the help; each stands in the module of its name."""


_FIRST_STEPS = """\b
To begin with:
  longfat labs          which labs there are, from the first steps on
  longfat show lab01    the text of one
  longfat run lab08     run one: tables, plots, a report
  longfat studio        draw a network and run it, in the browser
  longfat doctor        what this host lacks, and how to fix it
"""


class _Lazy(click.Group):
    """Loads a subcommand when it is asked for: plots and tables take a second to load."""

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
        # Whoever read our output has gone; so must the buffer, or its flush fails too.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = ExitCode.GOOD
    sys.exit(int(status or 0))
