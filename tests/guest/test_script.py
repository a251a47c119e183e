from __future__ import annotations

import shlex

from hypothesis import given
from hypothesis import strategies as st

from longfat.guest.script import at_node


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
