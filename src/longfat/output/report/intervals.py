"""The rows of bulk traffic's own reports: those that count, and the throughput of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from longfat.errors import InputError, LongfatError
from longfat.model.traffic import Bulk

if TYPE_CHECKING:
    from collections.abc import Sequence

    from longfat.analysis.verdict import Verdict
    from longfat.execution.runs import Run
    from longfat.model.traffic import Flow
    from longfat.model.traffic.bulk import Interval

# iperf3's last row may cover a few microseconds only, whose rate is meaningless.
LEAST_PART = 0.1


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
    found = []
    for name, run in verdict.first_runs.items():
        flows = bulk_flows(run)
        for flow in flows:
            rows = flow_rows(run, flow)
            count = min(map(len, rows), default=0)
            rates = tuple(sum(stream[place].bps for stream in rows) for place in range(count))
            label = name if len(flows) == 1 else f"{name}.{flow.name}"
            found.append(IntervalRates(label, rates))
    return tuple(found)


def bulk_flows(run: Run) -> list[Bulk]:
    """Return the flows of bulk traffic."""
    return list(run.case.bulk_flows)


def flow_rows(run: Run, flow: Bulk) -> list[list[Interval]]:
    """Return the counted rows of each stream, without very short ones.

    Raises:
        InputError: the report is missing or broken.
    """
    try:
        streams = flow.rows(run.checked_raw)
    except LongfatError as error:
        raise unreadable(run, flow, str(error)) from None
    return [whole_rows(stream) for stream in streams]


def whole_rows(stream: Sequence[Interval]) -> list[Interval]:
    """Return the counted rows of a report that are not much shorter than the others."""
    counted = [row for row in stream if not row.omitted]
    longest_s = max((row.end_s - row.start_s for row in counted), default=0.0)
    return [row for row in counted if row.end_s - row.start_s >= LEAST_PART * longest_s]


def unreadable(run: Run, flow: Flow, reason: str) -> InputError:
    """Return the error with the reason why a flow cannot be drawn, and the existing files."""
    raw = run.raw
    there = sorted(path.name for path in raw.iterdir()) if raw.is_dir() else []
    found = f"in {raw.name}/: {', '.join(there)}" if there else f"{raw.name}/ is empty"
    return InputError(f"{run.folder}: flow {flow.name!r} cannot be drawn: {reason}; {found}")
