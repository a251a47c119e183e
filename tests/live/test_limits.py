"""Limits of live machines: what the host keeps of what a guest writes, and wall time."""

from __future__ import annotations

import time

import pytest

from longfat.engine.sandbox.quota import VARIABLE
from longfat.errors import InputError, MachineError
from longfat.live import Network, OutputTooLargeError
from longfat.live.session import Session

KERNEL = "6.1"
SMALL = 512 << 20


def test_a_command_that_writes_too_much_is_killed_with_a_reason() -> None:
    with Network(kernel=KERNEL, memory=SMALL, max_output_bytes=1 << 20) as net:
        with pytest.raises(
            OutputTooLargeError, match="`yes` was killed: it has written more than 1 MB"
        ):
            net.run("yes")
        assert net.run("echo on").stdout == "on\n"
        with pytest.raises(OutputTooLargeError):
            net.run("yes >&2", timeout=3600)
        process = net.spawn("sleep 1; yes")
        with pytest.raises(OutputTooLargeError):
            process.expect("no")
        lines = net.spawn("yes").lines()
        with pytest.raises(OutputTooLargeError):
            for _ in lines:
                pass
        taken: list[str] = []
        with pytest.raises(OutputTooLargeError):
            net.run("yes", on_output=taken.append)


def test_all_that_is_kept_of_processes_is_bounded_together() -> None:
    with Session(
        kernel=KERNEL, memory_bytes=SMALL, max_output_bytes=3 << 20, max_kept_bytes=4 << 20
    ) as session:
        tasks = [session.start(["/bin/sh", "-c", "yes"]) for _ in range(4)]
        for task in tasks:
            session.run_until(ended=[task])
        assert all(task.is_full for task in tasks)
        assert 3 << 20 <= sum(task.kept_bytes for task in tasks) <= 4 << 20


def test_a_file_that_is_too_large_is_not_read() -> None:
    with Session(kernel=KERNEL, memory_bytes=SMALL) as session:
        task = session.start(["/bin/sh", "-c", "head -c 3000000 /dev/zero > /tmp/large"])
        session.run_until(ended=[task])
        assert len(session.read_file("/tmp/large")) == 3_000_000
        with pytest.raises(InputError, match="/tmp/large: it is larger than 2000000 bytes"):
            session.read_file("/tmp/large", max_bytes=2_000_000)
        with pytest.raises(InputError, match="larger than"):
            session.read_file("/dev/zero", max_bytes=2_000_000)
        assert len(session.read_file("/tmp/large")) == 3_000_000


def test_a_live_machine_ends_when_its_time_is_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "wall=3s")
    ended = pytest.raises(MachineError, match=r"the machine has run .* s, but its quota is 3.* s")
    with Session(kernel=KERNEL, memory_bytes=SMALL) as session, ended:
        _wait_long(session)


def _wait_long(session: Session) -> None:
    end_s = time.monotonic() + 30
    while time.monotonic() < end_s:
        session.wait(0.1)  # it is held
