"""A session: orders at one moment, and time that passes only when it is let."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from longfat.common.process import find_program
from longfat.engine.machine import Pace
from longfat.engine.machine.clock import VirtualClock
from longfat.errors import MachineError
from longfat.live.session import Session
from longfat.live.task import RejectedError
from tests.kernels import KERNELS

S = 10**9


@pytest.fixture(params=KERNELS)
def each_session(request: pytest.FixtureRequest) -> Iterator[Session]:
    with Session(kernel=request.param) as session:
        yield session


@pytest.fixture
def session() -> Iterator[Session]:
    with Session(kernel="6.1") as session:
        yield session


def run(session: Session, line: str) -> str:
    task = session.start(["/bin/sh", "-c", line])
    session.run_until(ended=[task])
    session.forget(task)
    assert task.status == 0, task.errors
    return task.output.decode()


def test_no_time_passes_while_the_host_decides(each_session: Session) -> None:
    kernel_pid = find_program(each_session._machine._guarded.pid, each_session.kernel.binary)
    assert kernel_pid is not None
    clock = VirtualClock(kernel_pid=kernel_pid, binary=each_session.kernel.binary)
    try:
        # Something that would go on, if it could.
        task = each_session.start(["sh", "-c", "while sleep 0.01; do echo; done"])
        each_session.run_until(until_ns=3 * S)
        before_s = clock.now_s()
        written = len(task.output)
        time.sleep(0.3)
        each_session.wait(0)
        assert clock.now_s() == before_s
        assert len(task.output) == written
        assert 80 < written < 101
    finally:
        clock.close()


def test_the_clock_starts_at_two_seconds_and_stops_where_it_should(
    each_session: Session,
) -> None:
    assert each_session.now_ns == 2 * S
    assert each_session.run_until(until_ns=5 * S) == "time"
    assert each_session.now_ns == 5 * S


def test_a_call_takes_the_commands_own_time(each_session: Session) -> None:
    before_ns = each_session.now_ns
    run(each_session, "sleep 5")
    assert 0 <= each_session.now_ns - before_ns - 5 * S < 100_000


def test_input_reaches_a_machine_that_runs(each_session: Session) -> None:
    task = each_session.start(["cat"], takes_input=True)
    each_session.resume(output=[task])
    each_session.write_stdin(task, b"now")
    while not each_session.is_held:
        each_session.wait(0.1)
    assert each_session.stop_reason == "output"
    assert bytes(task.output) == b"now"


def test_a_signal_reaches_a_machine_that_runs(session: Session) -> None:
    task = session.start(["sleep", "infinity"])
    session.resume(ended=[task])
    session.signal(task, signal.SIGTERM)
    while not session.is_held:
        session.wait(0.1)
    assert task.status == -signal.SIGTERM


def test_hold_ends_what_lets_time_pass(session: Session) -> None:
    session.resume()
    session.hold()
    while not session.is_held:
        session.wait(0.1)
    assert session.stop_reason == "held"
    assert run(session, "echo on") == "on\n"


def test_an_order_holds_a_machine_that_an_exception_left_running(session: Session) -> None:
    session.resume()
    assert session.run_until(until_ns=session.now_ns + S) == "time"


def test_settling_lets_a_server_get_ready_in_no_time(session: Session) -> None:
    before_ns = session.now_ns
    task = session.start(["python3", "-c", "print('ready', flush=True); input()"], takes_input=True)
    session.run_pending()
    assert bytes(task.output) == b"ready\n"
    assert session.now_ns - before_ns < 1_000_000


def test_settling_ends_beside_a_process_that_reads_the_clock_for_ever(session: Session) -> None:
    session.start(["python3", "-c", "import time\nwhile True: time.time()"])
    session.run_pending()
    assert run(session, "echo on") == "on\n"
    assert session.run_until(until_ns=session.now_ns + S // 100) == "time"


def test_what_computes_for_ever_can_be_ended(each_session: Session) -> None:
    task = each_session.start(["sh", "-c", "while :; do :; done"])
    before_ns = each_session.now_ns
    each_session.resume(ended=[task])
    each_session.wait(0.3)
    each_session.signal(task, signal.SIGKILL)
    while not each_session.is_held:
        each_session.wait(0.1)
    assert task.status == -signal.SIGKILL
    assert each_session.now_ns - before_ns < 1_000_000
    assert run(each_session, "echo on") == "on\n"


def test_output_and_errors_come_apart_or_merged(session: Session) -> None:
    apart = session.start(["sh", "-c", "echo out; echo err >&2"])
    merged = session.start(["sh", "-c", "echo out; echo err >&2"], merges=True)
    session.run_until(ended=[apart])
    session.run_until(ended=[merged])
    assert (bytes(apart.output), bytes(apart.errors)) == (b"out\n", b"err\n")
    assert (bytes(merged.output), bytes(merged.errors)) == (b"out\nerr\n", b"")


def test_much_input_and_output_at_once(session: Session) -> None:
    data = bytes(range(256)) * 20_000
    task = session.start(["cat"], takes_input=True)
    session.write_stdin(task, data)
    session.write_stdin(task, b"")
    session.run_until(ended=[task])
    assert bytes(task.output) == data


def test_files_go_in_and_out(session: Session) -> None:
    data = bytes(range(256)) * 1000
    session.write_file("/tmp/there", data, mode=0o755)
    assert session.read_file("/tmp/there") == data
    assert run(session, "stat -c %a /tmp/there") == "755\n"
    session.write_file("/etc/made", b"")
    with pytest.raises(RejectedError, match="/no/such: No such file or directory"):
        session.read_file("/no/such")
    with pytest.raises(RejectedError, match="/proc/no: "):
        session.write_file("/proc/no", data)
    assert run(session, "echo on") == "on\n"


@pytest.mark.parametrize(
    ("argv", "status", "words"),
    [
        (["nosuch"], 127, "nosuch: command not found"),
        (["/etc/passwd"], 127, "command not found"),
        (["/usr"], 127, "command not found"),
    ],
)
def test_what_cannot_be_started(session: Session, argv: list[str], status: int, words: str) -> None:
    with pytest.raises(RejectedError, match=words) as raised:
        session.start(argv)
    assert raised.value.status == status


def test_there_is_no_such_host(session: Session) -> None:
    with pytest.raises(RejectedError, match="there is no host 'h9'"):
        session.start(["true"], node="h9")


def test_a_terminal(session: Session) -> None:
    task = session.start(["sh", "-c", "tty; stty size; read x; stty size"], terminal=(24, 80))
    session.run_pending()
    session.resize(task, 50, 132)
    session.write_stdin(task, b"\r")
    session.run_until(ended=[task])
    assert task.output.split() == b"/dev/pts/0 24 80 50 132".split()


def test_a_pace_holds_it_back(each_session: Session) -> None:
    each_session.set_pace(Pace(factor=2.0, from_s=each_session.now_s))
    began_s = time.monotonic()
    each_session.run_until(until_ns=each_session.now_ns + S)
    assert time.monotonic() - began_s > 0.35
    each_session.set_pace(None)
    assert each_session.run_until(until_ns=each_session.now_ns + 1000 * S) == "time"


def test_a_machine_that_powers_itself_off(session: Session) -> None:
    session.start(["python3", "-c", "import ctypes; ctypes.CDLL(None).reboot(0x4321FEDC)"])
    with pytest.raises(MachineError, match="the machine ended"):
        session.run_until(until_ns=session.now_ns + S)


def test_nothing_is_left(session: Session) -> None:
    folder = Path(session._machine._console.name).parent
    assert folder.is_dir()
    session.close()
    assert not folder.exists()
