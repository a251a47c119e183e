"""The fields of requests: what is read, what is refused, and what is written back."""

from __future__ import annotations

from pathlib import Path

import pytest

from longfat.model.traffic import Requests
from longfat.study import read_study
from longfat.study.formats.write import study_text
from tests.study.messages import BASE, error, read


def test_all_fields(tmp_path: Path) -> None:
    text = (
        f"{BASE}  open: {{requests: h1 -> h2, size: web-search, time: 5s, drain: 1s, load: 10mbit, "
        "request: 1KB, fresh: yes, congestion: bbr}\n"
        "  closed: {requests: h2 -> h1, size: 20KB, clients: 8, think: 50ms}\n"
        "  timed: {requests: h2 -> h1, size: /opt/sizes, every: 1ms}\n"
    )
    study = read(text, tmp_path)
    *_, opened, closed, timed = study.cases["default"].case.flows
    assert opened == Requests(
        name="open",
        source="h1",
        target="h2",
        size="web-search",
        time_s=5.0,
        drain_s=1.0,
        load_bps=10_000_000,
        request_bytes=1024,
        fresh=True,
        congestion="bbr",
    )
    assert closed == Requests(
        name="closed", source="h2", target="h1", size="20KB", clients=8, think_s=0.05
    )
    assert timed == Requests(
        name="timed", source="h2", target="h1", size="/opt/sizes", every_s=0.001
    )
    assert closed.summary() == "20KB each, 8 clients, think 50 ms"
    case = study.cases["default"].case
    assert type(case).from_json(case.to_json()) == case
    file = tmp_path / "again.yaml"
    file.write_text(study_text(title="Again", case=case), encoding="utf-8")
    assert read_study(file).cases["default"].case == case


def test_claims(tmp_path: Path) -> None:
    text = (
        f"{BASE}  x: {{requests: h1 -> h2}}\n"
        "claims:\n"
        "  - quick: default.x.p99 < 3 * default.ping.avg and default.x.slowdown_p50 < 2\n"
        "  - all: default.x.unfinished == 0 and default.x.goodput > 1mbit\n"
    )
    assert len(read(text, tmp_path).claims) == 2


@pytest.mark.parametrize(
    ("fields", "place", "message"),
    [
        (
            "size: big",
            "9:33: flows.x.size",
            "'big' is neither a size, such as 100KB, nor web-search nor data-mining, nor the path "
            "in the machine of a file with a distribution",
        ),
        (
            "size: 0",
            "9:33: flows.x.size",
            "'0' is outside of what is allowed: 1 to 1000000000000 bytes",
        ),
        (
            "load: 1mbit, every: 1s",
            "9:47: flows.x.every",
            "load and every are both given, and each sets how many: leave one out",
        ),
        (
            "every: 1s, think: 1s",
            "9:45: flows.x.think",
            "every begins requests at fixed times: leave think out",
        ),
        (
            "request: 8",
            "9:36: flows.x.request",
            "8 bytes is outside of what is allowed: 16 to 1MB",
        ),
    ],
)
def test_what_is_refused(fields: str, place: str, message: str, tmp_path: Path) -> None:
    assert error(f"{BASE}  x: {{requests: h1 -> h2, {fields}}}\n", tmp_path) == (place, message)
