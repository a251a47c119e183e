"""From a run to readings: what is known of a TCP flow, and how well.

The tcp probe has the kernel's own clocks, at its own interval;
`limits.classify` reads them. Without it there are the tool's own rows, one a second,
of which `rows` and `inferred` make the best. What the link did: `link`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from longfat.analysis.advice.limits import CUTTING_STATES, Reading
from longfat.common.extras import lazy
from longfat.model.flow_path import (
    Bottleneck,
    NotUnderstoodError,
    bottleneck,
    sender_and_receiver,
    sysctl_word,
)
from longfat.model.probes import Tcp
from longfat.model.probes.tcp import alive
from longfat.model.traffic import Bulk

if TYPE_CHECKING:
    import pyarrow as pa

    from longfat.execution.runs import Run
    from longfat.model.traffic import Flow

pc = lazy("pyarrow.compute")

STEP_S = 0.1
"""The least time between two readings: the kernel's clocks tick every 10 ms with HZ=100."""

_LEAST_PART = 0.5

DEFAULT_CONGESTION = "cubic"
DEFAULT_MSS_BYTES = 1448


def find_bottleneck(run: Run, flow: Flow) -> tuple[Bottleneck | None, str]:
    """Return the bottleneck of a flow's path, and why it is not known where it is not."""
    try:
        found = bottleneck(run.case, flow)
    except NotUnderstoodError as error:
        return None, f"the rate of the path is not known: the set-up line {error}"
    return found, "" if found else "no set-up line limits a rate on the path"


def congestion_control(run: Run, flow: Bulk) -> str:
    """Return a flow's congestion control: its own, its host's, or the kernel's default."""
    if flow.congestion is not None:
        return flow.congestion
    sender, _ = sender_and_receiver(flow)
    try:
        named = sysctl_word(run.case.setup, sender, "net.ipv4.tcp_congestion_control")
    except NotUnderstoodError:
        named = None
    return named or DEFAULT_CONGESTION


def tcp_table(run: Run, flow: Bulk) -> pa.Table | None:
    """Return what a tcp probe saw at the sending end of a flow; None where none looked.

    Raises:
        InputError: the probe's file is missing or broken.
    """
    for probe in run.case.probes_of(Tcp, target=flow.name):
        table = run.series(probe.name)
        chosen = pc.and_(
            pc.equal(table["flow"].cast("string"), flow.name),
            pc.equal(table["end"].cast("string"), "sender"),
        )
        found = alive(table.filter(chosen))
        if found.num_rows:
            return found
    return None


def stream_readings(table: pa.Table) -> tuple[tuple[Reading, ...], ...]:
    """Return the readings of each stream of a flow, without what was before and after the data.

    Args:
        table: what `tcp_table` returns.
    """
    streams: dict[int, list[Reading]] = {}
    for row in table.sort_by([("time_s", "ascending")]).to_pylist():
        streams.setdefault(row["stream"], []).append(
            Reading(
                time_s=row["time_s"],
                busy_s=row["busy_s"],
                rwnd_limited_s=row["rwnd_limited_s"],
                sndbuf_limited_s=row["sndbuf_limited_s"],
                acked_bytes=row["bytes_acked"],
                retransmits=row["retransmits"],
                cwnd_bytes=row["cwnd_bytes"],
                in_flight_bytes=row["in_flight_bytes"],
                unsent_bytes=row["unsent_bytes"],
                queued_bytes=row["write_queue_bytes"] or 0.0,
                send_buffer_bytes=row["send_buffer_bytes"] or 0.0,
                cutting=row["ca_state"] in CUTTING_STATES,
            )
        )
    trimmed = (_thin(_trim(readings)) for _, readings in sorted(streams.items()))
    return tuple(readings for readings in trimmed if len(readings) > 1)


def _trim(readings: list[Reading]) -> list[Reading]:
    """Leave out what was before the first data and after the last.

    iperf3's streams are idle while its two ends agree over another connection.
    """
    first = readings[0]
    if first.busy_s > 0:
        every_s = readings[1].time_s - first.time_s if len(readings) > 1 else first.busy_s
        began_s = first.time_s - min(first.busy_s, every_s)
        readings = [Reading(time_s=began_s), *readings]
    last = max(reading.acked_bytes for reading in readings)
    # A stream begins with a name of 37 bytes, which is no data yet.
    data = [i for i, r in enumerate(readings) if r.acked_bytes > DEFAULT_MSS_BYTES]
    ended = next(i for i, r in enumerate(readings) if r.acked_bytes == last)
    begun = max(0, data[0] - 1) if data else 0
    return readings[begun : ended + 1]


def _thin(readings: list[Reading]) -> tuple[Reading, ...]:
    """Keep readings that are at least `STEP_S` apart; the clocks count on between them."""
    if len(readings) < 3:
        return tuple(readings)
    every_s = readings[2].time_s - readings[1].time_s
    step = max(1, math.ceil(STEP_S / every_s - 0.01)) if every_s > 0 else 1
    kept = readings[:1] + readings[1:-1][step - 1 :: step]
    last = readings[-1]
    # The last sample is off the grid, and a rate over microseconds is meaningless.
    if len(kept) > 1 and last.time_s - kept[-1].time_s < _LEAST_PART * STEP_S:
        kept.pop()
    return (*kept, last)
