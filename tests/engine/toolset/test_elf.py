from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longfat.engine.toolset.elf import (
    MAGIC,
    needed_libraries,
    with_library,
    with_loader,
    with_plain_stack,
)
from longfat.errors import InputError

PROGRAM = Path("/bin/ls").resolve().read_bytes()


def test_the_libraries_are_those_that_readelf_finds() -> None:
    for path in ("/bin/ls", "/bin/ip", sys.executable):
        shown = subprocess.run(["readelf", "-d", path], capture_output=True, text=True, check=True)
        wanted = re.findall(r"\(NEEDED\).*\[(.*)\]", shown.stdout)
        assert needed_libraries(Path(path).read_bytes()) == wanted


def test_a_program_runs_by_another_loader(tmp_path: Path) -> None:
    loader = tmp_path / "l"
    loader.symlink_to("/lib64/ld-linux-x86-64.so.2")
    program = tmp_path / "true"
    # A path as long as this is refused; a relative one is short.
    program.write_bytes(with_loader(Path("/bin/true").resolve().read_bytes(), "./l"))
    program.chmod(0o755)
    assert subprocess.run([program], cwd=tmp_path, check=False).returncode == 0
    loader.unlink()
    with pytest.raises(FileNotFoundError):
        subprocess.run([program], cwd=tmp_path, check=False)


def test_a_program_needs_another_library() -> None:
    first, *others = needed_libraries(PROGRAM)
    other = first.swapcase()
    changed = with_library(PROGRAM, other, before=first)
    assert needed_libraries(changed) == [other, *others]
    assert with_library(changed, first, before=other) == PROGRAM
    for library, before in ((f"{first}x", first), ("none.so", "gone.so")):
        with pytest.raises(InputError, match="cannot need"):
            with_library(PROGRAM, library, before=before)


def test_a_library_gets_a_plain_stack(tmp_path: Path) -> None:
    source, library = tmp_path / "x.c", tmp_path / "x.so"
    source.write_text("int answer(void) { return 42; }\n")
    command = ["gcc", "-shared", "-fPIC", "-z", "execstack", "-o", str(library), str(source)]
    subprocess.run(command, check=True)
    # As a compiler leaves it that says nothing of the stack: an entry of another kind.
    silent = library.read_bytes().replace(b"\x51\xe5\x74\x64\x07", b"\x00\x00\x00\x60\x00", 1)
    plain = with_plain_stack(silent)
    assert plain != silent
    assert with_plain_stack(plain) == plain
    library.write_bytes(plain)
    shown = subprocess.run(["readelf", "-lW", library], capture_output=True, text=True, check=True)
    assert re.search(r"GNU_STACK .* RW +0x10$", shown.stdout, re.MULTILINE)
    call = f"import ctypes; print(ctypes.CDLL({str(library)!r}).answer())"
    call += "; print(' rwxp ' in open('/proc/self/maps').read())"
    done = subprocess.run([sys.executable, "-c", call], capture_output=True, text=True, check=True)
    assert done.stdout == "42\nFalse\n"


def test_a_path_that_is_too_long_is_refused() -> None:
    with pytest.raises(InputError, match="too long"):
        with_loader(PROGRAM, "/" + 40 * "x")


def test_what_is_no_elf_file_is_refused() -> None:
    for data in (b"", b"#!/bin/sh\n", MAGIC, PROGRAM[:100]):
        with pytest.raises(InputError, match="ELF"):
            needed_libraries(data)


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 4000), st.binary(max_size=16))
def test_damaged_files_are_read_or_refused(at: int, damage: bytes) -> None:
    data = PROGRAM[:at] + damage + PROGRAM[at + len(damage) :]
    try:
        needed_libraries(data)
        with_loader(data, "/l")
        with_plain_stack(data)
        with_library(data, "libc.so.7", before="libc.so.6")
    except InputError:
        pass
