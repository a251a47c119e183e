"""What `longfat tune` says, and that it is right on real machines."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from longfat.analysis.advice.arithmetic import CONGESTIONS, MAX_STREAMS
from longfat.analysis.advice.check import DEFAULT, TUNED, check_cases, judge_check
from longfat.analysis.advice.limits import Limit
from longfat.analysis.advice.tuning import HOSTS, SENDER, Tuning, tune
from longfat.cli.tune import tune as command
from longfat.errors import InputError
from longfat.execution import run_case


def advice(**changes: Any) -> Tuning:
    plain: dict[str, Any] = {"rate_bps": 10**10, "rtt_s": 0.05, "kernel": "6.1"}
    return tune(**{**plain, **changes})


def texts(found: Tuning, node: str) -> list[str]:
    return [line.text for line in found.lines if line.node == node]


def test_the_labs_path() -> None:
    found = advice(rtt_s=0.02)
    assert texts(found, HOSTS) == [
        "sysctl -w net.ipv4.tcp_rmem='4096 131072 50000000'",
        "sysctl -w net.ipv4.tcp_wmem='4096 16384 50000000'",
    ]
    assert [line.text for line in found.lines if "net.core" in line.text] == [
        "sysctl -w net.core.rmem_max=25000000",
        "sysctl -w net.core.wmem_max=25000000",
    ]
    assert any(
        line.text == "tc qdisc replace dev DEV root tbf rate 10gbit burst 5000000 limit 25000000"
        for line in found.lines
    )
    assert found.need.streams == 1
    assert dict(found.keep)["net.ipv4.tcp_timestamps=1"].startswith("sequence numbers wrap")


def test_each_line_has_its_sum() -> None:
    for found in (advice(), advice(congestion="bbr", loss_fraction=0.0001), advice(flows=1000)):
        assert all(line.why for line in found.lines)
    rmem, wmem = (line.why for line in advice(rtt_s=0.02).lines[:2])
    for why in (rmem, wmem):
        assert "2 x BDP = 2 x 25,000,000 B = 50,000,000" in why
    assert "offers half of a receive buffer" in rmem
    assert "starts with half" in advice(kernel="6.12").lines[0].why
    assert any("Measured on 6.12" in note for note in advice(kernel="6.12").notes)


def test_bbr_with_loss_has_room_for_four_bdps() -> None:
    assert advice(congestion="bbr").need.buffer_bytes == 125_000_000
    found = advice(congestion="bbr", loss_fraction=0.0001)
    assert found.need.buffer_bytes == 500_000_000
    assert found.need.streams == 1
    assert "sysctl -w net.ipv4.tcp_congestion_control=bbr" in texts(found, HOSTS)


def test_fq_is_needed_for_bbr_before_4_13() -> None:
    fq = "tc qdisc replace dev DEV root fq"
    assert fq in texts(advice(congestion="bbr", kernel="4.9"), SENDER)
    later = advice(congestion="bbr", kernel="4.13")
    assert fq not in texts(later, SENDER)
    assert "not needed" in dict(later.keep)["the sender's qdisc"]
    with pytest.raises(InputError, match=r"it came with 4\.9"):
        advice(congestion="bbr", kernel="4.4")


def test_streams_for_losses() -> None:
    # MSS / (RTT x sqrt(p)) = 1448 x 8 / (0.02 x 0.01) = 57.9 Mbit/s of Reno.
    reno = advice(rate_bps=10**9, rtt_s=0.02, congestion="reno", loss_fraction=0.0001)
    assert reno.need.stream_bps == pytest.approx(57.92e6)
    assert reno.need.streams == 17
    assert "iperf3 -c RECEIVER -P 17" in texts(reno, SENDER)
    cubic = advice(rate_bps=10**9, rtt_s=0.02, loss_fraction=0.0001)
    assert 1 < cubic.need.streams <= reno.need.streams
    many = advice(congestion="reno", loss_fraction=0.0001)
    assert many.need.streams > MAX_STREAMS
    assert any("reduce the loss, or take bbr" in note for note in many.notes)
    assert not any("iperf3" in line.text for line in many.lines)


def test_a_path_that_no_window_of_tcp_fills() -> None:
    found = advice(rate_bps=10**11, rtt_s=0.2)  # 2.5 GB, and a window has 1 GB
    assert found.need.streams == 3
    assert "iperf3 -c RECEIVER -P 3" in texts(found, SENDER)
    assert found.need.buffer_bytes < 2**31


def test_the_kernels_own_sizes_are_never_made_smaller() -> None:
    found = advice(rate_bps=10**8, rtt_s=0.02)
    assert texts(found, HOSTS) == []
    assert {"net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem"} <= dict(found.keep).keys()


def test_a_routers_buffer_for_many_flows() -> None:
    def limit(flows: int) -> int:
        (tbf,) = (line.text for line in advice(flows=flows).lines if " tbf " in line.text)
        return int(tbf.rpartition(" ")[2])

    assert limit(1) == limit(4) == 62_500_000
    assert limit(10_000) == 5_000_000  # 625,000 bytes are less than a burst
    assert limit(100) == 6_250_000


@given(
    rate_bps=st.integers(10**6, 10**12),
    rtt_s=st.floats(1e-5, 10),
    kernel=st.sampled_from(("4.18", "6.1", "6.12", "7.2")),
    congestion=st.sampled_from(CONGESTIONS),
    loss_fraction=st.sampled_from((0.0, 1e-8, 1e-4, 0.02, 0.5)),
    flows=st.integers(1, 10**6),
)
def test_any_path_has_advice(**path: Any) -> None:
    found = tune(**path)
    need = found.need
    assert 0 < need.expected_bps <= need.goodput_bps
    assert 0 < need.buffer_bytes < 2**31
    assert need.streams >= 1
    for line in found.lines:
        if match := re.search(r"tcp_[rw]mem='(\d+) (\d+) (\d+)'", line.text):
            low, middle, maximum = map(int, match.groups())
            assert low < middle < maximum == need.buffer_bytes
    json.dumps(found.to_json())


@pytest.mark.parametrize(("version", "rtt_s", "gain"), [("6.1", 0.1, 1.5), ("6.12", 0.16, 1.5)])
def test_the_check(tmp_path: Path, version: str, rtt_s: float, gain: float) -> None:
    tuning = advice(rate_bps=500_000_000, rtt_s=rtt_s, kernel=version)
    runs = {
        name: run_case(case, name=name, out=tmp_path) for name, case in check_cases(tuning).items()
    }
    checked = judge_check(tuning, runs)
    assert checked.good
    assert checked.gain > gain
    assert checked.filled > 0.95
    assert checked.diagnoses[DEFAULT].limit in {Limit.RECEIVE_WINDOW, Limit.SEND_BUFFER}
    assert checked.diagnoses[TUNED].limit is Limit.BOTTLENECK


def call(*arguments: str) -> Result:
    return CliRunner().invoke(command, arguments, env={"COLUMNS": "80"})


def test_the_command() -> None:
    done = call("--rate", "10gbit", "--rtt", "50ms", "--cc", "bbr", "--loss", "0.01%")
    assert done.exit_code == 0, done.output
    lines = done.output.splitlines()
    assert "sysctl -w net.ipv4.tcp_rmem='4096 131072 500000000'" in lines
    # Only lines to paste may be longer than the terminal is wide.
    assert all(len(line) <= 80 or line.startswith("tc ") for line in lines)
    done = call("--rate", "10gbit", "--rtt", "50ms", "--json")
    assert json.loads(done.output)["buffer_bytes"] == 125_000_000


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--rate", "10mbps", "--rtt", "50ms"), "mbit"),
        (("--rate", "10gbit", "--rtt", "50"), "no unit"),
        (("--rate", "0", "--rtt", "50ms"), "more than 0"),
        (("--rate", "10gbit", "--rtt", "50ms", "--loss", "1"), "not a percentage"),
        (("--rate", "10gbit", "--rtt", "50ms", "--loss", "100%"), "less than 100%"),
        (("--rate", "10gbit", "--rtt", "50ms", "--kernel", "new"), "not a kernel version"),
    ],
)
def test_bad_input(arguments: tuple[str, ...], said: str) -> None:
    done = call(*arguments)
    assert isinstance(done.exception, InputError)
    assert said in str(done.exception)


def test_usage() -> None:
    assert "--check" in call("--rate", "1gbit", "--rtt", "1ms", "--out", "x").output
    assert "vegas" in call("--rate", "1gbit", "--rtt", "1ms", "--cc", "vegas").output


def test_check_from_the_command_line(tmp_path: Path) -> None:
    arguments = ("--rate", "50mbit", "--rtt", "40ms", "--loss", "0.5%", "--cc", "bbr", "--check")
    done = call(*arguments, "--json", "--out", str(tmp_path))
    assert done.exit_code == 0, done.output
    check = json.loads(done.stdout)["check"]
    assert check["good"] is True
    assert check["gain"] > 3
    assert check["cases"]["default"]["limit"] == "congestion window after loss"
    assert {path.name for path in tmp_path.iterdir()} == {"default-seed1", "tuned-seed1"}
