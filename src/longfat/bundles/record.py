"""The file `bundle.json`, and the names of a bundle's members."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from longfat.common.decoding import decode, describe
from longfat.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

FORMAT = 1
"""The version of a bundle's layout; it changes when the meaning of a member does."""

FILE = "bundle.json"
STUDY, RESULTS, KERNELS, TOOLSET = "study", "results", "kernels", "toolset"
TOOLSET_ARCHIVE = f"{TOOLSET}/toolset.tar"
CLAIMS = f"{RESULTS}/claims.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class BundleRecord:
    """What a bundle is. Cases, kernels and the toolset are in the manifests of its runs.

    Attributes:
        longfat: the version of longfat that wrote it.
        name: the study's name.
        title: the bundle's title.
        study: the study file, such as `study/NAME/study.yaml`.
        binaries: whether it contains the kernels and the toolset.
        runs: the folders of its runs below `results`.
    """

    longfat: str
    name: str
    title: str
    study: str
    binaries: bool
    runs: tuple[str, ...]

    def text(self) -> str:
        """Return the content of the file."""
        return json.dumps({"format": FORMAT, **asdict(self)}, indent=2) + "\n"


def read_record(data: Any, *, path: Path) -> BundleRecord:
    """Return the record of a bundle.

    Args:
        data: the JSON of its file.
        path: the bundle, for messages.

    Raises:
        InputError: it is of another format, or none.
    """
    if not isinstance(data, dict):
        raise InputError(f"{path}: {FILE}: found {describe(data)}, expected an object")
    fields = dict(data)
    version = fields.pop("format", None)
    if version != FORMAT or isinstance(version, bool):
        wrote = fields.get("longfat")
        by = f", of longfat {wrote[:40]}" if isinstance(wrote, str) and wrote.isprintable() else ""
        raise InputError(
            f"{path}: a bundle of format {describe(version)}{by}; expected format {FORMAT}"
            " (verify it by the longfat that wrote it)"
        )
    return decode(BundleRecord, fields, where=f"{path}: {FILE}")
