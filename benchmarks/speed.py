"""How fast longfat is: virtual seconds per wall second and per CPU second.

    .venv/bin/python benchmarks/speed.py [--kernel V] [--tool T] [--repeat N] [--json] [CASE...]
    .venv/bin/python benchmarks/speed.py --study traffic [--kernel V] [--repeat N] [CASE...]

Each workload of speed.yaml runs whole, set-up included, one at a time; with `--study traffic`
those of traffic.yaml, which are requests, calls, videos, traces and events. The
speed is the traffic's virtual seconds over the wall or CPU seconds of all
that ran for it; with --repeat, the best of the runs, as the least disturbed.

The data is moved by iperf3, or by longfat's own transfer with `--tool transfer`.

System calls of bulk flows are counted in one more run of each, with strace around both
ends of the tool inside the guest: there it costs wall time and no virtual time,
and the calls are the same ones. Host context switches are counted in the
first kind of run; every guest system call costs two.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import re
import resource
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from longfat.execution import run_case
from longfat.model.traffic import Iperf3, Transfer
from longfat.model.traffic.bulk import Bulk
from longfat.model.traffic.flow import Process
from longfat.study import Planned, read_study

STUDIES = {name: Path(__file__).with_name(f"{name}.yaml") for name in ("speed", "traffic")}
_TOTAL = re.compile(r"^100\.00\s+\S+\s+(?:\S+\s+)?(\d+)\s.*total$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Speed:
    """What one workload took."""

    case: str
    title: str
    tool: str
    kernel: str
    traffic_s: float
    wall_s: float
    cpu_s: float
    context_switches: int
    receiver_bps: float | None
    guest_system_calls: int | None = None

    @property
    def row(self) -> str:
        calls = self.guest_system_calls
        return (
            f"{self.case:11} {self.tool:8} {self.kernel:9} {self.traffic_s / self.wall_s:6.2f}"
            f" {self.traffic_s / self.cpu_s:7.2f}"
            f" {f'{calls / self.traffic_s:,.0f}' if calls is not None else '-':>12}"
            f" {self.context_switches / self.traffic_s:14,.0f}   {self.title}"
        )


def traced(processes: tuple[Process, ...]) -> tuple[Process, ...]:
    """Return the same processes, with their system calls counted."""
    return tuple(
        dataclasses.replace(process, argv=("strace", "-c", "-f", *process.argv))
        for process in processes
    )


# A class with slots is made anew, and super() would look for the old one.
@dataclass(frozen=True, slots=True, kw_only=True)
class TracedIperf3(Iperf3):
    """iperf3 with its system calls counted at both ends."""

    def processes(self, *, address: str, port: int) -> tuple[Process, ...]:
        return traced(Iperf3.processes(self, address=address, port=port))


@dataclass(frozen=True, slots=True, kw_only=True)
class TracedTransfer(Transfer):
    """A transfer, likewise."""

    def processes(self, *, address: str, port: int) -> tuple[Process, ...]:
        return traced(Transfer.processes(self, address=address, port=port))


def moved_by(kind: type[Bulk], planned: Planned) -> Planned:
    """Return the workload with its data moved by another tool."""
    (flow,) = planned.case.flows
    known = {field.name for field in dataclasses.fields(kind)}
    fields = {
        field.name: getattr(flow, field.name)
        for field in dataclasses.fields(flow)
        if field.name in known
    }
    case = dataclasses.replace(planned.case, flows=(kind(**fields),))
    return dataclasses.replace(planned, case=case)


def cpu_s() -> float:
    """Return the CPU seconds of this process and of all that it has waited for."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def measure(name: str, planned: Planned) -> Speed:
    before_s = cpu_s()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.TemporaryDirectory() as out:
        run = run_case(planned.case, name=name, out=Path(out))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return Speed(
        case=name,
        title=planned.title,
        tool=planned.case.flows[0].tool,
        kernel=run.kernel["release"],
        traffic_s=planned.case.flows[0].duration_s(),
        wall_s=run.wall_s,
        cpu_s=cpu_s() - before_s,
        context_switches=after.ru_nvcsw - before.ru_nvcsw,
        receiver_bps=run.metrics.get(f"{planned.case.flows[0].name}.receiver_bps"),
    )


def count_system_calls(name: str, planned: Planned) -> int:
    kind = TracedTransfer if isinstance(planned.case.flows[0], Transfer) else TracedIperf3
    case = moved_by(kind, planned).case
    with tempfile.TemporaryDirectory() as out:
        run = run_case(case, name=name, out=Path(out))
        tables = [path.read_text(encoding="utf-8") for path in run.raw.glob("*.err")]
    return sum(int(total) for table in tables for total in _TOTAL.findall(table))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("cases", nargs="*", metavar="CASE", help="such as A; all, if none")
    parser.add_argument("--study", choices=list(STUDIES), default="speed")
    parser.add_argument("--kernel", help="such as 6.12; the study's, if not given")
    parser.add_argument("--tool", choices=("iperf3", "transfer"), default="iperf3")
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--no-calls", action="store_true", help="do not count system calls")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    study = read_study(STUDIES[options.study])
    speeds = []
    if not options.json:
        print("            tool     kernel    virt/wall virt/CPU guest calls/s host switches/s")
    for name, planned in study.cases.items():
        if options.cases and name not in options.cases:
            continue
        case = dataclasses.replace(planned.case, kernel=options.kernel or planned.case.kernel)
        chosen = dataclasses.replace(planned, case=case)
        is_bulk = isinstance(chosen.case.flows[0], Bulk)
        if options.tool == "transfer" and is_bulk:
            chosen = moved_by(Transfer, chosen)
        best = min((measure(name, chosen) for _ in range(options.repeat)), key=lambda s: s.cpu_s)
        if is_bulk and not options.no_calls:
            best = dataclasses.replace(best, guest_system_calls=count_system_calls(name, chosen))
        speeds.append(best)
        if not options.json:
            print(best.row, flush=True)
    if options.json:
        json.dump([dataclasses.asdict(speed) for speed in speeds], sys.stdout, indent=2)


if __name__ == "__main__":
    main()
