"""`longfat compare`: what differs between studies, runs, kernels or seeds, and what is real."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.text import Text

from longfat.analysis.compare import compare_sides
from longfat.analysis.compare.moments import series_moments
from longfat.analysis.compare.sides import RunSelection, find_side
from longfat.cli.console import echo, stderr, stdout
from longfat.cli.options import cases_option, json_option
from longfat.cli.render.comparison import print_compared, print_moments
from longfat.errors import ExitCode, InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from longfat.analysis.compare import Compared, Side
    from longfat.analysis.compare.moments import Moment

_SEEDS = re.compile(r"([0-9]+)(?:-([0-9]+))?")


@click.command()
@click.argument("sides", nargs=-1, required=True, metavar="A [B]...")
@click.option(
    "--kernel",
    "kernels",
    multiple=True,
    metavar="VERSION",
    help="Take the runs with this kernel. Two or more compare A's runs with each of them.",
)
@click.option(
    "--seeds",
    "seeds",
    multiple=True,
    metavar="N-M",
    help="Take the runs with these seeds. Two or more compare A's runs with each of them.",
)
@cases_option("Take", parameter="cases")
@click.option(
    "--runs",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("runs"),
    help="Where the runs of studies are: in its folder STUDY; default: runs.",
)
@click.option(
    "--all", "show_all", is_flag=True, help="Print all rows, those that are the same too."
)
@json_option("Print one JSON object, with everything.")
@click.option(
    "--fail-on-difference",
    is_flag=True,
    help="End with 1 if a difference is real, or if runs with one seed differ in a byte.",
)
def compare(
    sides: tuple[str, ...],
    *,
    kernels: tuple[str, ...],
    seeds: tuple[str, ...],
    cases: tuple[str, ...],
    runs: Path,
    show_all: bool,
    as_json: bool,
    fail_on_difference: bool,
) -> None:
    """Compare the cases, environments and results of A and B.

    Differences of results are judged: which of them are real.

    A and B are each a study (a file, a folder, a lab's name), a folder of runs such as
    runs/lab08, all seeds of a case such as runs/lab08/tuned, or one run such as
    runs/lab08/tuned-seed1. Of three or more, each is compared with the first.
    """
    selections = _selections(sides, kernels=kernels, seeds=seeds, cases=cases, runs=runs)
    compared = compare_sides(_find(selections))
    moments = _moments(compared)
    if as_json:
        listed = [moment.to_json() for moment in moments]
        echo(json.dumps({**compared.to_json(), "moments": listed}, indent=2))
    else:
        print_compared(compared, console=stdout(), show_all=show_all)
        print_moments(moments, console=stdout())
    if fail_on_difference and compared.differs:
        raise click.exceptions.Exit(ExitCode.CLAIM_FAILED)


def _moments(compared: Compared) -> tuple[Moment, ...]:
    """Return when the series part, where one run is compared with one."""
    pairs = [pair for one in compared.contrasts for pair in one.matching.pairs]
    if len(pairs) != 1 or len(pairs[0].a) != 1 or len(pairs[0].b) != 1:
        return ()
    a, b = pairs[0].a[0], pairs[0].b[0]
    return () if a.digest == b.digest else series_moments(a, b)


def _selections(
    sides: Sequence[str],
    *,
    kernels: Sequence[str],
    seeds: Sequence[str],
    cases: tuple[str, ...],
    runs: Path,
) -> list[tuple[str, str, RunSelection]]:
    """Return argument, label and selection of each side."""
    ranges = [_seeds(text) for text in seeds]
    several = [name for name, found in (("--kernel", kernels), ("--seeds", seeds)) if found[1:]]
    if len(several) + (len(sides) > 1) > 1:
        what = " and ".join([*(["sides"] if len(sides) > 1 else []), *several])
        raise InputError(f"there are several {what}: vary one of them, and give one of the others")
    if not several and len(sides) == 1:
        raise InputError(
            f"there is nothing to compare {sides[0]} with: give B, or --kernel twice, "
            "or --seeds twice"
        )
    kernel = kernels[0] if len(kernels) == 1 else None
    common = RunSelection(
        runs=runs, kernel=kernel, seeds=ranges[0] if len(ranges) == 1 else None, cases=cases
    )
    if "--kernel" in several:
        return [(sides[0], one, _with(common, kernel=one)) for one in kernels]
    if "--seeds" in several:
        labels = [f"seeds {text}" if "-" in text else f"seed {text}" for text in seeds]
        return [
            (sides[0], label, _with(common, seeds=one))
            for label, one in zip(labels, ranges, strict=True)
        ]
    return [(side, side.rstrip("/"), common) for side in sides]


def _with(
    selection: RunSelection, *, kernel: str | None = None, seeds: range | None = None
) -> RunSelection:
    return RunSelection(
        runs=selection.runs,
        kernel=kernel or selection.kernel,
        seeds=seeds or selection.seeds,
        cases=selection.cases,
    )


def _seeds(text: str) -> range:
    found = _SEEDS.fullmatch(text)
    first, last = (int(found[1]), int(found[2] or found[1])) if found else (0, -1)
    if last < first:
        raise InputError(f"--seeds {text}: not seeds: write one such as 3, or a range such as 1-8")
    return range(first, last + 1)


def _find(selections: Sequence[tuple[str, str, RunSelection]]) -> list[Side]:
    sides = []
    with stderr().status("reading runs") as status:
        read = 0

        def on_run() -> None:
            nonlocal read
            read += 1
            if read % 100 == 0:
                status.update(f"reading runs: {read:,}")

        for argument, label, selection in selections:
            sides.append(find_side(argument, selection, label=label, on_run=on_run))
    for found in sides:
        for note in found.notes:
            stderr().print(Text(f"longfat: {note}"), soft_wrap=True)
    return [found.side for found in sides]
