"""A file that a command writes to a user-specified path."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longfat.common.atomic import write_new, write_over
from longfat.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path


def write_target(path: Path, content: bytes, *, force: bool | None = None) -> None:
    """Write a file, whole or not at all; one that is written over stays what it was.

    Args:
        path: the file.
        content: its content.
        force: it may be there already and is written over, as by `write_over`; None where
            the command has no option `--force`.

    Raises:
        InputError: it is there already, or cannot be written.
    """
    try:
        if force:
            write_over(path, content)
        else:
            write_new(path, content)
    except FileExistsError:
        hint = "" if force is None else "; --force writes over it"
        raise InputError(f"{path}: the file is there already{hint}") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"{path}: cannot be written: {reason}") from None
