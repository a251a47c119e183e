"""Layers applied to each other: the contents of an image's root file system.

This happens in memory. A path is looked up in the tree of the layers so far, its
symbolic links are followed there and stay below its root; so no layer can lead a reader to a
file of the host, in whichever order links and files come.

Sources: the OCI Image Layer Filesystem Changeset (whiteouts, opaque folders, hard links).
"""

from __future__ import annotations

import stat
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from longfat.errors import InputError

MAX_ENTRIES = 400_000
"""The maximum number of entries of all layers of an image."""

MAX_BYTES = 8 << 30
"""The maximum size of all files of an image's layers, in bytes."""

_MAX_DEPTH, _MAX_NAME, _MAX_PATH = 200, 255, 3000
_MAX_LINKS = 40
_WHITEOUT, _OPAQUE, _OTHERS = ".wh.", ".wh..wh..opq", ".wh..wh."
_SET_ID = stat.S_ISUID | stat.S_ISGID


@dataclass(eq=False, slots=True, kw_only=True)
class Entry:
    """A file, folder or symbolic link; a file with several names is one entry.

    Attributes:
        kind: `file`, `folder` or `link`.
        layer: its layer, counted from 0.
        mode: its mode.
        modified_s: when it was modified, in seconds since 1970.
        size_bytes: of a file.
        ordinal: of a file, its index in its layer.
        target: of a link.
        children: of a folder, by name.
    """

    kind: str
    layer: int
    mode: int = 0o755
    modified_s: int = 0
    size_bytes: int = 0
    ordinal: int = -1
    target: str = ""
    children: dict[str, Entry] = field(default_factory=dict)


class Tree:
    """The result of applying some layers to an empty folder.

    Attributes:
        root: the folder.
        left_out: the number of omitted entries by kind, as text.
    """

    def __init__(self) -> None:
        self.root = Entry(kind="folder", layer=-1)
        self.left_out: Counter[str] = Counter()
        self._entries = 0
        self._bytes = 0

    def put(self, path: str, entry: Entry) -> None:
        """Put an entry at its path; or apply a whiteout.

        Args:
            path: its path in the layer.
            entry: the entry.

        Raises:
            InputError: the path leads out of the root or is invalid; or a limit is exceeded.
        """
        names = self._names(path)
        self._count(entry)
        if not names:
            if entry.kind == "folder":
                self.root.mode, self.root.modified_s = entry.mode, entry.modified_s
            return
        *above, name = names
        if any(one.startswith(_WHITEOUT) for one in above):
            return  # metadata of aufs
        if name.startswith(_WHITEOUT):
            self._take_away(above, name, layer=entry.layer, path=path)
            return
        folder = self._folder(above, layer=entry.layer, path=path)
        there = folder.children.get(name)
        if there is not None and there.kind == entry.kind == "folder":
            there.mode, there.modified_s, there.layer = entry.mode, entry.modified_s, entry.layer
        else:
            folder.children[name] = entry
        if entry.mode & _SET_ID and entry.kind == "file":
            self.left_out["set-user-ID and set-group-ID bits"] += 1

    def put_link(self, path: str, target: str, *, layer: int) -> None:
        """Give a file another name.

        Args:
            path: the name.
            target: the path of the existing file.
            layer: its layer.

        Raises:
            InputError: as `put`, or there is no such file.
        """
        names, of = self._names(path), self._names(target)
        if not names or not of:
            raise _refusal(path, "is a hard link between folders")
        there = self._folder(of[:-1], layer=layer, path=target).children.get(of[-1])
        if there is None or there.kind == "folder":
            raise _refusal(path, f"is a hard link to {target[:200]!r}, which is no earlier file")
        self._count(Entry(kind="link", layer=layer))
        self._folder(names[:-1], layer=layer, path=path).children[names[-1]] = there

    def leave_out(self, path: str, what: str, *, layer: int) -> None:
        """Record an omitted entry; an entry that was at its path is removed.

        Args:
            path: its path.
            what: its kind, as text.
            layer: its layer.

        Raises:
            InputError: as `put`.
        """
        self._count(Entry(kind="link", layer=layer))
        self.left_out[what] += 1
        if names := self._names(path):
            self._folder(names[:-1], layer=layer, path=path).children.pop(names[-1], None)

    def find(self, path: str) -> Entry | None:
        """Return the entry at a path, following links; None if there is none."""
        try:
            at = self._follow(self._names(path), layer=None, path=path)
        except InputError:
            return None
        return at

    def walk(self) -> Iterator[tuple[str, Entry]]:
        """Yield all entries below the root with their paths, folders before their contents."""
        waiting = [("", self.root)]
        while waiting:
            path, folder = waiting.pop()
            for name, entry in sorted(folder.children.items()):
                whole = f"{path}/{name}" if path else name
                yield whole, entry
                if entry.kind == "folder":
                    waiting.append((whole, entry))

    def _count(self, entry: Entry) -> None:
        self._entries += 1
        self._bytes += entry.size_bytes
        if self._entries > MAX_ENTRIES:
            raise InputError(f"it has more than {MAX_ENTRIES:,} files and folders")
        if self._bytes > MAX_BYTES:
            raise InputError(f"its files are larger than {MAX_BYTES >> 30} GB")

    @staticmethod
    def _names(path: str) -> list[str]:
        if path.startswith("/"):
            raise _refusal(path, "is an absolute path, which would lead out of the image")
        names = [name for name in path.split("/") if name not in ("", ".")]
        if ".." in names:
            raise _refusal(path, "contains .., which would lead out of the image")
        if "\0" in path:
            raise _refusal(path, "contains a NUL character")
        if len(names) > _MAX_DEPTH or len(_bytes(path)) > _MAX_PATH:
            raise _refusal(path, "is too long, or nested too deep")
        if any(len(_bytes(name)) > _MAX_NAME for name in names):
            raise _refusal(path, f"has a name of more than {_MAX_NAME} bytes")
        return names

    def _folder(self, names: list[str], *, layer: int, path: str) -> Entry:
        found = self._follow(names, layer=layer, path=path)
        if found is None or found.kind != "folder":
            raise _refusal(path, "is below a file, not a folder")
        return found

    def _follow(  # noqa: C901  the cases of path_resolution(7), one after the other
        self, names: list[str], *, layer: int | None, path: str
    ) -> Entry | None:
        """Follow a path from the root; missing folders are created, if a layer is given."""
        at = [self.root]
        waiting = list(reversed(names))
        links = 0
        while waiting:
            name = waiting.pop()
            if name in ("", "."):
                continue
            if at[-1].kind != "folder":
                return at[-1] if layer is not None else None
            if name == "..":
                if len(at) == 1:
                    raise _refusal(path, "goes through a symbolic link that leads out of the image")
                at.pop()
                continue
            entry = at[-1].children.get(name)
            if entry is None:
                if layer is None:
                    return None
                if len(at) > _MAX_DEPTH:
                    raise _refusal(path, "is nested too deep")
                entry = at[-1].children[name] = Entry(kind="folder", layer=layer)
                self._count(entry)
            if entry.kind == "link":
                links += 1
                if links > _MAX_LINKS:
                    raise _refusal(path, "goes through symbolic links without an end")
                if entry.target.startswith("/"):
                    del at[1:]
                waiting += reversed(entry.target.split("/"))
                continue
            at.append(entry)
        return at[-1]

    def _take_away(self, above: list[str], name: str, *, layer: int, path: str) -> None:
        hidden = name.removeprefix(_WHITEOUT)
        if hidden in ("", ".", ".."):
            raise _refusal(path, "is a whiteout of no file")
        folder = self._follow(above, layer=None, path=path)
        if folder is None or folder.kind != "folder":
            return  # there is nothing to remove
        if name == _OPAQUE:
            for one in list(folder.children):
                _prune(folder, one, layer)
        elif not name.startswith(_OTHERS):  # which are metadata of aufs
            _prune(folder, hidden, layer)


def _prune(folder: Entry, name: str, layer: int) -> None:
    """Remove the entry at a name, except for what this layer has put there."""
    entry = folder.children.get(name)
    if entry is None:
        return
    for one in list(entry.children):
        _prune(entry, one, layer)
    if entry.layer < layer and not entry.children:
        del folder.children[name]


def _refusal(path: str, why: str) -> InputError:
    return InputError(f"{path[:200]!r} {why}")


def _bytes(path: str) -> bytes:
    return path.encode(errors="surrogateescape")
