from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longfat.errors import MachineError
from longfat.model.traffic import Ping
from longfat.model.traffic.ping import parse_replies, parse_summary
from tests.paths import TESTS

DATA = TESTS / "data" / "traffic"


def read(name: str) -> str:
    return (DATA / name).read_text()


def line(flow: Ping) -> str:
    (process,) = flow.processes(address="10.0.0.2", port=0)
    return " ".join(process.argv)


def test_the_command_is_what_a_student_would_type() -> None:
    assert line(Ping(name="p", source="h1", target="h2")) == "ping -c 4 10.0.0.2"
    flow = Ping(
        name="p", source="h1", target="h2", count=90, interval_s=0.2, size_bytes=1000, args=("-D",)
    )
    assert line(flow) == "ping -c 90 -i 0.2 -s 1000 -D 10.0.0.2"


def test_summary() -> None:
    found = parse_summary(read("ping-20221126.txt"), name="p")
    assert found == {
        "sent": 4,
        "received": 4,
        "loss": 0,
        "min_s": 0.02,
        "avg_s": 0.025,
        "max_s": 0.04,
        "mdev_s": 0.00866,
    }
    assert set(found) == {metric.name for metric in Ping.metrics}


def test_replies() -> None:
    replies = parse_replies(read("ping-20221126.txt"))
    assert [reply.sequence for reply in replies] == [1, 2, 3, 4]
    assert [reply.rtt_s for reply in replies] == [0.04, 0.02, 0.02, 0.02]


def test_replies_later_than_a_second_and_a_pipe() -> None:
    text = read("ping-20221126-slow.txt")
    assert parse_summary(text, name="p")["max_s"] > 1
    assert max(reply.rtt_s for reply in parse_replies(text)) > 1


def test_no_reply_is_a_result() -> None:
    found = parse_summary(read("ping-20221126-no-reply.txt"), name="p")
    assert found == {"sent": 3, "received": 0, "loss": 1}
    assert parse_replies(read("ping-20221126-no-reply.txt")) == []


def test_no_summary() -> None:
    with pytest.raises(MachineError, match="p: no summary"):
        parse_summary("ping: unknown host", name="p")


@given(st.lists(st.sampled_from([*read("ping-20221126.txt").splitlines(), "", "x", "rtt min"])))
def test_lines_in_any_order_are_read_or_refused(lines: list[str]) -> None:
    text = "\n".join(lines)
    parse_replies(text)
    try:
        parse_summary(text, name="p")
    except MachineError:
        assert "packets transmitted" not in text
