from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.command import longfat


def test_the_sums_are_shown(tmp_path: Path) -> None:
    done = longfat("bdp", "10gbit", "50ms", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "10 Gbit/s x 50 ms = 500,000,000 bit" in done.stdout
    assert "59.6 MB" in done.stdout
    assert "1.68 %" in done.stdout
    assert "\x1b" not in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert done.stderr == ""


def test_json_has_every_number(tmp_path: Path) -> None:
    done = longfat(
        *("bdp", "10 Gbit/s", "20ms", "--flows", "100", "--loss", "0.01%", "--kernel", "6.12"),
        *("--mss", "8960", "--json"),
        cwd=tmp_path,
    )
    data = json.loads(done.stdout)
    assert data["bdp_bytes"] == 25_000_000
    assert data["packet_bytes"] == 9000
    assert data["router_buffer_flows_bytes"] == 2_500_000
    assert data["mathis_bps"] == pytest.approx(358.4e6)
    assert data["half_rule"] is False
    assert [limit["buffer_bytes"] for limit in data["limits"]] == [6291456, 4194304, 16777216]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("10gigs", "50ms"), "'10gigs' is not a rate"),
        (("10gbit", "50"), "'50' has no unit"),
        (("10mbps", "50ms"), "bytes per second"),
        (("0", "50ms"), "the rate must be more than 0"),
        (("10gbit", "0"), "the RTT must be more than 0"),
        (("10gbit", "-50ms"), "'-50ms' is negative"),
        (("-1gbit", "50ms"), "'-1gbit' is negative"),
        (("1e30gbit", "50ms"), "too large"),
        (("100tbit", "60s"), "at most 1e13 bits"),
        (("10gbit", "50ms", "--loss", "0.01"), "'0.01' is not a percentage"),
        (("10gbit", "50ms", "--loss", "0"), "more than 0%"),
        (("10gbit", "50ms", "--mss", "0"), "1 to 65,495 bytes"),
        (("10gbit", "50ms", "--flows", "0"), "1 flow or more"),
        (("10gbit", "50ms", "--kernel", "six"), "'six' is not a kernel version"),
        (("10gbit",), "Missing argument"),
        (("--jsn", "10gbit", "50ms"), "No such option"),
    ],
)
def test_bad_input_ends_with_2(tmp_path: Path, arguments: tuple[str, ...], message: str) -> None:
    done = longfat("bdp", *arguments, cwd=tmp_path)
    assert done.returncode == 2, done.stdout
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
