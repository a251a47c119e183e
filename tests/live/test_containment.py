"""What a guest's commands do at worst: the session goes on, or ends with clear words.

And whatever becomes of the host's process, nothing of it is left.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from longfat.engine import kernel as kernels
from longfat.errors import MachineError
from longfat.live import Network, TimedOut
from longfat.live.session import Session
from longfat.live.task import RejectedError, Task
from tests.caches import share_toolset
from tests.conftest import processes_running
from tests.kernels import KERNELS

S = 10**9
KERNEL = "6.1"


@pytest.fixture
def session() -> Iterator[Session]:
    with Session(kernel=KERNEL, memory_bytes=512 << 20) as session:
        yield session


@pytest.fixture
def impatient() -> Iterator[Session]:
    """A session that soon finds that time stands still."""
    with Session(kernel=KERNEL, stall_cpu_s=1, memory_bytes=512 << 20) as session:
        yield session


def sh(session: Session, line: str, *, terminal: tuple[int, int] | None = None) -> Task:
    task = session.start(["/bin/sh", "-c", line], terminal=terminal)
    session.run_until(ended=[task])
    session.forget(task)
    return task


def python(*lines: str) -> list[str]:
    return ["python3", "-c", "\n".join(("import ctypes, os, signal, time", *lines))]


def goes_on(session: Session) -> bool:
    return bytes(sh(session, "echo on").output) == b"on\n"


# ------------------------------------------------------------------- time, output


def test_a_command_that_spins_is_named(impatient: Session) -> None:
    task = impatient.start(["/bin/sh", "-c", "sleep 1; while :; do :; done"])
    with pytest.raises(MachineError, match=r"stalls at 3\.0.* `/longfat/bin/sh -c .*` spins"):
        impatient.run_until(ended=[task])


def test_a_flood_of_output_comes_whole(session: Session) -> None:
    task = sh(session, "head -c 100000000 /dev/zero")
    assert len(task.output) == 100_000_000
    assert goes_on(session)


def test_a_flood_of_output_comes_whole_by_run() -> None:
    with Network(kernel=KERNEL) as net:
        done = net.run("head -c 30000000 /dev/zero | tr '\\0' x; echo end >&2; exit 3")
        assert (len(done.stdout), done.stderr, done.returncode) == (30_000_000, "end\n", 3)


def test_a_flood_of_output_comes_whole_through_a_terminal(session: Session) -> None:
    task = sh(session, "head -c 10000000 /dev/zero | tr '\\0' x", terminal=(24, 80))
    assert bytes(task.output) == b"x" * 10_000_000
    assert goes_on(session)


def test_a_flood_that_nobody_wants_can_be_ended(session: Session) -> None:
    got = 0

    def count(_is_error: bool, data: bytes) -> None:
        nonlocal got
        got += len(data)
        if got > 5_000_000:
            session.hold()

    task = session.start(["yes"], on_output=count)
    assert session.run_until(ended=[task]) == "held"
    session.signal(task, signal.SIGKILL)
    session.run_until(ended=[task])
    assert task.status == -signal.SIGKILL
    assert goes_on(session)


def test_what_makes_calls_of_the_kernel_without_end_can_be_held(impatient: Session) -> None:
    # It is hardly ever seen to run itself: the kernel runs for it.
    task = impatient.start(["dd", "if=/dev/zero", "of=/dev/null", "bs=16M"])
    for _ in range(3):
        impatient.resume(ended=[task])
        end_s = time.monotonic() + 0.2
        while time.monotonic() < end_s:
            impatient.wait(0.05)
        impatient.hold()
        while not impatient.is_held:
            impatient.wait(0.05)
        assert impatient.stop_reason == "held"
    impatient.signal(task, signal.SIGKILL)
    assert goes_on(impatient)


# ------------------------------------------------------------------ signals, ends


def test_what_ignores_sigterm_is_killed(session: Session) -> None:
    task = session.start(["/bin/sh", "-c", "trap '' TERM; sleep 100; sleep 100"])
    session.run_pending()
    session.signal(task, signal.SIGTERM)
    assert session.run_until(ended=[task], until_ns=session.now_ns + 10 * S) == "time"
    session.signal(task, signal.SIGKILL)
    assert session.run_until(ended=[task]) == "ended"
    assert task.status == -signal.SIGKILL


def test_what_ignores_sigterm_is_ended_by_a_timeout() -> None:
    with Network(kernel=KERNEL) as net:
        before_s = net.clock.now
        with pytest.raises(TimedOut):
            net.run("trap '' TERM HUP INT; sleep 100; sleep 100", timeout="5s")
        assert net.clock.now == pytest.approx(before_s + 5, abs=1e-4)
        assert net.run("pgrep sleep").stdout == ""


def test_what_kills_all_it_can_does_not_kill_the_machine(session: Session) -> None:
    other = session.start(["sleep", "1000"])
    session.run_pending()
    assert sh(session, "kill -9 -1").status == 0
    session.run_until(ended=[other])
    assert other.status == -signal.SIGKILL
    assert goes_on(session)


def test_signals_to_init_are_lost(session: Session) -> None:
    numbers = " ".join(str(number) for number in range(1, 65) if number not in (32, 33))
    assert sh(session, f"for n in {numbers}; do kill -$n 1; done").status == 0
    assert goes_on(session)


def test_a_command_that_closes_its_outputs_lives_on(session: Session) -> None:
    before_ns = session.now_ns
    task = sh(session, "exec <&- >&- 2>&-; sleep 5; exit 7")
    assert task.status == 7
    assert session.now_ns - before_ns >= 5 * S
    assert goes_on(session)


def test_a_command_that_closes_its_terminal_lives_on(session: Session) -> None:
    before_ns = session.now_ns
    line = "trap '' HUP; exec <&- >&- 2>&-; sleep 5; exit 7"
    assert sh(session, line, terminal=(24, 80)).status == 7
    assert session.now_ns - before_ns >= 5 * S
    assert goes_on(session)


def test_its_terminal_is_not_waited_for_by_a_person_any_more(session: Session) -> None:
    line = "trap '' HUP; exec <&- >&- 2>&-; sleep 5"
    task = session.start(["/bin/sh", "-c", line], terminal=(24, 80))
    session.run_until(prompts=True, until_ns=session.now_ns + 100 * S)
    assert task.status == 0


def test_a_daemon_lives_on_and_is_no_burden(session: Session) -> None:
    daemon = "setsid sh -c 'while sleep 1; do echo >> /tmp/ticks; done' <&- >&- 2>&- &"
    assert sh(session, f"({daemon}) & echo started").output == b"started\n"
    session.run_until(until_ns=session.now_ns + 10 * S)
    assert 9 <= int(sh(session, "wc -l < /tmp/ticks").output) <= 10
    # Orphans become init's children, and it sees them off.
    sh(session, "for n in $(seq 50); do (sh -c 'sleep 0.1 & sleep 0.1 &' &); done")
    session.run_until(until_ns=session.now_ns + S)
    assert sh(session, "ps -eo stat | grep -c Z; true").output == b"0\n"


# ------------------------------------------------------------ processes and memory


def test_a_fork_bomb(session: Session) -> None:
    bomb = "b() { b | b & }; b; sleep 1"
    sh(session, "echo 300 > /proc/sys/kernel/threads-max")
    task = session.start(["bash", "-c", bomb])
    # It goes on for ever, and a failing fork costs a little time.
    assert session.run_until(ended=[task], until_ns=session.now_ns + S // 100) == "time"
    session.signal(task, signal.SIGKILL)
    session.run_pending()
    assert goes_on(session)


def test_what_forks_without_end_can_be_ended(session: Session) -> None:
    sh(session, "echo 150 > /proc/sys/kernel/threads-max")
    script = ("while True:", "    try: os.fork()", "    except OSError: pass")
    task = session.start(python(*script))
    assert session.run_until(ended=[task], until_ns=session.now_ns + S // 100) == "time"
    with pytest.raises(RejectedError, match="true: Resource temporarily unavailable"):
        session.start(["true"])
    session.signal(task, signal.SIGKILL)
    session.run_pending()
    assert int(sh(session, "pgrep -c python3; true").output) == 1  # the machine's own


def test_a_full_tmp_is_an_error_of_the_commands_own(session: Session) -> None:
    task = sh(session, "cat /dev/zero > /tmp/fills")
    assert (task.status, bytes(task.errors)) == (1, b"cat: write error: No space left on device\n")
    assert goes_on(session)


@pytest.mark.slow
def test_a_command_that_takes_all_memory_is_killed() -> None:
    # 6.1 looks for pages to take back so long that its process counts as spinning.
    with Session(kernel=KERNELS[-1], memory_bytes=128 << 20) as session:
        task = session.start(python("x = []", "while True: x.append(b'x' * (1 << 20))"))
        session.run_until(ended=[task])
        assert task.status == -signal.SIGKILL or b"MemoryError" in task.errors
        assert goes_on(session)


def test_files_that_take_all_memory_cost_the_command_or_the_machine() -> None:
    fill = "mount -o remount,size=100% /tmp; cat /dev/zero > /tmp/fills"
    with Session(kernel=KERNEL, memory_bytes=256 << 20) as session:
        # It depends on a few pages which of the two it is.
        try:
            assert sh(session, fill).status in (-signal.SIGKILL, 128 + signal.SIGKILL)
        except MachineError as error:
            assert "the machine ended; its console:" in str(error)
            assert "deadlocked on memory" in str(error)


# ------------------------------------------------------------------- the machine


@pytest.mark.parametrize(
    ("magic", "words"),
    [
        (0x4321FEDC, "the machine ended; its console:\n.*(Power down|System halted)"),
        (0xCDEF0123, "the machine ended; its console:\n.*System halted"),
        (0x01234567, "the machine was rebooted from inside"),
    ],
)
def test_what_turns_the_machine_off(session: Session, magic: int, words: str) -> None:
    task = session.start(python(f"ctypes.CDLL(None).reboot({magic})"))
    with pytest.raises(MachineError, match=words):
        session.run_until(ended=[task])


def test_ctrl_alt_del_is_lost(session: Session) -> None:
    assert sh(session, "kill -INT 1").status == 0
    assert goes_on(session)


def test_what_takes_the_file_systems_away(session: Session) -> None:
    sh(session, "umount -a -l; umount -l /proc; umount -l /run")
    with pytest.raises(RejectedError, match="/dev/null: No such file"):
        sh(session, "echo on")
    task = session.start(["/bin/echo", "on"], takes_input=True)  # which needs no device
    session.run_until(ended=[task])
    assert bytes(task.output) == b"on\n"


# --------------------------------------------------------------- the host's process

_HOST = """\
import sys
from longfat.live import Session
from tests.kernels import KERNELS
print("up", flush=True)
with Session(kernel={kernel!r}) as session:
    print("booted", flush=True)
    task = session.start(["sh", "-c", "while sleep 0.01; do sleep 1000 & done"])
    session.run_until(ended=[task])
"""


Host = Callable[[], tuple[subprocess.Popen[bytes], Callable[[], list[str]]]]


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Host:
    """Start a process that holds a session; with what tells what is left of it."""
    found = kernels.find(KERNEL)
    own = tmp_path / "cache" / "kernels" / found.digest
    own.mkdir(parents=True)
    for path in found.folder.iterdir():
        (own / path.name).write_bytes(path.read_bytes())
        (own / path.name).chmod(path.stat().st_mode)
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    share_toolset(tmp_path / "cache")
    monkeypatch.setenv("LONGFAT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("TMPDIR", str(temporary))

    def left() -> list[str]:
        folders = [entry.name for entry in temporary.iterdir()]
        machines = [str(pid) for pid in processes_running(own / found.binary.name)]
        return folders + machines + _commands_with(str(temporary))

    def start() -> tuple[subprocess.Popen[bytes], Callable[[], list[str]]]:
        process = subprocess.Popen(
            [sys.executable, "-c", _HOST.format(kernel=KERNEL)],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        assert process.stdout is not None
        assert process.stdout.readline() == b"up\n"
        return process, left

    return start


def _commands_with(text: str) -> list[str]:
    """Return the processes with a text among their arguments."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and entry.name != str(os.getpid()):
            try:
                arguments = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if text.encode() in arguments:
                found.append(f"{entry.name}: {arguments.decode(errors='replace')}")
    return found


def _wait_until_nothing_is(left: Callable[[], list[str]]) -> None:
    end_s = time.monotonic() + 10
    while left() and time.monotonic() < end_s:
        time.sleep(0.02)
    assert left() == []


def test_a_killed_host_leaves_nothing_while_it_starts(host: Host) -> None:
    chance = random.Random(1)
    for _ in range(6):
        process, left = host()
        time.sleep(chance.uniform(0, 0.4))
        process.kill()
        process.wait()
        _wait_until_nothing_is(left)


def test_a_killed_host_leaves_nothing_while_it_runs(host: Host) -> None:
    chance = random.Random(2)
    for _ in range(2):
        process, left = host()
        assert process.stdout is not None
        assert process.stdout.readline() == b"booted\n"
        assert left()
        time.sleep(chance.uniform(0, 0.3))
        process.kill()
        process.wait()
        _wait_until_nothing_is(left)
