"""longfat beside native Linux: the same workloads on the host's own kernel.

    .venv/bin/python benchmarks/native.py [--rounds N] [--kernel V]... [--json] [CASE...]

The workloads are those of speed.yaml. Natively they run in network namespaces with
the same switches, veth pairs and lines of tc, in real time, with iperf3's two ends
and so the kernel's work for them on one CPU. Then longfat runs the same workload on
the same CPU, once with iperf3 and once with `transfer` for each kernel, and so on by
turns. The speed is the traffic's seconds over the CPU seconds of all that ran for it,
set-up included; the ratio is longfat's median over the native one.

The native CPU seconds are those of the processes, of ksoftirqd, and of the interrupts
that came while the CPU was idle, which no process is charged for: busy time of the CPU
minus the time of all processes on it (cgroup v1, cpuacct; without it, busy time alone
tells). Softirqs that hit other people's processes are missing in that sum, so on a busy
machine native Linux looks better than it is. The `at most` column adds all interrupt
and softirq ticks of the CPU, some of which are then counted twice: the truth lies
between. The JSON has the whole busy time of the CPU, too, other work included.

Native Linux runs in real time. Where other work leaves it too little of the CPU, it does
not reach the workload's rate and so seems to need less for a second of traffic. Look
at Mbit/s, and at the ratio for the same number of bits.

Where the host's kernel has no netem or RED, the native run goes without, and the output
says so. longfat still runs the whole workload, or the reduced one with `--alike`.

Exit status: 0, also where nothing can be compared, which is then told on stderr;
1 if a run failed, 130 after Ctrl-C.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import re
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

# Run as a script, Python looks for modules beside it.
sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.namespaces import Core
from benchmarks.speed import STUDIES, measure, moved_by
from longfat.engine import kernel
from longfat.errors import HostError, LongfatError, MachineError
from longfat.model.case import Case, Command
from longfat.model.network import ROOT_NAMESPACE, build_batches
from longfat.model.traffic import Iperf3, Transfer
from longfat.study import Planned, read_study

_INSIDE = Path(__file__).with_name("namespaces.py")
_QDISC = re.compile(
    r"tc qdisc add dev (?P<dev>\S+) (?P<place>root|parent (?P<parent>\S+))"
    r"( handle (?P<handle>\S+))? (?P<kind>\S+)(?P<options>.*)"
)
# What longfat's kernels use; hosts may have another default, which cannot always be
# set for a namespace.
_CONGESTION = "cubic"
# With br_netfilter, bridges would show each packet to iptables.
_NO_FILTER = "sysctl -w net.bridge.bridge-nf-call-iptables=0 || true"


class NothingToCompareError(Exception):
    """The host cannot run the workloads natively."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What one run took. Of longfat's, all work is in its processes.

    Attributes:
        traffic_s: for how long traffic was sent, virtual or real.
        cpu_s: the CPU seconds of all that ran for it.
        most_cpu_s: the same, with all interrupts of the CPU.
        busy_s: how long the CPU was busy, with whatever.
        wall_s: how long it took, of a native run without set-up.
        receiver_bps: goodput.
        parts_s: what `cpu_s` is the sum of.
    """

    traffic_s: float
    cpu_s: float
    most_cpu_s: float
    busy_s: float
    wall_s: float
    receiver_bps: float
    parts_s: dict[str, float]

    @property
    def speed(self) -> float:
        return self.traffic_s / self.cpu_s

    @property
    def bits_per_cpu_s(self) -> float:
        return self.receiver_bps * self.traffic_s / self.cpu_s


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The runs of one program with one workload."""

    case: str
    title: str
    program: str
    native: bool
    runs: tuple[Run, ...]


def _isolated(*argv: str) -> list[str]:
    """Return a command that runs another one in namespaces of its own, which end with it."""
    user = [] if os.geteuid() == 0 else ["--map-root-user"]
    alone = ["--net", "--mount", "--pid", "--fork", "--kill-child"]
    return ["unshare", *user, *alone, "--", *argv]


def missing_qdiscs(cases: list[Case]) -> set[str]:
    """Return which kinds of the cases' qdiscs the host's kernel lacks.

    Raises:
        NothingToCompareError: the host allows no namespaces, or lacks a program.
    """
    for program in (["unshare", "--version"], ["iperf3", "--version"], ["tc", "-V"]):
        try:
            subprocess.run(program, check=True, capture_output=True, timeout=60)
        except FileNotFoundError:
            raise NothingToCompareError(f"{program[0]} is missing") from None
    tried = subprocess.run(_isolated("true"), capture_output=True, check=False, timeout=60)
    if tried.returncode != 0:
        raise NothingToCompareError(f"no namespaces without root: {tried.stderr.decode().strip()}")
    found = [_QDISC.fullmatch(command.line) for case in cases for command in case.setup]
    lines = {match["kind"]: match["options"] for match in found if match}
    return {kind for kind, options in lines.items() if not _has(kind, options)}


def _has(kind: str, options: str) -> bool:
    line = ["tc", "qdisc", "add", "dev", "lo", "root", kind, *options.split()]
    tried = subprocess.run(_isolated(*line), capture_output=True, check=False, timeout=60)
    return tried.returncode == 0


def without(kinds: set[str], lines: tuple[Command, ...]) -> Iterator[Command]:
    """Yield the set-up lines but for these qdiscs; their children take their places."""
    places: dict[tuple[str, str], str] = {}
    for command in lines:
        if not (match := _QDISC.fullmatch(command.line)):
            yield command
            continue
        place = places.get((match["dev"], match["parent"] or ""), match["place"])
        if match["kind"] in kinds:
            places[match["dev"], match["handle"] or ""] = place
        else:
            line = command.line.replace(match["place"], place, 1)
            yield dataclasses.replace(command, line=line)


def run_native(planned: Planned, *, cpu: int) -> Run:
    """Run a workload on the host's kernel.

    Raises:
        MachineError: it failed.
    """
    case = planned.case
    (flow,) = case.flows
    assert isinstance(flow, Iperf3)
    flow = dataclasses.replace(flow, congestion=_CONGESTION)
    address = case.network.host_addresses()[flow.target]
    job = {
        "cpu": cpu,
        "root": ROOT_NAMESPACE,
        "batches": [dataclasses.astuple(batch) for batch in build_batches(case.network)],
        "setup": [(ROOT_NAMESPACE, _NO_FILTER), *((one.node, one.line) for one in case.setup)],
        "processes": [
            {name: getattr(one, name) for name in ("host", "argv", "output", "listens")}
            for one in flow.processes(address=address, port=5201)
        ],
    }
    argv = _isolated(sys.executable, "-I", "-S", str(_INSIDE))
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as inside:
        assert inside.stdin
        assert inside.stdout
        try:
            # It ends when the pipe is closed, so that stays open until there is an answer.
            inside.stdin.write(f"{json.dumps(job)}\n")
            inside.stdin.flush()
            answer = json.loads(inside.stdout.readline() or '{"error": "it was killed"}')
        except BaseException:
            inside.kill()
            raise
    if "error" in answer:
        raise MachineError(f"the native run of {planned.title!r} failed: {answer['error']}")
    core = Core(**answer["core"])
    parts_s = {
        "iperf3": answer["processes_s"],
        "setup": answer["setup_s"],
        "ksoftirqd": core.ksoftirqd_s,
        "interrupts while idle": core.outside_tasks_s or 0.0,
    }
    cpu_s = sum(parts_s.values())
    report = json.loads(answer["reports"][-1])
    return Run(
        traffic_s=flow.duration_s(),
        cpu_s=cpu_s,
        most_cpu_s=max(cpu_s, min(cpu_s + core.interrupts_s, core.busy_s)),
        busy_s=core.busy_s,
        wall_s=core.wall_s,
        receiver_bps=report["end"]["sum_received"]["bits_per_second"],
        parts_s=parts_s,
    )


def run_longfat(name: str, planned: Planned, *, cpu: int) -> Run:
    before = Core.read(cpu)
    speed = measure(name, planned)
    core = Core.read(cpu).since(before)
    assert speed.receiver_bps is not None  # a bulk flow
    return Run(
        traffic_s=speed.traffic_s,
        cpu_s=speed.cpu_s,
        most_cpu_s=speed.cpu_s,
        busy_s=core.busy_s,
        wall_s=speed.wall_s,
        receiver_bps=speed.receiver_bps,
        parts_s={"longfat": speed.cpu_s},
    )


def compare(
    name: str,
    planned: Planned,
    *,
    missing: set[str],
    kernels: list[str],
    alike: bool,
    rounds: int,
    cpu: int,
) -> list[Result]:
    """Run a workload natively and on longfat, by turns."""
    reduced = dataclasses.replace(
        planned,
        case=dataclasses.replace(planned.case, setup=tuple(without(missing, planned.case.setup))),
    )
    programs: dict[str, Callable[[], Run]] = {"native": lambda: run_native(reduced, cpu=cpu)}
    for version in kernels:
        case = dataclasses.replace((reduced if alike else planned).case, kernel=version)
        ours = dataclasses.replace(planned, case=case)
        for tool, one in (("iperf3", ours), ("transfer", moved_by(Transfer, ours))):
            programs[f"{version} {tool}"] = lambda one=one: run_longfat(name, one, cpu=cpu)  # type: ignore[misc]
    runs: dict[str, list[Run]] = {program: [] for program in programs}
    for turn in range(rounds):
        for program, run in programs.items():
            print(f"{name}: {program}, run {turn + 1} of {rounds}", file=sys.stderr, flush=True)
            runs[program].append(run())
    return [
        Result(
            case=name,
            title=planned.title,
            program=program,
            native=program == "native",
            runs=tuple(found),
        )
        for program, found in runs.items()
    ]


def _spread(values: list[float]) -> str:
    return f"{statistics.median(values):.3g} ({min(values):.3g}-{max(values):.3g})"


def table(results: list[Result]) -> Table:
    """Return medians, with the least and the most of the rounds."""
    shown = Table(title="Seconds of traffic per CPU second", title_justify="left", box=None)
    headers = ("speed", "ratio", "at most", "per bit", "CPU s", "Mbit/s")
    for header in ("", "program", *headers):
        shown.add_column(header, justify="left" if header in {"", "program"} else "right")
    for result in results:
        (native,) = (one.runs for one in results if one.case == result.case and one.native)
        # Both of a pair ran one after the other, so that other work hit them alike.
        pairs = list(zip(result.runs, native, strict=True))
        ratios = {
            "ratio": [run.speed / base.speed for run, base in pairs],
            "at most": [run.speed * base.most_cpu_s / base.traffic_s for run, base in pairs],
            "per bit": [run.bits_per_cpu_s / base.bits_per_cpu_s for run, base in pairs],
        }
        shown.add_row(
            result.case,
            result.program,
            _spread([run.speed for run in result.runs]),
            *("-" if result.native else _spread(found) for found in ratios.values()),
            _spread([run.cpu_s for run in result.runs]),
            f"{statistics.median(run.receiver_bps for run in result.runs) / 1e6:,.0f}",
        )
    return shown


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("cases", nargs="*", metavar="CASE", help="A, B or C; all, if none")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument(
        "--kernel", action="append", help="such as 6.12, repeatable; default: the newest built"
    )
    parser.add_argument("--cpu", type=int, help="the CPU for all that is measured")
    parser.add_argument(
        "--alike", action="store_true", help="longfat, too, without the qdiscs that the host lacks"
    )
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


def _newest() -> list[str]:
    if built := kernel.kernels():
        return [built[-1].series]
    raise NothingToCompareError("no kernel is built: longfat kernel build 6.12")


def _warm_up(planned: Planned, kernels: list[str]) -> None:
    """Run for a second, so that no run pays for what is loaded once."""
    (flow,) = planned.case.flows
    assert isinstance(flow, Iperf3)
    flows = (dataclasses.replace(flow, time_s=1.0),)
    for version in kernels:
        case = dataclasses.replace(planned.case, kernel=version, flows=flows)
        measure("warm-up", dataclasses.replace(planned, case=case))


def _print(results: list[Result], missing: set[str], *, as_json: bool) -> None:
    if as_json:
        data = {
            "missing_qdiscs": sorted(missing),
            "results": [dataclasses.asdict(result) for result in results],
        }
        json.dump(data, sys.stdout, indent=2)
        print()
        return
    for kind in sorted(missing):
        print(f"The host's kernel has no {kind}: the native runs go without.")
    Console(width=140).print(table(results))


def main() -> None:
    options = _options()
    cases = read_study(STUDIES["speed"]).cases
    if unknown := set(options.cases) - set(cases):
        sys.exit(f"no such workload: {', '.join(sorted(unknown))}; there are {', '.join(cases)}")
    cpu = max(os.sched_getaffinity(0)) if options.cpu is None else options.cpu
    results: list[Result] = []
    missing: set[str] = set()
    try:
        missing = missing_qdiscs([planned.case for planned in cases.values()])
        if "tbf" in missing:
            raise NothingToCompareError("the host's kernel has no tbf")
        kernels = options.kernel or _newest()
        os.sched_setaffinity(0, {cpu})
        _warm_up(cases[next(iter(cases))], kernels)
        for name in options.cases or cases:
            results += compare(
                name,
                cases[name],
                missing=missing,
                kernels=kernels,
                alike=options.alike,
                rounds=max(1, options.rounds),
                cpu=cpu,
            )
    except NothingToCompareError as error:
        print(f"Nothing was compared: {error}", file=sys.stderr)
    except HostError as error:
        sys.exit(f"{error}\n{error.hint or ''}".rstrip())
    except LongfatError as error:
        sys.exit(str(error))
    except KeyboardInterrupt:
        sys.exit(130)
    finally:
        if results:
            _print(results, missing, as_json=options.json)


if __name__ == "__main__":
    main()
