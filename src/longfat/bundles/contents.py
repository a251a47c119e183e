"""What is in a bundle, collected from a study, its runs, the kernels and the toolset."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from longfat import __version__
from longfat.bundles.describe import about, kernel_text, readme, toolset_text
from longfat.bundles.matching import by_case, mismatch
from longfat.bundles.publication import metadata_members
from longfat.bundles.record import (
    CLAIMS,
    FILE,
    KERNELS,
    RESULTS,
    TOOLSET,
    TOOLSET_ARCHIVE,
    BundleRecord,
)
from longfat.common import resources
from longfat.common.zip_archive import Member
from longfat.engine import kernel as kernels
from longfat.engine import toolset as toolsets
from longfat.engine.kernel.cache import get
from longfat.engine.kernel.source_offer import LICENCE, recipe_files
from longfat.engine.toolset.archive import write_tar
from longfat.errors import HostError, InputError
from longfat.execution.host_programs import host_programs_of
from longfat.execution.runs.run import MANIFEST, damage
from longfat.execution.tools import own_tool

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from longfat.analysis.verdict import Verdict
    from longfat.bundles.publication import Publication
    from longfat.engine.kernel import Kernel
    from longfat.engine.toolset import Toolset
    from longfat.execution.runs import Run

_LAUNCHER = "confine"
_NOT_IN_A_BUNDLE = frozenset((_LAUNCHER, "SHA256SUMS"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """What a bundle is made of.

    Attributes:
        verdict: the study with its runs.
        study_file: the name of the study's file in the bundle.
        study_members: the members of the study.
        report: the files of its report, by their names below `results`.
        publication: what its authors give.
        binaries: whether kernels and toolset are in it.
    """

    verdict: Verdict
    study_file: str
    study_members: Mapping[str, Member]
    report: Mapping[str, Path]
    publication: Publication
    binaries: bool


def check_runs(verdict: Verdict) -> None:
    """Check that runs can be in a bundle: they are whole, of the study, and made here.

    Raises:
        InputError: one cannot.
        HostError: the installation is incomplete.
    """
    study, runs = verdict.study, _runs(verdict)
    again = f"run the study again: longfat run {study.file}"
    if not runs:
        raise InputError(f"{study.file}: there are no runs of it")
    own, of_version = own_tool().digest, dict[str, str]()
    for run in runs:
        if problem := mismatch(study, run):
            raise InputError(f"{run.folder}: {problem}; {again}")
        if problem := damage(run):
            raise InputError(f"{run.folder}: damaged: {problem}; {again}")
        if "toolset" not in run.tools:
            raise InputError(
                f"{run.folder}: it was run with this host's programs, which a bundle does not"
                f" contain, and not with the pinned tools; {again}"
            )
        if run.tools["longfat"].digest != own:
            raise InputError(f"{run.folder}: it is of another version of longfat; {again}")
        digest = of_version.setdefault(run.case.kernel, run.kernel["digest"])
        if digest != run.kernel["digest"]:
            raise InputError(
                f"{run.folder}: kernel {run.case.kernel} is {run.kernel['digest'][:12]} here and"
                f" {digest[:12]} in another run; {again}"
            )
    if len({run.tools["toolset"].digest for run in runs}) > 1:
        raise InputError(f"{runs[0].folder.parent}: the runs have several toolsets; {again}")
    by_case(study, runs)


def collect(source: Source, *, scratch: Path) -> dict[str, Member]:
    """Return the members of a bundle.

    Args:
        source: what it is made of; its runs were checked by `check_runs`.
        scratch: a folder for temporary files, which has to exist until the bundle is written.

    Raises:
        HostError: a kernel of the runs is not built any more, or the toolset is another one.
        OSError: a file cannot be read, or not be written to `scratch`.
    """
    verdict = source.verdict
    study, runs = verdict.study, _runs(verdict)
    built = [_kernel(digest) for digest in sorted({run.kernel["digest"] for run in runs})]
    toolset = _toolset(runs[0].tools["toolset"].digest)
    record = BundleRecord(
        longfat=__version__,
        name=study.name,
        title=source.publication.title or study.title,
        study=source.study_file,
        binaries=source.binaries,
        runs=tuple(run.folder.name for run in runs),
    )
    members = dict(source.study_members)
    for run in runs:
        folder = f"{RESULTS}/{run.folder.name}"
        members[f"{folder}/{MANIFEST}"] = Member(content=run.folder / MANIFEST)
        members |= {f"{folder}/{name}": Member(content=run.folder / name) for name in run.files}
    members |= {f"{RESULTS}/{name}": Member(content=file) for name, file in source.report.items()}
    members[CLAIMS] = Member.of_text(_claims(verdict))
    for kernel in built:
        members |= _kernel_members(kernel, binaries=source.binaries)
    members |= _toolset_members(toolset, scratch=scratch, binaries=source.binaries)
    members["licences/Apache-2.0.txt"] = Member(content=resources.licence())
    members["licences/GPL-2.0.txt"] = Member(content=resources.folder("kernel") / LICENCE)
    members[FILE] = Member.of_text(record.text())
    text = about(verdict, record)
    releases = {kernel.digest: kernel.release for kernel in built}
    members["README.md"] = Member.of_text(
        readme(
            verdict,
            record,
            releases=releases,
            toolset=toolset,
            publication=source.publication,
            programs=host_programs_of(runs),
            has_report=bool(source.report),
        )
    )
    parts = {
        record.study: "the study",
        f"{RESULTS}/": "the results: manifests, raw output, samples, claims, report",
        f"{KERNELS}/": "the kernels: configuration, recipe, where the source is",
        f"{TOOLSET}/": "the programs of the machines: packages and licences",
        "licences/": "the licences of longfat and of Linux",
    }
    return members | metadata_members(source.publication, record, about=text, parts=parts)


def _runs(verdict: Verdict) -> list[Run]:
    return [run for of_case in verdict.runs.values() for run in of_case]


def _claims(verdict: Verdict) -> str:
    """Return claims and metrics as `longfat run --json` does, with the folders in the bundle."""
    document = verdict.to_json()
    for case in document["cases"].values():
        for run in case["runs"]:
            run["run_dir"] = f"{RESULTS}/{run['run_dir'].rpartition('/')[2]}"
    return json.dumps(document, indent=2, sort_keys=True) + "\n"


def _kernel(digest: str) -> Kernel:
    kernel = get(digest)
    if kernel is None:
        raise HostError(
            f"kernel {digest[:12]}, which the runs were made with, is not built any more",
            hint="run the study again",
        )
    if not kernels.fits(kernel):
        raise HostError(
            f"kernel {kernel.release} ({digest[:12]}) is of an older recipe, whose patches are"
            " not here",
            hint="run the study again",
        )
    return kernel


def _toolset(digest: str) -> Toolset:
    toolset = toolsets.find()
    if toolset.digest != digest:
        raise HostError(
            f"the runs were made with the toolset {digest[:12]}, and that of this longfat is"
            f" {toolset.digest[:12]}",
            hint="run the study again",
        )
    return toolset


def _kernel_members(kernel: Kernel, *, binaries: bool) -> dict[str, Member]:
    manifest = kernels.manifest_of(kernel)
    folder = f"{KERNELS}/{kernel.digest}"
    files = recipe_files(kernel.release)
    patches = {path.name for path in files.values() if path.suffix == ".patch"}
    if binaries and (strange := {one.partition(" ")[0] for one in manifest.patches} - patches):
        raise HostError(
            f"kernel {kernel.release} has patches of your own ({', '.join(sorted(strange))}), and"
            " the GPL asks for them beside the binary",
            hint="leave the binaries out: --without-binaries",
        )
    members = {
        f"{folder}/source/kernel/{name}": Member(content=path) for name, path in files.items()
    }
    members[f"{folder}/README.md"] = Member.of_text(
        kernel_text(manifest, folder=folder, binaries=binaries)
    )
    for path in sorted(kernel.folder.iterdir()):
        is_binary = path == kernel.binary or path.suffix == ".so"
        if path.name not in _NOT_IN_A_BUNDLE and (binaries or not is_binary):
            is_executable = bool(path.stat().st_mode & 0o100)
            members[f"{folder}/{path.name}"] = Member(content=path, executable=is_executable)
    return members


def _toolset_members(toolset: Toolset, *, scratch: Path, binaries: bool) -> dict[str, Member]:
    packages = resources.folder("toolset") / "packages.txt"
    members = {f"{TOOLSET}/packages.txt": Member(content=packages)}
    members[f"{TOOLSET}/README.md"] = Member.of_text(toolset_text(toolset, binaries=binaries))
    licences = toolset.folder / "licences"
    for path in sorted(licences.rglob("*")):
        if path.is_file():
            name = path.relative_to(licences).as_posix()
            members[f"{TOOLSET}/licences/{name}"] = Member(content=path.read_bytes())
    if binaries:
        archive = scratch / "toolset.tar"
        with archive.open("wb") as file:
            write_tar(toolset.folder, file)
        members[TOOLSET_ARCHIVE] = Member(content=archive)
    return members
