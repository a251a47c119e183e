"""What `longfat verify` prints of a bundle."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.text import Text

from longfat import __version__
from longfat.bundles.rerun import Agreement, Origin
from longfat.cli.render.number_text import format_count
from longfat.cli.render.tables import plain_table, print_table
from longfat.execution.host_programs import host_programs_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import Console

    from longfat.analysis.verdict import ClaimResult
    from longfat.bundles.opened import Bundle
    from longfat.bundles.rerun import Environment, Rerun
    from longfat.execution import Failure

_SHOWN = 12
_MAX_FILES = 3


def environment_notes(bundle: Bundle, environment: Environment) -> Iterator[str]:
    """Yield what a bundle is run with, a line each."""
    wrote = bundle.record.longfat
    if not environment.same_longfat:
        here = f"longfat {__version__}" if wrote != __version__ else "other code"
        yield (
            f"note: the bundle is of longfat {wrote}, and this is {here}, which may give other"
            f" bytes: differences are evidence only by that longfat"
        )
    for version, kernel in environment.kernels.items():
        origin = environment.kernel_origins[version]
        yield f"kernel {kernel.release} ({kernel.digest[:_SHOWN]}): of {origin}"
    yield f"pinned tools ({environment.toolset.digest[:_SHOWN]}): of {environment.toolset_origin}"
    if environment.uses_kernels_of_bundle:
        yield (
            "note: a kernel of the bundle is a program of its authors. It runs in the sandbox,"
            " which this computer sets up; --own-kernel runs one of this computer in its place"
        )


def print_problems(problems: Sequence[str], *, console: Console) -> None:
    """Print what is damaged in a bundle."""
    for problem in problems:
        console.print(Text(f"longfat: {problem}"), soft_wrap=True)
    console.print(Text("longfat: the bundle is damaged or was changed: nothing of it was run"))


def print_reruns(
    reruns: Sequence[Rerun], claims: Sequence[ClaimResult], *, console: Console
) -> None:
    """Print the comparison of all runs, and the claims."""
    table = plain_table("run", "kernel", "recorded", "again", "compared")
    for rerun in reruns:
        again = rerun.again
        table.add_row(
            Text(rerun.recorded.folder.name),
            rerun.recorded.kernel["release"] if again is None else again.kernel["release"],
            rerun.recorded.digest[:_SHOWN],
            "-" if again is None else again.digest[:_SHOWN],
            "failed" if rerun.agreement is None else rerun.agreement.value,
        )
    print_table(table, console=console)
    for rerun in reruns:
        if rerun.files:
            shown = ", ".join(rerun.files[:_MAX_FILES])
            more = len(rerun.files) - _MAX_FILES
            rest = f", and {more} more" if more > 0 else ""
            name = rerun.recorded.folder.name
            console.print(Text(f"{name}: other bytes in {shown}{rest}"), soft_wrap=True)
    if any(rerun.files for rerun in reruns):
        for program in host_programs_of(rerun.recorded for rerun in reruns):
            console.print(
                Text(f"a program of the computer is used, not the bundle's: {program}"),
                soft_wrap=True,
            )
    same = sum(rerun.agreement is Agreement.SAME for rerun in reruns)
    console.print(Text(f"{same} of {format_count(len(reruns), 'run')}: the same bytes again"))
    if claims:
        held = sum(judged.passed is True for judged in claims)
        console.print(Text(f"{held} of {format_count(len(claims), 'claim')}: true again"))
        for judged in claims:
            if judged.passed is not True:
                console.print(Text(f"does not hold: {judged.claim.text}"), soft_wrap=True)


def bundle_json(
    bundle: Bundle,
    *,
    problems: Sequence[str],
    environment: Environment | None = None,
    reruns: Sequence[Rerun] = (),
    claims: Sequence[ClaimResult] = (),
    failures: Sequence[Failure] = (),
) -> dict[str, Any]:
    """Return what `--json` prints of a bundle."""
    return {
        "bundle": str(bundle.archive.path),
        "study": bundle.record.name,
        "title": bundle.record.title,
        "longfat": {
            "bundle": bundle.record.longfat,
            "here": __version__,
            "same": None if environment is None else environment.same_longfat,
        },
        "kernels": [] if environment is None else _kernels_json(environment),
        "toolset": None
        if environment is None
        else {
            "digest": environment.toolset.digest,
            "from_bundle": environment.toolset_origin is Origin.BUNDLE,
        },
        "problems": list(problems),
        "runs": [rerun.to_json() for rerun in reruns],
        "claims": [{"text": one.claim.text, "holds": one.passed} for one in claims],
        "failures": [
            {"case": one.run_id.name, "seed": one.run_id.seed, "message": str(one.error)}
            for one in failures
        ],
    }


def _kernels_json(environment: Environment) -> list[dict[str, Any]]:
    return [
        {
            "version": version,
            "release": kernel.release,
            "digest": kernel.digest,
            "from_bundle": environment.kernel_origins[version] is Origin.BUNDLE,
        }
        for version, kernel in environment.kernels.items()
    ]
