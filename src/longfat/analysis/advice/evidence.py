"""What is known of a TCP flow of a run, and how well: readings of the kernel, or rows of the tool.

The tcp probe has the kernel's own clocks, at its own interval; `limits.classify` takes them as
readings. What the link did: `link`.

Without the kernel's clocks there are, for each second, the tool's throughput, cwnd, smoothed RTT
and retransmissions, from which `infer` makes the best; that is less certain. What was in flight
follows from Little's law: throughput x RTT. If that fills the congestion window, the window is
what limits; if it does not, something else does: a window or buffer whose size is in the set-up
lines, or the application, if the flow's rate is limited. What cannot be determined is
`Limit.UNKNOWN`.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from longfat.analysis.advice.arithmetic import (
    SEND_BUFFER_BYTES,
    machine_buffer_bytes,
    receive_buffer_bytes,
    release_version,
)
from longfat.analysis.advice.limits import (
    CUTTING_STATES,
    MODEL_BASED,
    Limit,
    Link,
    Reading,
    Slice,
    merge_streams,
)
from longfat.analysis.timeseries.sources import in_run_time, whole_rows
from longfat.common.extras import lazy
from longfat.model.flow_path import (
    Bottleneck,
    NotUnderstoodError,
    bottleneck,
    sender_and_receiver,
    sysctl,
    sysctl_word,
)
from longfat.model.traffic import Bulk
from longfat.theory import bdp, socket_buffers

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    import pyarrow as pa

    from longfat.analysis.advice.link import LinkUse
    from longfat.execution.runs import Run
    from longfat.model.traffic import Flow

pc = lazy("pyarrow.compute")

STEP_S = 0.1
"""The least time between two readings: the kernel's clocks tick every 10 ms with HZ=100."""

_MIN_PART = 0.5
# A wait for a timeout that is shorter is not worth readings of its own.
_MIN_SILENCE_S = 0.05
# Silence of so many round trips, with data in flight, ends with a timeout.
_SILENT_RTTS = 8

DEFAULT_CONGESTION = "cubic"
DEFAULT_MSS_BYTES = 1448

# In flight is a mean of a second and cwnd is its end: with less than this the window is not full.
_OPEN = 0.75

# A window or buffer that is filled to this share is taken for what limits.
_FILLED = 0.8

_AT_RATE = 0.9
_STARTED = 0.75


def find_bottleneck(run: Run, flow: Flow) -> tuple[Bottleneck | None, str]:
    """Return the bottleneck of a flow's path, and why it is not known where it is not."""
    try:
        found = bottleneck(run.case, flow, installed=run.installed)
    except NotUnderstoodError as error:
        what = "the set-up line " if error.is_line else ""
        return None, f"the rate of the path is not known: {what}{error}"
    if found is not None:
        return found, ""
    if run.installed is not None:
        return None, "nothing limits a rate on the path"
    return None, "no set-up line limits a rate on the path"


def congestion_control(run: Run, flow: Flow) -> str:
    """Return a flow's congestion control: its own, its host's, or the kernel's default."""
    if isinstance(flow, Bulk) and flow.congestion is not None:
        return flow.congestion
    sender, _ = sender_and_receiver(flow)
    try:
        name = "net.ipv4.tcp_congestion_control"
        named = sysctl_word(run.case.setup, sender, name, installed=run.installed)
    except NotUnderstoodError:
        named = None
    return named or DEFAULT_CONGESTION


def run_sysctl(run: Run, host: str, name: str) -> tuple[int, ...] | None:
    """Return the numbers of a sysctl of a host of a run; see `longfat.model.flow_path.sysctl`."""
    return sysctl(run.case.setup, host, name, installed=run.installed)


def stream_readings(table: pa.Table) -> tuple[tuple[Reading, ...], ...]:
    """Return the readings of each stream of a flow, without what was before and after the data.

    Args:
        table: what the tcp probe saw at its sending end; see `timeseries.sources.tcp_samples`.
    """
    streams: dict[int, list[dict[str, Any]]] = {}
    for row in table.sort_by([("time_s", "ascending")]).to_pylist():
        streams.setdefault(row["stream"], []).append(row)
    trimmed = (_thin(_trim(_readings(rows))) for _, rows in sorted(streams.items()))
    return tuple(readings for readings in trimmed if len(readings) > 1)


def _readings(rows: list[dict[str, Any]]) -> list[Reading]:
    waits = _waits_for_timeouts(rows)
    return [
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
            timed_out=waits[index],
        )
        for index, row in enumerate(rows)
    ]


def _waits_for_timeouts(rows: list[dict[str, Any]]) -> list[bool]:
    """Return for each sample of a stream whether it waits for a retransmission timeout.

    That has fired, or will: nothing that is in flight is acknowledged for many round trips.
    """
    waits: list[bool] = []
    for _, group in itertools.groupby(rows, key=lambda row: row["bytes_acked"]):
        silence = list(group)
        length_s = silence[-1]["time_s"] - silence[0]["time_s"]
        is_long = length_s >= max(_MIN_SILENCE_S, _SILENT_RTTS * silence[-1]["rtt_s"])
        is_waiting = is_long and all(row["in_flight_packets"] > 0 for row in silence)
        # A closed window is probed with the same backoff, and nothing is in flight then.
        waits += [
            is_waiting
            or row["ca_state"] == "loss"
            or bool(row.get("backoff") and row["in_flight_packets"] > 0)
            for row in silence
        ]
    return waits


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
    # What was in flight and never acknowledged is data that waited.
    ended = max([ended, *(i for i, r in enumerate(readings) if r.timed_out)])
    begun = max(0, data[0] - 1) if data else 0
    return readings[begun : ended + 1]


def _thin(readings: list[Reading]) -> tuple[Reading, ...]:
    """Keep readings that are at least `STEP_S` apart; the clocks count on between them."""
    if len(readings) < 3:
        return tuple(readings)
    every_s = readings[2].time_s - readings[1].time_s
    step = max(1, math.ceil(STEP_S / every_s - 0.01)) if every_s > 0 else 1
    edges = _silence_edges(readings)
    kept = readings[:1]
    skipped = 0
    for index, reading in enumerate(readings[1:-1], start=1):
        skipped += 1
        if skipped == step or index in edges:
            kept.append(reading)
            skipped = 0
    last = readings[-1]
    # The last sample is off the grid, and a rate over microseconds is meaningless.
    is_near = last.time_s - kept[-1].time_s < _MIN_PART * STEP_S
    if len(kept) > 1 and is_near and not kept[-1].timed_out:
        kept.pop()
    return (*kept, last)


def _silence_edges(readings: list[Reading]) -> set[int]:
    """Return the readings at which a wait for a retransmission timeout begins or ends."""
    edges = set()
    start = 0
    for _, group in itertools.groupby(readings, key=lambda reading: reading.acked_bytes):
        silence = list(group)
        end = start + len(silence) - 1
        length_s = silence[-1].time_s - silence[0].time_s
        if length_s >= _MIN_SILENCE_S and any(reading.timed_out for reading in silence):
            edges |= {start, end}
        start = end + 1
    return edges


def inferred_slices(
    run: Run, flow: Bulk, use: LinkUse, *, mss_bytes: float, congestion: str
) -> tuple[Slice, ...]:
    """Return what probably limited a flow, row by row.

    Args:
        run: the run.
        flow: the flow.
        use: what its bottleneck link carried.
        mss_bytes: the payload of a segment.
        congestion: its congestion control.

    Raises:
        MachineError: its report cannot be read.
    """
    began_s = run.flow_times[flow.name].start_s
    streams = []
    known = _known(run, flow, congestion)
    for stream in in_run_time(flow.rows(run.checked_raw), flow, began_s):
        rows = [
            Second(
                start_s=row.start_s,
                end_s=row.end_s,
                bps=row.bps,
                cwnd_bytes=row.cwnd_bytes or 0.0,
                rtt_s=row.rtt_s or 0.0,
                retransmits=row.retransmits or 0,
            )
            for row in whole_rows(stream, omitted=True)
        ]
        links = [use.between(row.start_s, row.end_s, mss_bytes=mss_bytes) for row in rows]
        streams.append(infer(rows, links, known))
    return merge_streams(streams) if streams else ()


def _known(run: Run, flow: Bulk, congestion: str) -> Known:
    sender, receiver = sender_and_receiver(flow)
    receive: tuple[int, ...] | None = None
    send: tuple[int, ...] | None = None
    scale: tuple[int, ...] | None = None
    max_bytes = machine_buffer_bytes(run.case.memory_bytes)
    own_receive = (0, 0, min(receive_buffer_bytes(run.kernel["release"]), max_bytes))
    own_send = (0, 0, min(SEND_BUFFER_BYTES, max_bytes))
    # A socket with a size of its own does not grow to the sysctl's; the kernel doubles it.
    if flow.window_bytes is not None:
        receive = send = (0, 0, 2 * flow.window_bytes)
    else:
        try:
            receive = run_sysctl(run, receiver, "net.ipv4.tcp_rmem") or own_receive
            send = run_sysctl(run, sender, "net.ipv4.tcp_wmem") or own_send
            scale = run_sysctl(run, receiver, "net.ipv4.tcp_adv_win_scale")
        except NotUnderstoodError:
            receive = send = None
    window = send_window = None
    version = release_version(run.kernel["release"])
    frames = run.case.network.frames
    if receive is not None and len(receive) == 3:
        if bdp.has_half_rule(run.kernel["release"]):
            window = float(
                bdp.window_bytes(
                    receive[2],
                    adv_win_scale=scale[0] if scale else bdp.DEFAULT_ADV_WIN_SCALE,
                )
            )
        else:
            window = socket_buffers.receive_share(version, frames=frames) * receive[2]
    if send is not None and len(send) == 3:
        send_window = socket_buffers.send_window_bytes(
            send[2],
            share=socket_buffers.send_share(version, frames=frames),
            write_bytes=socket_buffers.IPERF3_WRITE_BYTES if flow.tool == "iperf3" else None,
        )
    return Known(
        receive_window_bytes=window,
        send_window_bytes=send_window,
        rate_bps=flow.rate_bps,
        model_based=congestion in MODEL_BASED,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What is known of a flow beside its rows; None is not known.

    Attributes:
        receive_window_bytes: the window that the receive buffer allows.
        send_window_bytes: what the send buffer holds.
        rate_bps: the rate that the application keeps to, for each stream.
        model_based: the congestion control is one of `limits.MODEL_BASED`.
    """

    receive_window_bytes: float | None = None
    send_window_bytes: float | None = None
    rate_bps: float | None = None
    model_based: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Second:
    """A row of one stream.

    Attributes:
        start_s: its start, in seconds.
        end_s: its end.
        bps: the throughput in it.
        cwnd_bytes: the congestion window at its end.
        rtt_s: the smoothed RTT at its end.
        retransmits: segments sent again in it.
    """

    start_s: float
    end_s: float
    bps: float
    cwnd_bytes: float
    rtt_s: float
    retransmits: int


def infer(rows: Sequence[Second], links: Sequence[Link], known: Known) -> tuple[Slice, ...]:
    """Determine what probably limited a stream in each row.

    Args:
        rows: the rows, in the order of their times.
        links: what the bottleneck link did in each.
        known: what is known beside.

    Returns:
        One slice a row, each with one limit.

    Raises:
        ValueError: the numbers of rows and links differ.

    3.3 Gbit/s at 20 ms are 8.3 MB in flight, where cwnd is twice that and the
    receive buffer allows 8.4 MB:

    >>> row = Second(
    ...     start_s=1, end_s=2, bps=3.33e9, cwnd_bytes=16.8e6, rtt_s=0.02, retransmits=0
    ... )
    >>> known = Known(receive_window_bytes=8_388_608, send_window_bytes=12_000_000)
    >>> list(infer([row], [Link.NOT_FULL], known)[0].seconds)
    [<Limit.RECEIVE_WINDOW: 'receive window'>]
    """
    best_bps = max((row.bps for row in rows), default=0.0)
    was_cut = was_started = False
    slices = []
    for row, link in zip(rows, links, strict=True):
        was_cut = was_cut or row.retransmits > 0
        limit = _limit(row, link, known, was_cut=was_cut, was_started=was_started)
        was_started = was_started or row.bps >= _STARTED * best_bps
        length_s = row.end_s - row.start_s
        if length_s > 0:
            slices.append(Slice(start_s=row.start_s, end_s=row.end_s, seconds={limit: length_s}))
    return tuple(slices)


def _limit(row: Second, link: Link, known: Known, *, was_cut: bool, was_started: bool) -> Limit:
    if link is Link.FULL_ALONE:
        return Limit.BOTTLENECK
    if known.rate_bps is not None and row.bps >= _AT_RATE * known.rate_bps:
        return Limit.APPLICATION
    in_flight_bytes = row.bps * row.rtt_s / 8
    sizes = {
        Limit.RECEIVE_WINDOW: known.receive_window_bytes,
        Limit.SEND_BUFFER: known.send_window_bytes,
    }
    known_sizes = {limit: size for limit, size in sizes.items() if size is not None}
    minimum = min(known_sizes, key=lambda limit: known_sizes[limit], default=None)
    if (
        minimum is not None
        and in_flight_bytes >= _FILLED * known_sizes[minimum]
        and row.cwnd_bytes > known_sizes[minimum]
    ):
        return minimum
    if link is Link.FULL_SHARED:
        return Limit.BOTTLENECK
    if was_cut and row.bps == 0:
        return Limit.TIMEOUT
    if known.model_based:
        return Limit.MODEL if was_started else Limit.START_UP
    if was_cut:
        return Limit.LOSS
    is_growing = not was_started or in_flight_bytes >= _OPEN * row.cwnd_bytes
    return Limit.START_UP if is_growing else minimum or Limit.UNKNOWN
