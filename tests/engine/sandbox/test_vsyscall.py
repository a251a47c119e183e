"""The host's vsyscall page, which gives programs of a guest no clock of the host."""

from __future__ import annotations

import errno
import time
from pathlib import Path

import pytest

from tests.command import longfat
from tests.kernels import KERNELS

# Linux 6.1, arch/x86/entry/vsyscall/vsyscall_emu_64.S: where gettimeofday and time are.
SCRIPT = """
from ctypes import CFUNCTYPE, c_char, c_long, c_void_p, addressof
room = (c_char * 16)()
seconds = CFUNCTYPE(c_long, c_void_p)(0xffffffffff600400)(None)
status = CFUNCTYPE(c_long, c_void_p, c_void_p)(0xffffffffff600000)(addressof(room), None)
print(seconds, status, int.from_bytes(room[:8], "little"))
"""


@pytest.mark.skipif(
    "[vsyscall]" not in Path("/proc/self/maps").read_text(), reason="the host has no such page"
)
@pytest.mark.parametrize("kernel", KERNELS)
def test_the_page_gives_no_clock_of_the_host(kernel: str, tmp_path: Path) -> None:
    command = ("exec", "--kernel", kernel, "--", "/usr/bin/python3", "-c", SCRIPT)
    done = longfat(*command, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    seconds, status, filled = map(int, done.stdout.split())
    refused = (seconds, filled) == (-errno.ENOSYS, 0) and status == -errno.ENOSYS
    virtual = status == 0 and 1_700_000_000 <= seconds <= filled <= 1_700_000_100
    assert refused or virtual
    assert abs(seconds - time.time()) > 3600
