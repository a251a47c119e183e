"""The remover: a process that removes incomplete files if its parent dies.

Started by `_scratch` as a script in an isolated interpreter, so it imports the
standard library only. Its standard input is the lifeline, and on it come the
names of files and folders, a line each, in hexadecimal: `+NAME` before one is
made, `-NAME` when it is gone or has been renamed. At its end, whatever has
not been unregistered is removed. A signal does not end it: a signal to all
processes of longfat ends the parent, too, and then it is needed.
"""

from __future__ import annotations

import errno
import os
import sys
import time

# The guard of each machine imports this module, too, and should start soon: so there are no
# modules that bring others in, such as contextlib and signal.
TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
else:
    import _signal as signal

_AGAIN_S = 0.01
_DEEP = 10
# There is no hurry, and a kernel on a busy host may take a while to end.
_PATIENCE_S = 60.0


def main() -> None:
    """Register names until the lifeline ends, and remove their files and folders."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, signal.SIG_IGN)
    registered: dict[str, None] = {}
    for line in sys.stdin.buffer:
        if line.endswith(b"\n"):  # otherwise the parent died in the write, and created nothing
            name = os.fsdecode(bytes.fromhex(line[1:].decode()))
            if line.startswith(b"+"):
                registered[name] = None
            else:
                registered.pop(name, None)
    for name in registered:
        remove_tree(name, within_s=_PATIENCE_S)


def remove_tree(path: str | os.PathLike[str], *, within_s: float = 10.0) -> bool:
    """Remove a file or a folder, even if a process that is about to end still writes there.

    No link is followed. A guest's root may have left folders in it that are not readable, and
    folders in folders beyond the length of any path: folders within folders are moved up
    until there are none, so that neither depth nor modes matter.

    Args:
        path: the file or folder; it may not exist any more.
        within_s: how long to retry, in seconds; ten times as long where there are
            folders in folders, of which each attempt removes one level.

    Returns:
        Whether it is gone.
    """
    start_s = time.monotonic()
    while os.path.lexists(path):
        moved = _remove_level(os.fspath(path))
        if time.monotonic() - start_s > (_DEEP if moved else 1) * within_s:
            return not os.path.lexists(path)
        if not moved:
            time.sleep(_AGAIN_S)
    return True


def _remove_level(path: str) -> bool:
    """Remove what can be, and move up what is one level down; return whether there was any."""
    try:
        os.unlink(path)
        return True
    except OSError as error:
        if error.errno not in (errno.EISDIR, errno.EPERM):
            return False
    moved = False
    try:
        with _Opened(path, None) as top:
            for name in os.listdir(top):
                if not _unlinked(name, top):
                    moved = _emptied(name, top) or moved
            os.rmdir(path)
            return True
    except OSError:
        return moved


def _emptied(name: str, top: int) -> bool:
    """Empty a folder, and remove it if that worked; return whether folders were moved up."""
    moved = False
    try:
        with _Opened(name, top) as folder:
            moved = _empty(folder, top)
    except OSError:
        pass
    try:
        os.rmdir(name, dir_fd=top)
    except OSError:
        pass
    return moved


def _empty(folder: int, top: int) -> bool:
    """Remove a folder's files and move its folders up; return whether there were folders."""
    moved = False
    for name in os.listdir(folder):
        if not _unlinked(name, folder):
            try:
                # Opened because it needs other rights: its move changes it.
                with _Opened(name, folder):
                    pass
                os.rename(name, f"moved-{os.urandom(8).hex()}", src_dir_fd=folder, dst_dir_fd=top)
                moved = True
            except OSError:
                pass
    return moved


def _unlinked(name: str, folder: int) -> bool:
    """Remove a file; return False if it is a folder."""
    try:
        os.unlink(name, dir_fd=folder)
    except OSError as error:
        return error.errno not in (errno.EISDIR, errno.EPERM)
    return True


class _Opened:
    """A folder, but no link, opened with all rights for its owner; a context manager.

    Args:
        name: its name.
        folder: the folder that it is in; None for the current one.
    """

    def __init__(self, name: str, folder: int | None) -> None:
        flags = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
        place = os.open(name, os.O_PATH | flags, dir_fd=folder)
        try:
            if os.fstat(place).st_mode & 0o700 != 0o700:
                os.chmod(f"/proc/self/fd/{place}", 0o700)
            self._descriptor = os.open(".", os.O_RDONLY | flags, dir_fd=place)
        finally:
            os.close(place)

    def __enter__(self) -> int:
        return self._descriptor

    def __exit__(self, *_: object) -> None:
        os.close(self._descriptor)


if __name__ == "__main__":
    main()
