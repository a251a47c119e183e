"""The `longfat` command: its subcommands, and how errors end it."""

from __future__ import annotations

import ast
import codecs
import contextlib
import errno
import io
import locale
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from longfat import __version__
from longfat.cli.group import Group, short_help
from longfat.common.file_size import file_size_error, is_file_size_error
from longfat.common.products import inserted, load_object, products, source_of
from longfat.common.terminal_text import ENCODING_ERRORS, TerminalStream
from longfat.errors import ExitCode, HostError, LongfatError

COMMANDS = (
    *("run", "check", "plan", "runs", "query", "compare", "watch", "labs", "show", "plot"),
    *("packets", "explain", "losses", "diagnose", "tune", "bdp", "new", "studio"),
    *("shell", "attach", "exec", "session"),
    *("convert", "fidelity", "reproduce", "schema", "kernel", "tools", "images"),
    *("bundle", "verify"),
    "doctor",
    "completion",
)
"""The core's subcommands in the order of the help; each is in the module of its name."""


_FIRST_STEPS = """\b
To begin with:
  longfat labs          which labs there are, from the first steps on
  longfat show lab01    the text of one
  longfat run lab08     run one: tables, plots, a report
  longfat studio        draw a network and run it, in the browser
  longfat doctor        what this host lacks, and how to fix it
"""

# Of a path that was typed; any command may be the first to look at it.
_NAME_ERRORS = (errno.ENAMETOOLONG, errno.EACCES, errno.EPERM)
# Of standard output.
_OUTPUT_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO)


class _ClosedPipeError(Exception):
    """Nobody reads the output; no `OSError`, since click ends that with 1, a failed claim."""


@contextlib.contextmanager
def _watching_pipes() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise _ClosedPipeError from None


class _Lazy(Group):
    """Load a subcommand on request: plots and tables take a second to import."""

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        """Read the command line, which prints the help."""
        with _watching_pipes():
            return super().make_context(*args, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the subcommand."""
        with _watching_pipes():
            return super().invoke(ctx)

    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return list(command_modules())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        del ctx
        if (module := command_modules().get(cmd_name)) is None:
            return None
        command = load_object(f"{module}:{cmd_name}")
        assert isinstance(command, click.Command)
        return command

    def first_sentence(self, ctx: click.Context, name: str) -> str:
        """Return the first sentence of a subcommand's docstring, and do not import its module."""
        del ctx
        source = Path(source_of(command_modules()[name])).read_text(encoding="utf-8")
        for node in ast.parse(source).body:
            if isinstance(node, ast.FunctionDef) and node.name == name:
                return short_help(click.Command(name, help=ast.get_docstring(node)))
        raise LookupError(f"the module of {name} has no function {name}")


def command_modules() -> dict[str, str]:
    """Return the modules of all subcommands in the order of the help, those of products included.

    Raises:
        HostError: a product cannot be imported.
    """
    added = {name: command for one in products() for name, command in one.commands.items()}
    after = {name: command.after for name, command in added.items()}
    return {
        name: added[name].module if name in added else f"longfat.cli.{name}"
        for name in inserted(COMMANDS, after)
    }


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
    _use_utf8()
    _prepare_streams()
    try:
        status = _run()
        sys.stdout.flush()
    except (BrokenPipeError, _ClosedPipeError):
        _discard_output()
        status = ExitCode.BROKEN_PIPE
    except OSError as error:
        if error.errno not in (*_NAME_ERRORS, *_OUTPUT_ERRORS):
            raise  # a bug: such errors have a message of their own
        if error.filename is None:
            _discard_output()
        message = f"{error.filename or 'the output cannot be written'}: {error.strerror}"
        _complain(str(file_size_error(message)) if is_file_size_error(error) else message)
        bad_name = error.errno in _NAME_ERRORS
        status = ExitCode.BAD_INPUT if bad_name else ExitCode.HOST_FAILED
    sys.exit(int(status))


def _run() -> int:
    """Run the command line and return its exit code."""
    try:
        status = commands.main(standalone_mode=False)
    except LongfatError as error:
        if not isinstance(error, HostError) and is_file_size_error(error):
            error = file_size_error(str(error))
        _complain(str(error))
        status = error.exit_code
    except click.exceptions.Exit as ending:
        status = ending.exit_code
    except click.ClickException as error:
        error.show(sys.stderr)  # which escapes what was typed
        status = ExitCode.BAD_INPUT
    except (click.Abort, KeyboardInterrupt):
        _complain("interrupted")
        status = ExitCode.INTERRUPTED
    return int(status or 0)


def _use_utf8() -> None:
    """Start again in Python's UTF-8 mode where the locale would have it use another encoding.

    Names of files would be in another encoding than in libraries and in the guest, which use
    UTF-8. The encoding of the standard streams remains that of the locale.
    """
    is_utf8 = codecs.lookup(sys.getfilesystemencoding()).name == "utf-8"
    if is_utf8 or os.environ.get("PYTHONUTF8") == "1":
        return
    os.environ["PYTHONUTF8"] = "1"
    os.environ.setdefault("PYTHONIOENCODING", locale.getencoding())
    os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])


def _prepare_streams() -> None:
    """Open what the caller has closed, and escape what the locale or a terminal cannot show.

    A file that is opened later would else get the number of standard output, and a program
    that is started then would write into it.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            null = os.open(os.devnull, os.O_RDWR)
            os.dup2(null, number)
            if null != number:
                os.close(null)
            setattr(sys, name, open(number, "w" if number else "r", closefd=False))  # noqa: SIM115
        stream = getattr(sys, name)
        if number and isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=ENCODING_ERRORS)
            if stream.isatty():
                setattr(sys, name, TerminalStream(stream))


def _discard_output() -> None:
    """Let what is buffered for standard output go nowhere; Python would try again at its end."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, sys.stdout.fileno())
    os.close(null)


def _complain(message: str) -> None:
    """Print a message on standard error; where that cannot be written, the exit code is left."""
    with contextlib.suppress(OSError):
        print(f"longfat: {message}", file=sys.stderr, flush=True)
