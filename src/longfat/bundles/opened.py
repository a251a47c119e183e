"""Reading a bundle, which may be damaged, or have been made to do harm.

Nothing of it is written or run before its checksums are checked. Checksums detect damage: who
changes a file can change its checksum, too, so each is also held against what depends on it. The
manifest of a run has the checksums of its files, the digest of its case with all files of the
study, and the digest of its kernel. A result that was changed together with all of these is
found by running its case.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from longfat.bundles.matching import mismatch
from longfat.bundles.record import FILE, KERNELS, RESULTS, STUDY, BundleRecord, read_record
from longfat.common.checksum import FILE_NAME
from longfat.common.decoding import MAX_BYTES, parse_json
from longfat.common.zip_archive import Archive, open_archive
from longfat.errors import InputError
from longfat.execution.runs.run import MANIFEST, Run, read_manifest
from longfat.study import Study, read_study

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from longfat.common.checksum import FileSum

MAX_RUNS = 20_000
_MAX_STUDY_BYTES = 8 << 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Bundle:
    """A bundle whose files were checked.

    Attributes:
        archive: its file.
        record: its record.
        runs: its runs, whose folders are names of members.
        problems: what is damaged or contradicts itself, each with the name of the file.
    """

    archive: Archive
    record: BundleRecord
    runs: tuple[Run, ...]
    problems: tuple[str, ...]

    def read_study(self, folder: Path) -> tuple[Study, list[str]]:
        """Unpack the study and read it.

        Args:
            folder: the folder, which does not exist.

        Returns:
            The study, and the runs that are not of it, each with the reason.

        Raises:
            InputError: the study cannot be read.
            OSError: it cannot be written.
        """
        self.archive.extract(f"{STUDY}/", folder / STUDY, max_bytes=_MAX_STUDY_BYTES)
        study = read_study(folder / self.record.study)
        problems = [
            f"{run.folder / MANIFEST}: {problem}"
            for run in self.runs
            if (problem := mismatch(study, run))
        ]
        return study, problems


@contextmanager
def open_bundle(path: Path) -> Iterator[Bundle]:
    """Open a bundle and check all of its files.

    Raises:
        InputError: it cannot be read, is no bundle, is of another format, or is refused.
    """
    with open_archive(path) as archive:
        if FILE not in archive.sizes:
            raise InputError(f"{path}: not a bundle: there is no {FILE} in it")
        data = _parsed(archive, FILE)
        record = read_record(data, path=path)
        _check_record(record, archive)
        sums = archive.sums()
        problems = archive.damage(sums)
        runs = []
        for name in record.runs:
            try:
                run = _run(archive, name)
            except InputError as error:
                problems.append(error.message)
                continue
            runs.append(run)
            problems += _run_problems(run, sums, binaries=record.binaries)
        yield Bundle(
            archive=archive,
            record=record,
            runs=tuple(runs),
            problems=tuple(dict.fromkeys(problems)),
        )


def _check_record(record: BundleRecord, archive: Archive) -> None:
    """Check that a record names members of its bundle.

    Raises:
        InputError: it does not.
    """
    where = f"{archive.path}: {FILE}"
    if not record.study.startswith(f"{STUDY}/") or record.study not in archive.sizes:
        raise InputError(f"{where}: study: there is no such file in the bundle")
    if not 0 < len(record.runs) <= MAX_RUNS:
        raise InputError(f"{where}: runs: there are {len(record.runs):,}, not 1 to {MAX_RUNS:,}")
    for name in record.runs:
        if "/" in name or not FILE_NAME.fullmatch(name):
            raise InputError(f"{where}: runs: {name[:80]!r} is not the name of a folder")
        if f"{RESULTS}/{name}/{MANIFEST}" not in archive.sizes:
            raise InputError(f"{where}: runs: there is no {RESULTS}/{name}/{MANIFEST}")


def _parsed(archive: Archive, name: str) -> Any:
    return parse_json(archive.read(name, max_bytes=MAX_BYTES), where=f"{archive.path}: {name}")


def _run(archive: Archive, name: str) -> Run:
    folder = f"{RESULTS}/{name}"
    data = _parsed(archive, f"{folder}/{MANIFEST}")
    run = read_manifest(data, folder=Path(folder))
    if name != f"{run.name}-seed{run.seed}":
        raise InputError(f"{folder}/{MANIFEST}: it is the run {run.name}-seed{run.seed}")
    if "toolset" not in run.tools:
        raise InputError(f"{folder}/{MANIFEST}: the run has no toolset")
    return run


def _run_problems(run: Run, sums: Mapping[str, FileSum], *, binaries: bool) -> list[str]:
    """Return what of a bundle contradicts the manifest of a run."""
    folder = run.folder.as_posix()
    problems = []
    for name, wanted in run.files.items():
        recorded = sums.get(f"{folder}/{name}")
        if recorded is None:
            problems.append(f"{folder}/{name}: it is missing")
        elif recorded != wanted:
            problems.append(f"{folder}/{name}: its bytes are not those in the run's {MANIFEST}")
    of_run = {f"{folder}/{name}" for name in (MANIFEST, *run.files)}
    problems += [
        f"{name}: it does not belong to the run"
        for name in sums
        if name.startswith(f"{folder}/") and name not in of_run
    ]
    if binaries:
        binary = f"{KERNELS}/{run.kernel['digest']}/linux"
        if binary not in sums:
            problems.append(f"{binary}: it is missing")
        elif sums[binary].sha256 != run.kernel["binary_sha256"]:
            problems.append(f"{binary}: it is another kernel than that of {folder}")
    return problems
