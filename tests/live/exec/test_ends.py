"""How `longfat exec` ends before its command does: timeouts, interrupts, the stall watchdog."""

from __future__ import annotations

import signal
import time

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
