"""`python -m tests.killing --count 1000 --seed 1`: kill so often, and print a table.

The exit status is 1 if anything was left behind.
"""

from __future__ import annotations

import argparse
import ctypes
import random
import sys
import time
from collections import Counter
from collections.abc import Sequence

from tests.killing.isolation import is_isolated, run_isolated
from tests.killing.kill import Hit, kill_one, lasting_s
from tests.killing.leftovers import KINDS
from tests.killing.scenarios import SCENARIOS, Scenario

_PR_SET_CHILD_SUBREAPER = 36


def main() -> int:
    """Do as the command line says."""
    options = _options()
    if not is_isolated():
        return run_isolated(sys.argv[1:])
    # Orphans come to us, and are seen off.
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    hits = _kill(_scenarios(options.only, options.without), options.count, options.seed)
    print(_table(hits))
    left = sum(len(hit.leftovers) for hit in hits)
    print(f"{len(hits)} kills, {left} leftovers")
    return 1 if left else 0


def _options() -> argparse.Namespace:
    names = [one.name for one in SCENARIOS]
    parser = argparse.ArgumentParser(prog="python -m tests.killing", description=__doc__)
    parser.add_argument("--count", type=int, default=100, help="how many kills")
    parser.add_argument("--seed", type=int, default=1, help="decides what is killed, and when")
    parser.add_argument("--only", action="append", choices=names, help="repeatable")
    parser.add_argument("--without", action="append", choices=names, help="repeatable")
    return parser.parse_args()


def _scenarios(only: list[str] | None, without: list[str] | None) -> list[Scenario]:
    names = set(only or (one.name for one in SCENARIOS)) - set(without or ())
    return [one for one in SCENARIOS if one.name in names]


def _kill(scenarios: Sequence[Scenario], count: int, seed: int) -> list[Hit]:
    digests: dict[int, str] = {}
    lasts: dict[str, float] = {}
    hits: list[Hit] = []
    tries = 0
    start_s = time.monotonic()
    while len(hits) < count:
        tries += 1
        chance = random.Random(f"{seed} {tries}")
        scenario = chance.choices(scenarios, [one.weight for one in scenarios])[0]
        if scenario.name not in lasts:
            lasts[scenario.name] = lasting_s(scenario)
        hit = kill_one(
            len(hits) + 1,
            scenario,
            lasts_s=lasts[scenario.name],
            seed=f"{seed} {tries} {scenario.name}",
            digests=digests,
        )
        if hit is None:
            continue
        hits.append(hit)
        for one in hit.leftovers:
            print(
                f"kill {hit.number} ({hit.scenario}; {hit.target}; {hit.stage};"
                f" {hit.moment_s:.3f} s): {one.kind}: {one.what[:200]}",
                flush=True,
            )
        if len(hits) % 10 == 0:
            print(f"{len(hits)} kills in {time.monotonic() - start_s:.0f} s", flush=True)
    return hits


def _table(hits: Sequence[Hit]) -> str:
    """Return where the kills hit, and what was left, as a table of text."""
    rows = [["", "kills", *KINDS, "swept"]]
    for title in ("scenario", "target", "stage"):
        rows.append([f"-- {title}", *[""] * (len(KINDS) + 2)])
        for name in sorted({getattr(hit, title) for hit in hits}):
            rows.append(_row(name, [hit for hit in hits if getattr(hit, title) == name]))
    rows.append(_row("all", hits))
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if column == 0 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )


def _row(name: str, hits: Sequence[Hit]) -> list[str]:
    found = Counter(one.kind for hit in hits for one in hit.leftovers)
    swept = sum(hit.swept for hit in hits)
    return [name, str(len(hits)), *(str(found[kind]) for kind in KINDS), str(swept)]


if __name__ == "__main__":
    sys.exit(main())
