"""The text that belongs to a study: Markdown in a file beside `study.yaml`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longfat.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

TEXT_FILES = ("text.md", "README.md")
"""What the file may be called; the first that is there counts."""

NETWORK_LINE = "[network]"
"""A paragraph of nothing else is where a report draws the network."""


def find_text(folder: Path) -> Path | None:
    """Return the text of the study in a folder, or None if it has none."""
    files = (folder / name for name in TEXT_FILES)
    return next((file for file in files if file.is_file()), None)


def read_text(file: Path) -> str:
    """Read a text.

    Raises:
        InputError: the file cannot be read, or is no UTF-8.
    """
    try:
        return file.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"{file}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise InputError(f"{file}: the file is not UTF-8") from None
