"""`longfat shell` and `longfat attach` on real terminals: what is seen, and what is left behind."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import termios
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from longfat.engine import kernel as kernels
from tests.command import run_command
from tests.conftest import processes_running
from tests.paths import TESTS
from tests.terminal import Terminal, environment

MINIEDIT = TESTS / "data/miniedit/dumbbell.mn"

STUDY = """\
title: A small study
kernel: "6.1"
memory: 512MB
network:
  hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8}
  switches: [s1]
  links: [[h1, s1], [h2, s1]]
setup:
  - root: tc qdisc add dev s1-eth2 root netem delay 10ms
cases:
  whole:
  broken:
    setup: [{h1: ip link set nowhere up}]
"""


def longfat(*arguments: str, cwd: Path, script: str = "") -> subprocess.CompletedProcess[str]:
    return run_command("longfat", *arguments, given=script, cwd=cwd, env=environment(cwd))


Open = Callable[..., Terminal]


@pytest.fixture
def cwd(tmp_path: Path) -> Path:
    (tmp_path / "small.yaml").write_text(STUDY)
    return tmp_path


@pytest.fixture
def terminal(cwd: Path) -> Iterator[Open]:
    with contextlib.ExitStack() as stack:

        def start(*arguments: str, rows: int = 24, columns: int = 80) -> Terminal:
            found = Terminal(*arguments, cwd=cwd, rows=rows, columns=columns)
            stack.callback(found.close)
            return found

        yield start


def test_time_stands_still_at_the_prompt_and_runs_with_a_command(terminal: Open) -> None:
    shell = terminal("shell", "small.yaml", "--case", "whole")
    shell.prompt()
    time.sleep(0.5)
    shell.type("\r")
    assert shell.prompt() < 0.001
    shell.type("h1 ping -c 3 h2\r")
    shell.read("3 received")
    assert 2 <= shell.prompt() < 2.1
    shell.type("sleep 100 &\r")
    assert shell.prompt() < 0.001
    before_s = time.monotonic()
    shell.type("pause 1000\r")
    assert 1000 <= shell.prompt() < 1001
    assert time.monotonic() - before_s < 20
    shell.type("(exit 7)\r")
    shell.prompt()
    shell.type("exit\r")
    assert shell.end() == 7
    assert "s of virtual time" in shell.said


def test_a_typed_line_that_tc_reads_otherwise_is_reported_before_it_runs(terminal: Open) -> None:
    shell = terminal("shell", "small.yaml", "--case", "whole", columns=200)
    shell.prompt()
    shell.type("h1 tc qdisc add dev h1-eth0 root netem delay 20 && h1 tc qdisc show dev h1-eth0\r")
    shell.read("longfat: warning: `delay 20`: tc reads a time .* as microseconds.*delay 19us")
    assert shell.prompt() < 0.001
    shell.type("h1\r")
    shell.prompt("h1")
    shell.type("sysctl -qw net.ipv4.tcp_rmem=8192\r")
    shell.read("only the first number, the minimum, is set")
    shell.prompt("h1")


def test_losses_are_shown_in_the_place_of_the_command(terminal: Open) -> None:
    shell = terminal("shell", "small.yaml", "--case", "whole", columns=100)
    shell.prompt()
    shell.type("losses\r")
    shell.read("No packet was lost\\.")
    assert shell.prompt() < 0.001
    shell.type("h1 ping -q -c 1 h2 && h1 tc qdisc add dev h1-eth0 root netem loss 100%\r")
    shell.prompt()
    shell.type("h1 ping -q -c 3 -i 0.2 -W 1 h2\r")
    shell.prompt()
    shell.type("losses; echo then\r")
    shell.read(r"packets +at +cause.*3 +h1-eth0.*h1 -> h2.*then")
    assert shell.prompt() < 0.001
    shell.type("losses new\r")
    shell.read("No packet was lost\\.")
    shell.prompt()
    shell.type("h1\r")
    shell.prompt("h1")
    shell.type("ping -q -c 2 -i 0.2 -W 1 h2\r")
    shell.prompt("h1")
    shell.type("losses new\r")
    shell.read("2 +h1-eth0")
    shell.prompt("h1")
    shell.type("losses old\r")
    shell.read("usage: losses")


def test_a_script_has_no_place_for_losses(cwd: Path) -> None:
    done = longfat("shell", "small.yaml", "--case", "whole", cwd=cwd, script="losses\n")
    assert done.returncode == 1
    assert "losses are shown in a terminal" in done.stderr


def test_a_script_is_checked_before_it_runs(cwd: Path) -> None:
    done = longfat("shell", "small.yaml", "--case", "whole", cwd=cwd, script="sysctl -n net.core\n")
    assert "warning" not in done.stderr
    script = "h1 tc qdisc add dev h1-eth0 root netem loss 0.1\n"
    done = longfat("shell", "small.yaml", "--case", "whole", cwd=cwd, script=script)
    assert "longfat: line 1: warning: `loss 0.1`: tc reads" in done.stderr


def test_a_program_that_reads_keys_has_real_time(terminal: Open) -> None:
    shell = terminal("shell", "small.yaml", "h1")
    shell.prompt("h1")
    shell.type("seq 1000 > /tmp/x; less /tmp/x\r")
    shell.read("\n23\r\n/tmp/x")
    before_s = time.monotonic()
    time.sleep(0.5)
    shell.type(" ")
    shell.read("46")
    shell.type("q")
    passed_s = shell.prompt("h1")
    # The machine may be behind, on a busy host, but is never ahead for more than an instant.
    assert 0.2 < passed_s < time.monotonic() - before_s + 0.5
    # And at the prompt after it time stands still again.
    time.sleep(0.3)
    shell.type("\r")
    assert shell.prompt("h1") < 0.001
    shell.type("\x04")
    assert shell.end() == 0


def test_keys_and_the_window_reach_the_program(terminal: Open) -> None:
    shell = terminal("shell", "small.yaml", rows=30, columns=90)
    shell.prompt()
    shell.type("stty size; echo $TERM; cat /etc/hosts\r")
    shell.read("30 90\r\nxterm-256color\r\n.*10.0.0.1 h1")
    shell.prompt()
    shell.resize(20, 70)
    shell.type("stty size\r")
    shell.read("20 70")
    shell.prompt()
    shell.type("h1 ping h2\r")
    shell.read("icmp_seq=3")
    shell.type("\x03")
    shell.read("packets transmitted")
    shell.prompt()
    # A shell in a shell: time stands still at its prompt, too.
    shell.type("h1\r")
    shell.prompt("h1")
    time.sleep(0.3)
    shell.type("ip -br addr; echo 'gr\u00fc\u00dfe'\r")
    shell.read("h1-eth0.*10.0.0.1/8.*\ngr\u00fc\u00dfe")
    assert shell.prompt("h1") < 0.001


def test_another_terminal_attaches_and_goes(terminal: Open, cwd: Path) -> None:
    shell = terminal("shell", "small.yaml")
    shell.prompt()
    other = terminal("attach", "small", "h2", rows=12, columns=60)
    other.prompt("h2")
    other.type("stty size; pause 30\r")
    other.read("12 60")
    other.prompt("h2")
    (about,) = json.loads(longfat("attach", "--list", "--json", cwd=cwd).stdout)
    assert (about["name"], about["terminals"]) == ("small", ["root", "h2"])
    assert about["virtual_s"] > 33
    assert "small" in longfat("attach", "--list", cwd=cwd).stdout
    # Its window is closed, with a program in it.
    other.type("sleep 1000000 & less /etc/hosts\r")
    other.read("END")
    os.close(other.near)
    os.close(other.far)
    other.process.wait(timeout=10)
    # That is noticed when the host gets to it, while virtual time may go on fast.
    shell.type("while ps ax -o comm= | grep -q -e less -e sleep; do pause 1; done; echo no''ne\r")
    shell.read("none")
    shell.prompt()
    # The status of a shell is passed on; the only session needs no name.
    third = terminal("attach", "h1")
    third.prompt("h1")
    third.type("exit 5\r")
    assert third.end() == 5
    # Who stays hears of the session's end.
    fourth = terminal("attach")
    fourth.prompt()
    shell.type("exit 0\r")
    assert shell.end() == 0
    assert fourth.end() == 0
    assert "the session small has ended" in fourth.said
    assert longfat("attach", "--list", "--json", cwd=cwd).stdout == "[]\n"


def test_a_killed_holder_leaves_nothing(
    terminal: Open, cwd: Path, own_kernels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(own_kernels))
    (kernels_folder,) = (own_kernels / "kernels").iterdir()
    (own_kernels / "longfat").symlink_to(own_kernels)
    shell = terminal("shell", "small.yaml")
    shell.prompt()
    binary = kernels.find("6.1").binary
    assert binary.parent == own_kernels / "longfat/kernels" / kernels_folder.name
    assert processes_running(binary)
    other = terminal("attach")
    other.prompt()
    shell.process.kill()
    assert other.end() == 3
    assert "its process was killed" in other.said
    end_s = time.monotonic() + 10
    while processes_running(binary):
        assert time.monotonic() < end_s
        time.sleep(0.05)
    assert longfat("attach", cwd=cwd).returncode == 2
    assert longfat("attach", "--list", "--json", cwd=cwd).stdout == "[]\n"
    assert not list((cwd / "longfat").glob("*.sock"))


def test_a_kind_signal_puts_the_terminal_back(terminal: Open) -> None:
    shell = terminal("shell", "small.yaml")
    shell.prompt()
    assert termios.tcgetattr(shell.far) != shell.modes
    shell.type("less /etc/hosts\r")
    shell.read("END")
    shell.process.send_signal(signal.SIGTERM)
    assert shell.end() == 128 + signal.SIGTERM
    assert "\x1b[?1049l" in shell.said


def test_what_computes_for_ever_can_be_ended_or_left(terminal: Open) -> None:
    shell = terminal("shell", "small.yaml")
    shell.prompt()
    shell.type("python3 -c 'while True: pass'\r")
    time.sleep(1)
    shell.type("\x03")
    shell.read("KeyboardInterrupt")
    assert shell.prompt() < 0.001
    shell.type("trap '' INT; while :; do :; done\r")
    time.sleep(0.5)
    before_s = time.monotonic()
    shell.type("\x1c\x1c")
    time.sleep(0.2)
    assert shell.process.poll() is None
    shell.type("\x1c")
    assert shell.end() == 130
    assert time.monotonic() - before_s < 5


def test_programs_of_two_terminals_run_side_by_side(terminal: Open) -> None:
    """Whoever begins one after the other is some seconds later, in virtual time as well."""
    shell = terminal("shell", "small.yaml", "h1")
    shell.prompt("h1")
    other = terminal("attach", "small", "h2")
    other.prompt("h2")
    before_s = time.monotonic()
    shell.type("ping -c 5 h2; date +%s.%N\r")
    shell.read("icmp_seq=1")
    time.sleep(1.5)
    other.type("date +%s.%N; sleep 5; date +%s.%N\r")
    began = float(other.read(r"(\d{10}\.\d{9})\r\n")[1])
    ended = float(shell.read(r"(\d{10}\.\d{9})\r\n")[1])
    assert time.monotonic() - before_s > 3.9
    assert 1 < ended - began < 2.7  # ping's 4 s, less 1.5 s and what a busy host adds
    other.prompt("h2")


@pytest.mark.parametrize("by_word", [False, True])
def test_a_skip_ends_with_the_first_command(terminal: Open, by_word: bool) -> None:
    shell = terminal("shell", "small.yaml", "h1")
    shell.prompt("h1")
    other = terminal("attach", "small", "h2")
    other.prompt("h2")
    third = terminal("attach", "small")
    third.prompt()
    other.type("sleep 5000\r")
    shell.type("date +%s.%N; sleep 1000\r")
    shell.read(r"\d{10}\.\d{9}\r\n")
    before_s = time.monotonic()
    if by_word:
        third.type("skip\r")
        third.prompt()
    else:
        shell.type("\x1d")
        shell.read(r"full speed until a command ends; Ctrl-\] again")
    assert 1000 <= shell.prompt("h1") < 1001
    # The other command goes on in real time.
    time.sleep(1)
    shell.type("\r")
    assert shell.prompt("h1") < time.monotonic() - before_s + 0.5
    other.type("\x03")
    other.prompt("h2")


def test_a_skip_can_be_ended(terminal: Open) -> None:
    shell = terminal("shell", "small.yaml", "h1")
    shell.prompt("h1")
    shell.type("sleep 1000000000\r")
    time.sleep(0.3)
    shell.type("\x1d")
    shell.read("full speed")
    time.sleep(0.3)
    shell.type("\x1d")
    shell.read("real time")
    shell.type("\x03")
    assert shell.prompt("h1") < 1e9
    before_s = time.monotonic()
    shell.type("sleep 1\r")
    assert 1 <= shell.prompt("h1") < time.monotonic() - before_s + 0.2


def test_the_key_of_a_skip_reaches_who_reads_keys(terminal: Open) -> None:
    shell = terminal("shell", "small.yaml", "h1")
    shell.prompt("h1")
    shell.type("read -rsn 1 key; printf '%q\\n' \"$key\"\r")
    time.sleep(0.5)
    shell.type("\x1d")
    shell.read(re.escape(r"$'\035'"))
    shell.prompt("h1")


def test_the_pace_can_be_changed_at_the_prompt(terminal: Open) -> None:
    shell = terminal("shell", "small.yaml")
    shell.prompt()
    shell.type("pace\r")
    shell.read(r"\r1\r\n")
    shell.type("pace 0\r")
    shell.read(r"usage: pace")
    shell.prompt()
    shell.type("pace 100\r")
    shell.read("s x100 # ")
    before_s = time.monotonic()
    shell.type("sleep 100; echo ne''xt\r")
    shell.read("next")
    assert 0.8 < time.monotonic() - before_s < 20
    shell.type("pace max\r")
    shell.read("s max # ")
    shell.type("sleep 2000; echo th''en\r")
    shell.read("then")
    other = terminal("attach")
    other.read("s max # ")
    other.type("pace 1\r")
    other.read(r"s # ")
    shell.type("\r")
    shell.read("s max # ")
    shell.type("\r")
    shell.read(r"\d s # ")


def test_a_pace_holds(terminal: Open) -> None:
    shell = terminal("shell", "small.yaml", "--pace", "10")
    shell.prompt()
    before_s = time.monotonic()
    shell.type("sleep 10\r")
    assert 10 <= shell.prompt() < 10.1
    assert time.monotonic() - before_s > 0.8


SCRIPT = """\
nodes
net
dump
pingall
link s1 h2 down
net
link h2 s1 up
iperf h1 h2 1 | grep -c receiver
at h1 sh -c 'echo $LONGFAT_NODE; ip -br link' | grep -c h1-eth0
s1 ip -br link | grep -c s1-eth
cat
h1 date +%N
echo to the errors >&2
exit 9
"""


def test_lines_from_a_pipe_are_a_script(cwd: Path) -> None:
    study = STUDY.replace("[h1, s1], [h2, s1]", "[h1, s1, {rate: 1gbit}], [h2, s1, {delay: 1ms}]")
    (cwd / "small.yaml").write_text(study[: study.index("setup:")])
    done = longfat("shell", "small.yaml", cwd=cwd, script=SCRIPT)
    assert done.stderr == "to the errors\n"
    assert done.returncode == 9
    lines = done.stdout.splitlines()
    assert lines[:2] == ["hosts:    h1 h2", "switches: s1"]
    assert lines[2:4] == [
        "h1-eth0      s1-eth1      1 Gbit/s",
        "h2-eth0      s1-eth2      1 ms",
    ]
    assert re.fullmatch(r"h1 +h1-eth0 +UP +10\.0\.0\.1/8.*", lines[4])
    assert lines[6:9] == ["h1 -> h2", "h2 -> h1", "2 of 2 pings came back"]
    assert [("(down)" in line) for line in lines[9:11]] == [False, True]
    assert lines[11:14] == ["1", "1", "2"]
    assert len(lines) == 15
    again = longfat("shell", "small.yaml", cwd=cwd, script=SCRIPT)
    assert again.stdout == done.stdout


def test_a_script_at_a_host_and_from_a_miniedit_file(cwd: Path) -> None:
    done = longfat("shell", str(MINIEDIT), cwd=cwd, script="nodes; false\n")
    assert re.match(r"hosts: +\w+ .*\nswitches: +\w+", done.stdout)
    assert done.returncode == 1
    done = longfat("shell", "small.yaml", "h2", cwd=cwd, script="ip -br link | cut -c1-7\n")
    assert "h2-eth0" in done.stdout
    assert "s1-eth1" not in done.stdout


def test_what_is_wrong_is_reported(cwd: Path) -> None:
    wrong = {
        ("shell", "nothing.yaml"): "nothing.yaml",
        ("shell", "lab8"): "lab08",
        ("shell", "small.yaml", "h3"): "no node 'h3'",
        ("shell", "small.yaml", "--case", "hole"): "whole",
        ("shell", "--case", "whole"): "which study",
        ("shell", "small.yaml", "--case", "broken"): "`ip link set nowhere up` exited with status",
        ("attach", "small"): "needs a terminal",
        ("attach", "--json"): "--list",
    }
    for arguments, words in wrong.items():
        done = longfat(*arguments, cwd=cwd)
        assert (done.returncode, done.stdout) == (2, ""), done
        assert words in done.stderr
        assert "Traceback" not in done.stderr


def test_attaching_to_what_is_not_there_is_reported(terminal: Open) -> None:
    nobody = terminal("attach", "small")
    assert nobody.end() == 2
    assert "there is no session" in nobody.said
    shell = terminal("shell", "small.yaml")
    shell.prompt()
    for arguments, words in ((("h3",), "no node 'h3'"), (("large", "h1"), "no session 'large'")):
        wrong = terminal("attach", *arguments)
        assert wrong.end() == 2
        assert words in wrong.said
    shell.type("echo still here\r")
    shell.read("still here\r\nroot")


def test_nodes_whose_names_are_numbers_are_commands(tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text(
        "title: x\nnetwork: {hosts: {1001: 10.0.0.1/8, 2: 10.0.0.2/8}, links: [[1001, 2]]}\n"
        "flows: {p: {ping: 1001 -> 2}}\n"
    )
    lines = "1001 ping -c 1 10.0.0.2\nat 2 ip -br addr show dev 2-eth0\n"
    done = run_command("longfat", "shell", "x.yaml", given=lines, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "1 packets transmitted, 1 received" in done.stdout
    assert "10.0.0.2/8" in done.stdout
