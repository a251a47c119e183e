"""The fields of a transfer: what is read, what is refused, and what is written back."""

from __future__ import annotations

from pathlib import Path

import pytest

from longfat.model.traffic import Transfer
from longfat.study import read_study
from longfat.study.formats.write import study_text
from tests.study.messages import BASE, error, read


def test_all_fields(tmp_path: Path) -> None:
    text = (
        f"{BASE}  most: {{transfer: h1 -> h2, time: 2.5s, parallel: 4, reverse: yes, rate: 10mbit, "
        "congestion: bbr, window: 64KB, mss: 1000, interval: 20ms, start: 1s, start_spread: 2s, "
        "after: ping}\n  some: {transfer: h2 -> h1, bytes: 1GB}\n"
    )
    study = read(text, tmp_path)
    *_, last, some = study.cases["default"].case.flows
    assert last == Transfer(
        name="most",
        source="h1",
        target="h2",
        time_s=2.5,
        parallel=4,
        reverse=True,
        rate_bps=10_000_000,
        congestion="bbr",
        window_bytes=65536,
        mss_bytes=1000,
        interval_s=0.02,
        start_s=1.0,
        start_spread_s=2.0,
        after="ping",
    )
    assert some == Transfer(name="some", source="h2", target="h1", bytes=1 << 30)
    # Written and read again, it is the same case.
    file = tmp_path / "again.yaml"
    file.write_text(study_text(title="Again", case=study.cases["default"].case), encoding="utf-8")
    assert read_study(file).cases["default"].case == study.cases["default"].case


def test_what_holds_without_a_word(tmp_path: Path) -> None:
    *_, flow = read(f"{BASE}  x: {{transfer: h1 -> h2}}\n", tmp_path).cases["default"].case.flows
    assert flow == Transfer(name="x", source="h1", target="h2", time_s=10.0)


def test_a_case_differs_in_a_field(tmp_path: Path) -> None:
    text = (
        f"{BASE}  x: {{transfer: h1 -> h2, time: 5s}}\n"
        "cases:\n  timed:\n  sized: {flows: {x: {time: , bytes: 1MB, congestion: bbr}}}\n"
    )
    cases = read(text, tmp_path).cases
    x = cases["sized"].case.flows[-1]
    assert x == Transfer(name="x", source="h1", target="h2", bytes=1 << 20, congestion="bbr")
    assert cases["timed"].case.flows[-1].duration_s() == 5


def test_probes_and_claims_take_it_as_they_take_iperf3(tmp_path: Path) -> None:
    text = (
        f"{BASE}  x: {{transfer: h1 -> h2, parallel: 2}}\n"
        "probes: {tcp: {of: x}}\n"
        "claims:\n"
        "  - enough: default.x.receiver > 1mbit and default.tcp.mean_cwnd < default.x.max_cwnd\n"
        "  - even: default.x.fairness > 0.9\n"
    )
    study = read(text, tmp_path)
    assert [claim.text for claim in study.claims] == ["enough", "even"]


@pytest.mark.parametrize(
    ("fields", "place", "message"),
    [
        (
            "time: 1ms",
            "9:33: flows.x.time",
            "1ms is outside of what is allowed: 10ms to 86400s",
        ),
        (
            "rate: 0",
            "9:33: flows.x.rate",
            "0bit is outside of what is allowed: at least 1kbit",
        ),
        (
            "time: 1s, bytes: 1MB",
            "9:44: flows.x.bytes",
            "time and bytes are both given, and the flow ends at one of them: leave one out (in a "
            "case, a common field is taken back by writing it without a value)",
        ),
        ("parallel: 129", "9:37: flows.x.parallel", "129 is outside of what is allowed: 1 to 128"),
        (
            "udp: yes",
            "9:27: flows.x.udp",
            "unknown field 'udp' (there are: transfer, time, bytes, parallel, reverse, rate, "
            "congestion, window, mss, interval, start, start_spread, after, expect, "
            "limit, address)",
        ),
    ],
)
def test_what_is_refused(fields: str, place: str, message: str, tmp_path: Path) -> None:
    assert error(f"{BASE}  x: {{transfer: h1 -> h2, {fields}}}\n", tmp_path) == (place, message)
