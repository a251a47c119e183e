"""The `longfat` command: its subcommands, and how errors end it."""

from __future__ import annotations

import os
import sys

import click

from longfat import __version__
from longfat.cli.doctor import doctor
from longfat.cli.kernel import kernel
from longfat.cli.run import run
from longfat.errors import ExitCode, LongfatError


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="longfat", message="%(prog)s %(version)s")
def commands() -> None:
    """Run networks on real Linux, in virtual time.

    Exit status: 0 good, 1 a claim failed, 2 bad input or usage, 3 the machine
    or its surroundings failed.
    """


commands.add_command(doctor)
commands.add_command(kernel)
commands.add_command(run)


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
