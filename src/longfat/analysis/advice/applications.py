"""What limited a flow that is no bulk traffic: a call, requests, or a video.

Such a flow needs little bandwidth, and is limited by delay, losses and other traffic rather
than by a window. So there are no seconds by limit: a call's losses are classified by the
E-model, a request's delay by the time that it takes on an idle path, and a video's quality
by its ladder.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from longfat.analysis.advice.evidence import find_bottleneck
from longfat.analysis.advice.facts import Facts
from longfat.analysis.advice.link import link_rates, rate_over
from longfat.analysis.advice.recommendation import Recommendation
from longfat.model.flow_path import NotUnderstoodError, flow_path
from longfat.model.metric import Unit
from longfat.model.traffic import Cbr, Requests, Video
from longfat.model.units import format_quantity
from longfat.theory.e_model import call_quality

if TYPE_CHECKING:
    from collections.abc import Mapping

    from longfat.analysis.advice.facts import Fact
    from longfat.execution.runs import Run
    from longfat.model.traffic import Flow

APPLICATIONS = (Cbr, Requests, Video)
"""The kinds of flows that can be diagnosed here."""

# A rating that differs by less is the same call: G.107 counts in points of R, 90 being excellent.
_SAME_R = 2.0
_NOTHING_CAME = "Look at the path: is it up, and is there a route?"
_UDP_HEADERS_BYTES = 42  # Ethernet, IPv4 and UDP
_NEARLY = 0.95
_BUSY = 0.8
# Twice the time of an idle path is what slow start alone may cost.
_QUICK = 2.0

_CALL_QUALITY = (
    ("mos", "MOS", Unit.COUNT),
    ("r", "rating factor R", Unit.COUNT),
    ("loss", "lost on the way", Unit.FRACTION),
    ("late", "too late to be played", Unit.FRACTION),
    ("min_s", "one-way delay, least", Unit.SECONDS),
    ("mean_s", "one-way delay, mean", Unit.SECONDS),
    ("p99_s", "one-way delay, 99th percentile", Unit.SECONDS),
    ("jitter_s", "jitter, mean", Unit.SECONDS),
    ("playout_s", "delay at which it is played", Unit.SECONDS),
)
_CALL_COSTS = (
    ("r_path", "R lost to the path's delay and a datagram's length", Unit.COUNT),
    ("r_queue", "R lost to waiting for late datagrams", Unit.COUNT),
    ("r_loss", "R lost to losses and late datagrams", Unit.COUNT),
)
_REQUESTS = (
    ("completed", "completed", Unit.COUNT),
    ("unfinished", "unfinished at the end", Unit.COUNT),
    ("offered_bps", "offered load", Unit.BPS),
    ("goodput_bps", "goodput", Unit.BPS),
    ("p50_s", "completion time, median", Unit.SECONDS),
    ("p99_s", "completion time, 99th percentile", Unit.SECONDS),
    ("slowdown_p50", "slowdown, median", Unit.COUNT),
    ("slowdown_p99", "slowdown, 99th percentile", Unit.COUNT),
)
_VIDEO = (
    ("bitrate_bps", "bitrate, mean", Unit.BPS),
    ("throughput_bps", "throughput of segments", Unit.BPS),
    ("startup_s", "startup delay", Unit.SECONDS),
    ("stalls", "stalls", Unit.COUNT),
    ("stalled_s", "time stalled", Unit.SECONDS),
    ("switches", "switches of the bitrate", Unit.COUNT),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Application:
    """What limited such a flow.

    Attributes:
        verdict: in one sentence.
        facts: the evidence.
        recommendation: what would help.
        notes: remarks.
    """

    verdict: str
    facts: tuple[Fact, ...]
    recommendation: Recommendation
    notes: tuple[str, ...] = ()


def examine_application(run: Run, flow: Flow) -> Application:
    """Determine what limited a flow of one of `APPLICATIONS`.

    Raises:
        ValueError: it is of another kind.
    """
    metrics = run.metrics_of(flow.name)
    path, found = _Path(run, flow), Facts()
    match flow:
        case Cbr():
            verdict, words = _call(flow, metrics, path, found)
        case Requests():
            verdict, words = _requests(flow, metrics, path, found)
        case Video():
            verdict, words = _video(flow, metrics, path, found)
        case _:
            raise ValueError(f"{flow.tool} is no application")
    return Application(
        verdict=verdict,
        facts=tuple(found),
        recommendation=Recommendation(words=words),
        notes=path.notes,
    )


class _Path:
    """What is known of a flow's path; nothing of it need be.

    Attributes:
        rate_bps: the bottleneck's mean rate over the flow's time.
        least_bps: its least.
        rtt_s: the RTT of the idle path.
        interface: the bottleneck's interface.
    """

    def __init__(self, run: Run, flow: Flow) -> None:
        self.rate_bps: float | None = None
        self.least_bps: float | None = None
        self.rtt_s: float | None = None
        self.interface = ""
        self._run = run
        self._slowest, why = find_bottleneck(run, flow)
        self.notes = (f"{why[0].upper()}{why[1:]}.",) if why else ()
        if self._slowest is not None:
            times = run.flow_times[flow.name]
            rate = rate_over(link_rates(run, self._slowest), times.start_s, times.end_s)
            self.interface = self._slowest.interface
            self.rate_bps = rate.mean_bps if rate.mean_bps < math.inf else None
            self.least_bps = rate.least_bps
        try:
            found = flow_path(run.case, flow, run.metrics, installed=run.installed)
        except NotUnderstoodError:
            found = None
        if found is not None:
            self.rtt_s = found.rtt_s

    def put(self, found: Facts) -> None:
        """Put what is known among the facts."""
        if self._slowest is not None:
            found.put_rate(self._slowest, self._run)
        found.put("idle_rtt_s", "RTT, idle path", self.rtt_s, Unit.SECONDS)

    @property
    def changed(self) -> str:
        """Notes on a rate that events changed; empty if none did."""
        if self.rate_bps is None or self.least_bps == self.rate_bps:
            return ""
        minimum = format_quantity(self.least_bps or 0.0, Unit.BPS)
        return f" (events changed the rate of {self.interface}; its least is {minimum})"


def _call(flow: Cbr, metrics: Mapping[str, float], path: _Path, found: Facts) -> tuple[str, str]:
    """Put the evidence about a call among the facts; return the verdict and what would help."""
    found.put_metrics(metrics, _CALL_QUALITY)
    path.put(found)
    if "playout_s" not in metrics:
        return f"Nothing of {flow.name} came.", _NOTHING_CAME
    # R of a call that lacks one thing after the other.
    perfect = call_quality(0.0, 0.0).r
    on_path = call_quality(metrics["min_s"] + flow.gap_s, 0.0).r
    played = call_quality(metrics["playout_s"] + flow.gap_s, 0.0).r
    costs = {"path": perfect - on_path, "queue": on_path - played, "loss": played - metrics["r"]}
    found.put_metrics({f"r_{key}": cost for key, cost in costs.items()}, _CALL_COSTS)
    worst = max(costs, key=costs.__getitem__)
    offered_bps = (flow.size_bytes + _UDP_HEADERS_BYTES) * 8 / flow.gap_s
    verdict, words = {
        "path": (
            f"what it lost, it lost to the path's own delay, {_time(metrics['min_s'])} one way",
            "Only a shorter path helps, or datagrams that hold less time.",
        ),
        "queue": (
            f"delay varies: it waits {_time(metrics['playout_s'] - metrics['min_s'])} for late "
            "datagrams, which other traffic holds up in a queue",
            "Give the bottleneck a shorter queue or fair queueing (fq_codel, cake), or let this "
            "flow go first (prio and a dscp).",
        ),
        "loss": (
            f"losses: {_share(metrics['loss'])} were lost on the way, and "
            f"{_share(metrics['late'])} came too late to be played",
            "Find what loses: a full queue (fair queueing protects a thin flow) or the link "
            "itself. A longer buffer plays what is late.",
        ),
    }[worst]
    if costs[worst] < _SAME_R:
        verdict, words = "nothing that a listener would notice", "Nothing needs to be done."
    if path.least_bps is not None and offered_bps > path.least_bps:
        verdict = (
            f"it sends {_rate(offered_bps)} with headers, and {path.interface} carries "
            f"{_rate(path.least_bps)}{path.changed}"
        )
        words = "Send less: smaller datagrams, or fewer."
    return f"{flow.name} has a MOS of {metrics['mos']:.2f}; what limits it: {verdict}.", words


def _requests(
    flow: Requests, metrics: Mapping[str, float], path: _Path, found: Facts
) -> tuple[str, str]:
    """Do for requests what `_call` does for a call."""
    found.put_metrics(metrics, _REQUESTS)
    path.put(found)
    if not metrics.get("completed"):
        return "No request was completed.", _NOTHING_CAME
    offered = metrics["offered_bps"]
    if path.least_bps is not None and offered > _BUSY * path.least_bps:
        return (
            f"The load is too much: {_rate(offered)} were requested on average, and "
            f"{path.interface} carries {_rate(path.least_bps)}{path.changed}, so requests wait "
            "for each other.",
            "Fewer requests, or smaller responses; else a faster link.",
        )
    slowdown = metrics.get("slowdown_p50")
    if slowdown is None or path.rate_bps is None or path.rtt_s is None:
        return (
            "How long requests would take on an idle path is not known.",
            "Give the path a rate and a delay as properties of a link.",
        )
    mean_bits = offered * flow.time_s / metrics["requests"]
    if slowdown > _QUICK:
        return (
            f"Half of the requests take more than {slowdown:.1f} times as long as on an idle path: "
            "they wait in queues behind other traffic, lose packets, or are in slow start.",
            "Give the bottleneck fair queueing (fq_codel, cake), so that short flows pass long "
            "ones; keep connections open between requests (fresh: no).",
        )
    bound = "round trips" if mean_bits / path.rate_bps < path.rtt_s else "the link's rate"
    return (
        f"The path itself: half of the requests take at most {slowdown:.1f} times as long as on an "
        f"idle path, most of it for {bound}.",
        "Nothing in the queues. Fewer round trips help: open connections, a larger initial window "
        "(`ip route change ... initcwnd 20`), a shorter path."
        if bound == "round trips"
        else "Only a faster link helps, or smaller responses.",
    )


def _video(flow: Video, metrics: Mapping[str, float], path: _Path, found: Facts) -> tuple[str, str]:
    """Do for a video what `_call` does for a call."""
    found.put_metrics(metrics, _VIDEO)
    minimum, maximum = min(flow.rates_bps), max(flow.rates_bps)
    found.put("ladder_top_bps", "highest bitrate of the ladder", maximum, Unit.BPS)
    path.put(found)
    bitrate = metrics.get("bitrate_bps")
    throughput = metrics.get("throughput_bps", 0.0)
    if bitrate is None:
        verdict, words = "no segment came", _NOTHING_CAME
    elif path.least_bps is not None and path.least_bps < minimum:
        verdict, words = (
            f"the link: {path.interface} carries {_rate(path.least_bps)}{path.changed}, less than "
            f"the lowest bitrate, {_rate(minimum)}",
            "A faster link, or a lower first step of the ladder.",
        )
    elif bitrate >= _NEARLY * maximum:
        verdict, words = (
            "its ladder: it played the highest bitrate there is",
            "Nothing in the network.",
        )
    elif path.rate_bps is not None and throughput >= _BUSY * path.rate_bps:
        verdict, words = (
            f"the link: segments came at {_rate(throughput)}, and {path.interface} carries "
            f"{_rate(path.rate_bps)} on average{path.changed}",
            "A faster link; or a step of the ladder below what it carries.",
        )
    elif throughput > maximum:
        verdict, words = (
            f"its own adaptation: segments came at {_rate(throughput)}, and it played "
            f"{_rate(bitrate)} on average, beginning low",
            "A longer video, or another adaptation.",
        )
    else:
        verdict, words = (
            f"other traffic or losses: segments came at {_rate(throughput)}"
            + (f" of {_rate(path.rate_bps)}{path.changed}" if path.rate_bps else ""),
            "Fair queueing at the bottleneck gives it its share; look for losses on the path.",
        )
    stalls = round(metrics.get("stalls", 0))
    stood = f" It was stalled for {_time(metrics['stalled_s'])} in all." if stalls else ""
    return f"What limits {flow.name}: {verdict}.{stood}", words


def _time(time_s: float) -> str:
    return format_quantity(time_s, Unit.SECONDS)


def _rate(rate_bps: float) -> str:
    return format_quantity(rate_bps, Unit.BPS)


def _share(share: float) -> str:
    return format_quantity(share, Unit.FRACTION)
