"""Plug-ins: extensions in other packages, by Python's entry points.

A package declares its extensions in its `pyproject.toml`:

    [project.entry-points."longfat.flows"]
    owd = "longfat_owd:OneWayDelay"

There are the groups `longfat.flows` (tools: classes of flows), `longfat.probes` (classes of
probes) and `longfat.labs` (packages whose folder holds folders of labs). Kernels are found
without entry points, in the namespace package `longfat_kernels`. The group of products is read
by `longfat.common.products`.

Plug-ins are searched for when a name is used that longfat itself does not define, or when
all names are listed. Importing the library that reads entry points takes longer than a
short command, so it is done only where a package on Python's path has the group; `references`
does without it.

Source: the Python Packaging User Guide, "Entry points specification" and "Recording installed
projects".
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

from longfat.errors import HostError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

T = TypeVar("T")

_OURS = "[longfat."


class Registry(Mapping[str, T], Generic[T]):
    """All implementations of a kind by their names: longfat's own, and those of plug-ins.

    Args:
        group: the group of entry points.
        base: the required base class of a plug-in's.
        tag: the attribute with the name, which must be that of the entry point.
        own: longfat's own.
    """

    def __init__(self, group: str, *, base: type, tag: str, own: Mapping[str, T]) -> None:
        self._group = group
        self._base = base
        self._tag = tag
        self._own = dict(own)

    def __getitem__(self, name: str) -> T:
        """Return the implementation with a name.

        Raises:
            KeyError: there is none.
            HostError: a plug-in cannot be loaded.
        """
        if name in self._own:
            return self._own[name]
        loaded: T = self._load(_entries(self._group)[name])
        self._own[name] = loaded
        return loaded

    def __iter__(self) -> Iterator[str]:
        yield from dict.fromkeys((*self._own, *_entries(self._group)))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __contains__(self, name: object) -> bool:
        return name in self._own or name in _entries(self._group)

    def _load(self, entry: EntryPoint) -> T:
        found = load(entry)
        if not (isinstance(found, type) and issubclass(found, self._base)):
            raise _broken(entry, f"it is not a subclass of {self._base.__name__}")
        if getattr(found, self._tag, None) != entry.name:
            raise _broken(entry, f"its `{self._tag}` is not {entry.name!r}")
        return found  # type: ignore[return-value]


def load(entry: EntryPoint) -> object:
    """Return the object of an entry point.

    Raises:
        HostError: it cannot be loaded.
    """
    try:
        return entry.load()
    except Exception as error:  # a plug-in may raise anything
        raise _broken(entry, f"{type(error).__name__}: {error}") from error


def _broken(entry: EntryPoint, reason: str) -> HostError:
    package = entry.dist.name if entry.dist is not None else entry.module
    return HostError(
        f"the plug-in {entry.name!r} of the package {package} cannot be used: {reason}",
        hint=f"pip uninstall {package}",
    )


def entries(group: str) -> Mapping[str, EntryPoint]:
    """Return the entry points of a group by their names."""
    return _entries(group)


def references(group: str) -> Mapping[str, str]:
    """Return the references of a group's entry points, such as `package.module:name`, by name.

    The library that reads entry points takes longer to import than this takes.

    Args:
        group: the group.
    """
    by_name: dict[str, str] = {}
    for text in _declarations():
        section = ""
        for line in map(str.strip, text.splitlines()):
            name, equals, reference = line.partition("=")
            if line.startswith("["):
                section = line
            elif section == f"[{group}]" and equals:
                by_name.setdefault(name.strip(), reference.strip())
    return by_name


@cache
def _entries(group: str) -> Mapping[str, EntryPoint]:
    if not any(f"[{group}]" in text for text in _declarations()):
        return {}
    from importlib.metadata import entry_points  # noqa: PLC0415  takes 50 ms

    return {entry.name: entry for entry in entry_points(group=group)}


def _declarations() -> Iterator[str]:
    """Yield the files of entry points, of packages on Python's path, that have a group of ours."""
    for folder in sys.path:
        yield from _declarations_in(folder or ".")


@cache
def _declarations_in(folder: str) -> tuple[str, ...]:
    """Return those of the packages in a folder."""
    try:
        names = os.listdir(folder)  # noqa: PTH208  paths of hundreds of packages take time
    except OSError:  # not a folder: a zip file, or nothing
        return ()
    texts = []
    for name in names:
        if name.endswith((".dist-info", ".egg-info")):
            try:
                text = Path(f"{folder}/{name}/entry_points.txt").read_text(encoding="utf-8")
            except (OSError, UnicodeDecodeError):  # it has none
                continue
            if _OURS in text:
                texts.append(text)
    return tuple(texts)
