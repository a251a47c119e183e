from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.test_hostile_texts import CONTROLS, OF_RICH, shown
from tests.command import longfat
from tests.paths import REPOSITORY

EXAMPLES = REPOSITORY / "examples" / "packetdrill"
GOOD = "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n+0 listen(3, 1) = 0\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "good.pkt").write_text(GOOD)
    return tmp_path


def test_scripts_that_pass(folder: Path) -> None:
    done = longfat(
        "packetdrill", "good.pkt", "--ip-version", "ipv4", "--ip-version", "ipv6", cwd=folder
    )
    assert (done.returncode, done.stdout.splitlines()) == (
        0,
        ["passed  good.pkt ipv4", "passed  good.pkt ipv6"],
    )
    assert done.stderr.startswith("2 passed, 0.0 virtual s in ")


def test_each_kind_of_end_has_its_status(folder: Path) -> None:
    (folder / "fails.pkt").write_text(GOOD + "+0 listen(3, 1) = -1\n")
    done = longfat("packetdrill", ".", cwd=folder)
    assert done.returncode == 1
    assert done.stdout.splitlines()[:4] == [
        "failed  fails.pkt ipv4",
        "  fails.pkt:3:1: this call returned something else",
        "    of        listen(3, 1) = -1",
        "    expected  -1",
    ]
    assert done.stderr.startswith("1 passed, 1 failed, ")
    (folder / "wrong.pkt").write_text(GOOD + "+0 listn(3, 1) = 0\n")
    done = longfat("packetdrill", ".", cwd=folder)
    assert done.returncode == 2
    assert "  wrong.pkt:3:4: there is no system call listn(); did you mean 'listen'?" in done.stdout
    assert done.stderr.startswith("1 passed, 1 failed, 1 invalid, ")


def test_json(folder: Path) -> None:
    (folder / "fails.pkt").write_text(GOOD + "+.1 < S 0:0(0) win 9\n+0 > . 0:0(0)\n")
    done = longfat("packetdrill", ".", "--json", "--pcap", "out", cwd=folder)
    failed, good = json.loads(done.stdout)
    assert (good["script"], good["status"], good["failure"]) == ("good.pkt", "passed", None)
    assert (failed["failure"]["line"], failed["failure"]["column"]) == (4, 1)
    assert failed["failure"]["event"] == "> . 0:0(0) ack 0"
    assert failed["failure"]["sent"].startswith("> R. 0:0(0) ack 1 ")
    assert sorted(path.name for path in (folder / "out").iterdir()) == [
        "fails-ipv4.pcap",
        "good-ipv4.pcap",
    ]


def test_what_a_script_prints_cannot_steer_the_terminal(folder: Path) -> None:
    (folder / "good.pkt").write_text(GOOD + '+0 `printf "a\\\\033[31mb\\\\nc\\\\n"; false`\n')
    done = longfat("packetdrill", "good.pkt", cwd=folder)
    assert "\033" not in done.stdout
    assert done.stdout.splitlines()[1] == "  good.pkt:3:1: this command failed: a\\x1b[31mb c"


def test_reading_alone_needs_no_kernel(folder: Path) -> None:
    done = longfat("packetdrill", "good.pkt", "--check", cwd=folder)
    assert (done.returncode, done.stdout) == (0, "valid   good.pkt ipv4\n")


def test_a_tolerance_of_ones_own() -> None:
    done = longfat("packetdrill", str(EXAMPLES / "tlp.pkt"), "--tolerance", "5", cwd=EXAMPLES)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["none.pkt"], "none.pkt: there is no such file or folder"),
        (["good.pkt", "--set", "mtuu=3"], "there is no option --mtuu; did you mean 'mtu'?"),
        (["good.pkt", "-D", "x"], "--define: found 'x', expected NAME=VALUE"),
        (["good.pkt", "--kselftest", "--ip-version", "ipv4"], "leave --ip-version out"),
    ],
)
def test_mistakes(folder: Path, arguments: list[str], words: str) -> None:
    done = longfat("packetdrill", *arguments, cwd=folder)
    assert done.returncode == 2
    assert words in done.stderr


def test_no_escape_sequence_of_a_script_arrives(tmp_path: Path) -> None:
    (tmp_path / "s.pkt").write_text('+0 `printf "\\\\033]52;c;aGk=\\\\007" >&2; false`\n')
    got = OF_RICH.sub("", shown("packetdrill", "s.pkt", cwd=tmp_path))
    assert r"\x1b]52;c;aGk=" in got
    assert "Traceback" not in got
    assert CONTROLS.findall(got) == []
