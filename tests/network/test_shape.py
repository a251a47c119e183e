"""The lines of `tc` for one direction of a link; what they do is tested in real machines."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longfat.case import Command
from longfat.network import ROOT, Shape, shape_lines
from longfat.network.shape import MOST_BYTES, default_queue_bytes
from longfat.path import queue_line, shaping

NETEM = "qdisc add dev x root handle 1: netem limit 1000000000"


@pytest.mark.parametrize(
    ("shape", "lines"),
    [
        (Shape(), ()),
        (Shape(delay_s=0.0, loss=0.0), ()),
        (Shape(delay_s=0.02), (f"{NETEM} delay 20ms",)),
        (Shape(delay_s=1.5e-6), (f"{NETEM} delay 1500ns",)),
        (
            Shape(delay_s=0.02, jitter_s=0.001, loss=1e-4),
            (f"{NETEM} delay 20ms 1ms distribution normal loss 0.01%",),
        ),
        (Shape(loss=1e-9), (f"{NETEM} loss 0.0000001%",)),
        (
            Shape(rate_bps=10**10, queue_bytes=25_000_000),
            ("qdisc add dev x root handle 1: tbf rate 10gbit burst 5000000 limit 25000000",),
        ),
        (
            Shape(rate_bps=10**10, delay_s=0.02),
            (
                f"{NETEM} delay 20ms",
                "qdisc add dev x parent 1: handle 2: tbf rate 10gbit burst 5000000 limit 50000000",
            ),
        ),
        (
            # Over 4 GB/s, tc has another field for the rate.
            Shape(rate_bps=40_000_000_001),
            (
                "qdisc add dev x root handle 1: "
                "tbf rate 40000000001bit burst 20000001 limit 50000001",
            ),
        ),
        (
            # An offloaded packet that is larger than a small queue must be cut up.
            Shape(rate_bps=10**9, queue_bytes=30_000),
            ("qdisc add dev x root handle 1: tbf rate 1gbit burst 30000 limit 30000",),
        ),
        (
            Shape(rate_bps=10**6),
            ("qdisc add dev x root handle 1: tbf rate 1mbit burst 1518 limit 151400",),
        ),
    ],
)
def test_lines(shape: Shape, lines: tuple[str, ...]) -> None:
    assert shape_lines("x", shape) == lines


def test_a_burst_holds_a_packet_of_the_links_own_size() -> None:
    (line,) = shape_lines("x", Shape(rate_bps=10**6), mtu_bytes=9000)
    assert " burst 9018 " in line


def test_a_queue_of_no_given_size() -> None:
    assert default_queue_bytes(Shape(rate_bps=10**9, delay_s=0.05)) == 12_500_000
    assert default_queue_bytes(Shape(rate_bps=10**9)) == 1_250_000
    assert default_queue_bytes(Shape(rate_bps=10**14, delay_s=1.0)) == MOST_BYTES
    with pytest.raises(ValueError, match="needs a rate"):
        default_queue_bytes(Shape(delay_s=1.0))


@given(
    rate_bps=st.none() | st.integers(8, 10**13),
    delay_s=st.none() | st.integers(1, 10**12).map(lambda ns: ns / 1e9),
    jitter_s=st.none() | st.integers(1, 10**9).map(lambda ns: ns / 1e9),
    loss=st.none() | st.integers(1, 10**6).map(lambda millionths: millionths / 1e6),
    queue_bytes=st.none() | st.integers(1518, MOST_BYTES),
)
def test_what_a_line_says_is_what_was_asked_for(
    rate_bps: int | None,
    delay_s: float | None,
    jitter_s: float | None,
    loss: float | None,
    queue_bytes: int | None,
) -> None:
    shape = Shape(
        rate_bps=rate_bps,
        delay_s=delay_s,
        jitter_s=jitter_s,
        loss=loss,
        queue_bytes=queue_bytes if rate_bps else None,
    )
    lines = shape_lines("s1-eth1", shape)
    setup = [Command(node=ROOT, line=f"tc {line}") for line in lines]
    read = shaping(setup, ROOT, "s1-eth1")
    assert read.rate_bps == rate_bps
    assert read.delay_s == pytest.approx(delay_s or 0.0, rel=1e-12)
    assert read.loss == (loss or 0.0)
    if rate_bps and queue_bytes:
        queue = queue_line(setup, ROOT, "s1-eth1")
        assert queue is not None
        assert queue.limit_bytes == queue_bytes
