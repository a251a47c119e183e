"""`longfat exec`: a command in a fresh machine is as on the host, but for time."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import shutil
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from longfat.errors import HostError, InputError
from longfat.live.exec.open_vswitch import check_open_vswitch
from longfat.live.folders import folder_inside, hidden_words, read_bind, share_folder

LONGFAT = str(Path(sys.executable).parent / "longfat")
EXEC = (LONGFAT, "exec", "--kernel", "7.2", "--memory", "512MB")
READY_WITHIN_S = 30


def run(
    *arguments: str, given: bytes = b"", cwd: Path | str = "/", env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [*EXEC, *arguments],
        input=given,
        capture_output=True,
        cwd=cwd,
        env=None if env is None else {**os.environ, **env},
        check=False,
    )


def start(*arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [*EXEC, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd="/",
    )


def read_until(descriptor: int, text: bytes) -> bytes:
    """Read until a text has come; fail when it does not."""
    said = b""
    end_s = time.monotonic() + READY_WITHIN_S
    while text not in said:
        assert select.select([descriptor], [], [], max(0.0, end_s - time.monotonic()))[0], said
        try:
            data = os.read(descriptor, 65536)
        except OSError:
            data = b""
        assert data, said
        said += data
    return said


# ------------------------------------------------------------------------ results


def test_outputs_come_apart_and_the_status_is_the_commands() -> None:
    done = run("--", "sh", "-c", "echo out; echo err >&2; id -u; uname -n; exit 3")
    assert (done.stdout, done.stderr, done.returncode) == (b"out\n0\nlongfat\n", b"err\n", 3)


@pytest.mark.parametrize(
    ("command", "status", "words"),
    [
        (["sh", "-c", "kill -9 $$"], 137, b""),
        (["no-such-program"], 127, b"longfat: no-such-program: command not found\n"),
        (["--cwd", "/no/such", "true"], 126, b"longfat: /no/such: No such file or directory\n"),
    ],
)
def test_how_it_can_end(command: list[str], status: int, words: bytes) -> None:
    done = run(*command)
    assert (done.returncode, done.stderr) == (status, words)


def test_the_same_command_gives_the_same_bytes() -> None:
    script = "date +%s.%N; head -c 16 /dev/urandom | od -t x1; sleep 1000; date +%s.%N; env; ps ax"
    one = run("sh", "-c", script)
    assert one.stdout == run("sh", "-c", script, env={"LANG": "de_DE"}).stdout
    assert one.stdout != run("--seed", "2", "sh", "-c", script).stdout


def test_it_has_linuxs_own_accounts_unless_it_is_asked() -> None:
    look = ("cat", "/sys/module/host_boundary/parameters/enabled")
    assert run("--", *look).stdout == b"N\n"
    assert run("--host-boundary", "--", *look).stdout == b"Y\n"


def test_it_tells_how_long_it_took() -> None:
    done = run("--time", "sleep", "1000")
    assert done.stderr.startswith(b"longfat: 1000.0000")
    assert b" s of virtual time in " in done.stderr


# ------------------------------------------------------------------ input, output


def test_much_input_and_output_at_once(tmp_path: Path) -> None:
    data = os.urandom(1 << 20) * 16
    done = run("--time", "cat", given=data)
    assert done.stdout == data
    assert done.stderr.startswith(b"longfat: 0.00")  # input takes no time
    file = tmp_path / "file"
    file.write_bytes(data)
    with file.open("rb") as stream:
        again = subprocess.run([*EXEC, "cat"], stdin=stream, capture_output=True, check=True)
    assert again.stdout == data


def test_input_that_never_says_anything_does_not_hold_it() -> None:
    process = start("--time", "sleep", "10000")
    assert process.stderr is not None
    assert b"10000.00" in read_until(process.stderr.fileno(), b"real time")
    assert process.wait() == 0
    process.communicate()


def test_who_talks_with_it_does_so_in_real_time() -> None:
    process = start("sh", "-c", "while read x; do date +%s.%N; done")
    assert process.stdin is not None
    assert process.stdout is not None
    times_s = []
    for _ in range(3):
        process.stdin.write(b"now\n")
        process.stdin.flush()
        times_s.append((float(process.stdout.readline()), time.monotonic()))
        time.sleep(0.5)
    process.communicate()
    (first_s, wall_1_s), _, (last_s, wall_3_s) = times_s
    assert 0.3 < last_s - first_s < wall_3_s - wall_1_s + 0.3


def test_a_reader_that_goes_away_ends_it() -> None:
    process = start("yes")
    assert process.stdout is not None
    assert process.stdin is not None
    assert process.stdout.read(4) == b"y\ny\n"
    process.stdout.close()
    process.stdin.close()
    assert process.wait(READY_WITHIN_S) == 141
    assert process.stderr is not None
    assert process.stderr.read() == b""
    process.stderr.close()


def test_a_closed_input_is_an_empty_one() -> None:
    line = " ".join(EXEC) + " sh -c 'cat; echo end' <&-"
    done = subprocess.run(line, shell=True, capture_output=True, check=True, cwd="/")
    assert done.stdout == b"end\n"


# ------------------------------------------------------------------- what it sees


def test_what_it_writes_is_gone_and_the_rest_is_read_only() -> None:
    name = f"longfat-test-{os.getpid()}"
    places = ("/etc", "/var", "/home", "/root", "/opt", "/tmp", "/var/tmp")
    line = f"for d in {' '.join(places)}; do echo x > $d/{name} && cat $d/{name}; done"
    done = run("sh", "-c", f"{line}; touch /usr/{name}")
    assert done.stdout == b"x\n" * len(places)
    assert b"Read-only file system" in done.stderr
    assert not [place for place in places if Path(place, name).exists()]


def test_it_runs_where_we_are_if_it_sees_that(tmp_path: Path) -> None:
    assert run("pwd", cwd="/usr/share").stdout == b"/usr/share\n"
    assert run("pwd", cwd="/tmp").stdout == b"/\n"
    assert run("--cwd", "/etc", "pwd", cwd="/tmp").stdout == b"/etc\n"
    (tmp_path / "sub").mkdir()
    done = run("--bind", "..:/srv/work", "pwd", cwd=tmp_path / "sub")
    assert done.stdout == b"/srv/work/sub\n"


def test_a_folder_that_is_bound_can_be_written_to(tmp_path: Path) -> None:
    (tmp_path / "there").write_text("from outside")
    done = run("--bind", ".:rw", "sh", "-c", "cat there; echo from inside > made", cwd=tmp_path)
    assert (done.stdout, done.returncode) == (b"from outside", 0)
    assert (tmp_path / "made").read_text() == "from inside\n"


def test_its_environment_is_its_own() -> None:
    env = {"GIVEN": "here", "KEPT_BACK": "secret"}
    done = run("--env", "GIVEN", "--env", "SET=a=b", "--env", "EMPTY=", "env", env=env)
    found = dict(line.split("=", 1) for line in done.stdout.decode().splitlines())
    assert (found["GIVEN"], found["SET"], found["EMPTY"]) == ("here", "a=b", "")
    assert "KEPT_BACK" not in found
    assert (found["HOME"], found["TZ"], found["TERM"]) == ("/root", "UTC", "dumb")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--env", "NOT_SET_HERE"], "NOT_SET_HERE=VALUE"),
        (["--env", "=x"], "no name"),
        (["--bind", "/no/such"], "there is no folder '/no/such'"),
        (["--bind", "/:/mnt", "--bind", "/usr:/mnt"], "cannot both be seen at /mnt"),
        (["--bind", "/srv:/proc"], "the machine itself needs /proc"),
        (["--bind", "/srv:inside"], "whole path"),
        (["--bind", "/srv:/usr/none"], "choose a place such as /mnt"),
        (["--cwd", "there"], "whole path"),
        (["--timeout", "5 parsecs"], "parsecs"),
        (["--memory", "much"], "much"),
    ],
)
def test_bad_options(arguments: list[str], words: str) -> None:
    done = run(*arguments, "true")
    assert done.returncode == 2
    assert words in done.stderr.decode()
    assert b"Traceback" not in done.stderr


def test_where_folders_are_seen(tmp_path: Path) -> None:
    shown = [read_bind(text) for text in (f"{tmp_path}:/mnt", f"{tmp_path}:rw", f"{tmp_path}")]
    assert [(one.place, one.path, one.is_writable) for one in shown] == [
        ("/mnt", tmp_path, False),
        (str(tmp_path), tmp_path, True),
        (str(tmp_path), tmp_path, False),
    ]
    (tmp_path / "deep").mkdir()
    inner = [share_folder("/mnt", tmp_path), share_folder("/srv", tmp_path / "deep")]
    assert folder_inside(tmp_path / "deep" / "er", inner) == "/srv/er"
    assert folder_inside(tmp_path / "other", inner) == "/mnt/other"
    assert folder_inside(Path("/tmp/elsewhere"), inner) == "/"
    assert folder_inside(Path("/usr/lib"), inner) == "/usr/lib"
    assert folder_inside(Path("/home/somebody"), inner) == "/"
    with pytest.raises(InputError, match="write DIR, DIR:PLACE"):
        read_bind(f"{tmp_path}:")


def test_words_that_name_hidden_files(tmp_path: Path) -> None:
    for name in ("script.py", "plain"):
        (tmp_path / name).touch()
    words = ["python3", "script.py", "plain", "./plain", "/usr/bin/env", "no.py", "a" * 300 + "."]
    assert hidden_words(words, here=tmp_path, shared=[]) == ["script.py", "./plain"]
    shown = [share_folder("/mnt", tmp_path)]
    assert hidden_words(words, here=tmp_path, shared=shown) == []


def test_what_a_command_does_not_see_is_said(tmp_path: Path) -> None:
    (tmp_path / "script.sh").write_text("echo ran")
    done = run("sh", "script.sh", cwd=tmp_path)
    assert done.returncode != 0
    assert "the machine does not see script.sh; show it its folder: --bind ." in str(done.stderr)
    done = run("--bind", ".", "sh", "script.sh", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"ran\n", b"")


def test_a_folder_is_read_only_unless_said_otherwise(tmp_path: Path) -> None:
    script = "touch made 2>/dev/null && echo wrote"
    assert run("--bind", ".", "sh", "-c", script, cwd=tmp_path).stdout == b""
    assert run("--bind", ".:/mnt:rw", "sh", "-c", script, cwd=tmp_path).stdout == b"wrote\n"
    assert (tmp_path / "made").exists()


def test_a_users_files_are_not_seen() -> None:
    folders = "/home /root /run /var/lib /opt /srv /mnt /proc/1/root"
    done = run("sh", "-c", f"find {folders} -type f 2>/dev/null; cat /etc/shadow /etc/hostname")
    own = ("/run/longfat/", "/run/mends/")
    assert [line for line in done.stdout.decode().splitlines() if not line.startswith(own)] == []


# -------------------------------------------------------------------------- time


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


# ----------------------------------------------------------------------- signals


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


# ---------------------------------------------------------------------- terminals


class Terminal:
    """`longfat exec` on a pseudo terminal."""

    def __init__(self, *arguments: str) -> None:
        self.near, self.far = pty.openpty()
        self.resize(30, 100)
        self.modes = termios.tcgetattr(self.far)
        self.process = subprocess.Popen(
            ["setsid", "--ctty", "--wait", *EXEC, *arguments],
            stdin=self.far,
            stdout=self.far,
            stderr=self.far,
            cwd="/",
            env={**os.environ, "TERM": "xterm"},
        )

    def resize(self, rows: int, columns: int) -> None:
        fcntl.ioctl(self.far, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def type(self, text: str) -> None:
        os.write(self.near, text.encode())

    def until(self, text: str) -> str:
        return read_until(self.near, text.encode()).decode()

    def end(self) -> int:
        """Wait for its end, and see that the terminal is as it was."""
        status = self.process.wait(READY_WITHIN_S)
        assert termios.tcgetattr(self.far) == self.modes
        return status

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self.near)
        os.close(self.far)


@pytest.fixture
def terminals() -> Iterator[list[Terminal]]:
    opened: list[Terminal] = []
    yield opened
    for terminal in opened:
        terminal.close()


def test_a_terminal(terminals: list[Terminal]) -> None:
    line = "tty; stty size; echo $TERM; read x; stty size; exit 6"
    terminal = Terminal("sh", "-c", line)
    terminals.append(terminal)
    said = terminal.until("xterm\r\n")
    assert said.split() == ["/dev/pts/0", "30", "100", "xterm"]
    terminal.resize(50, 132)
    time.sleep(0.3)
    terminal.type("\r")
    assert "50 132" in terminal.until("132\r\n")
    assert terminal.end() == 6


def test_keys_go_to_the_command(terminals: list[Terminal]) -> None:
    terminal = Terminal("sh", "-c", "trap 'echo caught; exit 4' INT; echo on; sleep 1e9")
    terminals.append(terminal)
    terminal.until("on\r\n")
    terminal.type("\x03")
    terminal.until("caught\r\n")
    assert terminal.end() == 4


def test_the_clock_stands_still_at_a_prompt(terminals: list[Terminal]) -> None:
    terminal = Terminal("python3")
    terminals.append(terminal)
    terminal.until(">>> ")
    times_s = []
    for _ in range(2):
        terminal.type("import time; print(time.monotonic())\r")
        times_s.append(float(terminal.until("\r\n>>> ").split()[-2]))
        time.sleep(0.7)
    assert times_s[1] - times_s[0] < 0.1
    terminal.type("\x04")
    assert terminal.end() == 0


def test_a_program_that_reads_keys_runs_in_real_time(terminals: list[Terminal]) -> None:
    script = (
        "import sys, time, tty",
        "tty.setcbreak(0)",
        "began = time.monotonic()",
        "print('on', flush=True)",
        "sys.stdin.read(1)",
        "print('took', time.monotonic() - began, 's')",
    )
    terminal = Terminal("python3", "-c", "\n".join(script))
    terminals.append(terminal)
    terminal.until("on\r\n")
    began_s = time.monotonic()
    time.sleep(1)
    terminal.type("x")
    took_s = float(terminal.until(" s\r\n").split()[1])
    assert 0.5 < took_s < time.monotonic() - began_s + 0.5
    assert terminal.end() == 0


def test_an_interrupt_key_reaches_what_spins(terminals: list[Terminal]) -> None:
    terminal = Terminal("sh", "-c", "echo on; sleep 1; while :; do :; done")
    terminals.append(terminal)
    terminal.until("on\r\n")
    time.sleep(0.5)
    terminal.type("\x03")
    assert terminal.end() == 130


def test_a_person_is_let_out(terminals: list[Terminal]) -> None:
    terminal = Terminal("sh", "-c", "trap '' INT QUIT; echo on; sleep 1; while :; do :; done")
    terminals.append(terminal)
    terminal.until("on\r\n")
    terminal.type("\x1c\x1c\x1c")
    terminal.until("the machine was ended by SIGQUIT")
    assert terminal.end() == 131


def test_a_terminal_that_closes_ends_it() -> None:
    terminal = Terminal("sh", "-c", "trap '' HUP; echo on; while :; do sleep 1; done")
    terminal.until("on\r\n")
    os.close(terminal.far)
    os.close(terminal.near)
    assert terminal.process.wait(READY_WITHIN_S) != 0


# ------------------------------------------------------------------------- typed


def test_nothing_is_typed_where_it_is_not_waited_for() -> None:
    given = b"sleep 10; timeout 10 cat\necho on\n"
    done = run("--typed", "--timeout", "100s", "bash", "--norc", given=given)
    assert done.stdout.split(b"\r\n")[1:3] == [b"bash-5.2# echo on", b"on"]
    assert done.returncode == 0


def test_what_nobody_types_for_is_ended_by_a_timeout() -> None:
    done = run("--typed", "--timeout", "100s", "cat", given=b"no line for cat\n")
    assert (done.stdout, done.returncode) == (b"", 124)


def test_the_end_of_the_lines_is_the_end_of_input() -> None:
    done = run("--typed", "bash", "--norc", given=b"sleep 1000\ndate +%s\nfalse\n")
    said = done.stdout.decode().replace("\r\n", "\n")
    assert said == (
        "bash-5.2# sleep 1000\nbash-5.2# date +%s\n1700001002\nbash-5.2# false\nbash-5.2# exit\n"
    )
    assert done.returncode == 1


# ------------------------------------------------------------------ Open vSwitch


def test_without_open_vswitch_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda *_, **__: None)
    with pytest.raises(HostError, match="apt-get install openvswitch-switch"):
        check_open_vswitch()
