"""Build every patch release that apt-get offers, and compare what Lab 8 gives on each.

    python -m tests.releases                  # all series of kernel/tested
    python -m tests.releases --series 6.1
    python -m tests.releases --list           # what is offered

A source is 150 MB to download and a kernel some minutes to build, so this is no part of
`make test`, which applies the patches to two releases of each series. It ends with 1 if a
release cannot be built, does not boot, or gives figures that are not those of the tested one.
Bytes are never equal: iperf3 names the kernel's release in what it prints.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from longfat.engine.kernel import apt
from longfat.engine.kernel.job import Step
from longfat.engine.kernel.version import by_preference, series
from tests.kernels import KERNELS, RELEASES
from tests.paths import LONGFAT, REPOSITORY

_CASE = "default"
_TOLERANCE = 0.01
# No release satisfies it, so that all suites are searched.
_NONE = "9999"
_UPSTREAM = re.compile(r"\d+\.\d+(\.\d+)?")


def _report(step: Step, done: int = 0, total: int = 0, *, words: str = "") -> None:
    if words and done == 0 == total and step is Step.SEARCH:
        print(f"  {words}", file=sys.stderr)


def _offered(one: str) -> list[str]:
    """Return the releases of a series that apt-get offers, the tested one first."""
    with apt.search(one, wanted=f"{one}.{_NONE}", report=_report) as offers:
        names = [found[0] for name in offers.versions if (found := _UPSTREAM.match(name))]
    tested = next(release for release in RELEASES if series(release) == one)
    # Where no archive has it any more, it may have been downloaded before.
    return by_preference({*names, tested}, tested)


def _run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [LONGFAT, *arguments], cwd=REPOSITORY, capture_output=True, text=True, check=False
    )


def _metrics(release: str) -> tuple[dict[str, float], str]:
    """Return the metrics of a case on a release; or none, and what failed."""
    built = _run("kernel", "build", release)
    if built.returncode != 0:
        return {}, built.stderr
    with tempfile.TemporaryDirectory() as out:
        options = ("--case", _CASE, "--kernel", release, "--no-cache", "--no-report", "--out", out)
        ran = _run("run", "labs/lab08", *options)
        try:
            manifest = json.loads((Path(out) / f"{_CASE}-seed1/manifest.json").read_text())
        except OSError:
            return {}, ran.stdout + ran.stderr
    assert manifest["kernel"]["release"] == release
    return manifest["metrics"], ""


def _differences(metrics: dict[str, float], expected: dict[str, float]) -> list[str]:
    """Return the metrics that are not those of the tested release, with both values."""
    return [
        f"{name} {metrics.get(name)}, not {value}"
        for name, value in expected.items()
        if name not in metrics or not math.isclose(metrics[name], value, rel_tol=_TOLERANCE)
    ]


def main() -> int:
    """Try the releases, and return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.releases")
    parser.add_argument("--series", action="append", choices=KERNELS, help="default: all")
    parser.add_argument("--list", action="store_true", help="build nothing")
    chosen = parser.parse_args()
    failed = False
    for one in chosen.series or KERNELS:
        expected: dict[str, float] = {}
        for release in _offered(one):
            if chosen.list:
                print(release)
                continue
            metrics, problem = _metrics(release)
            expected = expected or metrics
            differences = _differences(metrics, expected)
            failed |= bool(problem or differences)
            print(f"{release}  {problem or '; '.join(differences) or 'same figures'}")
            sys.stdout.flush()
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
