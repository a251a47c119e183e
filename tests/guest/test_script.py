from __future__ import annotations

import shlex
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longfat.guest.script import Script, at_node


def test_plain_words_stand_as_they_are() -> None:
    assert at_node("root", "tc qdisc show") == "tc qdisc show"
    line = "sysctl -w net.ipv4.tcp_rmem='10240 87380 16777216'"
    assert at_node("h1", line) == f"ip netns exec h1 {line}"


def test_what_the_shell_at_root_would_take_is_quoted() -> None:
    for line in ("a | b", "a; b", "a > b", "X=1 a", "a $X", "a `b`", 'a "b"', "a *", "a && b"):
        assert at_node("h1", line) == f"ip netns exec h1 sh -c {shlex.quote(line)}"


@given(st.text(alphabet="ab '\"$;|&<>=\\ \n#*", max_size=12))
def test_a_line_stays_one_command_of_the_host(line: str) -> None:
    found = at_node("h1", line)
    assert found.startswith("ip netns exec h1 ")
    if "sh -c" in found:
        assert shlex.split(found)[4:] == ["sh", "-c", line]


def passed_to_tc(lines: list[str], *, has_wires: bool, folder: Path) -> list[str]:
    """Return the command lines of tc where a shell runs the record of lines."""
    path = folder / "commands.sh"
    script = Script(str(path), has_wires=has_wires)
    script.record(lines)
    script.note_output("qdisc noqueue 0:\n\tSent\x1b[2J 0 bytes")
    script.close()
    (folder / "tc").write_text('#!/bin/sh\necho "tc $*"\n')
    (folder / "tc").chmod(0o755)
    done = subprocess.run(
        ["/bin/sh", str(path)],
        cwd=folder,
        env={"PATH": f"{folder}:/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=True,
        timeout=30,
    )
    assert done.stderr == ""
    return done.stdout.splitlines()


@pytest.mark.parametrize(
    ("line", "elsewhere"),
    [
        (
            "tc -n h1 qdisc add dev h1-eth0 root handle 1: wire rate 1gbit limit 99999 through",
            "tc -n h1 qdisc add dev h1-eth0 root handle 1: tbf rate 1gbit burst 256kb limit 99999",
        ),
        (
            "tc qdisc change dev s1-eth1 parent 1: handle 2: wire rate 5mbit limit 3000 cut 1600",
            "tc qdisc change dev s1-eth1 parent 1: handle 2: tbf rate 5mbit burst 256kb limit 3000",
        ),
        ("tc qdisc add dev s1-eth1 root netem delay 1ms", None),
        ("tc -s qdisc show", None),
    ],
)
def test_elsewhere_a_wire_is_a_bucket(line: str, elsewhere: str | None, tmp_path: Path) -> None:
    assert passed_to_tc([line], has_wires=True, folder=tmp_path) == [elsewhere or line]


def test_output_is_comments_that_no_terminal_obeys(tmp_path: Path) -> None:
    lines = ["tc qdisc add dev s1-eth1 root netem delay 1ms"]
    assert passed_to_tc(lines, has_wires=False, folder=tmp_path) == lines
    text = (tmp_path / "commands.sh").read_text()
    assert "tbf" not in text
    assert "#> qdisc noqueue 0:\n#>         Sent [2J 0 bytes\n" in text
