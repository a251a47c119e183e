"""Layers applied to each other: what an image's root file system holds in the end.

All of that happens in memory. A path is looked up in the tree that the layers made so far, its
symbolic links are followed there and stay below its root; so no layer can lead a reader to a
file of the host's, in whichever order links and files come.

Sources: the OCI Image Layer Filesystem Changeset (whiteouts, opaque folders, hard links).
"""

from __future__ import annotations

import stat
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from longfat.errors import InputError

MOST_ENTRIES = 400_000
"""How many entries the layers of an image may have together."""

MOST_BYTES = 8 << 30
"""How large all files of an image's layers may be together, in bytes."""

_MOST_DEPTH, _LONGEST_NAME, _LONGEST_PATH = 200, 255, 3000
_MOST_LINKS = 40
_WHITEOUT, _OPAQUE, _OTHERS = ".wh.", ".wh..wh..opq", ".wh..wh."
_SET_ID = stat.S_ISUID | stat.S_ISGID


@dataclass(eq=False, slots=True, kw_only=True)
class Entry:
    """A file, folder or symbolic link; a file with several names is one entry.

    Attributes:
        kind: `file`, `folder` or `link`.
        layer: the layer that it is of, counted from 0.
        mode: its rights.
        modified_s: when it was modified, in seconds since 1970.
        size_bytes: of a file.
        ordinal: of a file, its place in its layer.
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
    """What some layers make of an empty folder.

    Attributes:
        root: the folder.
        left_out: how many entries of each kind were left out, in words.
    """

    def __init__(self) -> None:
        self.root = Entry(kind="folder", layer=-1)
        self.left_out: Counter[str] = Counter()
        self._entries = 0
        self._bytes = 0

    def put(self, path: str, entry: Entry) -> None:
        """Put an entry at its path; or do what a whiteout says.

        Args:
            path: its path as the layer has it.
            entry: it.

        Raises:
            InputError: the path leads out of the root or cannot be; or there is too much.
        """
        names = self._names(path)
        self._count(entry)
        if not names:
            if entry.kind == "folder":
                self.root.mode, self.root.modified_s = entry.mode, entry.modified_s
            return
        *above, name = names
        if any(one.startswith(_WHITEOUT) for one in above):
            return  # notes of aufs
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
            target: the path of the file that is there.
            layer: the layer that says so.

        Raises:
            InputError: as `put`, or there is no such file.
        """
        names, of = self._names(path), self._names(target)
        if not names or not of:
            raise _refusal(path, "is a hard link between folders")
        there = self._folder(of[:-1], layer=layer, path=target).children.get(of[-1])
        if there is None or there.kind == "folder":
            raise _refusal(path, f"is a hard link to {target[:200]!r}, which is no file before it")
        self._count(Entry(kind="link", layer=layer))
        self._folder(names[:-1], layer=layer, path=path).children[names[-1]] = there

    def leave_out(self, path: str, what: str, *, layer: int) -> None:
        """Take note of an entry that no host sees; what was at its path is gone.

        Args:
            path: its path.
            what: what it is, in words.
            layer: the layer that it is of.

        Raises:
            InputError: as `put`.
        """
        self._count(Entry(kind="link", layer=layer))
        self.left_out[what] += 1
        if names := self._names(path):
            self._folder(names[:-1], layer=layer, path=path).children.pop(names[-1], None)

    def find(self, path: str) -> Entry | None:
        """Return what stands at a path, links followed; None if there is nothing."""
        try:
            at = self._follow(self._names(path), layer=None, path=path)
        except InputError:
            return None
        return at

    def walk(self) -> Iterator[tuple[str, Entry]]:
        """Yield all entries below the root with their paths, folders before what they hold."""
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
        if self._entries > MOST_ENTRIES:
            raise InputError(f"it has more than {MOST_ENTRIES:,} files and folders")
        if self._bytes > MOST_BYTES:
            raise InputError(f"its files are larger than {MOST_BYTES >> 30} GB")

    @staticmethod
    def _names(path: str) -> list[str]:
        if path.startswith("/"):
            raise _refusal(path, "is an absolute path, which would lead out of the image")
        names = [name for name in path.split("/") if name not in ("", ".")]
        if ".." in names:
            raise _refusal(path, "holds .., which would lead out of the image")
        if "\0" in path:
            raise _refusal(path, "holds a NUL character")
        if len(names) > _MOST_DEPTH or len(_bytes(path)) > _LONGEST_PATH:
            raise _refusal(path, "is too long, or nested too deep")
        if any(len(_bytes(name)) > _LONGEST_NAME for name in names):
            raise _refusal(path, f"has a name of more than {_LONGEST_NAME} bytes")
        return names

    def _folder(self, names: list[str], *, layer: int, path: str) -> Entry:
        found = self._follow(names, layer=layer, path=path)
        if found is None or found.kind != "folder":
            raise _refusal(path, "stands below a file, which is no folder")
        return found

    def _follow(  # noqa: C901  the cases of path_resolution(7), one after the other
        self, names: list[str], *, layer: int | None, path: str
    ) -> Entry | None:
        """Follow a path from the root; folders that are not there are made, if a layer is given."""
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
                if len(at) > _MOST_DEPTH:
                    raise _refusal(path, "is nested too deep")
                entry = at[-1].children[name] = Entry(kind="folder", layer=layer)
                self._count(entry)
            if entry.kind == "link":
                links += 1
                if links > _MOST_LINKS:
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
            return  # there is nothing to take away
        if name == _OPAQUE:
            for one in list(folder.children):
                _prune(folder, one, layer)
        elif not name.startswith(_OTHERS):  # which are notes of aufs
            _prune(folder, hidden, layer)


def _prune(folder: Entry, name: str, layer: int) -> None:
    """Take away what stands at a name, but for what this layer has put there."""
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
