from __future__ import annotations

import struct
from pathlib import Path

import pytest

from longfat.engine import kernel as kernels
from longfat.engine.machine.clock import _SYMBOL
from longfat.engine.sandbox.elf import symbol_address
from longfat.errors import MachineError
from tests.kernels import KERNELS


def decoded(data: bytes) -> dict[str, int]:
    """Return all symbols of an executable, decoded one by one."""
    table, size, count = (
        struct.unpack_from(f, data, at)[0] for f, at in (("<Q", 40), ("<H", 58), ("<H", 60))
    )
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, table + n * size) for n in range(count)]
    (symbols,) = (section for section in sections if section[1] == 2)
    names = sections[symbols[6]][4]
    found = {}
    for name, _, _, _, value, _ in struct.iter_unpack(
        "<IBBHQQ", data[symbols[4] : symbols[4] + symbols[5]]
    ):
        end = data.index(b"\0", names + name)
        found[data[names + name : end].decode()] = value
    return found


@pytest.mark.parametrize("series", KERNELS)
def test_addresses_are_those_of_the_table(series: str) -> None:
    path = kernels.find(series).folder / "linux"
    symbols = decoded(path.read_bytes())
    for name in (_SYMBOL, "tcp_ack", "init_net"):
        assert symbol_address(path, name) == symbols[name]
    with pytest.raises(MachineError, match="no symbol 'no_such_symbol'"):
        symbol_address(path, "no_such_symbol")


@pytest.mark.parametrize("content", [b"", b"\x7fELF", b"#!/bin/sh\n" * 10])
def test_what_is_no_executable(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "linux"
    path.write_bytes(content)
    with pytest.raises(MachineError, match="not a 64-bit executable"):
        symbol_address(path, _SYMBOL)
