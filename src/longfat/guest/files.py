"""The files of a case, put into the machine before all else.

The host's file system is read-only in here. So memory goes over the folder that takes a
file, unless the folder is in memory already: an overlay shows what was there too.
"""

from __future__ import annotations

import binascii
import os
import shlex

from longfat.guest.mounts import cover_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Noon of the first day of 2000, UTC: before the clock of any machine, and 0 to no program.
_MODIFIED_NS = 946_728_000 * 10**9


def put_files(files: list[dict[str, Any]], *, skips_missing: bool = False) -> dict[str, Any] | None:
    """Put files in place, owned by root, with a fixed time of modification.

    Args:
        files: each with its `path`, whether it is `executable`, and its content as `text`
            or `base64`.
        skips_missing: leave out those whose top folder is not there, and cannot be made.

    Returns:
        The `path` of the first that cannot be there, and `words`; None if all are.
    """
    folders = {_folder_that_is_there(file["path"]): file["path"] for file in files}
    # What is mounted over a folder hides what was mounted below it, so upper ones go first.
    for folder in sorted(folders, key=lambda folder: (folder.count("/"), folder)):
        if folder == "/" and not os.access(folder, os.W_OK):
            if skips_missing:
                continue
            words = "its top folder is not there, and the machine's / cannot be written"
            return {"path": folders[folder], "words": words}
        try:
            if not os.access(folder, os.W_OK):
                cover_folder(folder)
        except OSError as error:
            return {"path": folders[folder], "words": _words(error)}
    for file in files:
        if skips_missing and _is_missing(file["path"]):
            continue
        try:
            _put(file)
        except OSError as error:
            return {"path": file["path"], "words": _words(error)}
    return None


def _is_missing(path: str) -> bool:
    return _folder_that_is_there(path) == "/" and not os.access("/", os.W_OK)


def _folder_that_is_there(path: str) -> str:
    """Return the nearest folder above a path that is there, without links in its own path."""
    folder = os.path.dirname(path)
    while not os.path.lexists(folder):
        folder = os.path.dirname(folder)
    return os.path.realpath(folder)


def _put(file: dict[str, Any]) -> None:
    path = file["path"]
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if os.path.lexists(path):
        os.unlink(path)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC)
    try:
        data = memoryview(_content(file))
        while data:
            data = data[os.write(descriptor, data) :]
        # A folder may give its own group to what is made in it.
        os.fchown(descriptor, 0, 0)
        os.fchmod(descriptor, 0o755 if file["executable"] else 0o644)
        os.utime(descriptor, ns=(_MODIFIED_NS, _MODIFIED_NS))
    finally:
        os.close(descriptor)


def _content(file: dict[str, Any]) -> bytes:
    if "text" in file:
        text: str = file["text"]
        return text.encode()
    return binascii.a2b_base64(file["base64"])


def _words(error: OSError) -> str:
    named = f" ({error.filename})" if error.filename else ""
    return f"{error.strerror}{named}"


def typed(file: dict[str, Any]) -> list[str]:
    """Return the lines of a shell that put a file in place, see `put_files`."""
    path = shlex.quote(file["path"])
    if "text" in file:
        text: str = file["text"]
        # A here-document always ends with a newline.
        program = "cat" if text.endswith("\n") or not text else "head -c -1"
        body = text.removesuffix("\n").split("\n") if text else []
    else:
        program = "base64 -d"
        body = [file["base64"][at : at + 76] for at in range(0, len(file["base64"]), 76)]
    end = "EOF"
    while end in body:
        end += "_"
    return [
        f"mkdir -p {shlex.quote(os.path.dirname(file['path']))}",
        f"{program} > {path} << '{end}'",
        *body,
        end,
        f"chmod {'755' if file['executable'] else '644'} {path}",
    ]
