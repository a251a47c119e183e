"""What curves of a run are computed from: samples of its probes, and rows of its tools' reports.

The samples are finer and are preferred where a probe has any.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from longfat.common.extras import lazy
from longfat.errors import InputError, LongfatError
from longfat.model.probes import Tcp
from longfat.model.probes.tcp import alive

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pyarrow as pa

    from longfat.analysis.verdict import Verdict
    from longfat.execution.runs import Run
    from longfat.model.probes import Probe
    from longfat.model.traffic import Bulk, Flow
    from longfat.model.traffic.bulk import Interval, Rows

pc = lazy("pyarrow.compute")

# iperf3's last row may cover a few microseconds only, whose rate is meaningless.
_MIN_PART = 0.1


@dataclass(frozen=True, slots=True)
class IntervalRates:
    """The throughput of a bulk flow in each interval, in bit/s, and its label."""

    label: str
    bps: tuple[float, ...]


def interval_rates(verdict: Verdict) -> tuple[IntervalRates, ...]:
    """Return the senders' reports of each interval, of each case's run with the first seed.

    Raises:
        InputError: a report is missing or broken.
    """
    rates = []
    for name, run in verdict.first_runs.items():
        flows = run.measured_case.bulk_flows
        for flow in flows:
            rows = flow_rows(run, flow)
            count = min(map(len, rows), default=0)
            totals = tuple(sum(stream[index].bps for stream in rows) for index in range(count))
            whole = flow.name if len(verdict.first_runs) == 1 else f"{name}.{flow.name}"
            label = name if len(flows) == 1 else whole
            rates.append(IntervalRates(label, totals))
    return tuple(rates)


def tcp_samples(
    run: Run,
    flow: Flow,
    end: str = "sender",
    *,
    ended: bool = False,
    series: Callable[[Probe], pa.Table] | None = None,
) -> pa.Table | None:
    """Return what a tcp probe sampled of one end of a flow; None where none did.

    Args:
        run: the run.
        flow: the flow.
        end: `sender` or `receiver`.
        ended: include the final counts of sockets that ended.
        series: reads the samples of a probe; by default from the run.

    Raises:
        InputError: the probe's file is missing or broken.
    """
    for probe in run.case.probes_of(Tcp, target=flow.name):
        table = run.series(probe.name) if series is None else series(probe)
        chosen = pc.and_(
            pc.equal(table["flow"].cast("string"), flow.name),
            pc.equal(table["end"].cast("string"), end),
        )
        samples = table.filter(chosen)
        if not ended:
            samples = alive(samples)
        if samples.num_rows:
            return samples
    return None


def in_run_time(rows: Rows, flow: Bulk, start_s: float) -> Rows:
    """Return the rows of a report with the times of the run.

    A report counts from the flow's start, and begins anew after the time that it omits.

    Args:
        rows: the rows of each stream.
        flow: the flow.
        start_s: when it began, in seconds after the traffic's start.
    """
    return tuple(
        tuple(
            replace(row, start_s=row.start_s + shift_s, end_s=row.end_s + shift_s)
            for row in stream
            for shift_s in (start_s if row.omitted else start_s + flow.omit_s,)
        )
        for stream in rows
    )


def flow_rows(run: Run, flow: Bulk) -> list[list[Interval]]:
    """Return the counted rows of each stream, very short ones joined to others.

    Raises:
        InputError: the report is missing or broken.
    """
    try:
        streams = flow.rows(run.checked_raw)
    except LongfatError as error:
        raise unreadable(run, flow, str(error)) from None
    return [whole_rows(stream) for stream in streams]


def whole_rows(stream: Sequence[Interval], *, omitted: bool = False) -> list[Interval]:
    """Return the rows of a report, with those that are much shorter than the others joined.

    A short row becomes a part of the row before it: its rate alone would show single packets, and
    its bytes and retransmissions count. A short first row is left out: behind the time that it
    omits, iperf3 gives a row of some microseconds with bytes of that time.

    Args:
        stream: the rows of a stream, in the order of time.
        omitted: include those that the report does not count.
    """
    counted = [row for row in stream if omitted or not row.omitted]
    least_s = _MIN_PART * max((row.end_s - row.start_s for row in counted), default=0.0)
    rows: list[Interval] = []
    for row in counted:
        if row.end_s - row.start_s >= least_s:
            rows.append(row)
        elif rows and rows[-1].omitted == row.omitted:
            rows[-1] = _joined(rows[-1], row)
    return rows


def _joined(first: Interval, second: Interval) -> Interval:
    """Return two rows of a stream as one; values at a row's end are those of the second."""
    moved = first.bytes + second.bytes
    time_s = second.end_s - first.start_s
    return replace(
        second,
        start_s=first.start_s,
        bps=moved * 8 / time_s if moved and time_s > 0 else first.bps,
        bytes=moved,
        retransmits=_sum(first.retransmits, second.retransmits),
        lost_packets=_sum(first.lost_packets, second.lost_packets),
    )


def _sum(first: int | None, second: int | None) -> int | None:
    return first if second is None else second if first is None else first + second


def unreadable(run: Run, flow: Flow, reason: str) -> InputError:
    """Return the error with the reason why a flow cannot be drawn, and the existing files."""
    raw = run.raw
    names = sorted(path.name for path in raw.iterdir()) if raw.is_dir() else []
    content = f"in {raw.name}/: {', '.join(names)}" if names else f"{raw.name}/ is empty"
    return InputError(f"{run.folder}: flow {flow.name!r} cannot be drawn: {reason}; {content}")
