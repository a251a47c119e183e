"""`longfat exec`: a command in a fresh machine is as on the host, but for time."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from longfat.errors import HostError
from longfat.live.exec.compat import check_open_vswitch
from tests.command import run_command
from tests.live.exec.command import EXEC, READY_WITHIN_S, read_until, run, start
from tests.paths import LONGFAT


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
    assert run("--separate-kernels", "--", *look).stdout == b"Y\n"


def test_it_tells_how_long_it_took() -> None:
    done = run("--time", "sleep", "1000")
    assert done.stderr.startswith(b"longfat: 1000.0000")
    assert b" s of virtual time in " in done.stderr


def test_much_input_and_output_at_once(tmp_path: Path) -> None:
    data = os.urandom(1 << 20) * 16
    done = run("--time", "cat", given=data)
    assert done.stdout == data
    assert done.stderr.startswith(b"longfat: 0.00")  # input takes no time
    file = tmp_path / "file"
    file.write_bytes(data)
    with file.open("rb") as stream:
        again = run_command(*EXEC, "cat", stdin=stream)
    again.check_returncode()
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
    line = " ".join((LONGFAT, *EXEC[1:])) + " sh -c 'cat; echo end' <&-"
    done = subprocess.run(line, shell=True, capture_output=True, check=True, cwd="/")
    assert done.stdout == b"end\n"


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
        (["--bind", "/:/mnt", "--bind", "/usr:/mnt"], "cannot both be shown at /mnt"),
        (["--bind", "/srv:/proc"], "the machine itself needs /proc"),
        (["--bind", "/srv:inside"], "must be absolute"),
        (["--bind", "/srv:/usr/none"], "choose a path such as /mnt"),
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


def test_without_open_vswitch_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda *_, **__: None)
    with pytest.raises(HostError, match="apt-get install openvswitch-switch"):
        check_open_vswitch()
