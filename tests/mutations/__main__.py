"""The command: see `tests.mutations`."""

from __future__ import annotations

import argparse
import resource
from collections import Counter
from concurrent.futures import ProcessPoolExecutor

from tests.mutations.kinds import KINDS
from tests.mutations.run import MAX_MEMORY_BYTES, Counted, run_kind


def _part(arguments: tuple[str, int, int]) -> tuple[str, Counted, int]:
    name, count, seed = arguments
    counted = run_kind(name, count=count, seed=seed)
    return name, counted, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _print(name: str, counted: Counted) -> None:
    findings = sum(counted.findings.values())
    print(
        f"{name:16} {counted.read:7} read {counted.refused:7} refused {findings:5} findings"
        f"  slowest {counted.slowest_s:6.3f} s of CPU time",
        flush=True,
    )
    for finding, times in counted.findings.most_common(20):
        print(f"    {times} x {finding}, seed {counted.seeds[finding]}", flush=True)


def main() -> int:
    """Run what the command line says; return 1 if there is any finding."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--count", type=int, default=1000, help="how many of each kind")
    parser.add_argument(
        "--kind", action="append", choices=list(KINDS), help="all, if none is named"
    )
    parser.add_argument("--seed", type=int, default=0, help="of the first")
    parser.add_argument("--jobs", type=int, default=1, help="how many processes")
    given = parser.parse_args()
    step = max(1, min(2000, given.count // given.jobs or 1))
    parts = [
        (name, min(step, given.count - first), given.seed + first)
        for name in given.kind or KINDS
        for first in range(0, given.count, step)
    ]
    total: dict[str, Counted] = {}
    parts_of = Counter(name for name, _, _ in parts)
    peak_bytes = 0
    with ProcessPoolExecutor(max_workers=given.jobs) as pool:
        for name, counted, used_bytes in pool.map(_part, parts):
            total.setdefault(name, Counted()).add(counted)
            peak_bytes = max(peak_bytes, used_bytes)
            parts_of[name] -= 1
            if parts_of[name] == 0:
                _print(name, total[name])
    print(f"most memory of a process: {peak_bytes / 1e6:.0f} MB")
    return int(peak_bytes > MAX_MEMORY_BYTES or any(one.findings for one in total.values()))


if __name__ == "__main__":
    raise SystemExit(main())
