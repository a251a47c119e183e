"""Records of test runs: how long each test took, which are slow, and which had to be repeated.

`build/durations.json` holds the seconds of each test. A run prints the tests that became slower
than all others did: machines differ, so each is compared with the median of this run. `make test`
repeats what failed; `build/repeated.json` counts how often a test passed only then, and a test
that needs it again and again has to be fixed or removed.
"""

from __future__ import annotations

import json
import re
import statistics
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.paths import REPOSITORY

FOLDER = REPOSITORY / "build"
SLOW_TESTS = frozenset(
    line
    for line in (REPOSITORY / "tests" / "slow.txt").read_text(encoding="utf-8").splitlines()
    if not line.startswith("#")
)
"""Functions, as the file and `::` and the name, that `make test` leaves to `make test-slow`."""

MAX_REPEATS = 2
MIN_SLOWER_RATIO = 1.2
MIN_SLOWER_S = 2.0  # below, the difference says nothing
_MIN_COMPARED = 20  # tests; of fewer, the median says little of the machine
_GROUP = re.compile(r"@[^@\[\]]+$")  # pytest-xdist adds `@GROUP` to the name of a grouped test


def plain_name(node_id: str) -> str:
    """Return the name that a test has when it runs alone."""
    return _GROUP.sub("", node_id)


def slower_tests(
    before_s: Mapping[str, float], now_s: Mapping[str, float]
) -> dict[str, tuple[float, float]]:
    """Return the tests that became slower than the machine did, the worst first.

    Args:
        before_s: the seconds of each test in an earlier run, by name.
        now_s: those of this run.

    Returns:
        the expected and the measured seconds of each such test, by name. The expected ones are
        the earlier ones times the median ratio of all tests.
    """
    common = [name for name in now_s if before_s.get(name, 0) > 0]
    if len(common) < _MIN_COMPARED:
        return {}
    machine = statistics.median(now_s[name] / before_s[name] for name in common)
    slower = {
        name: (before_s[name] * machine, now_s[name])
        for name in common
        if now_s[name] > MIN_SLOWER_RATIO * before_s[name] * machine
        and now_s[name] - before_s[name] * machine > MIN_SLOWER_S
    }
    return dict(sorted(slower.items(), key=lambda item: item[1][0] - item[1][1]))


class Records:
    """A pytest plug-in that keeps the records of a run and prints what they show."""

    def __init__(self, folder: Path, *, repeats: bool) -> None:
        """Keep the records.

        Args:
            folder: where they are.
            repeats: whether this run repeats the tests that failed in the run before.
        """
        self._folder = folder
        self._repeats = repeats
        self._seconds: dict[str, float] = defaultdict(float)
        self._passed: set[str] = set()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        name = plain_name(report.nodeid)
        self._seconds[name] += report.duration
        if report.when == "call" and report.passed:
            self._passed.add(name)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self._repeats:
            self._print_repeated(terminalreporter)
            return
        before_s = self._read("durations.json")
        slower = slower_tests(before_s, self._seconds)
        if slower:
            terminalreporter.section("slower than before, beside the other tests")
            for name, (expected_s, took_s) in slower.items():
                terminalreporter.write_line(f"{took_s:7.1f} s, expected {expected_s:.1f} s: {name}")
        rounded = {name: round(seconds, 3) for name, seconds in self._seconds.items()}
        self._write("durations.json", before_s | rounded)

    def _print_repeated(self, reporter: pytest.TerminalReporter) -> None:
        counts = self._read("repeated.json")
        counts |= {name: counts.get(name, 0) + 1 for name in self._passed}
        self._write("repeated.json", counts)
        if self._passed:
            reporter.section(f"failed at first and passed when repeated: {len(self._passed)}")
        for name in sorted(self._passed):
            often = counts[name] > MAX_REPEATS
            note = f" (time {counts[name]:g}: fix or remove it)" if often else ""
            reporter.write_line(f"{name}{note}")

    def _read(self, name: str) -> dict[str, float]:
        try:
            data = json.loads((self._folder / name).read_text())
        except (OSError, ValueError):
            return {}
        return data if isinstance(data, dict) else {}

    def _write(self, name: str, data: Mapping[str, float]) -> None:
        self._folder.mkdir(exist_ok=True)
        text = json.dumps(dict(sorted(data.items())), indent=0)
        (self._folder / name).write_text(text + "\n")
