"""`longfat verify`: whether labs, or the runs of a bundle, give the same bytes here."""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import click
from rich.text import Text

from longfat.analysis.verdict import evaluate
from longfat.bundles import rerun
from longfat.bundles.matching import by_case
from longfat.bundles.opened import open_bundle
from longfat.bundles.rerun import make_batch, prepare, run_again
from longfat.cli.console import echo, stderr, stdout
from longfat.cli.options import jobs_option, json_option
from longfat.cli.render.failures import failures_json, print_failures
from longfat.cli.render.progress import CaseProgress
from longfat.cli.render.reruns import (
    bundle_json,
    environment_notes,
    print_problems,
    print_reruns,
)
from longfat.cli.render.tables import plain_table, print_table
from longfat.cli.selection import Part, label_of, make_parts
from longfat.common import resources
from longfat.common.folder_store import FolderStore, cache_root
from longfat.engine import toolset as toolsets
from longfat.errors import ExitCode, InputError
from longfat.execution import Outcome, run_batches
from longfat.execution.runs.space import write_error
from longfat.study import read_study
from longfat.study.digests import FILE, LabDigests, read_digests
from longfat.study.labs import find_lab

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from longfat.bundles.opened import Bundle
    from longfat.execution.cache import ResultCache
    from longfat.execution.runs import Run
    from longfat.study import Study


class Agreement(StrEnum):
    """What a comparison of digests says."""

    SAME = "the same bytes"
    DIFFERENT = "other bytes"
    OTHER_KERNEL = "another kernel"
    OTHER_TOOLSET = "another toolset"
    NOT_RECORDED = "not recorded"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified:
    """A run compared with the recorded one.

    Attributes:
        lab: the lab.
        run: the run's name.
        digest: its digest here.
        kernel: the release of its kernel here.
        agreement: what the comparison says.
    """

    lab: str
    run: str
    digest: str
    kernel: str
    agreement: Agreement

    def to_json(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "lab": self.lab,
            "run": self.run,
            "digest": self.digest,
            "kernel": self.kernel,
            "agreement": self.agreement.name.lower(),
        }


@click.command()
@click.argument("labs", nargs=-1, metavar="[LAB|BUNDLE]...")
@click.option("--kernel", metavar="VERSION", help="Use this kernel in place of the labs' own.")
@click.option(
    "--own-kernel",
    is_flag=True,
    help="Run no kernel of a BUNDLE, but one of this computer, also if it was built otherwise.",
)
@jobs_option()
@json_option("Print a JSON object in place of the table.")
def verify(
    labs: tuple[str, ...], *, kernel: str | None, own_kernel: bool, jobs: int | None, as_json: bool
) -> None:
    """Run labs or a bundle, and compare bytes with recorded ones.

    Without a LAB it runs all labs whose digests are recorded. Nothing is taken from the cache.

    Ends with 1 if a run gives other bytes with the same kernel release and toolset. Runs of
    another kernel release are no failures: their bytes may differ.

    BUNDLE is a file of `longfat bundle`. All of its files are checked, and then its runs are run
    again with its kernel and toolset. It ends with 1 if a run gives other bytes or a claim does
    not hold, and with 2 if a file was changed.
    """
    bundles = [lab for lab in labs if lab.endswith(".zip") or Path(lab).is_file()]
    if bundles:
        if len(labs) > 1:
            raise click.UsageError("verify bundles one by one, and labs without them")
        if kernel is not None:
            raise click.UsageError("--kernel is for labs: a bundle names its kernels")
        verify_bundle(Path(bundles[0]), own_kernel=own_kernel, jobs=jobs, as_json=as_json)
        return
    if own_kernel:
        raise click.UsageError("--own-kernel is for a bundle")
    verify_labs(labs, kernel=kernel, jobs=jobs, as_json=as_json)


def verify_labs(
    labs: tuple[str, ...], *, kernel: str | None, jobs: int | None, as_json: bool
) -> None:
    """Run labs and compare them with the recorded digests; see `verify`."""
    recorded = read_digests(resources.folder("labs") / FILE)
    for lab in labs:
        find_lab(lab)
        if lab not in recorded:
            raise InputError(f"no digests of {lab} are recorded (there are: {', '.join(recorded)})")
    toolset = toolsets.find()
    with TemporaryDirectory() as folder:
        parts, outcome = run_labs(labs or tuple(recorded), out=folder, kernel=kernel, jobs=jobs)
        verified = [
            compared
            for part, runs in zip(parts, outcome.runs, strict=True)
            for compared in compare(
                part.study.name, runs, recorded[part.study.name], toolset=toolset.digest
            )
        ]
    if as_json:
        document = {
            "toolset": toolset.digest,
            "runs": [one.to_json() for one in verified],
            "failures": failures_json(outcome.failures, parts),
        }
        echo(json.dumps(document, indent=2))
    else:
        _show(verified)
    print_failures(outcome.failures, parts, console=stderr())
    good = all(one.agreement is not Agreement.DIFFERENT for one in verified)
    if code := outcome.exit_code or (0 if good else ExitCode.CLAIM_FAILED):
        raise click.exceptions.Exit(code)


def run_labs(
    labs: Sequence[str],
    *,
    out: str,
    kernel: str | None,
    jobs: int | None,
    cache: ResultCache | None = None,
) -> tuple[list[Part], Outcome]:
    """Run labs with one seed.

    Args:
        labs: their names.
        out: where the runs go.
        kernel: the kernel's version, in place of the labs' own.
        jobs: how many machines run at once.
        cache: where results are taken from and stored; none, if None.
    """
    parts = make_parts(
        [(lab, read_study(find_lab(lab).study_file)) for lab in labs],
        names=(),
        seed=None,
        seeds=1,
        kernels=() if kernel is None else (kernel,),
        testbed=None,
        out=Path(out) / "runs",
    )
    batches = [part.batch for part in parts]
    labels = [label_of(part, parts) for part in parts]
    with CaseProgress(batches, labels=labels, console=stderr()) as progress:
        outcome = run_batches(batches, jobs=jobs, cache=cache, keep_going=True, observer=progress)
    return parts, outcome


def compare(
    lab: str,
    runs: Mapping[str, tuple[Run, ...]],
    recorded: LabDigests,
    *,
    toolset: str,
) -> Iterator[Verified]:
    """Yield each run of a lab, compared with the recorded one.

    Args:
        lab: the lab.
        runs: its runs by case.
        recorded: its recorded digests.
        toolset: the digest of the toolset of the runs.
    """
    for run in (run for several in runs.values() for run in several):
        release = run.kernel["release"]
        name = run.folder.name
        if name not in recorded.runs:
            agreement = Agreement.NOT_RECORDED
        elif recorded.toolset != toolset:
            agreement = Agreement.OTHER_TOOLSET
        elif recorded.runs[name] == run.digest:
            agreement = Agreement.SAME
        elif recorded.kernel != release:
            agreement = Agreement.OTHER_KERNEL
        else:
            agreement = Agreement.DIFFERENT
        yield Verified(lab=lab, run=name, digest=run.digest, kernel=release, agreement=agreement)


def verify_bundle(path: Path, *, own_kernel: bool, jobs: int | None, as_json: bool) -> None:
    """Check a bundle, run its cases and compare the bytes; see `verify`."""
    store = FolderStore(folder=cache_root() / "bundles", prefix=".verifying-")
    try:
        with open_bundle(path) as bundle, store.new_folder() as folder:
            study, problems = None, list(bundle.problems)
            if not problems:
                study, problems = bundle.read_study(folder / "unpacked")
            if study is None or problems:
                if as_json:
                    echo(json.dumps(bundle_json(bundle, problems=problems), indent=2))
                print_problems(problems, console=stderr())
                raise click.exceptions.Exit(ExitCode.BAD_INPUT)
            code = _run_bundle(
                bundle, study, folder=folder, own_kernel=own_kernel, jobs=jobs, as_json=as_json
            )
    except OSError as error:
        raise write_error(store.folder, error) from error
    if code:
        raise click.exceptions.Exit(code)


def _run_bundle(
    bundle: Bundle,
    study: Study,
    *,
    folder: Path,
    own_kernel: bool,
    jobs: int | None,
    as_json: bool,
) -> int:
    """Run the cases of a bundle, print the comparison, and return the exit code."""
    environment = prepare(bundle, folder=folder, own_kernels=own_kernel)
    for note in environment_notes(bundle, environment):
        stderr().print(Text(note), soft_wrap=True)
    groups = by_case(study, bundle.runs)
    batch = make_batch(study, groups, out=folder / "runs")
    with CaseProgress([batch], labels=[""], console=stderr()) as progress:
        reruns, outcome = run_again(groups, batch, environment, jobs=jobs, observer=progress)
    claims = evaluate(study, outcome.runs[0]).claims
    if as_json:
        document = bundle_json(
            bundle,
            problems=(),
            environment=environment,
            reruns=reruns,
            claims=claims,
            failures=outcome.failures,
        )
        echo(json.dumps(document, indent=2))
    else:
        print_reruns(reruns, claims, console=stdout())
    for failure in outcome.failures:
        stderr().print(Text(f"longfat: {failure.error}"), soft_wrap=True)
    good = all(one.agreement is rerun.Agreement.SAME for one in reruns)
    good = good and all(judged.passed is not False for judged in claims)
    return outcome.exit_code or (ExitCode.GOOD if good else ExitCode.CLAIM_FAILED)


def _show(verified: Sequence[Verified]) -> None:
    table = plain_table("lab", "run", "kernel", "digest", "compared with the recorded run")
    for one in verified:
        table.add_row(one.lab, one.run, one.kernel, one.digest[:12], one.agreement.value)
    print_table(table, console=stdout())
    same = sum(one.agreement is Agreement.SAME for one in verified)
    stdout().print(Text(f"{same} of {len(verified)} runs have the recorded bytes"))
