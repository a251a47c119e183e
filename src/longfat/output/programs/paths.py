"""Where a file of a machine is on the user's computer.

The machine's working folder and the folders of `--bind` are folders of the computer. Their
paths there come in an environment variable; a path is translated as text, after the machine
itself has followed the links in it. Nothing is opened.
"""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

from longfat.errors import InputError, LongfatError

if TYPE_CHECKING:
    from collections.abc import Callable

FOLDERS_VARIABLE = "LONGFAT_FOLDERS"
"""The environment variable: a JSON object of the computer's paths by the machine's."""


def outside_folders() -> dict[str, str]:
    """Return the paths of folders on the user's computer, by their paths in the machine."""
    folders: dict[str, str] = json.loads(os.environ.get(FOLDERS_VARIABLE, "{}"))
    return folders


def path_outside(path: str) -> str | None:
    """Return the path of a file on the user's computer; None if it is only in the machine.

    Args:
        path: its path in the machine, absolute or relative to the working directory.
    """
    folders = outside_folders()
    real = Path(os.path.realpath(path))
    for place in sorted(folders, key=len, reverse=True):
        if real.is_relative_to(place):
            return str(Path(folders[place], real.relative_to(place)))
    return None


def run(name: str, program: Callable[[], int]) -> int:
    """Run a program; what the user did wrong becomes a message.

    Args:
        name: the program's name, as it is typed.
        program: what to run; it returns the exit status.

    Returns:
        The exit status.
    """
    try:
        return program()
    except BrokenPipeError:
        return 141
    except LongfatError as error:
        print_error(name, str(error))
        return error.exit_code
    except OSError as error:  # the terminal was closed, or a disk is full
        print_error(name, str(error))
        return 1


def print_error(name: str, message: str) -> None:
    """Print an error of a program, called `name`."""
    with contextlib.suppress(OSError):
        os.write(2, f"{name}: {message}\n".encode(errors="replace"))


def check_arguments(arguments: list[str], usage: str, *, counts: tuple[int, ...] = (1,)) -> None:
    """Check how many arguments there are, and that none is an option.

    Raises:
        InputError: there are others; the message is the usage.
    """
    if len(arguments) not in counts or any(word.startswith("-") for word in arguments):
        raise InputError(f"usage: {usage}")
