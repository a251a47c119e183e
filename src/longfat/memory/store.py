"""The store of results: recall, remember, forget."""

from __future__ import annotations

import contextlib
import errno
import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import platformdirs

from longfat.errors import InputError, LongfatError, MachineError, SurroundingsError
from longfat.memory.entry import Entry, entry_of, read_entry
from longfat.memory.placing import files_of, fill, place_run
from longfat.runs import load_run
from longfat.runs.hidden import hidden_folder, remove_folder, sweep
from longfat.runs.run import MANIFEST, RAW, file_digest, measured_digest
from longfat.runs.space import disk_full, is_full_error, write_error

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from longfat.runs import Run
    from longfat.setting import Setting

_SHARD = 2
_SHOWN = 12
_HEX = frozenset("0123456789abcdef")


def memory_root() -> Path:
    """Return the folder of the memory: `LONGFAT_MEMORY`, or below the user's data folder."""
    named = os.environ.get("LONGFAT_MEMORY")
    return Path(named).resolve() if named else platformdirs.user_data_path("longfat") / "results"


class _DamagedError(Exception):
    """A remembered result is not what it was."""


class Memory:
    """Remembered results; several processes may use one at a time.

    Args:
        root: its folder; made when something is remembered. `memory_root()`, if None.
        tell: told, in a sentence, of a result that is dropped because it was damaged.
    """

    def __init__(
        self, root: Path | None = None, *, tell: Callable[[str], None] = lambda _text: None
    ) -> None:
        self.root = memory_root() if root is None else root.resolve()
        self._tell = tell
        self._swept = False

    def place(self, key: str) -> Path:
        """Return where the result of a key lies, or would."""
        return self.root / key[:_SHARD] / key

    def knows(self, key: str) -> bool:
        """Tell quickly whether there is a result of a key."""
        return (self.place(key) / MANIFEST).exists()

    def recall(
        self, key: str, *, out: Path, name: str, study: str, parameters: Mapping[str, Setting]
    ) -> Run | None:
        """Put a remembered result into a run directory, whole and at once.

        Args:
            key: the result.
            out: the folder that takes the run directory.
            name: the name of the case that asks for it.
            study: the name of its study.
            parameters: of a case of a grid, what each parameter is in it.

        Returns:
            The run; None if there is none of this key, or none that is undamaged: that
            is forgotten, and `tell` told why.

        Raises:
            InputError: `out` cannot be written to.
            SurroundingsError: the disk is full.
        """
        while (mark := self._mark(key)) is not None:
            try:
                return self._recall(key, out.resolve(), name, study, parameters)
            except _DamagedError as damage:
                if self._mark(key) == mark:
                    self.forget(key)
                    self._tell(f"the remembered result {key[:_SHOWN]} is dropped: {damage}")
                    return None
            except OSError as error:
                if self._mark(key) == mark:
                    raise write_error(out, error) from error
            # Another process has forgotten it meanwhile, and may have put it there anew.
        return None

    def _recall(
        self, key: str, out: Path, name: str, study: str, parameters: Mapping[str, Setting]
    ) -> Run:
        """Put a result into a run directory.

        Raises:
            _DamagedError: it is not what it was.
            OSError: the run directory cannot be written.
        """
        entry, found = self._undamaged(key)
        run = replace(
            found,
            folder=out / f"{name}-seed{found.seed}",
            name=name,
            study=study,
            parameters=dict(parameters),
        )
        place_run(run, source=entry.folder, files=entry.files)
        with contextlib.suppress(OSError):
            os.utime(entry.folder)
        return run

    def remember(self, run: Run) -> None:
        """Keep a finished run.

        Args:
            run: the run, whole in its folder.

        Raises:
            MachineError: the same case, kernel and tools gave other bytes before.
            SurroundingsError: the memory cannot be written to.
        """
        key = run.key
        while True:
            mark = self._mark(key)
            try:
                if mark is None:
                    self._put(run)
                else:
                    self._compare(run)
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
            OSError: it cannot be written, or there is one now.
        """
        place = self.place(run.key)
        place.parent.mkdir(parents=True, exist_ok=True)
        if not self._swept:
            sweep(self.root)
            self._swept = True
        with hidden_folder(self.root, name=run.key[:_SHOWN]) as folder:
            fill(folder, source=run.folder, files=files_of(run.folder))
            (folder / MANIFEST).write_text(run.manifest_text(), encoding="utf-8")
            entry_of(run, filled=folder, folder=place).write(folder)
            folder.chmod(0o755)
            os.utime(folder)
            folder.rename(place)

    def forget(self, key: str) -> None:
        """Remove a result; it may be gone already.

        Raises:
            SurroundingsError: it cannot be removed.
        """
        place = self.place(key)
        try:
            if place.is_dir():
                remove_folder(place, by_way_of=self.root)
        except OSError as error:
            raise self._write_error(error) from error

    def entries(self, *, prefix: str = "") -> Iterator[Entry]:
        """Yield what is remembered, in the keys' order.

        Args:
            prefix: what the keys begin with.
        """
        if not set(prefix) <= _HEX:
            return
        with contextlib.suppress(OSError):
            for shard in sorted(self.root.glob(f"{prefix[:_SHARD]:?<{_SHARD}}")):
                for place in sorted(shard.glob(f"{prefix}*")):
                    if entry := read_entry(place):
                        yield entry

    def _mark(self, key: str) -> tuple[int, int] | None:
        """Return what tells a result from one that took its place; None if there is none."""
        try:
            about = (self.place(key) / MANIFEST).stat()
        except OSError:
            return None
        return about.st_ino, about.st_mtime_ns

    def _undamaged(self, key: str) -> tuple[Entry, Run]:
        """Return a result that is as it was when it was remembered.

        Raises:
            _DamagedError: it is not, and why.
        """
        place = self.place(key)
        entry = read_entry(place)
        if entry is None:
            raise _DamagedError("what was noted of it cannot be read")
        try:
            run = load_run(place)
            if run.key != key:
                raise _DamagedError("its manifest is that of another result")
            changed = entry.changed_file(run)
        except InputError as error:
            raise _DamagedError(error.message) from error
        except FileNotFoundError:
            raise _DamagedError("a file of it is missing") from None
        except OSError as error:
            raise _DamagedError(f"it cannot be read: {error.strerror}") from error
        if changed is not None:
            raise _DamagedError(f"{changed} has been changed since")
        return entry, run

    def _compare(self, run: Run) -> None:
        """Compare a run with the result that is remembered under its key.

        Raises:
            MachineError: they differ.
            OSError: the remembered one cannot be read.
        """
        place = self.place(run.key)
        about = f"of case {run.name!r} with seed {run.seed}"
        mend = f"see {place} and {run.folder}; `longfat runs remove {run.key[:_SHOWN]}` forgets"
        try:
            remembered = load_run(place)
            digest = measured_digest(place / RAW)
        except (OSError, LongfatError) as error:
            raise MachineError(
                f"the remembered result {about} is damaged: {error}; {mend} it"
            ) from error
        if digest == run.digest == remembered.digest:
            with contextlib.suppress(OSError):
                os.utime(place)
            return
        files = ", ".join(_differing(place / RAW, run.raw)) or "none of the raw files"
        if remembered.digest == run.digest:
            raise MachineError(
                f"the remembered result {about} was changed after it was remembered: {files}; "
                f"the run gave again what it gave then; {mend} the changed one"
            )
        raise MachineError(
            f"the same case, kernel and tools gave other bytes than are remembered, {about}: "
            f"{files} differ; {mend} the old one"
        )

    def _write_error(self, error: OSError) -> SurroundingsError:
        if is_full_error(error):
            return disk_full(self.root)
        return SurroundingsError(
            f"{self.root}: the memory of results cannot be written to: {error.strerror}",
            mend="set LONGFAT_MEMORY to a folder of yours, or run with --no-memory",
        )


def _differing(one: Path, other: Path) -> list[str]:
    """Return the names of the files that two folders do not have in common."""
    digests = [{path.name: file_digest(path) for path in raw.iterdir()} for raw in (one, other)]
    names = sorted(digests[0].keys() | digests[1].keys())
    return [f"{RAW}/{name}" for name in names if digests[0].get(name) != digests[1].get(name)]
