"""Record the digests of labs' results in `labs/digests.yaml`, for `longfat verify`.

    .venv/bin/python -m tools.digests LAB... [--jobs N]

Results are taken from the result cache where they are there. Digests of other labs are kept.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from longfat.cli.verify import run_labs
from longfat.engine import toolset as toolsets
from longfat.errors import LongfatError
from longfat.execution.cache import ResultCache
from longfat.study.digests import FILE, LabDigests, digests_text, read_digests

_FILE = Path(__file__).parents[1] / "labs" / FILE


def main() -> int:
    """Run the labs and write the file; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("labs", nargs="+", metavar="LAB")
    parser.add_argument("--jobs", type=int, metavar="N")
    options = parser.parse_args()
    digests = read_digests(_FILE) if _FILE.exists() else {}
    for lab in options.labs:
        with tempfile.TemporaryDirectory() as folder:
            _, outcome = run_labs(
                (lab,), out=folder, kernel=None, jobs=options.jobs, cache=ResultCache()
            )
            if outcome.failures:
                raise outcome.failures[0].error
            runs = [run for several in outcome.runs[0].values() for run in several]
        (release,) = {run.kernel["release"] for run in runs}
        digests[lab] = LabDigests(
            toolset=toolsets.find().digest,
            kernel=release,
            runs={run.folder.name: run.digest for run in runs},
        )
        _FILE.write_text(digests_text(digests), encoding="utf-8")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except LongfatError as error:
        sys.exit(f"error: {error.message}")
