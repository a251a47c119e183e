"""The fields of datagrams at a constant rate: read, refused and written back."""

from __future__ import annotations

from pathlib import Path

import pytest

from longfat.model.traffic import Cbr
from longfat.study import read_study
from longfat.study.formats.write import study_text
from tests.study.messages import BASE, error, read


def test_all_fields(tmp_path: Path) -> None:
    text = (
        f"{BASE}  call: {{cbr: h1 -> h2, time: 5s, size: 200, interval: 10ms, buffer: 40ms, "
        "dscp: 46}\n"
        "  video: {cbr: h1 -> h2, size: 1200, rate: 2mbit, reverse: yes}\n"
        "claims:\n"
        "  - a call: default.call.mos > 4 and default.call.p99 < 2 * default.ping.avg\n"
        "  - whole: default.video.loss < 1% and default.video.longest_loss <= 2\n"
    )
    study = read(text, tmp_path)
    *_, call, video = study.cases["default"].case.flows
    assert call == Cbr(
        name="call",
        source="h1",
        target="h2",
        time_s=5.0,
        size_bytes=200,
        interval_s=0.01,
        buffer_s=0.04,
        dscp=46,
    )
    assert video == Cbr(
        name="video", source="h1", target="h2", size_bytes=1200, rate_bps=2_000_000, reverse=True
    )
    assert "reverse" not in study.cases["default"].case.to_json()["flows"][-2]
    assert call.summary() == "5 s, 200 B each, every 10 ms, DSCP 46"
    case = study.cases["default"].case
    assert type(case).from_json(case.to_json()) == case
    file = tmp_path / "again.yaml"
    file.write_text(study_text(title="Again", case=case), encoding="utf-8")
    assert read_study(file).cases["default"].case == case


@pytest.mark.parametrize(
    ("fields", "place", "message"),
    [
        (
            "interval: 1ms, rate: 1mbit",
            "9:43: flows.x.rate",
            "interval and rate are both given, and each sets how many: leave one out",
        ),
        (
            "size: 15",
            "9:28: flows.x.size",
            "15 bytes is outside of what is allowed: 16 to 65507 bytes",
        ),
        ("dscp: 64", "9:28: flows.x.dscp", "64 is outside of what is allowed: 0 to 63"),
    ],
)
def test_what_is_refused(fields: str, place: str, message: str, tmp_path: Path) -> None:
    assert error(f"{BASE}  x: {{cbr: h1 -> h2, {fields}}}\n", tmp_path) == (place, message)
