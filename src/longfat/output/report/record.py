"""The record of what the files of a report were made from, stored beside them.

Unchanged files are not made again. The record is a cache: where it is
missing, broken or of another format, everything is made again; so is a file that was
modified after it was made.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

from longfat.common.atomic import write_whole
from longfat.common.checksum import FILE_NAME, FileSum, file_damage, sealed, unsealed
from longfat.common.decoding import Decoder, read_json
from longfat.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

RECORD = ".report.json"
"""The record's file, in the folder of the report."""

_FORMAT = 1


PAGE = "report.html"
PAPER = "report.pdf"
"""The file name of the report's page, and of its PDF."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRecord:
    """A file of a report.

    Attributes:
        made_from: the digest of what it was made from; empty while it is being made.
        content: its digest and size when it was made; None while it is being made.
    """

    made_from: str = ""
    content: FileSum | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """The files of a report.

    Attributes:
        made_from: the digest of what all of it was made from; empty while it is being made.
        files: the files by their paths below the folder, in the report's order.
    """

    made_from: str = ""
    files: Mapping[str, FileRecord] = field(default_factory=dict)

    def has(self, name: str, *, made_from: str, folder: Path) -> bool:
        """Return whether a file exists that was made from this and has not been modified."""
        made = self.files.get(name)
        return made is not None and made.made_from == made_from and _is_whole(folder / name, made)

    def is_whole(self, *, made_from: str, folder: Path) -> bool:
        """Return whether all of the report exists, made from this, and unmodified."""
        return self.made_from == made_from and all(
            _is_whole(folder / name, made) for name, made in self.files.items()
        )

    def write(self, folder: Path) -> None:
        """Write the record to the folder of its report.

        Raises:
            OSError: it cannot be written.
        """
        files = {name: asdict(made) for name, made in self.files.items()}
        data = sealed({"format": _FORMAT, "made_from": self.made_from, "files": files})
        write_whole(folder / RECORD, f"{json.dumps(data)}\n".encode())


def read_record(folder: Path) -> Record:
    """Return the record of a folder's report; an empty one where there is no valid one."""
    where = str(folder / RECORD)
    try:
        data = read_json(folder / RECORD)
        if not isinstance(data, dict) or data.get("format") != _FORMAT:
            return Record()
        fields = unsealed(data, where=where)
        del fields["format"]
        record = _DECODER.decode(fields, where=where)
    except (OSError, InputError):
        return Record()
    # Files are removed by these names: none may lead out of the folder.
    return record if all(map(FILE_NAME.fullmatch, record.files)) else Record()


def _is_whole(path: Path, made: FileRecord) -> bool:
    return made.content is not None and not file_damage(path, made.content)


_DECODER = Decoder(Record)
