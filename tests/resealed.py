"""Manifests that fit again what a test, or a person, changed in a run directory.

    python -m tests.resealed tests/data/runs

writes the checksums and digests of captured runs anew.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from longfat.common.checksum import SEAL, sealed
from longfat.execution.runs.run import MANIFEST, RUN_FORMAT, raw_digest, sums_of
from longfat.model.case import Case


def fitting(data: dict[str, Any]) -> dict[str, Any]:
    """Return a manifest with the digest of its case and the checksum of its values."""
    case = Case.from_json(data["case"])
    found = {name: value for name, value in data.items() if name != SEAL}
    return sealed({**found, "case_digest": case.digest, "seed": case.seed})


def reseal(folder: Path, **changes: Any) -> Path:
    """Write the manifest of a run directory anew, for the files that are there now.

    Args:
        folder: the run directory.
        changes: fields with other values.
    """
    path = folder / MANIFEST
    files = sums_of(folder)
    data = {
        **json.loads(path.read_text(encoding="utf-8")),
        "format": RUN_FORMAT,
        "files": {name: asdict(file) for name, file in files.items()},
        "digest": raw_digest(files),
        **changes,
    }
    text = json.dumps(fitting(data), indent=2, sort_keys=True) + "\n"
    path.write_text(text, encoding="utf-8")
    return folder


if __name__ == "__main__":
    for manifest in sorted(Path(sys.argv[1]).rglob(MANIFEST)):
        reseal(manifest.parent)
