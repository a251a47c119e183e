"""tc takes the canonical lines of qdiscs, and shows the values that they say."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from longfat.engine.kernel import Kernel
from longfat.model.network.tc import RATE, Qdisc, QdiscLine, parse_qdisc
from tests.model.qdiscs import KINDS, qdiscs

Boot = Callable[..., str]

_SHARES = ("loss", "loss random", "corrupt", "duplicate", "reorder")
_RATES = ("rate", "maxrate", "bandwidth")
_TIMES = ("target", "interval", "latency", "rtt")


def expected(qdisc: Qdisc) -> dict[str, Any]:
    """Return what `tc -j qdisc show` has to show of a qdisc's options."""
    shown: dict[str, Any] = {}
    for name, values in qdisc.options:
        if name == "delay":
            near_s = [pytest.approx(value, abs=2.1e-6) for value in values]  # ticks of 64 ns
            shown[name] = dict(zip(("delay", "jitter", "correlation"), near_s, strict=False))
        elif name in _SHARES:  # 32 bits of a whole
            key = name.removesuffix(" random")
            near = [pytest.approx(value, abs=1e-9) for value in values]
            group = "loss-random" if key == "loss" else key
            shown[group] = dict(zip((key, "correlation"), near, strict=False))
        elif name in _RATES:  # whole bytes per second
            near_bps = pytest.approx(int(values[0]) / 8, abs=1)
            shown[name] = {"rate": near_bps} if qdisc.kind == "netem" else near_bps
        elif name in _TIMES:  # microseconds
            # tbf keeps its latency as a number of bytes.
            byte_us = 8e6 / float(qdisc.number("rate", RATE)) if name == "latency" else 0.0
            key = "lat" if name == "latency" else name
            shown[key] = pytest.approx(float(values[0]) * 1e6, abs=2.1 + byte_us)
        elif qdisc.kind == "tbf" and name == "burst":  # as the time that it takes
            size = float(qdisc.number("rate", RATE)) / 8 * 1.1e-6
            shown[name] = pytest.approx(values[0], abs=1 + size)
        elif name == "ecn":
            shown[name] = True
        elif values and qdisc.kind != "tbf":
            shown[name] = values[0]
    if qdisc.kind == "red":  # what sets its average is not shown
        shown = {key: shown[key] for key in shown if key in {"limit", "min", "max", "ecn"}}
    return shown


def show(boot: Boot, kernel: Kernel, some: list[Qdisc]) -> list[dict[str, Any]]:
    script = ["ip link add dum0 type dummy"]
    for qdisc in some:
        script.append(str(QdiscLine(verb="add", device="dum0", qdisc=qdisc)))
        script += ["tc -j qdisc show dev dum0", "tc qdisc del dev dum0 root"]
    said = boot(kernel, "\n".join(script))
    lines = said.splitlines()
    assert [line for line in lines if not line.startswith("[")] == []
    return [json.loads(line)[0] for line in lines]


def part(shown: dict[str, Any], of: dict[str, Any]) -> dict[str, Any]:
    """Return what is shown of the keys that are expected."""
    return {
        key: part(shown[key], value) if isinstance(value, dict) else shown[key]
        for key, value in of.items()
    }


def some_qdiscs(kind: str) -> list[Qdisc]:
    """Return qdiscs that differ: hypothesis would fill a list with the least of all."""
    found: list[Qdisc] = []

    @given(qdisc=qdiscs(kinds=(kind,)))
    @settings(
        max_examples=4,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        # The first example takes the time of imports, too.
        suppress_health_check=[HealthCheck.too_slow],
    )
    def collect(qdisc: Qdisc) -> None:
        found.append(qdisc)

    collect()
    return found


def test_tc_shows_what_a_line_says(boot: Boot, each_kernel: Kernel) -> None:
    # `wire` needs a library of ours, which this shell does not have: see test_wire.py.
    kinds = [kind for kind in KINDS if kind != "wire"]
    some = [qdisc for kind in kinds for qdisc in some_qdiscs(kind)]
    assert len(set(some)) > 3 * len(kinds)
    for qdisc, seen in zip(some, show(boot, each_kernel, some), strict=True):
        assert (seen["kind"], seen["handle"]) == (qdisc.kind, qdisc.handle)
        wanted = expected(qdisc)
        assert part(seen["options"], wanted) == wanted, (qdisc.words, seen)


def test_netem_knows_no_parts_of_microseconds(boot: Boot, kernel: Kernel) -> None:
    # A tc that knows nanoseconds, as that of 6.15 does, shows what netem has.
    said = boot(kernel, "tc qdisc add dev lo root netem delay 1500ns && tc qdisc show dev lo")
    assert 'Illegal "latency"' in said or "delay 1.5us" in said
    (seen,) = show(boot, kernel, [parse_qdisc(["netem", "delay", "2500.9us"])])
    assert seen["options"]["delay"]["delay"] == pytest.approx(0.0025, abs=1.1e-6)


def test_netem_has_no_delay_above_274_s(boot: Boot, kernel: Kernel) -> None:
    add = "tc qdisc add dev lo root netem delay"
    assert "Illegal" in boot(kernel, f"{add} 275s; tc qdisc show dev lo")
    (seen,) = show(boot, kernel, [parse_qdisc(["netem", "delay", "274s", "2.147s"])])
    assert seen["options"]["delay"]["delay"] == pytest.approx(274)
    assert seen["options"]["delay"]["jitter"] == pytest.approx(2.147, rel=1e-3)
