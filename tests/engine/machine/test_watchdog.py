from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from longfat.engine.machine.watchdog import Stall, arguments_of

TOP = bytes(8)


def test_arguments_stand_between_padding_and_environment() -> None:
    stack = b"\1\2\3\0\0\0/bin/sh\0-c\0while :; do :; done\0HOME=/\0A=b c\0/bin/sh\0" + TOP
    assert arguments_of(stack) == "/bin/sh -c while :; do :; done"


def test_the_platform_below_the_first_argument_is_no_argument() -> None:
    for below in (b"\0x86_64\0", b"\0S~f\xfeex\xff86x86_64\0"):
        assert arguments_of(below + b"ls\0-l\0HOME=/\0/bin/ls\0" + TOP) == "ls -l"


def test_no_environment() -> None:
    assert arguments_of(b"\0\0ls\0/bin/ls\0" + TOP) == "ls"


def test_other_memory_is_no_stack() -> None:
    for data in (b"", bytes(4096), b"ls\0/bin/ls\0", b"\xff" * 100 + TOP):
        assert arguments_of(data) == ""


@given(st.binary(max_size=300))
def test_any_memory_gives_text(data: bytes) -> None:
    assert isinstance(arguments_of(data + TOP), str)


def test_a_stall_says_what_to_do() -> None:
    assert "`ls -R`" in str(Stall(virtual_s=1, cpu_s=20, spinner="ls -R"))
    assert "waits for an event" in str(Stall(virtual_s=1, cpu_s=0, spinner=""))


def test_packets_that_circulate_are_no_process() -> None:
    stall = Stall(virtual_s=1, cpu_s=20, is_kernel=True, receives_packets=True)
    assert "receives packets without end" in str(stall)
    assert "stp_state 1" in str(stall)
    assert "computes without end" in str(Stall(virtual_s=1, cpu_s=20, is_kernel=True))
