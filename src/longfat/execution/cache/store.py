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
from longfat.execution.cache.ownership import check_ours
from longfat.execution.cache.place_files import fill, place_run
from longfat.execution.runs import load_run
from longfat.execution.runs.partial_folder import run_store
from longfat.execution.runs.run import MANIFEST, RAW, damage
from longfat.execution.runs.space import disk_full, is_full_error, write_error

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from longfat.execution.runs import Run
    from longfat.model.parameter import ParameterValue

DAMAGED = ".damaged"
"""The folder of a cache that takes damaged results."""

MAX_DAMAGED = 16
"""The maximum number of them that are kept, the latest ones, for diagnosis."""

_SHARD = 2
_SHOWN = 12
_HEX = frozenset("0123456789abcdef")


def result_cache_root() -> Path:
    """Return the folder of the cache: `LONGFAT_RESULT_CACHE`, or below the user's data folder."""
    named = os.environ.get("LONGFAT_RESULT_CACHE")
    return Path(named).resolve() if named else platformdirs.user_data_path("longfat") / "results"


class _DamagedError(Exception):
    """A cached result is damaged."""


class ResultCache:
    """The cached results; several processes may use it at the same time.

    Args:
        root: its folder; created when something is cached. `result_cache_root()`, if None.
        report: called with a message when a damaged result is set aside.
        private: use no result that another user can have written.
    """

    def __init__(
        self,
        root: Path | None = None,
        *,
        report: Callable[[str], None] = lambda _text: None,
        private: bool = False,
    ) -> None:
        self.root = result_cache_root() if root is None else root.resolve()
        self._store = run_store(self.root)
        self._report = report
        self._private = private
        self._swept = False

    def place(self, key: str) -> Path:
        """Return the folder of the result of a key, whether it exists or not."""
        return self.root / key[:_SHARD] / key

    def has(self, key: str) -> bool:
        """Return quickly whether there is a result for a key, which may be damaged."""
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
        """Put a cached result into a run directory, atomically.

        Args:
            key: the key of the result.
            out: the folder that will contain the run directory.
            name: the name of the case.
            study: the name of its study.
            parameters: of a case of a grid, the values of its parameters.

        Returns:
            The run; None if there is none for this key, or only a damaged one: that
            is set aside, and reported.

        Raises:
            InputError: `out` cannot be written to.
            HostError: the disk is full.
        """
        while (mark := self._mark(key)) is not None:
            try:
                return self._restore(key, out.resolve(), name, study, parameters)
            except _DamagedError as problem:
                if self._mark(key) == mark:
                    self._set_aside(key, str(problem))
                    return None
            except OSError as error:
                if self._mark(key) == mark:
                    raise write_error(out, error) from error
            # Another process has removed it meanwhile, and may have cached it again.
        return None

    def _restore(
        self, key: str, out: Path, name: str, study: str, parameters: Mapping[str, ParameterValue]
    ) -> Run:
        """Put a result into a run directory.

        Raises:
            _DamagedError: it is damaged.
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
        """Cache a finished run.

        Args:
            run: the run, whole in its folder.

        Raises:
            InputError: a file of the run was changed after it was made.
            MachineError: the cached result of the same case, kernel and tools has other bytes.
            HostError: the cache cannot be written to.
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
                # It was removed while it was compared.
            except OSError as error:
                quicker = error.errno in (errno.ENOTEMPTY, errno.EEXIST)
                if not quicker and (mark is None or self._mark(key) == mark):
                    raise self._write_error(error) from error
                # Another process has cached it, or has removed it while it was compared.
            else:
                return

    def _put(self, run: Run) -> None:
        """Cache a run if there is none for its key.

        Raises:
            InputError: it is damaged.
            OSError: it cannot be written, or there is one now.
        """
        place = self.place(run.key)
        place.parent.mkdir(parents=True, exist_ok=True)
        if not self._swept:
            self._store.sweep()
            self._swept = True
        with self._store.partial_folder(f"{run.key[:_SHOWN]}-") as folder:
            fill(folder, source=run.folder, files=run.files)
            if problem := damage(replace(run, folder=folder)):
                raise InputError(f"{run.folder}: damaged: {problem}")
            (folder / MANIFEST).write_text(run.manifest_text(), encoding="utf-8")
            entry_of(run, folder=place).write(folder)
            folder.chmod(folder_mode())
            os.utime(folder)
            folder.rename(place)

    def remove(self, key: str) -> None:
        """Remove a result; it may not exist any more.

        Raises:
            HostError: it cannot be removed.
        """
        place = self.place(key)
        try:
            if place.is_dir():
                self._store.remove(place)
        except OSError as error:
            raise self._write_error(error) from error

    def entries(self, *, prefix: str = "") -> Iterator[Entry]:
        """Yield the entries of all readable results, in the keys' order.

        Args:
            prefix: the prefix of the keys.
        """
        for place in self._places(prefix):
            with contextlib.suppress(InputError):
                yield read_entry(place)

    def unreadable(self) -> list[Path]:
        """Return the unusable folders: what was set aside, and what has no entry."""
        found = self._set_aside_before()
        for place in self._places(""):
            try:
                read_entry(place)
            except InputError:
                found.append(place)
        return found

    def clear(self, folder: Path) -> None:
        """Remove one of `unreadable`; it may not exist any more.

        Raises:
            HostError: it cannot be removed.
        """
        try:
            self._store.remove(folder)
        except OSError as error:
            raise self._write_error(error) from error

    def check(self, key: str) -> bool:
        """Check every byte of a result; set a damaged one aside and report it.

        Returns:
            Whether it is undamaged.
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
        """Return what distinguishes a result from a replacement; None if there is none."""
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
        """Return a result if its files are unchanged since it was cached.

        Raises:
            _DamagedError: it is damaged.
        """
        place = self.place(key)
        try:
            if self._private:
                check_ours([place.parent, place, *place.rglob("*")])
            read_entry(place)
            run = load_run(place)
            if run.key != key or run.case.digest != run.case_digest:
                raise _DamagedError(f"{place / MANIFEST}: it belongs to another result")
            problem = damage(run)
        except InputError as error:
            raise _DamagedError(error.message) from error
        except OSError as error:
            raise _DamagedError(f"{place}: cannot be read: {error.strerror}") from error
        if problem:
            raise _DamagedError(f"{place}: {problem}")
        return run

    def _set_aside(self, key: str, problem: str) -> None:
        """Move a damaged result away.

        Raises:
            HostError: it cannot be moved.
        """
        aside = self.root / DAMAGED
        target = aside / f"{key[:_SHOWN]}-{time.time_ns()}"
        try:
            aside.mkdir(exist_ok=True)
            with contextlib.suppress(FileNotFoundError):
                self.place(key).rename(target)
            for old in self._set_aside_before()[:-MAX_DAMAGED]:
                self._store.remove(old)
        except OSError as error:
            raise self._write_error(error) from error
        self._report(
            f"the cached result {key[:_SHOWN]} is damaged; it was moved to {target} and"
            f" is not used: {problem}"
        )

    def _set_aside_before(self) -> list[Path]:
        """Return the results that were set aside, the latest last."""
        found = (self.root / DAMAGED).glob("*-*")
        return sorted(found, key=lambda path: path.name.rpartition("-")[2].zfill(20))

    def _compare(self, run: Run) -> None:
        """Compare a run with the cached result of its key.

        Raises:
            _DamagedError: the cached one is damaged.
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
            "the same case, kernel and tools gave other bytes than the cached result, of case"
            f" {run.name!r} with seed {run.seed}: {', '.join(files)} differ; see {place} and"
            f" {run.folder}; `longfat runs remove {run.key[:_SHOWN]}` removes the old one"
        )

    def _write_error(self, error: OSError) -> HostError:
        if is_full_error(error):
            return disk_full(self.root)
        return HostError(
            f"{self.root}: the result cache cannot be written to: {error.strerror}",
            hint="set LONGFAT_RESULT_CACHE to a folder of yours, or run with --no-cache",
        )
