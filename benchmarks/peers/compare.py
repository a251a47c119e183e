"""The same workloads on ns-3 and on longfat: virtual seconds per CPU second, side by side.

    .venv/bin/python benchmarks/peers/compare.py [--repeat N] [--only ns3|longfat] [CASE...]

The workloads are A, B and C of ../speed.yaml and D of short.yaml. What ns-3 is to
simulate is read from the same set-up lines that longfat runs, so the two cannot
drift apart. Each runs whole, one at a time and by turns; the speed is the traffic's
virtual seconds over the CPU seconds of all that ran for it, the median of the runs.
One more run of each looks at cwnd, RTT and queue, to show that the workloads are alike.

A run of ns-3 is given --ns3-cpu seconds of CPU. Where they are not enough, its speed
is that of the virtual time it came to. docs/peers.md tells what the numbers mean.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import shlex
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from rich.console import Console
from rich.table import Table

# Run as a script, Python looks for modules beside it.
sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.speed import cpu_s
from longfat.engine import kernel
from longfat.errors import HostError, LongfatError, MachineError
from longfat.execution import run_case
from longfat.model.flow_path import (
    bottleneck,
    egress_interfaces,
    idle_rtt,
    interface_lines,
    sysctl,
)
from longfat.model.probes import Queue, Tcp
from longfat.model.probes.queue import the_queue
from longfat.model.traffic import Iperf3
from longfat.model.units import parse_size_bytes
from longfat.study import Planned, read_study

_HERE = Path(__file__).parent
_STUDIES = (_HERE.parent / "speed.yaml", _HERE / "short.yaml")
_SOURCE = _HERE / "ns3_path.cc"
_MODULES = ("internet", "applications", "point-to-point", "traffic-control", "network", "core")
_APT = "sudo apt-get install --no-install-recommends libns3-dev g++ pkg-config"

# What Linux 6.1 and 6.12 offer of a receive buffer of 52,428,800 bytes, by the tcp probe in A and
# B: the rest is for the overhead of packets, of which ns-3 has none.
_OFFERED = 40_550_400 / 52_428_800


@dataclass(frozen=True, slots=True, kw_only=True)
class Timed:
    """What one run took: virtual and CPU seconds, and the most memory in bytes."""

    virtual_s: float
    cpu_s: float
    peak_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What a run measured. Packets are those that left the bottleneck; means are over time."""

    goodput_bps: float
    packets: int
    drops: int
    retransmits: int
    peak_cwnd_bytes: float
    mean_rtt_s: float
    peak_rtt_s: float
    mean_queue_bytes: float
    peak_queue_bytes: float


class Peer(Protocol):
    """A program that can run a workload."""

    @property
    def name(self) -> str: ...

    def run(self, name: str, planned: Planned, *, watch: bool) -> tuple[Timed, Seen | None]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Longfat:
    """longfat with one kernel."""

    kernel: str

    @property
    def name(self) -> str:
        return f"longfat {self.kernel}"

    def run(self, name: str, planned: Planned, *, watch: bool) -> tuple[Timed, Seen | None]:
        case = dataclasses.replace(planned.case, kernel=self.kernel)
        if watch:
            slowest = bottleneck(case, _flow(planned))
            assert slowest is not None
            queue = Queue(name="queue", of=(slowest.interface,), every_s=0.1)
            case = dataclasses.replace(
                case, probes=(queue, Tcp(name="tcp", of=("bulk",), every_s=0.1))
            )
        before_s = cpu_s()
        with tempfile.TemporaryDirectory() as out:
            run = run_case(case, name=name, out=Path(out))
            packets = the_queue(run.series("queue"))["sent_packets"].to_pylist() if watch else []
        timed = Timed(
            virtual_s=_flow(planned).duration_s(),
            cpu_s=cpu_s() - before_s,
            peak_bytes=run.peak_bytes,
        )
        if not watch:
            return timed, None
        of = run.metrics
        return timed, Seen(
            goodput_bps=of["bulk.receiver_bps"],
            packets=packets[-1] - packets[0],
            drops=round(of["queue.drops"]),
            retransmits=round(of["bulk.retransmits"]),
            peak_cwnd_bytes=of["tcp.peak_cwnd_bytes"],
            mean_rtt_s=of["tcp.mean_rtt_s"],
            peak_rtt_s=of["tcp.peak_rtt_s"],
            mean_queue_bytes=of["queue.mean_bytes"],
            peak_queue_bytes=of["queue.peak_bytes"],
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Ns3:
    """ns-3 with our program, built.

    Attributes:
        program: the program.
        version: the library's.
        cpu_limit_s: the CPU seconds that a run may take.
        shaper: `tbf` or `link`.
    """

    program: Path
    version: str
    cpu_limit_s: float
    shaper: str

    @property
    def name(self) -> str:
        return f"ns-3 {self.version}"

    def run(self, name: str, planned: Planned, *, watch: bool) -> tuple[Timed, Seen | None]:
        options = [*_ns3_options(planned), f"--cpu={self.cpu_limit_s}", f"--shaper={self.shaper}"]
        argv = [str(self.program), *options, f"--watch={int(watch)}"]
        with tempfile.TemporaryFile("w+") as out:
            process = subprocess.Popen(argv, stdout=out)
            try:
                _, status, usage = os.wait4(process.pid, 0)
            except KeyboardInterrupt:
                process.kill()
                raise
            process.returncode = os.waitstatus_to_exitcode(status)
            if process.returncode != 0:
                raise MachineError(
                    f"ns-3 failed in {name} with {process.returncode}: {shlex.join(argv[1:])}"
                )
            out.seek(0)
            found = json.load(out)
        timed = Timed(
            virtual_s=found["simulated_s"],
            cpu_s=usage.ru_utime + usage.ru_stime,
            peak_bytes=usage.ru_maxrss * 1024,
        )
        if not watch:
            return timed, None
        return timed, Seen(
            goodput_bps=8 * found["received_bytes"] / found["simulated_s"],
            packets=found["sent_packets"],
            drops=found["dropped_packets"],
            **{field: found[field] for field in _AS_PRINTED},
        )


_AS_PRINTED = (
    "retransmits",
    "peak_cwnd_bytes",
    "mean_rtt_s",
    "peak_rtt_s",
    "mean_queue_bytes",
    "peak_queue_bytes",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What a program did with a workload; without a look, `seen` is None."""

    case: str
    title: str
    program: str
    asked_s: float
    runs: tuple[Timed, ...]
    seen: Seen | None

    @property
    def speed(self) -> float:
        """Return the median of virtual seconds per CPU second."""
        return statistics.median(run.virtual_s / run.cpu_s for run in self.runs)


def _flow(planned: Planned) -> Iperf3:
    (flow,) = planned.case.flows
    assert isinstance(flow, Iperf3)
    return flow


def _ns3_options(planned: Planned) -> list[str]:
    """Return the options that tell ns3_path.cc of a workload."""
    case, flow = planned.case, _flow(planned)
    slowest = bottleneck(case, flow)
    ways = egress_interfaces(case.network, flow.source, flow.target)
    sent, received = (
        sysctl(case.setup, host, f"net.ipv4.tcp_{name}mem")
        for host, name in ((flow.source, "w"), (flow.target, "r"))
    )
    if not (slowest and slowest.queue and ways and sent and received):
        raise MachineError(f"{planned.title}: ns-3 cannot be told of its lines")
    lines = interface_lines(case, slowest.interface)
    (bucket,) = (str(line) for line in lines if line.qdisc.kind == "tbf")
    return [
        f"--rate={slowest.rate_bps:.0f}",
        f"--rtt={idle_rtt(case, flow, {})[0]}",
        f"--seconds={flow.duration_s()}",
        f"--burst={_option(bucket, 'burst')}",
        f"--limit={slowest.queue.limit_bytes}",
        f"--bottleneck={ways.index((slowest.node, slowest.interface))}",
        f"--send-buffer={sent[-1]}",
        f"--receive-buffer={received[-1] * _OFFERED:.0f}",
        *(_red_options(slowest.queue.line) if slowest.queue.kind == "red" else ()),
    ]


def _red_options(line: str) -> tuple[str, ...]:
    """Return the options for RED.

    The weight of the average is the one that tc chooses for a burst: the largest
    power of 1/2 that lets so many packets pass an idle queue before the average
    comes to the least threshold (Floyd and Jacobson 1993, section 4).
    """
    minimum, maximum, burst, packet = (
        _option(line, name) for name in ("min", "max", "burst", "avpkt")
    )
    weight = 0.5
    while burst + 1 - minimum / packet > (1 - (1 - weight) ** burst) / weight:
        weight /= 2
    return f"--red-min={minimum}", f"--red-max={maximum}", f"--red-weight={weight}"


def _option(line: str, name: str) -> int:
    words = line.split()
    return parse_size_bytes(words[words.index(name) + 1])


def build_ns3(folder: Path, *, prefix: Path | None, cpu_limit_s: float, shaper: str) -> Ns3:
    """Build our program for ns-3.

    Args:
        folder: where to.
        prefix: where an ns-3 of one's own was installed; None for the distribution's.
        cpu_limit_s: the CPU seconds that a run may take.
        shaper: `tbf` or `link`.

    Raises:
        HostError: ns-3, its headers or the compiler are missing.
    """
    environment = dict(os.environ)
    linking: list[str] = []
    if prefix is not None:
        environment["PKG_CONFIG_LIBDIR"] = str(prefix / "lib/pkgconfig")
        linking = [f"-Wl,--disable-new-dtags,-rpath,{prefix / 'lib'}"]

    def tell(*argv: str) -> str:
        try:
            return subprocess.run(
                argv, env=environment, check=True, capture_output=True, text=True
            ).stdout
        except FileNotFoundError:
            raise HostError(f"{argv[0]} is missing", hint=_APT) from None
        except subprocess.CalledProcessError as error:
            raise HostError(
                f"ns-3 cannot be used: {argv[0]}: {error.stderr.strip()[-1000:]}", hint=_APT
            ) from None

    modules = [f"ns3-{name}" for name in _MODULES]
    version = tell("pkg-config", "--modversion", "ns3-core").strip()
    # Debian's file has a stray semicolon among the include folders.
    headers = tell("pkg-config", "--cflags-only-I", "ns3-core").replace(";", "").split()
    # The other flags name libraries of GSL, whose -dev package nothing here needs.
    libraries = tell("pkg-config", "--libs-only-L", "--libs-only-l", *modules).split()
    program = folder / "ns3_path"
    what = [str(_SOURCE), "-o", str(program)]
    tell("g++", "-std=c++17", "-O3", *headers, *what, *libraries, *linking)
    return Ns3(program=program, version=version, cpu_limit_s=cpu_limit_s, shaper=shaper)


def compare(peers: list[Peer], name: str, planned: Planned, *, repeat: int) -> list[Result]:
    """Run a workload on each of the peers, by turns, and look at it once."""

    def run(peer: Peer, *, watch: bool, what: str) -> tuple[Timed, Seen | None]:
        print(f"{name}: {peer.name}, {what}", file=sys.stderr, flush=True)
        return peer.run(name, planned, watch=watch)

    turns = [
        [run(peer, watch=False, what=f"run {turn + 1} of {repeat}")[0] for peer in peers]
        for turn in range(repeat)
    ]
    return [
        Result(
            case=name,
            title=planned.title,
            program=peer.name,
            asked_s=_flow(planned).duration_s(),
            runs=runs,
            seen=run(peer, watch=True, what="looked at")[1],
        )
        for peer, runs in zip(peers, zip(*turns, strict=True), strict=True)
    ]


def speed_table(results: list[Result]) -> Table:
    table = Table(title="Virtual seconds per CPU second", title_justify="left", box=None)
    for header in ("", "program", "speed", "least - most", "over ns-3", "simulated", "memory"):
        table.add_column(header, justify="left" if header in {"", "program"} else "right")
    for result in results:
        base = [r.speed for r in results if r.case == result.case and r.program.startswith("ns-3")]
        speeds = sorted(run.virtual_s / run.cpu_s for run in result.runs)
        virtual_s = statistics.median(run.virtual_s for run in result.runs)
        table.add_row(
            result.case,
            result.program,
            f"{result.speed:.3g}",
            f"{speeds[0]:.3g} - {speeds[-1]:.3g}",
            f"{result.speed / base[0]:.3g}" if base else "-",
            f"{virtual_s:.3g} of {result.asked_s:g} s",
            f"{max(run.peak_bytes for run in result.runs) / 1e6:.0f} MB",
        )
    return table


def seen_table(results: list[Result]) -> Table:
    table = Table(
        title="What each measured (of RTT and queue: the mean and the most)",
        title_justify="left",
        box=None,
    )
    numbers = ("Mbit/s", "packets", "drops", "again", "cwnd MB", "RTT ms", "queue MB")
    for header in ("", "program", *numbers):
        table.add_column(header, justify="left" if header in {"", "program"} else "right")
    for result in results:
        if (seen := result.seen) is None:
            continue
        table.add_row(
            result.case,
            result.program,
            f"{seen.goodput_bps / 1e6:.4g}",
            f"{seen.packets:,}",
            f"{seen.drops:,}",
            f"{seen.retransmits:,}",
            f"{seen.peak_cwnd_bytes / 1e6:.3g}",
            f"{seen.mean_rtt_s * 1e3:.3g}-{seen.peak_rtt_s * 1e3:.3g}",
            f"{seen.mean_queue_bytes / 1e6:.2g}-{seen.peak_queue_bytes / 1e6:.2g}",
        )
    return table


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("cases", nargs="*", metavar="CASE", help="A, B, C or D; all, if none")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--only", choices=("ns3", "longfat"))
    parser.add_argument("--kernel", action="append", help="of longfat; default: 6.1 and 6.12")
    parser.add_argument("--ns3-cpu", type=float, default=60, help="CPU seconds for a run of ns-3")
    parser.add_argument("--ns3-prefix", type=Path, help="an ns-3 of one's own")
    parser.add_argument("--ns3-shaper", choices=("tbf", "link"), default="tbf")
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


def main() -> None:
    options = _options()
    known = {name: one for path in _STUDIES for name, one in read_study(path).cases.items()}
    if unknown := set(options.cases) - set(known):
        sys.exit(f"no such workload: {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    results: list[Result] = []
    try:
        with tempfile.TemporaryDirectory() as folder:
            peers = _peers(options, Path(folder))
            for name in options.cases or known:
                results += compare(peers, name, known[name], repeat=max(1, options.repeat))
    finally:
        # What an hour of measuring gave is not lost with the workload that failed.
        if results:
            _print(results, as_json=options.json)


def _peers(options: argparse.Namespace, folder: Path) -> list[Peer]:
    """Return the programs to compare, those that are missing told of before any runs."""
    peers: list[Peer] = []
    if options.only != "longfat":
        ns3 = build_ns3(
            folder,
            prefix=options.ns3_prefix,
            cpu_limit_s=options.ns3_cpu,
            shaper=options.ns3_shaper,
        )
        peers.append(ns3)
    if options.only != "ns3":
        for series in options.kernel or ("6.1", "6.12"):
            kernel.find(series)
            peers.append(Longfat(kernel=series))
    return peers


def _print(results: list[Result], *, as_json: bool) -> None:
    if as_json:
        rows = [dataclasses.asdict(one) | {"speed": one.speed} for one in results]
        json.dump(rows, sys.stdout, indent=2)
        print()
        return
    console = Console()
    console.print(speed_table(results))
    console.print()
    console.print(seen_table(results))


if __name__ == "__main__":
    try:
        main()
    except LongfatError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(int(error.exit_code))
    except KeyboardInterrupt:
        sys.exit(130)
