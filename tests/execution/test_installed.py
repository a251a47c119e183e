"""What a run has of qdiscs, classes, filters and sysctls is what its lines installed."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from longfat.analysis.advice.evidence import find_bottleneck
from longfat.errors import MachineError
from longfat.execution.installed_outcome import read_installed
from longfat.execution.runs import Run, load_run
from longfat.execution.runs.run import INSTALLED, read_manifest
from longfat.model.flow_path import (
    bottleneck,
    idle_rtt,
    path_interfaces,
    queue_limits,
    sysctl,
    sysctl_word,
)
from longfat.model.flow_path.installed import (
    HeaderMatch,
    InstalledInterface,
    InstalledQdisc,
    Policer,
    Snapshot,
    first_snapshot,
)
from longfat.model.flow_path.rates import interface_rates
from tests.command import longfat
from tests.kernels import KERNELS
from tests.paths import TESTS

# The runs of a kernel are made once.
pytestmark = pytest.mark.xdist_group("installed")

STUDIES = TESTS / "data" / "installed"


def play(study: str, kernel: str, out: Path) -> Path:
    done = longfat("run", str(STUDIES / study), "--kernel", kernel, "--out", str(out), cwd=out)
    assert done.returncode == 0, done.stderr
    return out


# What the guest sent of kinds.yaml, on each kernel, is quicker than a machine.
CAPTURED = "captured on "


@pytest.fixture(scope="module", params=[*(CAPTURED + kernel for kernel in KERNELS), *KERNELS])
def kinds(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Snapshot:
    if request.param.startswith(CAPTURED):
        folder = tmp_path_factory.mktemp("captured")
        captured = STUDIES / f"{request.param.removeprefix(CAPTURED)}.json"
        shutil.copy(captured, folder / INSTALLED)
        installed = read_installed(folder)
        assert installed is not None
        return first_snapshot(installed)
    out = play("kinds.yaml", request.param, tmp_path_factory.mktemp("kinds"))
    run = load_run(out / "kinds-seed1")
    assert run.installed is not None
    return first_snapshot(run.installed)


@pytest.fixture(scope="module", params=KERNELS)
def runs(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return play("study.yaml", request.param, tmp_path_factory.mktemp("installed"))


def played(runs: Path, case: str) -> Run:
    return load_run(runs / f"{case}-seed1")


def qdisc(snapshot: Snapshot, name: str) -> InstalledQdisc:
    (found,) = (each for each in snapshot.interface("h1", name).qdiscs if each.handle == "1:")
    return found


# What is read of each qdisc: kind, rate, burst, limits in bytes and in packets, and the others.
QDISCS: dict[str, tuple[Any, ...]] = {
    "dum0": ("tbf", 100e6, 32768, 512000, None, {}),
    "dum1": ("netem", 7e6, None, None, 5000, {"jitter_s": 0.002, "duplicate": 0.02}),
    "dum3": ("red", None, None, 409600, None, {"min_bytes": 30720, "max_bytes": 92160, "ecn": 1}),
    "dum4": ("codel", None, None, None, 500, {"target_s": 0.01, "interval_s": 0.2, "ecn": 1}),
    "dum5": ("fq_codel", None, None, None, 700, {"target_s": 0.006, "interval_s": 0.09}),
    "dum6": ("fq", 97e6, None, None, 3000, {"flow_limit_packets": 50}),
    "dum7": ("pie", None, None, None, 800, {"target_s": 0.02, "tupdate_s": 0.03, "ecn": 1}),
    "dum8": ("fq_pie", None, None, None, 900, {"target_s": 0.012}),
    "dum9": ("cake", 30e6, None, 3 << 20, None, {"rtt_s": 0.06}),
    "dum10": ("sfq", None, None, None, 100, {"quantum_bytes": 3000}),
    "dum11": ("choke", None, None, None, 600, {"min_packets": 100, "max_packets": 300}),
    "dum12": ("bfifo", None, None, 12345, None, {}),
    "dum13": ("pfifo", None, None, None, 77, {}),
    "dum14": ("htb", None, None, None, None, {"default": 0x20}),
    "dum15": ("hfsc", None, None, None, None, {"default": 1}),
    "dum16": ("prio", None, None, None, None, {"bands": 4, "default": 2}),
    "dum17": ("drr", None, None, None, None, {}),
    "dum18": ("ets", None, None, None, None, {"bands": 3}),
    "dum21": ("sfb", None, None, None, 150, {}),
    "dum22": ("hhf", None, None, None, 250, {}),
}


def test_numbers_of_each_kind(kinds: Snapshot) -> None:
    for name, (kind, rate, burst, limit_bytes, limit_packets, parameters) in QDISCS.items():
        read = qdisc(kinds, name)
        assert read.kind == kind
        assert (read.rate_bps, read.limit_bytes, read.limit_packets) == (
            rate,
            limit_bytes,
            limit_packets,
        ), name
        assert read.burst_bytes == burst
        near = {key: pytest.approx(value, abs=2e-6) for key, value in parameters.items()}
        assert {key: read.parameters.get(key) for key in near} == near, name
    assert (qdisc(kinds, "dum1").delay_s, qdisc(kinds, "dum1").loss) == pytest.approx((0.02, 0.01))
    # p / (p + r) of the time in the bad state: 1/11 * 0.7 + 10/11 * 0.001.
    assert qdisc(kinds, "dum2").loss == pytest.approx(0.0645454, abs=1e-6)


def test_classes_and_filters(kinds: Snapshot) -> None:
    htb = {each.handle: each for each in kinds.interface("h1", "dum14").classes}
    assert (htb["1:10"].rate_bps, htb["1:10"].ceil_bps, htb["1:10"].parent) == (10e6, 40e6, "1:1")
    assert (htb["1:20"].rate_bps, htb["1:20"].ceil_bps) == (30e9, 50e9)
    assert htb["1:1"].burst_bytes == pytest.approx(20480, abs=10)
    (match,) = kinds.interface("h1", "dum14").filters
    assert (match.kind, match.target, match.protocol) == ("u32", "1:10", 0x800)
    assert match.matches == (
        HeaderMatch(offset=16, mask=0xFFFFFFFF, value=0x0A000201),
        HeaderMatch(offset=20, mask=0xFFFF, value=5201),
    )
    hfsc = {each.handle: each for each in kinds.interface("h1", "dum15").classes}
    assert (hfsc["1:1"].rate_bps, hfsc["1:1"].ceil_bps) == (10e6, 20e6)
    assert (hfsc["1:2"].rate_bps, hfsc["1:2"].ceil_bps) == (3e6, None)
    assert [each.kind for each in kinds.interface("h1", "dum17").classes] == ["drr"]
    (redirected,) = kinds.interface("h1", "dum20").filters
    assert (redirected.redirect, redirected.matches, redirected.parent) == ("dum0", (), "ingress")


def test_policers(kinds: Snapshot) -> None:
    into, out_of = kinds.interface("h1", "dum19").filters
    assert (into.parent, into.kind) == ("ingress", "flower")
    assert into.matches == (
        HeaderMatch(offset=8, mask=0xFF0000, value=6 << 16),
        HeaderMatch(offset=20, mask=0xFFFF, value=80),
    )
    assert into.policer == Policer(rate_bps=2e6, burst_bytes=20480)
    assert (out_of.parent, out_of.matches) == ("egress", ())
    assert out_of.policer is not None
    assert out_of.policer.rate_bps == 5e9
    assert out_of.policer.burst_bytes == pytest.approx(1 << 20, rel=1e-3)


def test_a_policer_without_the_word_action(runs: Path) -> None:
    run = played(runs, "policed")
    slowest = bottleneck(run.case, run.case.flows[0], installed=run.installed)
    assert slowest is not None
    assert slowest.policer is not None
    assert (slowest.rate_bps, slowest.policer.burst_bytes) == (8e6, 10240)


def test_mtus_and_sysctls(kinds: Snapshot) -> None:
    assert kinds.interface("h1", "h1-eth0").mtu_bytes == 1400
    assert kinds.interface("h1", "dum22").mtu_bytes == 9000
    assert kinds.interface("h2", "h2-eth0") == InstalledInterface(name="h2-eth0")
    assert kinds.sysctl("h1", "net.ipv4.tcp_rmem") == "4096 131072 16777216"
    assert kinds.sysctl("h1", "net.ipv4.tcp_congestion_control") == "reno"
    assert kinds.sysctl("h2", "net.ipv4.tcp_congestion_control") == "cubic"
    assert kinds.sysctl("h2", "net.core.rmem_max") == "8388608"
    assert kinds.sysctl("h2", "net.ipv4.tcp_sack") == "1"


# Where the bottleneck of each case is, its rate, what has the rate, and the queue and its limit.
BOTTLENECKS: dict[str, tuple[Any, ...]] = {
    "loop": ("r1-eth1", 11e6, "netem 1:", "netem", 1000),
    "and": ("r1-eth1", 30e6, "tbf 1:", "codel", 1000),
    "script": ("r1-eth1", 20e6, "tbf 1:", "tbf", 61440),
    "event": ("r1-eth1", 20e6, "tbf 1:", "tbf", 61440),
    "sender": ("h1-eth0", 15e6, "fq", "fq", 10000),
    "classes": ("r1-eth1", 12e6, "htb 1:10", "pfifo", 1000),
    "marks": ("r1-eth1", 12e6, "htb 1:10", "pfifo", 1000),
    "ifb": ("s1-eth2", 9e6, "tbf 1:", "tbf", 61440),
}


@pytest.mark.parametrize("case", BOTTLENECKS)
def test_bottleneck(runs: Path, case: str) -> None:
    run = played(runs, case)
    slowest = bottleneck(run.case, run.case.flows[0], installed=run.installed)
    assert slowest is not None
    assert slowest.queue is not None
    limit = slowest.queue.limit_bytes or slowest.queue.limit_packets
    read = slowest.interface, slowest.rate_bps, slowest.limited_by, slowest.queue.kind, limit
    assert read == BOTTLENECKS[case]


def test_delay_of_a_loop(runs: Path) -> None:
    run = played(runs, "loop")
    rtt_s, _ = idle_rtt(run.case, run.case.flows[0], {}, installed=run.installed)
    assert rtt_s == pytest.approx(0.01)


def test_rate_after_an_event(runs: Path) -> None:
    run = played(runs, "event")
    (_, first), (since_s, then) = interface_rates(run.case, "r1-eth1", [], installed=run.installed)
    assert (first, then) == (20e6, 8e6)
    assert since_s == pytest.approx(0.5, abs=1e-3)


def test_rate_that_a_program_changed_is_seen_at_the_end(runs: Path) -> None:
    run = played(runs, "program")
    (_, first), (since_s, then) = interface_rates(run.case, "r1-eth1", [], installed=run.installed)
    assert (first, then) == (20e6, 5e6)
    assert since_s >= max(time.end_s for time in run.flow_times.values())


def test_limits_of_queues(runs: Path) -> None:
    run = played(runs, "script")
    assert queue_limits(run.case, installed=run.installed) == {"r1-eth1": 61440}
    assert queue_limits(run.case) == {}


def test_sysctls_of_a_run(runs: Path) -> None:
    run = played(runs, "script")
    assert sysctl(run.case.setup, "h1", "net.ipv4.tcp_wmem", installed=run.installed) == (
        4096,
        16384,
        4194304,
    )
    name = "net.ipv4.tcp_congestion_control"
    assert sysctl_word(run.case.setup, "h1", name, installed=run.installed) == "cubic"


def test_older_run_has_none_and_its_lines_are_read() -> None:
    run = load_run(TESTS / "data" / "runs" / "lab08" / "default-seed1")
    assert run.installed is None
    slowest, why = find_bottleneck(run, run.case.flows[0])
    assert slowest is not None, why
    assert slowest.queue is not None
    assert slowest.queue.line.startswith("tc qdisc add")


def test_manifest_is_read_as_it_was_written(runs: Path) -> None:
    run = played(runs, "classes")
    assert read_manifest(run.to_manifest(), folder=run.folder) == run


# Of each pitfall: the bottleneck's interface, rate, what has it, and its queue with its limit.
PITFALLS: dict[str, tuple[Any, ...]] = {
    "htb": (0.04, "r1-eth1", 50e6, "htb 1:1", "pfifo", 1000),
    "police": (0.02, "s1-eth2", 100e6, "police", None, None),
    "reverse": (0.0, "r1-eth1", 100e6, "tbf 1:", "tbf", 512000),
    "red-tight": (0.04, "r1-eth1", 100e6, "tbf 1:", "red", 409600),
    "netem-limit": (0.2, "h1-eth0", 1e9, "htb 10:10", "netem", 1000),
    "tiny-burst": (0.0, "r1-eth1", 100e6, "tbf 8001:", "tbf", 512000),
    "tiny-limit": (0.0, "r1-eth1", 100e6, "tbf 8001:", "tbf", 1000),
}


@pytest.fixture(scope="module", params=KERNELS)
def pitfalls(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return play("pitfalls.yaml", request.param, tmp_path_factory.mktemp("pitfalls"))


def test_paths_of_pitfalls(pitfalls: Path) -> None:
    for name, (delay_s, *expected) in PITFALLS.items():
        run = played(pitfalls, name)
        slowest, why = find_bottleneck(run, run.case.flows[0])
        assert slowest is not None, (name, why)
        queue = slowest.queue
        limit = None if queue is None else queue.limit_bytes or queue.limit_packets
        kind = None if queue is None else queue.kind
        read = slowest.interface, slowest.rate_bps, slowest.limited_by, kind, limit
        assert list(read) == expected, name
        rtt_s, _ = idle_rtt(run.case, run.case.flows[0], {}, installed=run.installed)
        assert rtt_s == pytest.approx(delay_s), name


def test_what_pitfalls_need_beside_the_rate(pitfalls: Path) -> None:
    run = played(pitfalls, "police")
    slowest, _ = find_bottleneck(run, run.case.flows[0])
    assert slowest is not None
    assert slowest.policer is not None
    assert (slowest.policer.node, slowest.policer.interface) == ("r1", "r1-eth0")
    assert slowest.rate_origin == "a policer"
    run = played(pitfalls, "tiny-burst")
    slowest, _ = find_bottleneck(run, run.case.flows[0])
    assert slowest is not None
    assert slowest.burst_bytes == 1000
    run = played(pitfalls, "red-tight")
    slowest, _ = find_bottleneck(run, run.case.flows[0])
    assert slowest is not None
    assert slowest.queue is not None
    assert (slowest.queue.parameters["min_bytes"], slowest.queue.parameters["max_bytes"]) == (
        3072,
        9216,
    )
    run = played(pitfalls, "mtu")
    assert find_bottleneck(run, run.case.flows[0]) == (None, "nothing limits a rate on the path")
    assert run.installed is not None
    way = path_interfaces(run.case, run.case.flows[0], run.installed)
    assert [(each.name, each.mtu_bytes) for _, each in way if each.mtu_bytes < 1500] == [
        ("r1-eth1", 1400)
    ]


@pytest.mark.parametrize(
    "line",
    [
        b"no JSON",
        b'{"at_ns": 0, "node": "h1"}',
        b'{"at_ns": 0, "node": "h1", "sysctls": {}, "interfaces": {"e": {"index": 1, "mtu": 1,'
        b' "txqlen": 1, "qdiscs": ["AAAA"]}}}',
        b'{"at_ns": 0, "node": "h1", "sysctls": {}, "interfaces": {"e": {"index": 1, "mtu": 1,'
        b' "txqlen": 1, "qdiscs": ["!"]}}}',
        b'{"at_ns": 9000000000000000000, "node": "h1", "sysctls": {}, "interfaces": {}}',
    ],
)
def test_forged_report_is_rejected(tmp_path: Path, line: bytes) -> None:
    (tmp_path / INSTALLED).write_bytes(line)
    with pytest.raises(MachineError, match="report is invalid"):
        read_installed(tmp_path)


def test_guest_that_sent_nothing(tmp_path: Path) -> None:
    assert read_installed(tmp_path) is None
