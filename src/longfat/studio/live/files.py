"""Files that programs wrote in a session's machine, to be downloaded before it ends."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

from longfat.errors import InputError
from longfat.model.network import ROOT_NAMESPACE
from longfat.studio.live.commands import run_line

if TYPE_CHECKING:
    from longfat.live import Network

_FOLDERS = ("/root", "/tmp", "/home", "/srv")
"""The writable folders of a machine that are empty at first."""

_MAX_FILES = 200
_MAX_FILE_BYTES = 64 << 20
# Hidden files are those of shells and editors.
_LIST = (
    f"find {' '.join(_FOLDERS)} -xdev -name '.?*' -prune -o -type f -printf '%s %p\\n' 2>/dev/null"
    f" | sort -k 2 | head -n {_MAX_FILES}"
)


class SessionFile(TypedDict):
    """A file in a session's machine.

    Attributes:
        path: its path there.
        bytes: its size.
    """

    path: str
    bytes: int


def list_files(network: Network) -> list[SessionFile]:
    """Return the files that were written in a machine; it is held, before and after.

    Raises:
        InputError: they cannot be listed.
    """
    result = run_line(network, ROOT_NAMESPACE, _LIST)
    found: list[SessionFile] = []
    for line in result.text.splitlines():
        size, _, path = line.partition(" ")
        if size.isdecimal() and path.startswith("/"):
            found.append({"path": path, "bytes": int(size)})
    return found


def read_file(network: Network, path: str) -> bytes:
    """Return the content of one of `list_files`; the machine is held, before and after.

    Raises:
        InputError: there is no such file, or it is too large.
    """
    sizes = {file["path"]: file["bytes"] for file in list_files(network)}
    if path not in sizes:
        raise InputError(f"there is no file {path!r} in {', '.join(_FOLDERS)} of this session")
    return network.session.read_file(path, max_bytes=_MAX_FILE_BYTES)
