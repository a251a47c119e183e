"""Each kind of error in flows and probes: its message, line, column and field."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from longfat.errors import InputError
from longfat.model.case import Case
from longfat.model.probes import Capture, Probe, Queue, Rate, Tcp
from longfat.study import read_study
from tests.study.messages import BASE, error

FLOWS = [
    (
        "{count: 4}",
        "9:6: flows.x",
        "the flow 'x' names no tool: write one of iperf3, transfer, ping, requests, cbr, video, "
        "program",
    ),
    (
        "{ping: h1 -> h2, iperf3: h1 -> h2}",
        "9:23: flows.x.iperf3",
        "the flow has two tools, ping and iperf3: write two flows",
    ),
    (
        "",
        "9:3: flows.x",
        "the flow 'x' has no value, which leaves out a common flow, and there is none of that name",
    ),
    (
        "{ping: h1}",
        "9:13: flows.x.ping",
        "found 'h1', expected SOURCE -> TARGET (such as h1 -> h2)",
    ),
    ("{ping: h1 -> h1}", "9:13: flows.x.ping", "the flow goes from h1 to itself"),
    (
        "{ping: h1 -> h9}",
        "9:19: flows.x.ping",
        "there is no host 'h9' (there are: h1, h2, h3)",
    ),
    ("{ping: s1 -> h1}", "9:13: flows.x.ping", "'s1' is a switch, where a host is needed"),
    ("{ping: h1 -> h3}", "9:13: flows.x.ping", "the flow 'x' cannot pass: h3 has no link"),
    (
        "{ping: h1 -> h2, after: pin}",
        "9:30: flows.x.after",
        "there is no flow 'pin'; did you mean 'ping'? (there are: ping, bulk)",
    ),
    ("{ping: h1 -> h2, after: x}", "9:30: flows.x.after", "flows wait for each other: x after x"),
    (
        "{ping: h1 -> h2, coutn: 1}",
        "9:23: flows.x.coutn",
        "unknown field 'coutn'; did you mean 'count'? (there are: ping, count, interval, size, "
        "start, start_spread, after, expect, limit, address, args)",
    ),
    (
        "{ping: h1 -> h2, address: h2}",
        "9:32: flows.x.address",
        "'h2' is not an address, such as 10.1.0.2 or 2001:db8::2",
    ),
    (
        "{ping: h1 -> h2, address: 10.1.0.2/24}",
        "9:32: flows.x.address",
        "'10.1.0.2/24' has a prefix length: write the address alone",
    ),
    (
        "{program: h1 -> h2, run: 'true', address: 10.1.0.2}",
        "9:39: flows.x.address",
        "unknown field 'address' (there are: program, run, serve, port, ready, time, "
        "status, environment, output_limit, reverse, metrics, start, start_spread, after, "
        "expect, limit)",
    ),
    (
        "{ping: h1 -> h2, count: 0}",
        "9:30: flows.x.count",
        "0 is outside of what is allowed: 1 to 2147483647",
    ),
    (
        "{ping: h1 -> h2, interval: 0}",
        "9:33: flows.x.interval",
        "0s is outside of what is allowed: 1ms to 2147483s",
    ),
    (
        "{ping: h1 -> h2, size: 64KB}",
        "9:29: flows.x.size",
        "64KB is outside of what is allowed: 0 to 65507 bytes",
    ),
    (
        "{ping: h1 -> h2, start: soon}",
        "9:30: flows.x.start",
        "'soon' is not a time: write a number with s, ms, us, ns or min, such as 20ms",
    ),
    (
        "{iperf3: h1 -> h2, parallel: 129}",
        "9:35: flows.x.parallel",
        "129 is outside of what is allowed: 1 to 128",
    ),
    (
        "{iperf3: h1 -> h2, udp: true, congestion: bbr}",
        "9:48: flows.x.congestion",
        "congestion is TCP's, and this flow is UDP",
    ),
    (
        "{iperf3: h1 -> h2, time: 5, bytes: 1GB}",
        "9:41: flows.x.bytes",
        "time and bytes are both given, and the flow ends at one of them: leave one out (in a "
        "case, a common field is taken back by writing it without a value)",
    ),
    (
        "{iperf3: h1 -> h2, time: 1.5s}",
        "9:31: flows.x.time",
        "1.5s: iperf3 counts in whole seconds",
    ),
    (
        "{iperf3: h1 -> h2, time: 0}",
        "9:31: flows.x.time",
        "0s is outside of what is allowed: 1s to 86400s, whole seconds",
    ),
    (
        "{iperf3: h1 -> h2, omit: 61s}",
        "9:31: flows.x.omit",
        "61s is outside of what is allowed: 0s to 60s, whole seconds",
    ),
    (
        "{iperf3: h1 -> h2, mss: 80}",
        "9:30: flows.x.mss",
        "80 bytes is outside of what is allowed: 88 to 9KB",
    ),
    (
        "{iperf3: h1 -> h2, rate: 100mbps}",
        "9:31: flows.x.rate",
        "'100mbps': tc reads mbps as bytes per second and most people as bits; write mbit for bits "
        "per second, or 8 times as much mbit for bytes",
    ),
    (
        "{iperf3: h1 -> h2, rate: 0}",
        "9:31: flows.x.rate",
        "0bit is outside of what is allowed: at least 1bit",
    ),
    (
        "{iperf3: h1 -> h2, reverse: maybe}",
        "9:34: flows.x.reverse",
        "found 'maybe', expected true or false",
    ),
    (
        "{iperf3: h1 -> h2, congestion: -h}",
        "9:37: flows.x.congestion",
        "'-h' cannot be a congestion control: write a name such as bbr",
    ),
    (
        '{iperf3: h1 -> h2, args: ["-N", "-J"]}',
        "9:38: flows.x.args[1]",
        "-J cannot be given: longfat sets it itself",
    ),
    (
        '{iperf3: h1 -> h2, args: ["--jso"]}',
        "9:32: flows.x.args[0]",
        "--jso cannot be given: longfat sets it itself",
    ),
    (
        '{iperf3: h1 -> h2, args: ["--logfile=x"]}',
        "9:32: flows.x.args[0]",
        "--logfile cannot be given: it changes the output that longfat reads",
    ),
    (
        '{iperf3: h1 -> h2, args: ["-ZP", "8"]}',
        "9:32: flows.x.args[0]",
        "-P cannot be given: write it as the field 'parallel'",
    ),
    (
        '{ping: h1 -> h2, args: ["-D"]}',
        "9:30: flows.x.args[0]",
        "-D cannot be given: it changes the output that longfat reads",
    ),
    (
        '{ping: h1 -> h2, args: ["-t", "5", "h3"]}',
        "9:41: flows.x.args[2]",
        "'h3' is not an option; the target is written in the flow",
    ),
]


@pytest.mark.parametrize(("value", "place", "message"), FLOWS)
def test_flows(value: str, place: str, message: str, tmp_path: Path) -> None:
    assert error(f"{BASE}  x: {value}\n", tmp_path) == (place, message)


def test_flows_that_wait_in_a_circle(tmp_path: Path) -> None:
    more = "  a: {ping: h1 -> h2, after: c}\n  b: {ping: h1 -> h2, after: a}\n"
    more += "  c: {ping: h1 -> h2, after: b}\n"
    assert error(BASE + more, tmp_path) == (
        "9:30: flows.a.after",
        "flows wait for each other: a after c after b after a",
    )


def test_hosts_that_no_links_connect(tmp_path: Path) -> None:
    text = BASE.replace("[h2, s1]", "[h2, h3]")
    assert error(text, tmp_path) == (
        "7:16: flows.ping.ping",
        "the flow 'ping' cannot pass: no links lead from h1 to h2",
    )


def test_hosts_of_two_families(tmp_path: Path) -> None:
    text = BASE.replace("10.0.0.2/8", "fd00::2/64")
    assert error(text, tmp_path)[1] == (
        "the flow 'ping' cannot pass: h1 and h2 have addresses of different families"
    )


STUDY = """\
title: x
network:
  hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8}
  switches: [s1]
  links: [[h1, s1], [h2, s1]]
flows:
  bulk: {iperf3: h1 -> h2}
  other: {iperf3: h2 -> h1}
  datagrams: {iperf3: h1 -> h2, udp: true}
  rtt: {ping: h1 -> h2}
"""


def read(text: str, folder: Path, case: str = "default") -> Case:
    file = folder / "study.yaml"
    file.write_text(STUDY + text, encoding="utf-8")
    return read_study(file).cases[case].case


@pytest.mark.parametrize(
    ("text", "probe"),
    [
        ("queue: {of: s1-eth2}", Queue(name="queue", of=("s1-eth2",))),
        (
            "near: {kind: queue, of: [s1-eth1, h1-eth0], every: 1ms}",
            Queue(name="near", of=("s1-eth1", "h1-eth0"), every_s=0.001),
        ),
        ("tcp: {of: bulk, every: 1s}", Tcp(name="tcp", of=("bulk",), every_s=1.0)),
        ("tcp: {of: [other, bulk]}", Tcp(name="tcp", of=("other", "bulk"))),
        ("rate: {of: h2-eth0}", Rate(name="rate", of=("h2-eth0",))),
        ("capture: {of: h2-eth0}", Capture(name="capture", of="h2-eth0")),
        (
            "w: {kind: capture, of: h2-eth0, filter: tcp port 5201, snap: 96B, packets: 10}",
            Capture(name="w", of="h2-eth0", filter="tcp port 5201", snap_bytes=96, packets=10),
        ),
    ],
)
def test_a_probe_is_read(text: str, probe: Probe, tmp_path: Path) -> None:
    case = read(f"probes:\n  {text}\n", tmp_path)
    assert case.probes == (probe,)
    # What is written into a manifest comes back as the same value.
    assert Case.from_json(json.loads(json.dumps(case.to_json()))) == case


def test_a_case_replaces_adds_and_leaves_out(tmp_path: Path) -> None:
    text = """\
probes: {queue: {of: s1-eth1}, rate: {of: s1-eth1}}
cases:
  a: {probes: {queue: {of: s1-eth2}, tcp: {of: bulk}, rate: }}
"""
    probes = read(text, tmp_path, "a").probes
    assert [(one.name, one.kind) for one in probes] == [("queue", "queue"), ("tcp", "tcp")]
    assert probes[0] == Queue(name="queue", of=("s1-eth2",))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("queue: {of: s1-eth3}", "there is no interface 's1-eth3'"),
        ("queue: {every: 1ms}", "has no of: write of"),
        ("queue: {of: []}", "an interface"),
        ("queue: {of: [s1-eth1, s1-eth1]}", "written twice"),
        ("queue: {of: s1-eth1, every: 0.5ms}", "1ms to 1s"),
        ("queue: {of: s1-eth1, every: 2s}", "1ms to 1s"),
        ("queue: {of: s1-eth1, snap: 96B}", "snap"),
        ("near: {of: s1-eth1}", "there is no kind of probe 'near'"),
        ("near: {kind: quee, of: s1-eth1}", "there is no kind of probe 'quee'"),
        ("tcp: {of: bluk}", "there is no flow 'bluk'"),
        ("tcp: {of: rtt}", "no TCP sockets"),
        ("tcp: {of: datagrams}", "no TCP sockets"),
        ("bulk: {kind: queue, of: s1-eth1}", "has the name of a flow"),
        ("capture: {of: [s1-eth1, s1-eth2]}", "an interface"),
        ("capture: {of: s1-eth1, filter: -w /tmp/x}", "hyphen"),
        ("capture: {of: s1-eth1, snap: 10B}", "64 to 256KB"),
        ("capture: {of: s1-eth1, packets: 0}", "1"),
        ("queue:", "none of that name"),
    ],
)
def test_a_wrong_probe_is_refused_where_it_is_written(
    text: str, message: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=re.escape(message)) as caught:
        read(f"probes:\n  {text}\n", tmp_path)
    assert caught.value.place is not None
    assert caught.value.place.line == 12


def test_claims_and_published_figures_know_a_probes_metrics(tmp_path: Path) -> None:
    text = """\
probes: {queue: {of: s1-eth2}, w: {kind: capture, of: h1-eth0}}
claims: [default.queue.peak < 1MB and default.w.window_shift == 9]
published: {source: x, default: {queue.peak: 1MB, w.window_raw: 16129}}
"""
    read(text, tmp_path)
    with pytest.raises(InputError, match="peek"):
        read(text.replace("queue.peak < 1MB", "queue.peek < 1MB"), tmp_path)
