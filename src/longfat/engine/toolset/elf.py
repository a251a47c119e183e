"""The parts of ELF files that decide which loader runs a program, and with which libraries.

Source: elf(5).
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

from longfat.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

MAGIC = b"\x7fELF\x02\x01"
"""The start of a 64-bit little-endian file."""

_IDENT_BYTES = 16
_HEADER = struct.Struct("<HHIQQQIHHHHHH")  # Elf64_Ehdr, behind e_ident
_SEGMENT = struct.Struct("<IIQQQQQQ")  # Elf64_Phdr
_ENTRY = struct.Struct("<qQ")  # Elf64_Dyn
_PT_LOAD, _PT_DYNAMIC, _PT_INTERP, _PT_GNU_STACK = 1, 2, 3, 0x6474E551
_READ, _WRITE = 4, 2
_DT_NULL, _DT_NEEDED, _DT_STRTAB = 0, 1, 5


@dataclass(frozen=True, slots=True, kw_only=True)
class _Segment:
    kind: int
    offset: int
    address: int
    size: int


def _segments(data: bytes) -> list[_Segment]:
    if not data.startswith(MAGIC):
        raise InputError("not a 64-bit little-endian ELF file")
    try:
        header = _HEADER.unpack_from(data, _IDENT_BYTES)
        table, size, count = header[4], header[8], header[9]
        rows = [_SEGMENT.unpack_from(data, table + i * size) for i in range(count)]
    except (struct.error, OverflowError) as error:
        raise InputError("an ELF file that is cut off") from error
    segments = [_Segment(kind=row[0], offset=row[2], address=row[3], size=row[5]) for row in rows]
    if any(segment.offset + segment.size > len(data) for segment in segments):
        raise InputError("an ELF file that is cut off, or damaged")
    return segments


def needed_libraries(data: bytes) -> list[str]:
    """Return the names of the libraries that a program or library needs (`DT_NEEDED`).

    Args:
        data: the bytes of the file.

    Raises:
        InputError: it is no ELF file, or is cut off.
    """
    segments = _segments(data)
    dynamic = next((one for one in segments if one.kind == _PT_DYNAMIC), None)
    if dynamic is None:
        return []
    return [_string(data, offset) for offset in _needed(data, segments, dynamic)]


def _needed(data: bytes, segments: list[_Segment], dynamic: _Segment) -> list[int]:
    """Return the offsets of the names of the libraries that a file needs.

    Raises:
        InputError: it is damaged.
    """
    try:
        entries = list(_entries(data, dynamic))
        strings = next((value for tag, value in entries if tag == _DT_STRTAB), 0)
        start = _offset(segments, strings)
    except (struct.error, OverflowError) as error:
        raise InputError("a damaged ELF file") from error
    return [start + value for tag, value in entries if tag == _DT_NEEDED]


def _entries(data: bytes, dynamic: _Segment) -> Iterator[tuple[int, int]]:
    for at in range(dynamic.offset, dynamic.offset + dynamic.size, _ENTRY.size):
        tag, value = _ENTRY.unpack_from(data, at)
        if tag == _DT_NULL:
            break
        yield tag, value


def _offset(segments: list[_Segment], address: int) -> int:
    for segment in segments:
        if segment.kind == _PT_LOAD and 0 <= address - segment.address < segment.size:
            return segment.offset + address - segment.address
    raise InputError("an ELF file whose strings are in no segment")


def _string(data: bytes, start: int) -> str:
    try:
        return data[start : data.index(b"\0", start)].decode()
    except ValueError as error:
        raise InputError("a damaged ELF file") from error


def with_loader(data: bytes, loader: str) -> bytes:
    """Return a program that is started by another loader; a library or static program as it is.

    Args:
        data: the bytes of the program.
        loader: the path of the loader, no longer than that in the program.

    Raises:
        InputError: it is no ELF file, or the path is too long.
    """
    for segment in _segments(data):
        if segment.kind == _PT_INTERP:
            if len(loader) >= segment.size:
                raise InputError(f"the loader's path is too long for the program: {loader}")
            end = segment.offset + segment.size
            path = loader.encode().ljust(segment.size, b"\0")
            return data[: segment.offset] + path + data[end:]
    return data


def with_library(data: bytes, library: str, *, before: str) -> bytes:
    """Return a program that needs another library in place of one of its own.

    Args:
        data: the bytes of the program.
        library: the library's name.
        before: that of its own library, as long.

    Raises:
        InputError: it is no ELF file, or does not need that library; or the names differ in length.
    """
    segments = _segments(data)
    dynamic = next((segment for segment in segments if segment.kind == _PT_DYNAMIC), None)
    offsets = _needed(data, segments, dynamic) if dynamic is not None else []
    offset = next((offset for offset in offsets if _string(data, offset) == before), None)
    if offset is None or len(library) != len(before):
        raise InputError(f"a program that needs {before} cannot need {library} in its place")
    return data[:offset] + library.encode() + data[offset + len(before) :]


def with_plain_stack(data: bytes) -> bytes:
    """Return a library that does not ask for a stack whose contents may be executed.

    A file that says nothing of the stack (PT_GNU_STACK) asks for that. glibc then changes the
    stack, and from 2.41 on loads no such library. The table of segments gets another entry, and
    moves to the end of the file.

    Raises:
        InputError: it is no ELF file, or is cut off.
    """
    segments = _segments(data)
    if any(segment.kind == _PT_GNU_STACK for segment in segments):
        return data
    fields = list(_HEADER.unpack_from(data, _IDENT_BYTES))
    start, size = fields[4], _SEGMENT.size * len(segments)
    stack = _SEGMENT.pack(_PT_GNU_STACK, _READ | _WRITE, 0, 0, 0, 0, 0, 16)
    table = data[start : start + size] + stack
    padded = data.ljust(-(-len(data) // 8) * 8, b"\0")
    fields[4], fields[9] = len(padded), len(segments) + 1
    header = data[:_IDENT_BYTES] + _HEADER.pack(*fields)
    return header + padded[len(header) :] + table
