"""`longfat diagnose` on files from anywhere: what it prints, and its messages."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.command import longfat
from tests.paths import TESTS

FILES = TESTS / "data" / "foreign"


def test_a_report_of_iperf3_is_diagnosed(tmp_path: Path) -> None:
    done = longfat("diagnose", str(FILES / "iperf3/london-sydney.json"), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    for part in (
        "The receive window limits",
        "receive window  measured",
        "What would help",
        "# at the receiver:",
        "sysctl -w net.ipv4.tcp_rmem='4096 131072 33554432'",
        "Not known from this",
    ):
        assert part in done.stdout
    assert "\x1b" not in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 100


def test_several_files_as_json(tmp_path: Path) -> None:
    names = ("iperf3/rwnd.json", "sockets/rwnd.txt", "captures/receive-window.pcap")
    for name in names:
        shutil.copy(FILES / name, tmp_path)
    # Kinds are known by content, not by name.
    (tmp_path / "rwnd.json").rename(tmp_path / "one")
    files = ["one", "rwnd.txt", "receive-window.pcap"]
    done = longfat("diagnose", *files, "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    data = json.loads(done.stdout)
    assert data["files"] == files
    (flow,) = [each for each in data["flows"] if len(each["files"]) == 3]
    assert flow["limit"] == "receive window"
    assert flow["certain"] is True
    assert flow["causes"][0]["cause"] == "receive window"
    assert flow["causes"][0]["evidence"]["rwnd_limited_fraction"] > 0.9


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "Missing argument"),
        (("nothing",), "nothing: no such file or run; what can be diagnosed: a run directory"),
        ((".", "a", "b"), "diagnose a run alone"),
        ((".",), "not a run directory"),
        (("text",), "text: not known what this is (it starts with 'hello')"),
    ],
)
def test_bad_input_ends_with_2(tmp_path: Path, arguments: tuple[str, ...], message: str) -> None:
    (tmp_path / "text").write_text("hello\n")
    done = longfat("diagnose", *arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert message in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
