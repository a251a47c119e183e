"""Files and JSON, read within limits: of bytes, of values, of depth and of numbers."""

from __future__ import annotations

import errno
import io
import json
import os
import re
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

from longfat.errors import InputError, LongfatError

MAX_BYTES = 16 << 20
"""The maximum size of a JSON file written by longfat itself."""

MAX_RAW_BYTES = 64 << 20
"""The maximum size of a tool's report that is read as a whole."""

# The maximum memory of a value in JSON, approximately.
_BYTES_OF_A_VALUE = 80
_MAX_MEMORY_BYTES = 600 << 20
MAX_QUOTE = 40
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")

MakeError = Callable[[str], LongfatError]
"""Creates the error of a message."""


def open_regular(path: Path) -> io.BufferedReader:
    """Open a regular file to read: nothing that would block, as a pipe does, or never end.

    Raises:
        OSError: it cannot be opened, or is not a regular file.
    """
    file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        mode = os.fstat(file).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if not stat.S_ISREG(mode):
            raise OSError(errno.EINVAL, "Not a regular file")
        return os.fdopen(file, "rb")
    except BaseException:
        os.close(file)
        raise


def read_bytes(
    path: Path, *, most_bytes: int, where: str = "", error: MakeError = InputError
) -> bytes:
    """Read a file with a maximum size.

    Args:
        path: a regular file.
        most_bytes: the maximum size, in bytes.
        where: its name in messages; its path, if empty.
        error: creates the error of a message.

    Raises:
        OSError: it cannot be read.
        LongfatError: it is larger.
    """
    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size
        content = b"" if size > most_bytes else file.read(most_bytes + 1)
    if size > most_bytes or len(content) > most_bytes:
        size = max(size, len(content))
        raise error(f"{where or path}: it has {size:,} bytes; the maximum is {most_bytes:,}")
    return content


def read_json(
    path: Path,
    *,
    most_bytes: int = MAX_BYTES,
    where: str = "",
    error: MakeError = InputError,
    allow_repeated: bool = False,
) -> Any:
    """Read a file of JSON.

    Args:
        path: a regular file.
        most_bytes: the maximum size, in bytes.
        where: its name in messages; its path, if empty.
        error: creates the error of a message.
        allow_repeated: as of `parse_json`.

    Raises:
        OSError: it cannot be read.
        LongfatError: it is larger, or not JSON: see `parse_json`.
    """
    content = read_bytes(path, most_bytes=most_bytes, where=where, error=error)
    return parse_json(content, where=where or str(path), error=error, allow_repeated=allow_repeated)


def parse_json(
    content: bytes, *, where: str, error: MakeError = InputError, allow_repeated: bool = False
) -> Any:
    """Return the value of a JSON text.

    Args:
        content: its bytes, in UTF-8.
        where: its name in messages, such as its file.
        error: creates the error of a message.
        allow_repeated: another program wrote it, which may repeat a field (as iperf3 does): the
            last one counts.

    Raises:
        LongfatError: it is not JSON, is nested too deep, repeats a field, would take
            more than some 600 MB of memory, or has an invalid number or text: NaN,
            Infinity, thousands of digits, half of a surrogate pair.
    """
    values = sum(content.count(mark) for mark in (b",", b"[", b"{"))
    if values * _BYTES_OF_A_VALUE > _MAX_MEMORY_BYTES:
        raise error(f"{where}: JSON with about {values:,} values, which is too many")
    try:
        text = content.decode("utf-8")
        data = json.loads(
            text, parse_constant=_constant, object_pairs_hook=None if allow_repeated else _object
        )
        if _SURROGATE.search(text):
            json.dumps(data, ensure_ascii=False).encode()
    except RecursionError:
        raise error(f"{where}: JSON that is nested too deep") from None
    except UnicodeEncodeError:
        raise error(f"{where}: a text in it contains half of a surrogate pair") from None
    except ValueError as problem:
        raise error(f"{where}: not JSON: {problem}") from None
    return data


def _constant(name: str) -> float:
    raise ValueError(f"{name} is not a number")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the field {quoted(twice)} is repeated")
    return found


def quoted(text: str) -> str:
    """Return a text in quotes, truncated if it is long."""
    return repr(text if len(text) <= MAX_QUOTE else f"{text[: MAX_QUOTE - 3]}...")
