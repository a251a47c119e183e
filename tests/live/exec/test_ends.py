"""How `longfat exec` ends before its command does: timeouts, interrupts, the stall watchdog."""

from __future__ import annotations

import signal
import time

import pytest

from tests.live.exec.command import READY_WITHIN_S, read_until, run, start


def test_a_timeout_is_virtual_time() -> None:
    script = "trap 'date +%s; exit 5' TERM; date +%s; sleep 1000 & wait"
    done = run("--timeout", "5min", "sh", "-c", script)
    first, last = (int(word) for word in done.stdout.split())
    assert (last - first, done.returncode) == (300, 124)


def test_a_timeout_ends_what_ignores_it() -> None:
    done = run("--timeout", "5s", "--time", "sh", "-c", "trap '' TERM; sleep 1000; echo no")
    assert (done.stdout, done.returncode) == (b"", 124)
    assert done.stderr.startswith(b"longfat: 10.0000")


def test_a_pace_holds_it_back() -> None:
    began_s = time.monotonic()
    assert run("--pace", "2", "sleep", "3").returncode == 0
    assert time.monotonic() - began_s > 1.4


def test_what_spins_is_ended_and_named() -> None:
    done = run("--stall", "1", "sh", "-c", "echo before; while :; do :; done")
    assert (done.stdout, done.returncode) == (b"before\n", 3)
    assert b"spins without waiting" in done.stderr


_LOOP = """
ip link add s1 type bridge; ip link add s2 type bridge
ip link set s1 up; ip link set s2 up
for n in 1 2; do
    ip link add a$n type veth peer name b$n
    ip link set a$n master s1 up; ip link set b$n master s2 up
done
ip addr add 10.0.0.1/24 dev s1
ping -c 1 10.0.0.2; echo end
"""


@pytest.mark.parametrize("version", ["6.1", "6.12", "7.2"])
def test_packets_in_a_loop_of_switches_are_named(version: str) -> None:
    done = run("--kernel", version, "--stall", "1", "sh", "-c", _LOOP)
    assert (done.stdout, done.returncode) == (b"", 3)
    assert b"the guest's kernel receives packets without end" in done.stderr


def test_a_process_that_sends_without_end_is_named() -> None:
    script = "import socket; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
    script += "while True: s.sendto(b'', ('127.0.0.1', 9))"
    done = run("--stall", "1", "sh", "-c", f'ip link set lo up; python3 -c "{script}"')
    assert b"the guest process `python3 -c import socket" in done.stderr


def test_a_system_call_that_computes_is_named() -> None:
    done = run("--stall", "1", "dd", "if=/dev/zero", "of=/dev/null", "bs=100M")
    assert b"the guest's kernel computes without end" in done.stderr


def test_the_first_interrupt_is_the_commands() -> None:
    process = start(
        "sh", "-c", "trap 'echo caught; exit 9' INT; echo on; while sleep 1; do :; done"
    )
    assert process.stdout is not None
    read_until(process.stdout.fileno(), b"on\n")
    process.send_signal(signal.SIGINT)
    assert (process.communicate()[0], process.returncode) == (b"caught\n", 9)


def test_the_second_interrupt_ends_the_machine() -> None:
    process = start("sh", "-c", "trap 'echo caught' INT; echo on; while :; do sleep 1; done")
    assert process.stdout is not None
    read_until(process.stdout.fileno(), b"on\n")
    process.send_signal(signal.SIGINT)
    read_until(process.stdout.fileno(), b"caught\n")
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate()
    assert (errors, process.returncode) == (b"longfat: the machine was ended by SIGINT\n", 130)


def test_an_interrupt_reaches_what_spins() -> None:
    process = start("sh", "-c", "echo on; while :; do :; done")
    assert process.stdout is not None
    read_until(process.stdout.fileno(), b"on\n")
    process.send_signal(signal.SIGTERM)
    process.communicate()
    assert process.returncode == 128 + signal.SIGTERM


def test_an_interrupt_is_heard_while_nobody_reads_what_it_writes() -> None:
    process = start("yes")
    assert process.stdout is not None
    read_until(process.stdout.fileno(), b"y\n")
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGTERM)
    assert process.wait(READY_WITHIN_S) in (130, 143)
    process.communicate()
