"""The loader's list of libraries, in the format of `/etc/ld.so.cache`.

With such a list the loader opens each library at once. Without one it searches folders, among
them those for processors of certain levels, so a program would start with more or fewer system
calls on different hosts. Each costs a fraction of a microsecond of virtual time.

Source: struct cache_file_new and _dl_cache_libcmp of glibc 2.36 (sysdeps/generic/dl-cache.h,
elf/dl-cache.c).
"""

from __future__ import annotations

import functools
import re
import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

HOST_LIST = b"/etc/ld.so.cache\0"
"""The list's path in a loader."""

_HEADER = struct.Struct("<17s3sIIB3xI12x")
_ENTRY = struct.Struct("<iIIIQ")
_LITTLE_ENDIAN = 2
_X86_64_LIBC6 = 0x0303
_PARTS = re.compile(rb"\d+|[^\d]")


def library_cache(libraries: Mapping[str, str]) -> bytes:
    """Return the content of a list.

    Args:
        libraries: the paths of libraries, by the names that programs need.
    """
    strings = bytearray()
    start = _HEADER.size + len(libraries) * _ENTRY.size
    entries = []
    key = functools.cmp_to_key(_order)
    for name in sorted(libraries, key=lambda name: key(name.encode()), reverse=True):
        offsets = []
        for text in (name, libraries[name]):
            offsets.append(start + len(strings))
            strings += text.encode() + b"\0"
        entries.append(_ENTRY.pack(_X86_64_LIBC6, *offsets, 0, 0))
    header = _HEADER.pack(
        b"glibc-ld.so.cache", b"1.1", len(libraries), len(strings), _LITTLE_ENDIAN, 0
    )
    return header + b"".join(entries) + bytes(strings)


def _order(first: bytes, second: bytes) -> int:
    """Compare two names as the loader does: numbers in them by their values."""
    ours, theirs = _PARTS.findall(first), _PARTS.findall(second)
    for a, b in zip(ours, theirs, strict=False):
        if a.isdigit() and b.isdigit():
            if int(a) != int(b):
                return -1 if int(a) < int(b) else 1
        elif a.isdigit() != b.isdigit():
            return 1 if a.isdigit() else -1
        elif a != b:
            return -1 if a < b else 1
    return (len(ours) > len(theirs)) - (len(ours) < len(theirs))


def with_list(loader: bytes, path: str) -> bytes:
    """Return a loader that reads its list from another file.

    Args:
        loader: the bytes of the loader.
        path: the path of the list, as long as that in the loader.

    Raises:
        ValueError: the loader has no such path, or has it more than once; or a path of another
            length is given.
    """
    ours = path.encode() + b"\0"
    if len(ours) != len(HOST_LIST) or loader.count(HOST_LIST) != 1:
        raise ValueError(f"the loader's list of libraries cannot be {path}")
    return loader.replace(HOST_LIST, ours)
