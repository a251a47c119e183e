"""Lines that are typed in a live network are checked, wherever their notes are cut."""

from __future__ import annotations

import pytest

from longfat.live.shell.bash import NoteReader
from longfat.live.shell.typed_lint import TypedLint
from longfat.model.network import Host, Link, Network, Switch

NETWORK = Network(
    hosts=(Host(name="h1", address="10.0.0.1/8"),),
    switches=(Switch(name="s1"),),
    links=(Link(a="h1", b="s1"),),
)
LINT = TypedLint(NETWORK, kernel="6.1")
NOTE = b"\x1b]7777;lint %s    12  %s\n\a"
DELAY = b"tc qdisc add dev h1-eth0 root netem delay 20"


@pytest.mark.parametrize("size", [1, 5, 1000])
@pytest.mark.parametrize("line", [DELAY, b"h1 " + DELAY, b"at h1 " + DELAY, b"sudo " + DELAY])
def test_a_warning_is_shown_in_the_place_of_the_note(size: int, line: bytes) -> None:
    reader = NoteReader(LINT.answer)
    text = b"typed\r\n" + NOTE % (b"h1", line) + b"output\r\n"
    shown = b"".join(reader.read(text[at : at + size])[0] for at in range(0, len(text), size))
    assert shown.startswith(b"typed\r\nlongfat: warning: `delay 20`: tc reads")
    assert shown.endswith(b"\r\noutput\r\n")


def test_a_line_that_is_right_shows_nothing() -> None:
    reader = NoteReader(LINT.answer)
    assert reader.read(NOTE % (b"h1", DELAY + b"ms") + b"$ ")[0] == b"$ "
    assert reader.read(b"\x1b]7777;lint \xff\a$ ")[0] == b"$ "


def test_the_node_of_a_line_is_known() -> None:
    line = "sysctl -w net.ipv4.tcp_ecn=1"
    assert LINT.warnings("h1", line) == []
    assert LINT.warnings("root", f"h1 {line}") == []
    assert "at root" in LINT.warnings("s1", line)[0]


def test_a_script_has_its_lines_numbers() -> None:
    script = f"ls\nh1 {DELAY.decode()}\nfor x in 1; do\n{DELAY.decode()}; done\n"
    assert [text.partition(":")[0] for text in LINT.script_warnings("root", script)] == ["line 2"]
