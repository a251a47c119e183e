"""The store of results: get, put, remove."""

from __future__ import annotations

import contextlib
import errno
import os
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import platformdirs

from longfat.common.modes import folder_mode
from longfat.errors import HostError, InputError, MachineError
from longfat.execution.cache.entry import Entry, entry_of, read_entry
from longfat.execution.cache.place_files import fill, place_run
from longfat.execution.runs import load_run
from longfat.execution.runs.hidden import hidden_folder, remove_folder, sweep
from longfat.execution.runs.run import MANIFEST, RAW, damage
from longfat.execution.runs.space import disk_full, is_full_error, write_error

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from longfat.execution.runs import Run
    from longfat.model.parameter import ParameterValue

DAMAGED = ".damaged"
"""The folder of a memory that takes results which are not what they were."""

MOST_DAMAGED = 16
"""How many of them are kept, those found last, for whoever wants to know what happened."""

_SHARD = 2
_SHOWN = 12
_HEX = frozenset("0123456789abcdef")


def result_cache_root() -> Path:
    """Return the folder of the cache: `LONGFAT_RESULT_CACHE`, or below the user's data folder."""
    named = os.environ.get("LONGFAT_RESULT_CACHE")
    return Path(named).resolve() if named else platformdirs.user_data_path("longfat") / "results"


class _DamagedError(Exception):
    """A cached result is not what it was."""


class ResultCache:
    """Remembered results; several processes may use one at a time.

    Args:
        root: its folder; made when something is cached. `result_cache_root()`, if None.
        tell: called with a message when a damaged result is set aside.
    """

    def __init__(
        self, root: Path | None = None, *, report: Callable[[str], None] = lambda _text: None
    ) -> None:
        self.root = result_cache_root() if root is None else root.resolve()
        self._report = report
        self._swept = False

    def place(self, key: str) -> Path:
        """Return where the result of a key lies, or would."""
        return self.root / key[:_SHARD] / key

    def knows(self, key: str) -> bool:
        """Return quickly whether there is a result of a key, which may be damaged."""
        return self._mark(key) is not None

    def get(
        self,
        key: str,
        *,
        out: Path,
        name: str,
        study: str,
        parameters: Mapping[str, ParameterValue],
    ) -> Run | None:
        """Put a cached result into a run directory, whole and at once.

        Args:
            key: the result.
            out: the folder that takes the run directory.
            name: the name of the case that asks for it.
            study: the name of its study.
            parameters: of a case of a grid, what each parameter is in it.

        Returns:
            The run; None if there is none of this key, or none that is undamaged: that
            is set aside, and reported.

        Raises:
            InputError: `out` cannot be written to.
            HostError: the disk is full.
        """
        while (mark := self._mark(key)) is not None:
            try:
                return self._recall(key, out.resolve(), name, study, parameters)
            except _DamagedError as problem:
                if self._mark(key) == mark:
                    self._set_aside(key, str(problem))
                    return None
            except OSError as error:
                if self._mark(key) == mark:
                    raise write_error(out, error) from error
            # Another process has forgotten it meanwhile, and may have put it there anew.
        return None

    def _recall(
        self, key: str, out: Path, name: str, study: str, parameters: Mapping[str, ParameterValue]
    ) -> Run:
        """Put a result into a run directory.

        Raises:
            _DamagedError: it is not what it was.
            OSError: the run directory cannot be written.
        """
        found = self._undamaged(key)
        run = replace(
            found,
            folder=out / f"{name}-seed{found.seed}",
            name=name,
            study=study,
            parameters=dict(parameters),
        )
        place_run(run, source=self.place(key))
        with contextlib.suppress(OSError):
            os.utime(self.place(key))
        return run

    def put(self, run: Run) -> None:
        """Keep a finished run.

        Args:
            run: the run, whole in its folder.

        Raises:
            InputError: a file of the run is not what it was when it was made.
            MachineError: the same case, kernel and tools gave other bytes before.
            HostError: the memory cannot be written to.
        """
        key = run.key
        while True:
            mark = self._mark(key)
            try:
                if mark is None:
                    self._put(run)
                else:
                    self._compare(run)
            except _DamagedError as problem:
                if self._mark(key) == mark:
                    self._set_aside(key, str(problem))
            except MachineError:
                if self._mark(key) == mark:
                    raise
                # It was forgotten while we looked.
            except OSError as error:
                quicker = error.errno in (errno.ENOTEMPTY, errno.EEXIST)
                if not quicker and (mark is None or self._mark(key) == mark):
                    raise self._write_error(error) from error
                # Another process has put it there, or has forgotten it while we looked.
            else:
                return

    def _put(self, run: Run) -> None:
        """Put a run where there is none of its key.

        Raises:
            InputError: it is damaged.
            OSError: it cannot be written, or there is one now.
        """
        place = self.place(run.key)
        place.parent.mkdir(parents=True, exist_ok=True)
        if not self._swept:
            sweep(self.root)
            self._swept = True
        with hidden_folder(self.root, name=run.key[:_SHOWN]) as folder:
            fill(folder, source=run.folder, files=run.files)
            if problem := damage(replace(run, folder=folder)):
                raise InputError(f"{run.folder}: damaged: {problem}")
            (folder / MANIFEST).write_text(run.manifest_text(), encoding="utf-8")
            entry_of(run, folder=place).write(folder)
            folder.chmod(folder_mode())
            os.utime(folder)
            folder.rename(place)

    def remove(self, key: str) -> None:
        """Remove a result; it may be gone already.

        Raises:
            HostError: it cannot be removed.
        """
        place = self.place(key)
        try:
            if place.is_dir():
                remove_folder(place, by_way_of=self.root)
        except OSError as error:
            raise self._write_error(error) from error

    def entries(self, *, prefix: str = "") -> Iterator[Entry]:
        """Yield what is cached and can be read, in the keys' order.

        Args:
            prefix: what the keys begin with.
        """
        for place in self._places(prefix):
            with contextlib.suppress(InputError):
                yield read_entry(place)

    def unreadable(self) -> list[Path]:
        """Return what cannot be used: what was set aside, and what no entry is known of."""
        found = self._set_aside_before()
        for place in self._places(""):
            try:
                read_entry(place)
            except InputError:
                found.append(place)
        return found

    def clear(self, folder: Path) -> None:
        """Remove one of `unreadable`; it may be gone already.

        Raises:
            HostError: it cannot be removed.
        """
        try:
            remove_folder(folder, by_way_of=self.root)
        except OSError as error:
            raise self._write_error(error) from error

    def check(self, key: str) -> bool:
        """Check every byte of a result; set a damaged one aside and report it.

        Returns:
            Whether it is good.
        """
        try:
            self._undamaged(key)
        except _DamagedError as problem:
            self._set_aside(key, str(problem))
            return False
        return True

    def _places(self, prefix: str) -> Iterator[Path]:
        if not set(prefix) <= _HEX:
            return
        with contextlib.suppress(OSError):
            for shard in sorted(self.root.glob(f"{prefix[:_SHARD]:?<{_SHARD}}")):
                yield from sorted(shard.glob(f"{prefix}*"))

    def _mark(self, key: str) -> tuple[int, ...] | None:
        """Return what distinguishes a result from one that replaced it; None if there is none."""
        place = self.place(key)
        try:
            folder = place.stat()
        except OSError:
            return None
        try:
            about = (place / MANIFEST).stat()
        except OSError:  # it is damaged
            return (folder.st_ino,)
        return folder.st_ino, about.st_ino, about.st_mtime_ns

    def _undamaged(self, key: str) -> Run:
        """Return a result that is as it was when it was cached, to the last byte.

        Raises:
            _DamagedError: it is not, and why.
        """
        place = self.place(key)
        try:
            read_entry(place)
            run = load_run(place)
            if run.key != key or run.case.digest != run.case_digest:
                raise _DamagedError(f"{place / MANIFEST}: it is that of another result")
            problem = damage(run)
        except InputError as error:
            raise _DamagedError(error.message) from error
        except OSError as error:
            raise _DamagedError(f"{place}: cannot be read: {error.strerror}") from error
        if problem:
            raise _DamagedError(f"{place}: {problem}")
        return run

    def _set_aside(self, key: str, problem: str) -> None:
        """Move a result away that is not what it was.

        Raises:
            HostError: it cannot be moved.
        """
        aside = self.root / DAMAGED
        target = aside / f"{key[:_SHOWN]}-{time.time_ns()}"
        try:
            aside.mkdir(exist_ok=True)
            with contextlib.suppress(FileNotFoundError):
                self.place(key).rename(target)
            for old in self._set_aside_before()[:-MOST_DAMAGED]:
                remove_folder(old, by_way_of=self.root)
        except OSError as error:
            raise self._write_error(error) from error
        self._report(
            f"the cached result {key[:_SHOWN]} is damaged, is set aside in {target}, and"
            f" does not count: {problem}"
        )

    def _set_aside_before(self) -> list[Path]:
        """Return what was set aside, the latest last."""
        found = (self.root / DAMAGED).glob("*-*")
        return sorted(found, key=lambda path: path.name.rpartition("-")[2].zfill(20))

    def _compare(self, run: Run) -> None:
        """Compare a run with the result that is cached under its key.

        Raises:
            _DamagedError: the cached one is not what it was.
            MachineError: they differ.
            OSError: it cannot be written to.
        """
        place = self.place(run.key)
        cached = self._undamaged(run.key)
        if cached.digest == run.digest:
            with contextlib.suppress(OSError):
                os.utime(place)
            return
        files = [
            name
            for name in sorted(cached.files.keys() | run.files.keys())
            if name.startswith(f"{RAW}/") and cached.files.get(name) != run.files.get(name)
        ]
        raise MachineError(
            "the same case, kernel and tools gave other bytes than are cached, of case"
            f" {run.name!r} with seed {run.seed}: {', '.join(files)} differ; see {place} and"
            f" {run.folder}; `longfat runs remove {run.key[:_SHOWN]}` drops the old one"
        )

    def _write_error(self, error: OSError) -> HostError:
        if is_full_error(error):
            return disk_full(self.root)
        return HostError(
            f"{self.root}: the result cache cannot be written to: {error.strerror}",
            hint="set LONGFAT_RESULT_CACHE to a folder of yours, or run with --no-cache",
        )
