"""The address of one symbol in an ELF file, found without decoding the others.

A kernel has some twenty thousand symbols; a general ELF library decodes them
all, which takes longer than booting the machine.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from longfat.errors import MachineError

if TYPE_CHECKING:
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
    data = path.read_bytes()
    if data[:6] != b"\x7fELF\x02\x01" or struct.unpack_from("<H", data, 16)[0] != _ET_EXEC:
        raise MachineError(f"{path}: not a 64-bit executable with fixed addresses")
    (table_offset,) = struct.unpack_from("<Q", data, 40)
    entry_size, count = struct.unpack_from("<HH", data, 58)
    sections = [_SECTION.unpack_from(data, table_offset + i * entry_size) for i in range(count)]
    for _, kind, _, _, offset, size, link, *_ in sections:
        if kind != _SHT_SYMTAB:
            continue
        names_offset, names_size = sections[link][4:6]
        names = data[names_offset : names_offset + names_size]
        name_index = names.find(b"\0" + name.encode() + b"\0") + 1
        if name_index == 0:
            continue
        for symbol in _SYMBOL.iter_unpack(data[offset : offset + size]):
            if symbol[0] == name_index:
                return int(symbol[4])
    raise MachineError(f"{path}: no symbol {name!r} in it; was it stripped?")
