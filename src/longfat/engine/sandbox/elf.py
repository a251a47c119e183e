"""The address of one symbol in an ELF file, found without decoding the others.

A kernel has some twenty thousand symbols; a general ELF library decodes them
all, which takes longer than booting the machine.
"""

from __future__ import annotations

import mmap
import struct
from typing import TYPE_CHECKING

from longfat.errors import MachineError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_SECTION = struct.Struct("<IIQQQQIIQQ")  # Elf64_Shdr, elf(5)
_SYMBOL = struct.Struct("<IBBHQQ")  # Elf64_Sym, elf(5)
_SHT_SYMTAB = 2
_ET_EXEC = 2


def symbol_address(path: Path, name: str) -> int:
    """Return the address of a symbol in an executable that is not relocated.

    Raises:
        MachineError: the file is not such an executable, or has no such symbol.
    """
    with path.open("rb") as file:
        head = file.read(20)
        if (
            len(head) < 20
            or head[:6] != b"\x7fELF\x02\x01"
            or struct.unpack_from("<H", head, 16)[0] != _ET_EXEC
        ):
            raise MachineError(f"{path}: not a 64-bit executable with fixed addresses")
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            try:
                address = _search(data, name)
            except (struct.error, IndexError, OverflowError, ValueError):
                raise MachineError(f"{path}: its tables are damaged") from None
    if address is None:
        raise MachineError(f"{path}: no symbol {name!r} in it; was it stripped?")
    return address


def _search(data: mmap.mmap, name: str) -> int | None:
    (table_offset,) = struct.unpack_from("<Q", data, 40)
    entry_size, count = struct.unpack_from("<HH", data, 58)
    sections = [_SECTION.unpack_from(data, table_offset + i * entry_size) for i in range(count)]
    for _, kind, _, _, offset, size, link, *_ in sections:
        if kind != _SHT_SYMTAB:
            continue
        names_offset, names_size = sections[link][4:6]
        names = (names_offset, names_offset + names_size)
        # A name may be the end of another one's text.
        for found in _places(data, name.encode() + b"\0", *names):
            # A symbol begins with the index of its name.
            index = struct.pack("<I", found - names_offset)
            for at in _places(data, index, offset, offset + size):
                if (at - offset) % _SYMBOL.size == 0:
                    return int(_SYMBOL.unpack_from(data, at)[4])
    return None


def _places(data: mmap.mmap, text: bytes, start: int, end: int) -> Iterator[int]:
    at = data.find(text, start, end)
    while at >= 0:
        yield at
        at = data.find(text, at + 1, end)
