"""The record of what the files of a report were made from, stored beside them.

Files are made from everything that they show: the study, what its runs measured, longfat's own
code, and the packages that draw. A digest stands for all of it, so equal digests mean equal files.
System libraries other than Python (Pango, fonts) are not included.

Unchanged files are not made again. The record is a cache: where it is missing, broken or of
another format, everything is made again; so is a file that was modified after it was made.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import Enum
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import longfat
from longfat.common.atomic import write_whole
from longfat.common.checksum import FILE_NAME, FileSum, file_damage, sealed, unsealed
from longfat.common.decoding import Decoder, read_json
from longfat.errors import InputError

if TYPE_CHECKING:
    from longfat.analysis.verdict import Verdict
    from longfat.execution.runs import Run

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


_OWN = Path(longfat.__file__).resolve().parent
_OWN_SUFFIXES = (".py", ".j2", ".css", ".js", ".lark")
_NO_PART = ("__pycache__", "_data", "static")  # folders without code of reports


def verdict_digest(verdict: Verdict) -> str:
    """Return the digest of everything that the report of a study with its runs is made from."""
    study = verdict.study
    return value_digest(
        [
            _environment_digest(),
            (study.source_sha256, str(study.file), study.name, study.title, study.text),
            [
                (name, one.case.digest, one.title, one.seeds, dict(one.parameters))
                for name, one in study.cases.items()
            ],
            (study.published, study.grid, study.layout, [figure.name for figure in study.figures]),
            [(one.claim.text, one.claim.expression) for one in verdict.claims],
            # Claims and published figures with their verdicts, and what the runs measured.
            json.dumps(verdict.to_json()["claims"]),
            {name: [_of_run(run) for run in runs] for name, runs in verdict.runs.items()},
        ]
    )


def drawing_digest(*values: Any) -> str:
    """Return the digest of what a figure is drawn from."""
    return value_digest([_environment_digest(), *values])


def value_digest(value: Any) -> str:
    """Return the digest of plain data, dataclasses, and arrays of numbers.

    Raises:
        TypeError: it contains an object of another type.
    """
    digest = hashlib.sha256()
    _feed(digest, value)
    return digest.hexdigest()


def _feed(digest: Any, value: Any) -> None:
    # A name and a length before the bytes keep the encoding of values unambiguous.
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = [(one.name, getattr(value, one.name)) for one in dataclasses.fields(value)]
        _feed_all(digest, type(value).__qualname__, fields)
    elif isinstance(value, Enum):
        _feed_all(digest, type(value).__qualname__, [value.name])
    elif isinstance(value, Mapping):
        _feed_all(digest, "mapping", value.items())
    elif isinstance(value, list | tuple):
        _feed_all(digest, "list", value)
    elif isinstance(value, frozenset | set):
        _feed_all(digest, "set", sorted(map(value_digest, value)))
    elif hasattr(value, "tobytes") and hasattr(value, "dtype"):
        content = value.tobytes()
        digest.update(f"array {value.dtype.str} {value.shape} {len(content)}\n".encode())
        digest.update(content)
    elif value is None or isinstance(value, bool | int | float | str | Path):
        text = str(value).encode(errors="surrogatepass")
        digest.update(f"{type(value).__name__} {len(text)}\n".encode() + text)
    else:
        raise TypeError(f"{type(value).__qualname__} has no digest")


def _feed_all(digest: Any, name: str, values: Any) -> None:
    digest.update(f"{name} {len(values)}\n".encode())
    for value in values:
        _feed(digest, value)


def _of_run(run: Run) -> str:
    """Return what a report may show of a run, and what it reads of it."""
    content = (
        *(run.name, run.seed, run.study, run.case_digest, run.digest, run.kernel),
        *(run.epoch_s, run.virtual_s, run.wall_s, run.peak_bytes, run.metrics),
        {name: (time.start_s, time.end_s) for name, time in run.flow_times.items()},
        {name: (tool.version, tool.digest) for name, tool in run.tools.items()},
        {name: file.sha256 for name, file in run.files.items()},
        {name: one.text for name, one in run.parameters.items()},
    )
    # A manifest that was read has its names in another order than a run that has just ended.
    return json.dumps(content, sort_keys=True)


@cache
def _environment_digest() -> str:
    """Return the digest of longfat's code, of Python, and of which packages are installed."""
    digest = hashlib.sha256(sys.version.encode())
    for name in sorted(_installed()):
        digest.update(f"{name}\n".encode())
    for folder, names, files in os.walk(_OWN):
        names[:] = sorted(name for name in names if name not in _NO_PART)
        for name in sorted(files):
            if name.endswith(_OWN_SUFFIXES):
                content = Path(folder, name).read_bytes()
                digest.update(f"{os.path.relpath(folder, _OWN)}/{name} {len(content)}\n".encode())
                digest.update(content)
    return digest.hexdigest()


def _installed() -> set[str]:
    """Return all packages that can be imported, each with its version in its name."""
    found = set()
    for folder in sys.path:
        try:
            found |= {path.name for path in Path(folder).iterdir() if path.suffix == ".dist-info"}
        except OSError:  # it is not there, or is an archive
            continue
    return found
