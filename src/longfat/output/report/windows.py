"""Window arithmetic: what a path needs, what the buffers allow, and what was measured.

For each TCP flow whose path is known. What cannot be computed reliably is omitted:
the window that a buffer allows is only computed for kernels that follow the
half rule, and only where the receive buffer is the limit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from longfat.analysis.advice.link import link_rates, rate_over
from longfat.model.flow_path import (
    FlowPath,
    NotUnderstoodError,
    bottleneck,
    flow_path,
    sender_and_receiver,
    sysctl,
)
from longfat.model.metric import Unit
from longfat.model.traffic import Bulk
from longfat.model.units import format_quantity
from longfat.output.report.values import MISSING, FlowTable, Grid, Row
from longfat.theory import bdp

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from longfat.analysis.advice.link import RateOver
    from longfat.analysis.verdict import Verdict
    from longfat.execution.runs import Run
    from longfat.model.case import Case


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowWindow:
    """The window arithmetic of one flow; a size is None where it is not known.

    Attributes:
        case: the case's name.
        flow: the flow's name.
        sender: the host that sends.
        receiver: the host that receives.
        streams: the number of streams.
        path: the path; with the largest of the rates that events gave it in the flow's time.
        least_bps: the least of these rates; that of the path, where it had one only.
        mean_bps: their mean over the flow's time, likewise.
        half_rule: the kernel offers a fixed part of a receive buffer as window.
        adv_win_scale: that part, as the sysctl of the same name.
        receive_buffer_bytes: the largest receive buffer at the receiver.
        send_buffer_bytes: the largest send buffer at the sender.
        measured_bps: the throughput at the receiver.
        mean_rtt_s: the mean RTT of the flow itself.
        max_cwnd_bytes: the largest congestion window of a stream.
        seeds: how many seeds the last three are the medians of.
    """

    case: str
    flow: str
    sender: str
    receiver: str
    streams: int
    path: FlowPath
    least_bps: float
    mean_bps: float
    half_rule: bool
    adv_win_scale: int
    receive_buffer_bytes: int | None
    send_buffer_bytes: int | None
    measured_bps: float | None
    mean_rtt_s: float | None
    max_cwnd_bytes: float | None
    seeds: int = 1

    @property
    def bdp_bytes(self) -> float:
        """Return the path's bandwidth-delay product."""
        return bdp.bdp_bytes(self.path.rate_bps, self.path.rtt_s)

    @property
    def buffer_needed_bytes(self) -> float | None:
        """Return the buffer that one stream needs to fill the path."""
        if not self.half_rule:
            return None
        return bdp.buffer_needed_bytes(self.bdp_bytes, adv_win_scale=self.adv_win_scale)

    @property
    def allowed_bytes(self) -> int | None:
        """Return the window that the receive buffer allows a stream."""
        receive, send = self.receive_buffer_bytes, self.send_buffer_bytes
        if receive is None or not self.half_rule or (send is not None and send < receive):
            return None
        return bdp.window_bytes(receive, adv_win_scale=self.adv_win_scale)

    @property
    def allowed_bps(self) -> float | None:
        """Return the throughput that this window allows all streams on this path."""
        if self.allowed_bytes is None:
            return None
        window_bps = self.streams * bdp.throughput_bps(self.allowed_bytes, self.path.rtt_s)
        return min(window_bps, self.mean_bps)

    @property
    def in_flight_bytes(self) -> float | None:
        """Return the bytes that were in flight on average: throughput times the flow's RTT."""
        if self.measured_bps is None:
            return None
        return bdp.bdp_bytes(self.measured_bps, self.mean_rtt_s or self.path.rtt_s)


@dataclass(frozen=True, slots=True, kw_only=True)
class Omission:
    """A flow without window arithmetic, and why."""

    case: str
    flow: str
    reason: str


def flow_windows(verdict: Verdict) -> tuple[tuple[FlowWindow, ...], tuple[Omission, ...]]:
    """Return the window arithmetic of every TCP flow whose path is known.

    What was measured with several seeds counts with its median.

    Args:
        verdict: the study with its runs.

    Returns:
        The arithmetic, and the flows that have none although something shapes their path.
    """
    windows, omissions = [], []
    for name, run in verdict.first_runs.items():
        case = verdict.study.cases[name].case
        for flow in case.tcp_flows:
            try:
                window = _flow_window(run, case, name, flow, metrics=verdict.medians(name))
                if window is not None:
                    window = replace(window, seeds=len(verdict.runs[name]))
            except NotUnderstoodError as error:
                omissions.append(Omission(case=name, flow=flow.name, reason=str(error)))
            else:
                windows += [window] if window else []
    return tuple(windows), tuple(omissions)


def _flow_window(
    run: Run, case: Case, name: str, flow: Bulk, *, metrics: Mapping[str, float]
) -> FlowWindow | None:
    path = flow_path(case, flow, metrics, installed=run.installed)
    if path is None:
        return None
    least_bps, mean_bps = path.rate_bps, path.rate_bps
    if rate := _rate_over(run, case, flow):
        least_bps, mean_bps = rate.least_bps, rate.mean_bps
        path = replace(path, rate_bps=rate.most_bps)
    sender, receiver = sender_and_receiver(flow)
    name_of_scale = "net.ipv4.tcp_adv_win_scale"
    scale = sysctl(case.setup, receiver, name_of_scale, installed=run.installed)
    return FlowWindow(
        case=name,
        flow=flow.name,
        sender=sender,
        receiver=receiver,
        streams=flow.parallel,
        path=path,
        least_bps=least_bps,
        mean_bps=mean_bps,
        half_rule=bdp.has_half_rule(run.kernel["release"]),
        adv_win_scale=scale[0] if scale else bdp.DEFAULT_ADV_WIN_SCALE,
        receive_buffer_bytes=_buffer(run, flow, receiver, "net.ipv4.tcp_rmem"),
        send_buffer_bytes=_buffer(run, flow, sender, "net.ipv4.tcp_wmem"),
        measured_bps=metrics.get(f"{flow.name}.receiver_bps"),
        mean_rtt_s=metrics.get(f"{flow.name}.mean_rtt_s"),
        max_cwnd_bytes=metrics.get(f"{flow.name}.max_cwnd_bytes"),
    )


def _rate_over(run: Run, case: Case, flow: Bulk) -> RateOver | None:
    """Return the rate of a path over a flow's time; None if it had only one, or no limit."""
    slowest = bottleneck(case, flow, installed=run.installed)
    times = run.flow_times.get(flow.name)
    if slowest is None or times is None or not run.event_times:
        return None
    rate = rate_over(link_rates(run, slowest), times.start_s, times.end_s)
    return None if rate.is_constant or rate.most_bps == math.inf else rate


def _buffer(run: Run, flow: Bulk, host: str, name: str) -> int | None:
    # A socket that sets its own size is not limited by the sysctl.
    if flow.window_bytes is not None:
        return None
    numbers = sysctl(run.case.setup, host, name, installed=run.installed)
    return numbers[2] if numbers is not None and len(numbers) == 3 else None


def window_grid(windows: Sequence[FlowWindow]) -> Grid:
    """Return the arithmetic as a table: quantities down, flows across."""
    hosts = {(w.sender, w.receiver) for w in windows}
    one = len(hosts) == 1
    at_receiver = f" at {windows[0].receiver}" if one else ", receiver"
    at_sender = f" at {windows[0].sender}" if one else ", sender"
    each = " a stream" if any(w.streams > 1 for w in windows) else ""
    factors = {w.adv_win_scale for w in windows if w.half_rule}
    half = factors <= {bdp.DEFAULT_ADV_WIN_SCALE}
    bare = len({w.flow for w in windows}) == 1
    alone = len({w.case for w in windows}) == 1
    lines: list[tuple[str, list[str]]] = [
        ("bottleneck", [_quantity(w.path.rate_bps, Unit.BPS) for w in windows]),
        ("its least rate", [_changed(w, w.least_bps) for w in windows]),
        ("its mean rate", [_changed(w, w.mean_bps) for w in windows]),
        ("RTT, idle", [_quantity(w.path.rtt_s, Unit.SECONDS) for w in windows]),
        ("BDP = bottleneck x RTT", [_bytes(w.bdp_bytes) for w in windows]),
        ("window scale shift for it", [_shift(w.bdp_bytes) for w in windows]),
        (
            f"buffer for it{', 2 x BDP' if half else ''}",
            [_bytes(w.buffer_needed_bytes) for w in windows],
        ),
        (f"tcp_rmem, max{at_receiver}", [_bytes(w.receive_buffer_bytes) for w in windows]),
        (f"tcp_wmem, max{at_sender}", [_bytes(w.send_buffer_bytes) for w in windows]),
        (
            f"window allowed{each}{', rmem / 2' if half else ''}",
            [_bytes(w.allowed_bytes) for w in windows],
        ),
        ("which allows at most", [_quantity(w.allowed_bps, Unit.BPS) for w in windows]),
        ("measured at the receiver", [_quantity(w.measured_bps, Unit.BPS) for w in windows]),
        ("RTT of the flow, mean", [_quantity(w.mean_rtt_s, Unit.SECONDS) for w in windows]),
        ("in flight = measured x RTT", [_bytes(w.in_flight_bytes, round_to=1000) for w in windows]),
        (f"largest cwnd{each}", [_bytes(w.max_cwnd_bytes) for w in windows]),
    ]
    return Grid(
        columns=tuple(
            w.case if bare else w.flow if alone else f"{w.case}.{w.flow}" for w in windows
        ),
        rows=tuple(
            Row(label=label, cells=tuple(cells))
            for label, cells in lines
            if any(cell != MISSING for cell in cells)
        ),
    )


def split_grid(grid: Grid) -> tuple[Grid, FlowTable]:
    """Return what all columns of a table have in common, and the rest with a row for each column.

    Args:
        grid: a table with several columns.
    """
    shared = [row for row in grid.rows if len(set(row.cells)) == 1]
    own = [row for row in grid.rows if row not in shared]
    rows = (
        Row(column, tuple(row.cells[number] for row in own))
        for number, column in enumerate(grid.columns)
    )
    return (
        Grid(columns=("all",), rows=tuple(Row(row.label, row.cells[:1]) for row in shared)),
        FlowTable(case="", columns=tuple(row.label for row in own), rows=tuple(rows)),
    )


def window_notes(windows: Sequence[FlowWindow], omissions: Sequence[Omission]) -> tuple[str, ...]:
    """Return the notes that explain the table."""
    notes = []
    if windows:
        rates = " and ".join(
            dict.fromkeys(f"{w.path.rate_origin} gives {w.path.rate_source}" for w in windows)
        )
        times = " or ".join(dict.fromkeys(w.path.rtt_source for w in windows))
        notes = [f"The bottleneck is the rate that {rates}; the RTT is {times}."]
    if any(w.least_bps < w.path.rate_bps for w in windows):
        notes.append(
            "Events changed the bottleneck's rate: the arithmetic is that of its largest, and what "
            "a window allows at most that of its mean over the flow's time."
        )
    if seeds := {w.seeds for w in windows if w.seeds > 1}:
        counts = " or ".join(map(str, sorted(seeds)))
        notes.append(f"What was measured is the median over {counts} seeds.")
    if any(w.half_rule for w in windows):
        notes.append(
            "Half rule: Linux before 6.6 offers bytes - bytes / 2^tcp_adv_win_scale of a receive "
            "buffer as window, which is half of it by default."
        )
    if any(not w.half_rule for w in windows):
        notes.append(
            "Since 6.6, Linux offers what the overhead of the packets leaves of a receive "
            "buffer, so the window cannot be determined from the buffer alone."
        )
    notes += [f"Left out: {o.case}.{o.flow}: {o.reason}." for o in omissions]
    return tuple(notes)


def _changed(window: FlowWindow, rate_bps: float) -> str:
    changed = window.least_bps < window.path.rate_bps
    return _quantity(rate_bps if changed else None, Unit.BPS)


def _quantity(value: float | None, unit: Unit) -> str:
    return MISSING if value is None else format_quantity(value, unit)


def _bytes(value: float | None, *, round_to: int = 1) -> str:
    # Whole bytes, as sysctl takes them: powers of 1000 and of 1024 would differ by 5 %.
    return MISSING if value is None else f"{round(value / round_to) * round_to:,} B"


def _shift(window_bytes: float) -> str:
    try:
        return str(bdp.shift_needed(window_bytes))
    except ValueError:
        return MISSING
