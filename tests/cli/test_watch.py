"""`longfat watch` on a real terminal and in a pipe: what is seen, and what is left behind."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from longfat.engine import kernel as kernels
from longfat.errors import ExitCode
from tests.command import Command, longfat
from tests.conftest import processes_running

STUDY = """\
title: A small study
memory: 512MB
network:
  hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8}
  switches: [s1]
  links: [[h1, s1], [h2, s1]]
setup:
  - root: "tc qdisc add dev s1-eth2 root handle 1: netem delay 10ms"
  - root: "tc qdisc add dev s1-eth2 parent 1: handle 2: tbf rate 20mbit burst 50000 limit 50000"
flows:
  bulk: {iperf3: h1 -> h2, time: 3s}
probes:
  queue: {of: s1-eth2, every: 100ms}
  tcp: {of: bulk, every: 100ms}
cases:
  own:
  bare:
    probes: {queue: , tcp: }
claims:
  - it is filled: own.bulk.receiver > 15mbit
  - it is overfull: own.bulk.receiver > 25mbit
"""

ENTER, LEAVE, SHOW_CURSOR, HOME = b"\x1b[?1049h", b"\x1b[?1049l", b"\x1b[?25h", b"\x1b[H"


@pytest.fixture
def study(tmp_path: Path) -> Path:
    path = tmp_path / "small.yaml"
    path.write_text(STUDY)
    return path


class Terminal:
    """A command on a pseudo terminal of its own."""

    def __init__(
        self, *arguments: str, cwd: Path, columns: int = 100, rows: int = 30, **environment: str
    ) -> None:
        self.near, far = pty.openpty()
        self.far = far
        self.resize(columns=columns, rows=rows)
        self.modes = termios.tcgetattr(far)
        kept = {
            name: text
            for name, text in os.environ.items()
            if name not in ("NO_COLOR", "COLUMNS", "LINES")
        }
        self.process = Command(
            *("longfat", *arguments),
            start_new_session=True,  # so that Ctrl-C on this terminal reaches the command
            cwd=cwd,
            stdin=far,
            stdout=far,
            stderr=far,
            env={**kept, "TERM": "xterm-256color", **environment},
        )
        self.output = b""

    def resize(self, *, columns: int, rows: int) -> None:
        """Set the size of the terminal."""
        fcntl.ioctl(self.far, termios.TIOCSWINSZ, struct.pack("4H", rows, columns, 0, 0))

    def read(self, *, until: Callable[[bytes], bool] = lambda _: False) -> int | None:
        """Read its output until that suffices, or until its end."""
        end_s = time.monotonic() + 120
        while time.monotonic() < end_s and not until(self.output):
            ready, _, _ = select.select([self.near], [], [], 0.1)
            if ready:
                with contextlib.suppress(OSError):
                    self.output += os.read(self.near, 65536)
            elif self.process.poll() is not None:
                break
        return self.process.poll()


def plain(output: bytes) -> str:
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", output.decode(errors="replace"))


def digest(folder: Path) -> str:
    return str(json.loads((folder / "manifest.json").read_text())["digest"])


def test_a_terminal_shows_four_panels_and_the_run_is_the_same(study: Path) -> None:
    cwd = study.parent
    arguments = ("run", "small.yaml", "--case", "own", "--out", "ran", "--no-report")
    assert longfat(*arguments, cwd=cwd).returncode == 1
    # A claim that fails fails `run`; who watches sees it.
    terminal = Terminal(
        "watch", "small.yaml", "--case", "own", "--pace", "2", "--out", "watched", cwd=cwd
    )
    assert terminal.read() == 0
    live, _, after = terminal.output.partition(LEAVE)
    assert live.count(ENTER) == 1
    assert SHOW_CURSOR in terminal.output
    assert termios.tcgetattr(terminal.far) == terminal.modes
    for text in (plain(live), plain(after)):
        for panel in ("queue", "throughput", "smoothed RTT", "cwnd"):
            assert f"─ {panel} ─" in text
        assert re.search(r"━━ s1-eth2 +[\d.]+ (K?B)", text)
        assert re.search(r"━━ bulk +(1\d|20)\.\d Mbit/s", text)
    assert "pace 2x" in plain(live)
    assert re.search(r"[\d.]+ s of about 3 s", plain(live))
    assert "holds  it is filled" in plain(after)
    assert "FAILS  it is overfull" in plain(after)
    assert digest(cwd / "watched/own-seed1") == digest(cwd / "ran/own-seed1")


def test_the_view_follows_the_size_of_the_terminal(study: Path) -> None:
    # Slow enough for a frame after the resize, whatever else the computer does.
    terminal = Terminal("watch", "small.yaml", "--case", "own", "--pace", "0.6", cwd=study.parent)
    assert terminal.read(until=lambda output: "of about" in plain(output)) is None
    terminal.resize(columns=61, rows=17)
    assert terminal.read() == 0
    live, _, after = terminal.output.partition(LEAVE)
    last_frame = plain(live.rpartition(HOME)[2]).splitlines()
    assert len(last_frame) == 17
    assert {len(line) for line in last_frame[2:]} == {61}
    assert {len(line) for line in plain(after).splitlines()[2:14]} == {61}


def test_cases_are_chosen_by_patterns(study: Path) -> None:
    done = longfat("watch", "small.yaml", "--case", "b*", cwd=study.parent)
    assert done.returncode == 0, done.stderr
    assert [line for line in done.stdout.splitlines() if " / " in line] == ["small / bare"]


def test_a_pipe_gets_a_line_a_virtual_second(study: Path) -> None:
    done = longfat("watch", "small.yaml", "--case", "own", cwd=study.parent)
    assert done.returncode == 0, done.stderr
    title, *lines = done.stdout.splitlines()
    assert title == "small / own"
    rows = [line for line in lines if "  |  " in line]
    assert [row.split()[0] for row in rows[:3]] == ["1", "2", "3"]
    assert all(
        re.search(r"s1-eth2 .*B.* \| {2}bulk .*Mbit/s {2}RTT .*ms {2}cwnd", r) for r in rows[:3]
    )
    assert "\x1b" not in done.stdout
    assert (study.parent / "runs/small/own-seed1/manifest.json").exists()


def test_missing_probes_are_added_and_change_no_figure(study: Path) -> None:
    cwd = study.parent
    longfat("run", "small.yaml", "--case", "bare", "--out", "ran", "--no-report", cwd=cwd)
    done = longfat("watch", "small.yaml", "--case", "bare", "--seed", "1", cwd=cwd)
    assert done.returncode == 0, done.stderr
    second = done.stdout.splitlines()[2]
    assert re.match(r" +2 s  \|  s1-eth2 [\d.]+ KB(, \d+ drops)?  \|  bulk 1\d\.\d Mbit/s", second)
    watched, ran = cwd / "runs/small/bare-seed1", cwd / "ran/bare-seed1"
    for name in ("bulk.client.json", "bulk.server.json"):
        assert (watched / "raw" / name).read_bytes() == (ran / "raw" / name).read_bytes()
    assert "runs/small/bare-seed1 " in done.stdout


def test_rows_as_json(study: Path) -> None:
    done = longfat("watch", "small.yaml", "--case", "bare", "--json", cwd=study.parent)
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [row["time_s"] for row in rows[:3]] == [1, 2, 3]
    assert all(row["case"] == "bare" for row in rows)
    assert 10e6 < rows[1]["flows"]["bulk"]["throughput_bps"] < 20e6
    assert rows[1]["queues"]["s1-eth2"]["limit_bytes"] == 50_000
    assert "runs/small/bare-seed1 " in done.stderr


def test_the_pace_may_be_full_speed(study: Path) -> None:
    done = longfat("watch", "small.yaml", "--case", "own", "--pace", "max", cwd=study.parent)
    assert done.returncode == 0, done.stderr


def test_a_kept_run_is_queried_by_its_study_and_parameters(tmp_path: Path) -> None:
    grid = STUDY.partition("cases:")[0].replace("10ms", "$<delay>") + "grid: {delay: [10ms]}\n"
    (tmp_path / "small.yaml").write_text(grid)
    done = longfat("watch", "small.yaml", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    sql = "select study, name, number from runs natural join parameters where study = 'small'"
    answer = longfat("query", sql, "--json", cwd=tmp_path)
    assert answer.returncode == 0, answer.stderr
    assert json.loads(answer.stdout) == [{"study": "small", "name": "delay", "number": 0.01}]


def test_ctrl_c_restores_the_terminal_and_leaves_nothing(study: Path, own_kernels: Path) -> None:
    cwd = study.parent
    terminal = Terminal(
        *("watch", "small.yaml", "--pace", "0.01", "--out", "o"),
        cwd=cwd,
        LONGFAT_CACHE=str(own_kernels),
    )
    assert terminal.read(until=lambda output: "of about" in plain(output)) is None
    os.write(terminal.near, b"\x03")
    assert terminal.read() == 130
    assert LEAVE in terminal.output
    assert terminal.output.rstrip().endswith(b"longfat: interrupted")
    assert termios.tcgetattr(terminal.far) == terminal.modes
    assert list((cwd / "o").iterdir()) == []
    binary = own_kernels / "kernels" / kernels.find("6.1").digest / "linux"
    assert processes_running(binary) == []


def test_a_closed_pipe_ends_it_quietly_and_leaves_nothing(study: Path, own_kernels: Path) -> None:
    near, far = os.pipe()
    process = Command(
        *("longfat", "watch", "small.yaml", "--pace", "0.5", "--out", "o"),
        cwd=study.parent,
        stdin=subprocess.DEVNULL,
        stdout=far,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "LONGFAT_CACHE": str(own_kernels)},
    )
    os.close(far)
    with os.fdopen(near) as reader:
        assert reader.readline() == "small / own\n"
    _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (ExitCode.BROKEN_PIPE, "")
    assert list((study.parent / "o").iterdir()) == []
    binary = own_kernels / "kernels" / kernels.find("6.1").digest / "linux"
    assert processes_running(binary) == []


def test_a_kill_leaves_no_process_and_no_run(study: Path, own_kernels: Path) -> None:
    cwd = study.parent
    terminal = Terminal(
        *("watch", "small.yaml", "--pace", "0.01", "--out", "o"),
        cwd=cwd,
        LONGFAT_CACHE=str(own_kernels),
    )
    assert terminal.read(until=lambda output: "of about" in plain(output)) is None
    terminal.process.send_signal(signal.SIGKILL)
    terminal.process.wait()
    binary = own_kernels / "kernels" / kernels.find("6.1").digest / "linux"
    end_s = time.monotonic() + 30
    while processes_running(binary) or any((cwd / "o").iterdir()):
        assert time.monotonic() < end_s
        time.sleep(0.05)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("small.yaml", "--case", "onw"), "no case 'onw' in it; did you mean"),
        (("small.yaml", "--pace", "0"), "--pace"),
        (("small.yaml", "--window", "1 parsec"), "--window"),
        (("small.yaml", "--window", "1ms"), "1s to 86400s"),
        (("small.yaml", "--pace", "fast"), "--pace"),
        (("nowhere",), "there is no file, folder or lab 'nowhere'"),
    ],
)
def test_bad_input(study: Path, arguments: tuple[str, ...], words: str) -> None:
    done = longfat("watch", *arguments, cwd=study.parent)
    assert done.returncode == 2
    assert words in done.stderr
    assert done.stdout == ""


def test_a_line_that_fails_restores_the_screen_first(study: Path) -> None:
    study.write_text(STUDY.replace("limit 50000", "limit"))
    terminal = Terminal("watch", "small.yaml", "--case", "own", cwd=study.parent)
    assert terminal.read() == 2
    _, _, after = terminal.output.partition(LEAVE)
    assert "longfat: small.yaml:9:" in plain(after)
