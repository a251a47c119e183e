"""Lines of `tc qdisc` and values: what is printed is read back, what was typed is kept."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longfat.errors import InputError
from longfat.model.network.tc import (
    BYTES,
    COUNT,
    RATE,
    SHARE,
    TIME,
    Interface,
    Option,
    Qdisc,
    QdiscLine,
    parse_line,
    parse_qdisc,
)
from longfat.model.typed_line import NotUnderstoodError
from tests.model.qdiscs import qdiscs


def read(words: str) -> Qdisc:
    return parse_qdisc(words.split())


@given(
    qdisc=qdiscs(),
    verb=st.sampled_from(("add", "replace", "change")),
    parent=st.sampled_from(("root", "1:", "2:1")),
    handle=st.sampled_from(("", "7:")),
)
def test_what_is_printed_is_read_back(qdisc: Qdisc, verb: str, parent: str, handle: str) -> None:
    placed = replace(qdisc, parent=parent, handle=handle)
    line = QdiscLine(verb=verb, device="s1-eth2", qdisc=placed)
    found = parse_line(str(line))
    assert found == line
    assert (found.typed, found.qdisc.typed) == (str(line), qdisc.words)
    canonical = replace(found, typed="", qdisc=replace(found.qdisc, typed=""))
    assert str(canonical) == str(line)


def test_rates_as_tc_takes_them() -> None:
    rates = (10**10, 2_500_000_000, 1500, 1234)
    assert [RATE.text(rate) for rate in rates] == ["10gbit", "2500mbit", "1500bit", "1234bit"]


@given(time_ns=st.integers(0, 10**12))
def test_any_time_comes_back(time_ns: int) -> None:
    text = TIME.text(time_ns / 1e9)
    assert TIME.parse(text) == time_ns / 1e9
    assert "ns" not in text


@pytest.mark.parametrize(
    ("typed", "canonical"),
    [
        (
            "/sbin/tc -s qdisc replace  handle 1: dev x root netem delay 1.5ms 20us 25% loss 1.0%",
            "tc qdisc replace dev x root handle 1: netem delay 1500us 20us 25% loss 1%",
        ),
        (
            "tc qdisc add dev x parent 1:1 tbf rate 2.5Gbit burst 64kb limit 1.5mb",
            "tc qdisc add dev x parent 1:1 tbf rate 2500mbit burst 65536 limit 1572864",
        ),
        ("tc qdisc delete dev x root", "tc qdisc del dev x root"),
        ("sudo -nE /sbin/tc qdisc del dev x root", "tc qdisc del dev x root"),
        # What is not known, or has a unit that tc and people read differently, stays words.
        (
            "tc qdisc add dev x root netem delay 20000 loss gemodel 1% .25 slot 1ms loss 3",
            "tc qdisc add dev x root netem delay 20000 loss gemodel 1% .25 slot 1ms loss 3",
        ),
        (
            "tc qdisc add dev x root tbf rate 10mbps burst lots limit",
            "tc qdisc add dev x root tbf rate 10mbps burst lots limit",
        ),
        ("tc qdisc add dev x root htb default 0x1f", "tc qdisc add dev x root htb default 0x1f"),
    ],
)
def test_what_was_typed_is_kept(typed: str, canonical: str) -> None:
    found = parse_line(typed)
    assert found is not None
    assert str(found) == typed
    assert str(replace(found, typed="", qdisc=replace(found.qdisc, typed=""))) == canonical
    assert parse_line(canonical) == found


@pytest.mark.parametrize("line", ["tc qdisc show", "tc -s qdisc ls dev x"])
def test_what_only_shows_changes_nothing(line: str) -> None:
    assert parse_line(line) is None


@pytest.mark.parametrize(
    "line",
    [
        "",
        "tc",
        "tc class add dev x parent 1: classid 1:1 htb rate 1gbit",
        "tc qdisc frob dev x root netem",
        "tc qdisc add dev x netem",
        "tc qdisc add dev x root",
        "tc qdisc add netem dev",
        "tc qdisc add root dev",
        "tc qdisc add dev $X root fq",
        "sudo -u nobody tc qdisc add dev x root fq",
        "tc qdisc add dev 'x root fq",
    ],
)
def test_other_lines_are_not_guessed_at(line: str) -> None:
    with pytest.raises(NotUnderstoodError, match="not understood"):
        parse_line(line)


def test_numbers_behind_options() -> None:
    netem = parse_qdisc(
        [
            "netem",
            "limit",
            "100",
            "delay",
            "20ms",
            "1ms",
            "loss",
            "random",
            "1%",
            "5%",
            "corrupt",
            "lots",
        ]
    )
    assert netem.number("limit", COUNT) == 100
    assert netem.number("delay", TIME) == 0.02
    assert netem.number("delay", TIME, at=1) == 0.001
    assert netem.number("loss random", SHARE, at=1) == 0.05
    assert netem.number("loss", SHARE) is None
    assert netem.number("rate", RATE) is None
    assert netem.number("limit", BYTES) is None  # it counts packets
    with pytest.raises(InputError, match="delay is not followed by a percentage"):
        netem.number("delay", SHARE, at=2)
    with pytest.raises(InputError, match="corrupt is not followed by a percentage"):
        netem.number("corrupt", SHARE)
    assert read("sfq limit 5").number("limit", BYTES) is None


def test_options_are_replaced_in_their_place() -> None:
    typed = read("tbf rate 1gbit burst 5kb limit 10kb")
    changed = typed.having(Option("burst", (6000,)), Option("mpu", (64,)))
    assert changed.words == "tbf rate 1gbit burst 6000 limit 10240 mpu 64"


def test_the_lines_of_an_interface() -> None:
    qdiscs = (
        Qdisc(kind="netem", handle="1:", options=(Option("delay", (0.02,)),)),
        replace(read("red limit 400KB avpkt 1kb"), parent="1:", handle="2:"),
    )
    interface = Interface(name="s1-eth2", node="root", qdiscs=qdiscs)
    assert [line.arguments for line in interface.lines] == [
        "qdisc add dev s1-eth2 root handle 1: netem delay 20ms",
        # What a person typed is what runs.
        "qdisc add dev s1-eth2 parent 1: handle 2: red limit 400KB avpkt 1kb",
    ]
