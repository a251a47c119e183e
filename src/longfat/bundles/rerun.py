"""Running the cases of a bundle again, and comparing the bytes.

A kernel and a toolset of this computer are used if their digests are those of the runs. Otherwise
they are the bundle's, unpacked into a temporary folder and never into the cache: the digest of a
kernel names what it was built from, and does not prove it. A toolset's digest does, since it is
over its files.

A kernel of the bundle is a program of its authors. It can do what a guest can do that has taken
over its kernel (docs/security.md): its process is in the sandbox from its first instruction.
What sets up the sandbox is this computer's own (`longfat.engine.kernel.launcher`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from longfat.bundles.record import KERNELS, TOOLSET_ARCHIVE
from longfat.engine import kernel as kernels
from longfat.engine import toolset as toolsets
from longfat.engine.kernel import Kernel
from longfat.engine.kernel import manifest as manifests
from longfat.engine.kernel.cache import get
from longfat.engine.kernel.launcher import put_launcher
from longfat.engine.toolset.contents import unpack_checked
from longfat.errors import HostError, InputError
from longfat.execution import Batch, Outcome, run_batches
from longfat.execution.tools import Toolbox, own_tool

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from longfat.bundles.opened import Bundle
    from longfat.engine.toolset import Toolset
    from longfat.execution import RunObserver
    from longfat.execution.runs import Run
    from longfat.study import Study

_MAX_KERNEL_BYTES = 512 << 20
_MAX_TOOLSET_BYTES = 1 << 30


class Origin(StrEnum):
    """Where a kernel or a toolset is from."""

    HERE = "this computer"
    BUNDLE = "the bundle"


class Agreement(StrEnum):
    """What the comparison of a run with the recorded one says."""

    SAME = "the same bytes"
    DIFFERENT = "other bytes"
    OTHER_LONGFAT = "other bytes, by another longfat"
    OTHER_KERNEL = "other bytes, by another kernel"


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """What the cases of a bundle are run with.

    Attributes:
        kernels: the kernels by the versions that cases name.
        kernel_origins: where each is from, likewise.
        toolset: the toolset.
        toolset_origin: where it is from.
        same_longfat: whether this longfat runs cases by the same code as the bundle's.
    """

    kernels: Mapping[str, Kernel]
    kernel_origins: Mapping[str, Origin]
    toolset: Toolset
    toolset_origin: Origin
    same_longfat: bool

    @property
    def uses_kernels_of_bundle(self) -> bool:
        """Return whether a kernel of the bundle is run."""
        return Origin.BUNDLE in self.kernel_origins.values()


@dataclass(frozen=True, slots=True, kw_only=True)
class Rerun:
    """A run of a bundle, run again.

    Attributes:
        recorded: the run in the bundle.
        again: the new one; None if it failed.
        agreement: what their comparison says; None likewise.
        files: the raw files whose bytes differ.
    """

    recorded: Run
    again: Run | None
    agreement: Agreement | None
    files: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "run": self.recorded.folder.name,
            "recorded": self.recorded.digest,
            "digest": None if self.again is None else self.again.digest,
            "kernel": self.recorded.kernel["release"],
            "agreement": None if self.agreement is None else self.agreement.name.lower(),
            "files": list(self.files),
        }


def prepare(bundle: Bundle, *, folder: Path, own_kernels: bool = False) -> Environment:
    """Find or unpack what the cases of a bundle are run with.

    Args:
        bundle: a bundle without problems.
        folder: an existing folder for what is unpacked.
        own_kernels: use kernels of this computer only, also others of the version.

    Raises:
        InputError: the bundle has not what its runs were made with.
        HostError: it has no binaries, and this computer has not, either.
    """
    found: dict[str, Kernel] = {}
    origins: dict[str, Origin] = {}
    for run in bundle.runs:
        version = run.case.kernel
        if version in found and found[version].digest != run.kernel["digest"] and not own_kernels:
            raise InputError(f"{run.folder}: the bundle has several kernels {version}")
        if version not in found:
            found[version], origins[version] = _kernel(
                bundle, run, folder=folder, own_kernels=own_kernels
            )
    toolset, toolset_origin = _toolset(bundle, folder=folder)
    own = own_tool().digest
    return Environment(
        kernels=found,
        kernel_origins=origins,
        toolset=toolset,
        toolset_origin=toolset_origin,
        same_longfat=all(run.tools["longfat"].digest == own for run in bundle.runs),
    )


def _kernel(bundle: Bundle, run: Run, *, folder: Path, own_kernels: bool) -> tuple[Kernel, Origin]:
    digest = run.kernel["digest"]
    own = get(digest)
    if own is not None and own.binary_sha256 == run.kernel["binary_sha256"]:
        return own, Origin.HERE
    if own_kernels or not bundle.record.binaries:
        return kernels.find(run.case.kernel), Origin.HERE
    path = folder / "kernels" / digest
    bundle.archive.extract(f"{KERNELS}/{digest}/", path, max_bytes=_MAX_KERNEL_BYTES)
    about = manifests.read(path)
    if about is None or (about.digest, about.release) != (digest, run.kernel["release"]):
        raise InputError(f"{KERNELS}/{digest}: it is not the kernel of {run.folder}")
    put_launcher(path / about.kernel(path).launcher.name, series=about.series)
    return about.kernel(path), Origin.BUNDLE


def _toolset(bundle: Bundle, *, folder: Path) -> tuple[Toolset, Origin]:
    digests = {run.tools["toolset"].digest for run in bundle.runs}
    if len(digests) > 1:
        raise InputError(f"{bundle.archive.path}: its runs have several toolsets")
    (digest,) = digests
    try:
        own = toolsets.find()
    except HostError:
        if not bundle.record.binaries:
            raise
    else:
        if own.digest == digest:
            return own, Origin.HERE
    if TOOLSET_ARCHIVE not in bundle.archive.sizes:
        raise HostError(
            f"the runs were made with the toolset {digest[:12]}, which this longfat does not build",
            hint=f"verify the bundle by longfat {bundle.record.longfat}",
        )
    with bundle.archive.stream(TOOLSET_ARCHIVE, max_bytes=_MAX_TOOLSET_BYTES) as archive:
        toolset = unpack_checked(archive, folder / "toolset", digest=digest)
    return toolset, Origin.BUNDLE


def run_again(
    groups: Mapping[str, Sequence[Run]],
    batch: Batch,
    environment: Environment,
    *,
    jobs: int | None = None,
    observer: RunObserver | None = None,
) -> tuple[list[Rerun], Outcome]:
    """Run the cases of a bundle without the result cache, and compare the bytes.

    Args:
        groups: the runs of the bundle by their cases.
        batch: their cases, see `make_batch`.
        environment: what the cases are run with.
        jobs: how many machines run at once; one for each CPU, if None.
        observer: is notified of progress.

    Raises:
        InputError: the folder of the batch cannot be written to.
        HostError: this computer cannot run them.
    """
    outcome = run_batches(
        [batch],
        jobs=jobs,
        cache=None,
        keep_going=True,
        observer=observer,
        toolbox=_GivenToolset(environment.toolset),
        find_kernel=environment.kernels.__getitem__,
    )
    again = {run.folder.name: run for runs in outcome.runs[0].values() for run in runs}
    recorded = [run for runs in groups.values() for run in runs]
    return [compare(run, again.get(run.folder.name), environment) for run in recorded], outcome


def make_batch(study: Study, groups: Mapping[str, Sequence[Run]], *, out: Path) -> Batch:
    """Return the batch of the cases of runs, with the runs' kernels and seeds.

    Args:
        study: their study.
        groups: the runs by their cases, as `by_case` returns them.
        out: the folder for the new runs.
    """
    cases = {
        name: replace(study.cases[name], case=runs[0].case, seeds=len(runs))
        for name, runs in groups.items()
    }
    return Batch(cases=cases, out=out, study=study.name)


def compare(recorded: Run, again: Run | None, environment: Environment) -> Rerun:
    """Compare a run with the recorded one.

    Args:
        recorded: the run in the bundle.
        again: the new one; None if it failed.
        environment: what it was run with.
    """
    if again is None:
        return Rerun(recorded=recorded, again=None, agreement=None)
    names = sorted(recorded.files.keys() | again.files.keys())
    files = tuple(
        name
        for name in names
        if name.startswith("raw/") and recorded.files.get(name) != again.files.get(name)
    )
    if recorded.digest == again.digest:
        agreement = Agreement.SAME
    elif not environment.same_longfat:
        agreement = Agreement.OTHER_LONGFAT
    elif recorded.kernel["digest"] != again.kernel["digest"]:
        agreement = Agreement.OTHER_KERNEL
    else:
        agreement = Agreement.DIFFERENT
    return Rerun(recorded=recorded, again=again, agreement=agreement, files=files)


class _GivenToolset(Toolbox):
    """The tools of this computer, with a given toolset."""

    def __init__(self, toolset: Toolset) -> None:
        super().__init__()
        self.toolset = toolset
