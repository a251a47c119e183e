"""Mininet scripts as whole studies: each is converted and run, and measures what it would."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from longfat.execution import run_case
from longfat.study.model import Study
from longfat.study.read import read_study
from tests.command import longfat, run_command
from tests.paths import TESTS

SCRIPTS = TESTS / "data/mininet/scripts"


def convert(script: str, folder: Path) -> tuple[Study, list[str]]:
    """Return the study of one of the scripts, and what was noted."""
    target = folder / "net.yaml"
    done = longfat("convert", "--json", str(SCRIPTS / f"{script}.py"), str(target), cwd=folder)
    assert done.returncode == 0, done.stderr
    return read_study(target), json.loads(done.stdout)["warnings"]


def measure(study: Study, folder: Path) -> dict[str, float]:
    """Run all cases of a study, and return its metrics as `case.flow.metric`."""
    found: dict[str, float] = {}
    for name, planned in study.cases.items():
        run = run_case(planned.case, name=name, out=folder)
        assert not run.unexpected
        found |= {f"{name}.{metric}": value for metric, value in run.metrics.items()}
    return found


# Of each script: the range of some metrics, and a part of a note.
EXPECTED: dict[str, tuple[dict[str, tuple[float, float]], str]] = {
    "arguments": (
        {"default.iperf_h1_h2.receiver_bps": (4.5e6, 4.9e6)},
        "the flow iperf_h1_h2 (iperf is taken as iperf3)",
    ),
    "captured": (
        {
            "default.iperf_h1_h2.sent_bytes": (500e3, 600e3),
            "default.capture_h2_eth0.packets": (100, 2000),
        },
        "the probe capture_h2_eth0",
    ),
    "class_of_topology": (
        {
            "default.iperf_h1_h3.receiver_bps": (13e6, 15e6),
            "default.ping_h1_h3.loss": (0, 0),
            "default.ping_h3_h2.received": (1, 1),
        },
        "line 31: h1: `iperf -p 5001 -t 2 -c 10.0.0.3`: the flow iperf_h1_h3",
    ),
    "monitored_queue": (
        {
            "default.queue_s1_eth2.peak_packets": (20, 20),
            "default.iperf_h1_h2.receiver_bps": (4.2e6, 4.9e6),
            "default.curl_h2.status": (0, 0),
            "default.ping_h1_h2.received": (1, 2),
            "default.ping_h1_h2_2.received": (1, 3),
        },
        "its window is cut to net.core.rmem_max, as Linux does it",
    ),
    "datagrams": (
        {"default.iperf_h1_h2.loss": (0.05, 0.5), "default.iperf_h1_h2.sender_bps": (29e6, 31e6)},
        "the server of a flow",
    ),
    "from_a_file": ({"default.ping_h2_h1.loss": (0, 0)}, "line 14: h1"),
    "harmless": (
        {"default.ping_h1_h2.loss": (0, 0), "default.ls_h2.status": (2, 2)},
        "h1: `ip route del default` fails (RTNETLINK answers: No such process), which is ignored",
    ),
    "lines_of_tc": (
        {"default.iperf_h1_h2.receiver_bps": (10e6, 13.5e6)},
        "line 19: root: `tc qdisc change dev s1-eth2 root handle 1: tbf rate 5mbit burst 15k limit "
        "60k`: an event",
    ),
    "link_down": (
        {
            "default.ping_h1_h2.loss": (0, 0),
            "default.ping_h1_h2_2.loss": (1, 1),
            "default.ping_h1_h2_3.loss": (0, 0),
        },
        "root: `ip link set dev s2-eth2 down` and 1 more: an event",
    ),
    "linux_bridge": ({"default.ping_h2_h1.loss": (0, 0)}, "the flow ping_h1_h2"),
    "linux_router": (
        {"default.ping_h1_h2.loss": (0, 0), "default.route_r0.elapsed_s": (0, 0.1)},
        "line 36: r0: `route -n`: the program flow route_r0",
    ),
    "log_files": (
        {
            "default.ping_h1_h2.received": (4, 4),
            "default.iperf_h1_h2.receiver_bps": (18e6, 20e6),
        },
        "line 17: h1: `cat ping.log`: left out: what a flow prints is in its run's raw/",
    ),
    "loop_in_a_network": (
        {
            "default.ping_h1_h2.min_s": (0.0199, 0.0202),
            "default.ping_h1_h2_2.min_s": (0.0399, 0.0402),
        },
        "root: `tc qdisc replace dev s1-eth1 root netem delay 30ms`: an event",
    ),
    "loop_of_controls": (
        {
            "reno.iperf_h1_h2.receiver_bps": (17e6, 20e6),
            "cubic.iperf_h1_h2.receiver_bps": (17e6, 20e6),
        },
        "the script runs its network 2 times: the cases reno, cubic",
    ),
    "loop_of_hosts": (
        {"hosts-2.ping_h2_h1.loss": (0, 0), "hosts-3.ping_h3_h2.loss": (0, 0)},
        "the cases hosts-2, hosts-3",
    ),
    "loop_of_queues": (
        {
            "queue-20.iperf_h1_h2.max_rtt_s": (0.01, 0.08),
            "queue-200.iperf_h1_h2.max_rtt_s": (0.1, 0.5),
        },
        "the cases queue-20, queue-200",
    ),
    "lossy_datagrams": (
        {"default.cbr_h1_h2.loss": (0.15, 0.25), "default.cbr_h1_h2.sent": (890, 893)},
        "iperf is taken as cbr: iperf3 fails if its first datagram is lost",
    ),
    "monitored": (
        {"default.ping_h2_h1.received": (3, 3), "default.ping_h3_h1_2.received": (2, 2)},
        "line 17: h2: `ping 10.0.0.1`: the flow ping_h2_h1_2",
    ),
    "nat": ({"default.ping_h1_nat0.loss": (0, 0)}, "nat0 is a router whose Internet is left out"),
    "odd_names": (
        {
            "default.ping_1001_h_1.min_s": (0.01, 0.0101),
            "default.ping_h_1_tenletters.min_s": (0.02, 0.0201),
        },
        "h.1: it is h_1 here",
    ),
    "options_of_iperf3": (
        {
            "default.iperf_h1_h2.sender_bps": (1.9e6, 2.1e6),
            "default.iperf_h1_h2_2.fairness": (0.3, 1),
            "default.iperf_h2_h1.receiver_bps": (15e6, 20e6),
            "default.iperf_h1_h2_4.sent_bytes": (1 << 20, 2 << 20),
        },
        "the flow iperf_h1_h2",
    ),
    "own_address": ({"default.ping_h1_h2.loss": (0, 0)}, "r1"),
    "own_program": (
        {"default.python3_h1.status": (0, 0), "default.missing_h1.status": (127, 127)},
        "line 13: h2: `python3 answer.py 7000`: a set-up line",
    ),
    "own_route": (
        {"default.ping_h1_h2.received": (2, 2)},
        "`ip route add 10.1.0.0/24 via 10.1.0.2` fails",
    ),
    "parsed_output": (
        {
            "default.ping_h1_h2_3.min_s": (0.01, 0.011),
            "default.iperf_h1_h2.receiver_bps": (17e6, 20e6),
        },
        "`ping -c 1 10.0.0.2` and 2 more",
    ),
    "processes": (
        {
            "default.ping_h1_h2.sent": (30, 30),
            "default.iperf_h1_h2.receiver_bps": (17e6, 20e6),
        },
        "line 15: h1: `ping -i 0.1 10.0.0.2`: the flow ping_h1_h2",
    ),
    "read_files": (
        {
            "default.iperf_h1_h2.receiver_bps": (9e6, 10e6),
            "default.ping_h1_h2.received": (3, 3),
            "default.ping_h1_h2_2.received": (2, 2),
        },
        "the flow ping_h1_h2",
    ),
    "renamed": (
        {"default.ping_h1_h2.loss": (0, 0), "default.ping_h1_h2.min_s": (0.01, 0.0101)},
        "the interface wan is r1-eth1 here",
    ),
    "threads": (
        {"default.ping_h1_h3.received": (5, 5), "default.ping_h2_h3_2.received": (1, 1)},
        "the flow ping_h2_h3_2",
    ),
    "two_pages": (
        {"default.curl_h2.status": (0, 0), "default.curl_h2_2.status": (0, 0)},
        "and 1 more: the program flow curl_h2",
    ),
    "waited": (
        {"default.ping_h1_h3.received": (3, 3), "default.ping_h3_h1.received": (1, 1)},
        "the program flow ip_h1",
    ),
    "web_server": (
        {"default.wget_h2.status": (0, 0), "default.wget_h2.elapsed_s": (0.08, 0.3)},
        "the server of a program flow",
    ),
    "wrapped": (
        {
            "default.iperf_h1_h2_2.sent_bytes": (1e6, 1e15),
            "default.ping_h1_h2_2.received": (3, 3),
        },
        "line 14: h1: `cd /tmp; sudo -n iperf3 -c 10.0.0.2 -t 2`: the flow iperf_h1_h2_2",
    ),
}
QUICK = ("harmless", "loop_of_hosts", "own_address", "renamed")


def check(script: str, folder: Path) -> None:
    ranges, note = EXPECTED[script]
    study, notes = convert(script, folder)
    assert any(note in one for one in notes), notes
    metrics = measure(study, folder)
    for metric, (low, high) in ranges.items():
        assert low <= metrics[metric] <= high, (metric, metrics)


@pytest.mark.parametrize("script", QUICK)
def test_what_a_script_measures(script: str, tmp_path: Path) -> None:
    check(script, tmp_path)


@pytest.mark.parametrize("script", [name for name in EXPECTED if name not in QUICK])
def test_what_each_script_measures(script: str, tmp_path: Path) -> None:
    check(script, tmp_path)


def test_no_seed_ends_datagrams_over_a_lossy_link(tmp_path: Path) -> None:
    study, _ = convert("lossy_datagrams", tmp_path)
    case = study.cases["default"].case
    for seed in range(1, 9):
        run = run_case(replace(case, seed=seed), name=f"seed{seed}", out=tmp_path)
        assert not run.unexpected
        # Those that wait for a lost ARP request are lost, too, a second and more of them.
        names = ("sent", "received", "longest_loss")
        sent, received, longest = (run.metrics[f"cbr_h1_h2.{name}"] for name in names)
        assert 0.1 < 1 - received / (sent - longest) < 0.3


def test_repetitions_are_seeds(tmp_path: Path) -> None:
    study, notes = convert("repeated", tmp_path)
    assert list(study.cases) == ["delay-5ms", "delay-20ms"]
    assert {planned.seeds for planned in study.cases.values()} == {3}
    assert "delay-5ms 3 times, delay-20ms 3 times" in notes[-1]


def test_a_script_without_traffic(tmp_path: Path) -> None:
    study, notes = convert("only_a_prompt", tmp_path)
    assert notes[-1].endswith("the script makes no traffic: the study has nothing to measure")
    assert not study.cases["default"].case.flows
    done = longfat("run", str(tmp_path / "net.yaml"), "--no-report", cwd=tmp_path)
    assert done.returncode == 0
    assert "no flows: nothing to measure" in done.stdout + done.stderr
    assert "0.0 virtual s" not in done.stdout + done.stderr


def test_every_line_has_the_names_of_the_study(tmp_path: Path) -> None:
    study, notes = convert("odd_names", tmp_path)
    case = study.cases["default"].case
    lines = [(one.node, one.line) for one in case.setup]
    assert ("h_1", "ip link set dev h_1-eth0 mtu 1400") in lines
    assert ("root", "ip link set dev 1 mtu 1400") in lines
    assert ("root", "ip link set dev swi_wcf3s mtu 1400") in lines
    assert ("root", "ip link set dev swi_wcf3s-eth1 mtu 1400") in lines
    assert ("tenletters", "tc qdisc add dev tenletters-eth0 root netem delay 20ms") in lines
    assert "proxy_arp=1" in str(case.events)
    assert "net.ipv4.conf.h_1-eth0." in str(case.events)
    assert not any("fails" in note for note in notes)


LONG_NAMES = """
title: Long names
network:
  hosts:
    tenletters: 10.0.0.1/24
    1001: 10.0.0.4/24
    twelveletter: 10.0.0.2/24
    router-of-ten: {address: 10.0.0.3/24, forwards: yes}
  switches: [switchten1, switchtwelve, 22]
  links:
    - [tenletters, switchten1, {rate: 10Mbit, delay: 5ms}]
    - [twelveletter, switchten1]
    - [switchten1, switchtwelve, {delay: 1ms}]
    - [router-of-ten, switchtwelve]
    - [switchten1, 22]
    - [1001, 22, {delay: 1ms}]
setup:
  - root: ip link set dev swi_wcf3s mtu 1400
  - tenletters: ip link set dev tenletters-eth0 mtu 1400
flows:
  p: {ping: tenletters -> twelveletter, count: 3}
"""


@pytest.mark.skipif(
    shutil.which("mn") is None or shutil.which("ovs-vsctl") is None,
    reason="Mininet or Open vSwitch is not installed",
)
def test_a_written_script_with_long_names_runs(tmp_path: Path) -> None:
    (tmp_path / "long.yaml").write_text(LONG_NAMES, encoding="utf-8")
    done = longfat("convert", "long.yaml", "long.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    done = run_command(
        *("longfat", "exec", "--ovs", "--typed", "--bind", str(tmp_path), "--"),
        *("python3", "long.py"),
        given="tenletters ping -c 2 -i 0.2 10.0.0.3\n1001 ping -c 3 tenletters\n",
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    output = done.stdout + done.stderr
    assert "2 packets transmitted, 2 received" in output
    assert "3 packets transmitted, 3 received" in output


# What `longfat exec` prints of a script, as the metrics of its study.
PRINTED = {
    "rtt": re.compile(r"rtt min/avg/max/mdev = [\d.]+/([\d.]+)/"),
    "loss": re.compile(r"([\d.]+)% packet loss"),
    "receiver": re.compile(r"([\d.]+) Mbits/sec +receiver"),
}


@pytest.mark.skipif(
    shutil.which("mn") is None or shutil.which("ovs-vsctl") is None,
    reason="Mininet or Open vSwitch is not installed",
)
@pytest.mark.parametrize(
    "script",
    [
        "loop_in_a_network",
        "parsed_output",
        "loop_of_queues",
        "long_fat",
        "changed_link",
        "stepped_rate",
    ],
)
def test_the_study_measures_what_the_script_does(script: str, tmp_path: Path) -> None:
    done = longfat(
        *("exec", "--ovs", "--bind", str(SCRIPTS), "--timeout", "10min", "--"),
        *("python3", str(SCRIPTS / f"{script}.py")),
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    said = {
        name: [float(one) for one in form.findall(done.stdout + done.stderr)]
        for name, form in PRINTED.items()
    }
    metrics = measure(convert(script, tmp_path)[0], tmp_path)
    found = {
        "rtt": [1e3 * value for name, value in metrics.items() if name.endswith(".avg_s")],
        "loss": [100 * value for name, value in metrics.items() if name.endswith(".loss")],
        "receiver": [v / 1e6 for name, v in metrics.items() if name.endswith(".receiver_bps")],
    }
    assert found["loss"] == said["loss"]
    assert found["rtt"] == pytest.approx(said["rtt"], rel=0.02)
    assert found["receiver"] == pytest.approx(said["receiver"], rel=0.02)
    assert found["rtt"] or found["receiver"]
