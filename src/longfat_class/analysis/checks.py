"""Checks for mistakes in course work that no tool reports.

Each checks the cases of one part and their results, and returns where it found its mistake.
Its explanation is shown to students. docs/class.md lists them.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from longfat.analysis.advice.diagnosis import diagnose
from longfat.analysis.advice.evidence import congestion_control
from longfat.analysis.advice.limits import Limit
from longfat.analysis.timeseries.sources import tcp_samples
from longfat.common.extras import lazy
from longfat.common.suggest import listed
from longfat.errors import InputError
from longfat.model.flow_path import (
    NotUnderstoodError,
    bottleneck,
    flow_interfaces,
    sender_and_receiver,
    sysctl,
)
from longfat.model.metric import Unit
from longfat.model.traffic.iperf3_any import AnyReport
from longfat.model.typed_line import mentions
from longfat.model.units import format_quantity
from longfat_class.analysis.counted import contradiction, forged, went_elsewhere
from longfat_class.analysis.shaping import limits_in_force
from longfat_class.analysis.submission import Handed, Played
from longfat_class.study.model import CHECKS as NAMES

if TYPE_CHECKING:
    from longfat.execution.runs import Run
    from longfat.model.traffic import Bulk

pc = lazy("pyarrow.compute")

ALGORITHMS = frozenset(
    (
        *("bbr", "bbr2", "bbr3", "bic", "cdg", "cubic", "dctcp", "hybla", "highspeed", "htcp"),
        *("illinois", "reno", "scalable", "vegas", "veno", "westwood", "yeah"),
    )
)
"""The names of Linux's congestion controls that cannot mean anything else."""

_SPELLINGS = {"h-tcp": "htcp", "new reno": "reno", "newreno": "reno", "bbrv2": "bbr2"}
_WORD = re.compile(r"[a-z]+[0-9]?")

MIN_OVERLAP = 0.5
"""The share of the shorter one's time for which two flows must run at once to compete."""

MAX_OF_RATE = 1.01
"""The share of a link's rate above which a throughput cannot be."""

_SHAPES = re.compile(r"\btc\b.*\b(rate|bandwidth|tbf|htb|cake)\b")
_IGNORED_BY_MININET = re.compile(r"Mininet ignores")


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A mistake that a check found.

    Attributes:
        check: the check's name.
        where: the part and the case.
        words: what was found.
    """

    check: str
    where: str
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """A check.

    Attributes:
        name: its name in an instructor's file.
        title: the mistake in a few words.
        explanation: what it means and what to do, for a student.
        look: yields where the mistake is, and what was found.
    """

    name: str
    title: str
    explanation: str
    look: Callable[[Handed, frozenset[str]], Iterator[tuple[str, str]]]

    def findings(self, handed: Handed, cases: frozenset[str] = frozenset()) -> list[Finding]:
        """Look at a part.

        Args:
            handed: the part, with its runs.
            cases: the names of the cases to look at; all, if there are none.
        """
        part = handed.part.name
        return [
            Finding(
                check=self.name,
                where=part if place in ("", part) else f"{part}, {place}",
                words=words,
            )
            for place, words in self.look(handed, cases)
        ]


Found = Iterator[tuple[str, str]]


def _chosen(handed: Handed, cases: frozenset[str]) -> list[Played]:
    return [one for one in handed.cases if not cases or one.name in cases]


# ------------------------------------------------------------------ algorithm


def named_algorithms(text: str) -> frozenset[str]:
    """Return the congestion controls that a name or title speaks of."""
    text = text.lower()
    for spelling, name in _SPELLINGS.items():
        text = text.replace(spelling, name)
    return ALGORITHMS & set(_WORD.findall(text))


def _algorithm(handed: Handed, cases: frozenset[str]) -> Found:
    for played in _chosen(handed, cases):
        common = named_algorithms(f"{played.name} {played.title}")
        for flow in played.case.tcp_flows:
            wanted = named_algorithms(f"{flow.name} {played.labels.get(flow.name, '')}")
            # A case's name does not apply to a flow that names its congestion control itself.
            wanted = wanted or (common if flow.congestion is None else frozenset())
            used = _congestion(played, flow)
            if len(wanted) == 1 and used and used not in wanted:
                (name,) = wanted
                yield played.name, f"{flow.name} is called {name}, and ran with {used}"
    for name, report in handed.reports.items():
        wanted = named_algorithms(name)
        if len(wanted) == 1 and report.congestion and report.congestion not in wanted:
            yield name, f"the report is called {name}, and its sender used {report.congestion}"


def _congestion(played: Played, flow: Bulk) -> str:
    """Return a flow's congestion control: as its kernel reports it, if it ran."""
    if played.run is None:
        return flow.congestion or ""
    table = tcp_samples(played.run, flow)
    if table is not None:
        return str(table["congestion"].cast("string")[-1].as_py() or "")
    return congestion_control(played.run, flow)


# -------------------------------------------------------------------- overlap


def _overlap(handed: Handed, cases: frozenset[str]) -> Found:
    for played in _chosen(handed, cases):
        spans = _spans(played)
        for (a, one), (b, two) in itertools.combinations(spans.items(), 2):
            if words := _apart(a, one, b, two):
                yield played.name, words
    spans = {
        name: (report.started_s, report.started_s + _duration_s(report))
        for name, report in handed.reports.items()
        if report.started_s is not None
    }
    first_s = min((start_s for start_s, _ in spans.values()), default=0.0)
    spans = {name: (a - first_s, b - first_s) for name, (a, b) in spans.items()}
    for (a, one), (b, two) in itertools.combinations(spans.items(), 2):
        if words := _apart(a, one, b, two):
            yield "", words


def _spans(played: Played) -> dict[str, tuple[float, float]]:
    """Return when a case's bulk flows began and ended, in seconds."""
    if played.run is None:
        return {}
    times = played.run.flow_times
    return {
        flow.name: (times[flow.name].start_s, times[flow.name].end_s)
        for flow in played.case.bulk_flows
        if flow.name in times
    }


def _duration_s(report: AnyReport) -> float:
    return max(row.end_s for stream in report.streams for row in stream)


def _apart(a: str, one: tuple[float, float], b: str, two: tuple[float, float]) -> str:
    """Return how two flows missed each other; empty if they ran at once."""
    both_s = min(one[1], two[1]) - max(one[0], two[0])
    shorter_s = min(one[1] - one[0], two[1] - two[0])
    if shorter_s <= 0 or both_s >= MIN_OVERLAP * shorter_s:
        return ""
    times = f"{a} ran from {one[0]:.1f} to {one[1]:.1f} s and {b} from {two[0]:.1f} to {two[1]:.1f}"
    if both_s <= 0:
        return f"{times} s: one after the other"
    return f"{times} s: they ran together for {both_s:.1f} s only"


# --------------------------------------------------------------------- shaper


def _shaper(handed: Handed, cases: frozenset[str]) -> Found:
    for note in handed.notes:
        if _IGNORED_BY_MININET.search(note):
            yield "", f"{note}, but on a real machine it would not"
    for played in _chosen(handed, cases):
        for flow in played.case.bulk_flows:
            if flow.rate_bps is None and (words := _unshaped(handed, played, flow)):
                yield played.name, words


def _unshaped(handed: Handed, played: Played, flow: Bulk) -> str:
    case, lab_bps = played.case, handed.part.rate_bps
    sender, receiver = sender_and_receiver(flow)
    try:
        found = bottleneck(case, flow)
    except NotUnderstoodError:
        return _unshaped_while_it_ran(played, flow, lab_bps=lab_bps)
    if found is None:
        ways = [name for _, name in flow_interfaces(case.network, flow) or []]
        lines = [command.line for command in case.setup if _SHAPES.search(command.line)]
        elsewhere = [line for line in lines if not any(mentions(line, way) for way in ways)]
        words = f"nothing limits the rate of {flow.name} from {sender} to {receiver}"
        if elsewhere:
            words += (
                f": its data leaves through {listed(ways)}, and `{elsewhere[0]}` is for another "
                "interface"
            )
        elif lines:
            words += f": `{lines[0]}` is no longer in force when the traffic starts"
        return words
    if lab_bps is not None and not 0.99 <= found.rate_bps / lab_bps <= MAX_OF_RATE:
        rate, lab = (format_quantity(one, Unit.BPS) for one in (found.rate_bps, float(lab_bps)))
        return (
            f"the slowest link of {flow.name}, {found.interface}, has {rate}, and the lab's {lab}"
        )
    if played.run is not None and (words := went_elsewhere(played.run, found.interface)):
        return f"{words}: the data went another way than through its slowest link"
    return _unshaped_while_it_ran(played, flow, lab_bps=lab_bps)


def _unshaped_while_it_ran(played: Played, flow: Bulk, *, lab_bps: int | None) -> str:
    """Return when no qdisc limited a flow as the lab asks for; empty if one always did."""
    if played.run is None or played.case.events:
        return ""
    for time_s, limits in limits_in_force(played.run, flow) or ():
        if lab_bps is None and limits:
            continue
        if lab_bps and any(0.99 <= bps / lab_bps <= MAX_OF_RATE for bps in limits.values()):
            continue
        moment = f"{time_s:g} s after the start, with {flow.name} under way, "
        if not limits:
            return f"{moment}no queueing discipline on its way limited the rate"
        shown = [f"{name} to {format_quantity(bps, Unit.BPS)}" for name, bps in limits.items()]
        lab = format_quantity(float(lab_bps or 0), Unit.BPS)
        return f"{moment}its way was limited at {listed(shown)}, and the lab's link has {lab}"
    return ""


# -------------------------------------------------------------------- buffers


def _buffers(handed: Handed, cases: frozenset[str]) -> Found:
    for played in _chosen(handed, cases):
        if played.run is None:
            continue
        for flow in played.case.tcp_flows:
            if flow.window_bytes is None and (words := _untouched(played.run, flow)):
                yield played.name, words


def _untouched(run: Run, flow: Bulk) -> str:
    try:
        diagnosis = diagnose(run, flow.name)[0]
    except InputError:
        return ""
    sender, receiver = sender_and_receiver(flow)
    limits = {
        Limit.RECEIVE_WINDOW: (receiver, sender, "tcp_rmem"),
        Limit.SEND_BUFFER: (sender, receiver, "tcp_wmem"),
    }
    if diagnosis.limit not in limits:
        return ""
    host, other, name = limits[diagnosis.limit]
    try:
        if sysctl(run.case.setup, host, f"net.ipv4.{name}") is not None:
            return ""
        elsewhere = sysctl(run.case.setup, other, f"net.ipv4.{name}") is not None
    except NotUnderstoodError:
        return ""
    share = diagnosis.seconds[diagnosis.limit] / diagnosis.duration_s
    words = (
        f"the {diagnosis.limit} limited {flow.name} {share * 100:.0f} % of the time, and no line "
        f"sets {name} of {host}"
    )
    return f"{words}; it is set at {other}, where it has no part in this" if elsewhere else words


# -------------------------------------------------------------------- figures


def _figures(handed: Handed, cases: frozenset[str]) -> Found:
    for played in _chosen(handed, cases):
        yield from ((played.name, words) for words in forged(played))
    for name, report in handed.reports.items():
        if words := contradiction(report):
            yield name, words


# ----------------------------------------------------------------------- rate


def _rate(handed: Handed, cases: frozenset[str]) -> Found:
    lab_bps = handed.part.rate_bps
    for played in _chosen(handed, cases):
        if played.run is not None:
            yield from _above(played, played.run, lab_bps)
    for name, report in handed.reports.items():
        if lab_bps is not None and (found := _report_bps(report)) > MAX_OF_RATE * lab_bps:
            yield name, _too_much(name, found, lab_bps)


def _report_bps(report: AnyReport) -> float:
    """Return the throughput of a report: of its rows, which a forged total does not change."""
    rows = [row for stream in report.streams for row in stream if not row.omitted]
    length_s = max(row.end_s for row in rows) - min(row.start_s for row in rows)
    by_rows = 8 * sum(row.bytes for row in rows) / length_s if length_s > 0 else 0.0
    return max(by_rows, report.receiver_bps or 0.0)


def _above(played: Played, run: Run, lab_bps: int | None) -> Found:
    links: dict[str, tuple[float, list[Bulk]]] = {}
    for flow in played.case.bulk_flows:
        place, limit = "", float(lab_bps) if lab_bps is not None else None
        try:
            slowest = bottleneck(played.case, flow)
        except NotUnderstoodError:
            slowest = None
        # Lines may have changed routes, and then another link is the slowest.
        if slowest is not None and went_elsewhere(run, slowest.interface):
            slowest = None
        if slowest is not None and (limit is None or slowest.rate_bps < limit):
            place, limit = slowest.interface, slowest.rate_bps
        if limit is not None:
            links.setdefault(place, (limit, []))[1].append(flow)
    for place, (limit, flows) in links.items():
        times = [run.flow_times[flow.name] for flow in flows if flow.name in run.flow_times]
        got = [run.metrics.get(f"{flow.name}.receiver_bps") for flow in flows]
        for flow, bps in zip(flows, got, strict=True):
            if bps is not None and bps > MAX_OF_RATE * limit:
                yield played.name, _too_much(flow.name, bps, limit, place)
        moved = [run.metrics.get(f"{flow.name}.received_bytes", 0.0) for flow in flows]
        length_s = max((t.end_s for t in times), default=0.0) - min(
            (t.start_s for t in times), default=0.0
        )
        together = 8 * sum(moved) / length_s if length_s > 0 else 0.0
        if len(flows) > 1 and together > MAX_OF_RATE * limit:
            names = " and ".join(flow.name for flow in flows)
            yield played.name, _too_much(f"{names} together", together, limit, place)


def _too_much(who: str, bps: float, limit_bps: float, place: str = "") -> str:
    link = f"the link at {place}" if place else "the lab's link"
    return (
        f"{who}: {format_quantity(bps, Unit.BPS)}, and {link} carries "
        f"{format_quantity(float(limit_bps), Unit.BPS)}"
    )


_ABOUT: Mapping[str, tuple[str, str, Any]] = {
    "algorithm": (
        "the algorithm was never set",
        "A flow is called after a congestion control that it did not use. Linux uses its default "
        "(cubic) until another is set: by `sysctl -w net.ipv4.tcp_congestion_control=reno` "
        "at the host that sends, before the connection is opened, or for one test by `iperf3 -C "
        "reno` (in a study: `congestion: reno`). A name sets nothing. `ss -ti` shows what a "
        "connection uses.",
        _algorithm,
    ),
    "overlap": (
        "the flows did not run at the same time",
        "Flows that compete must be on the link together. Here one had the link to itself while "
        "the other was not there, so their throughputs do not show how they share it. In a "
        "script, `h1.cmd('iperf3 -c ...')` waits until the test has ended: start all but the last "
        "in the background (`&`, or `popen`). In a study flows start together unless `start` or "
        "`after` specifies otherwise.",
        _overlap,
    ),
    "shaper": (
        "the shaper is not on the path, or not in force",
        "A queueing discipline shapes what leaves its interface, and nothing else. So it has to "
        "be at an interface through which the data leaves, in the data's direction, and no later "
        "line may replace or delete it. `tc -s qdisc show dev INTERFACE` after a test counts what "
        "went through it: a shaper that counted nothing shaped nothing. Mininet shapes links made "
        "with TCLink only.",
        _shaper,
    ),
    "buffers": (
        "the buffers were not touched",
        "The test was limited by a socket buffer that has its default size, not by the network. "
        "What counts is tcp_wmem at the host that sends and tcp_rmem at the one that receives; "
        "both are set before the connection is opened, to what the bandwidth-delay product needs "
        "(`longfat tune --rate RATE --rtt RTT` prints the lines).",
        _buffers,
    ),
    "figures": (
        "a figure was reported that no run gave",
        "A figure in the submission is none of those that its runs give when they are repeated, "
        "or a report contradicts itself or what the kernel counted. Copy figures from your own "
        "run, made with your own seed (`longfat labs seed NAME`), with their units; hand in the "
        "files of the run that you report.",
        _figures,
    ),
    "rate": (
        "the throughput is above the link's rate",
        "No link carries more than its rate: headers take a part of it, so a test over TCP shows "
        "about 95 % at most. A larger figure means that the limit was not in force, that it was at "
        "another place, or that the test measured something else, such as data that went into a "
        "buffer. Look for that before you use the figure.",
        _rate,
    ),
}

CHECKS: Mapping[str, Check] = {
    name: Check(name=name, title=title, explanation=explanation, look=look)
    for name, (title, explanation, look) in _ABOUT.items()
}
"""The checks by their names, in the order of `longfat_class.study.model.CHECKS`."""

assert tuple(CHECKS) == NAMES
