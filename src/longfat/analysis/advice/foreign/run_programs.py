"""Programs in runs of longfat: the same rules on the samples of a tcp probe, or on a capture.

A flow of an unmodified program has no report that could be read. A tcp probe of it
(`tcp: {of: NAME, every: 100ms}`) or a capture beside it (`capture: {of: INTERFACE}`) shows as much
as `ss` or tcpdump do of a stranger's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from longfat.analysis.advice.foreign.capture import diagnose_capture
from longfat.analysis.advice.foreign.combine import combine
from longfat.analysis.advice.foreign.socket_text import SocketState
from longfat.analysis.advice.foreign.sockets import diagnose_socket
from longfat.analysis.packets.decoded_capture import capture_path, captures_of
from longfat.analysis.timeseries.sources import tcp_samples
from longfat.model.probes.tcp_sockets import NO_ECN

if TYPE_CHECKING:
    from longfat.analysis.advice.foreign.foreign_diagnosis import ForeignDiagnosis
    from longfat.execution.runs import Run
    from longfat.model.traffic import Flow

_VALUES = {
    "rto": "rto_s",
    "rtt": "rtt_s",
    "minrtt": "min_rtt_s",
    "mss": "mss_bytes",
    "cwnd": "cwnd_packets",
    "unacked": "in_flight_packets",
    "pacing_rate": "pacing_bps",
    "delivery_rate": "delivery_bps",
    "total_retrans": "retransmits",
    "lost": "lost_packets",
    "snd_wnd": "send_window_bytes",
    "rcv_wnd": "receive_window_bytes",
    "rcv_space": "receive_space_bytes",
    "notsent": "unsent_bytes",
    "skmem_tb": "send_buffer_bytes",
    "skmem_rb": "receive_buffer_bytes",
    "skmem_w": "write_queue_bytes",
    "busy": "busy_s",
    "rwnd_limited": "rwnd_limited_s",
    "sndbuf_limited": "sndbuf_limited_s",
    "bytes_acked": "bytes_acked",
    "bytes_received": "bytes_received",
    "bytes_retrans": "bytes_retransmitted",
    "delivered": "delivered_packets",
    "backoff": "backoff",
    "dsack_dups": "dsack_dups",
    "reord_seen": "reord_seen",
}
"""The columns of a tcp probe by the names of ss; those that a probe lacks are passed over."""

_HELD_SHARE = 0.2


def diagnose_program(run: Run, flow: Flow) -> tuple[ForeignDiagnosis, ...]:
    """Return what limited the connections of a program, by its tcp probe and captures.

    Args:
        run: the run.
        flow: the flow; any whose sockets a tcp probe samples.

    Returns:
        One for each connection; none without a tcp probe of it and without a capture.

    Raises:
        InputError: a file of the run is missing or broken.
    """
    found: list[ForeignDiagnosis] = []
    table = tcp_samples(run, flow, ended=True)
    if table is not None:
        found += diagnose_samples(table.to_pylist(), name=flow.name)
    for probe in captures_of(run):
        found += (
            replace(one, flow=f"{flow.name}: {one.flow}", files=(probe,))
            for one in diagnose_capture(capture_path(run, probe), name=probe)
            if _is_of(one, run, flow)
        )
    return combine(found)


def _is_of(diagnosis: ForeignDiagnosis, run: Run, flow: Flow) -> bool:
    """Return whether a captured connection is between the hosts of a flow."""
    addresses = {
        host.name: str(host.address).partition("/")[0]
        for host in run.case.network.hosts
        if host.address
    }
    ends = {address for key in diagnosis.connections for address, _ in key}
    wanted = {addresses.get(flow.source, ""), addresses.get(flow.target, "")}
    return ends == wanted or not wanted - {""}


def diagnose_samples(
    rows: Iterable[Mapping[str, Any]], *, name: str
) -> tuple[ForeignDiagnosis, ...]:
    """Return what limited each stream that a tcp probe sampled.

    Args:
        rows: the rows of a series of the probe, of the sending end.
        name: the flow's name.
    """
    streams: dict[int, list[Mapping[str, Any]]] = {}
    for row in rows:
        streams.setdefault(row["stream"], []).append(row)
    return tuple(
        _diagnose_stream(sorted(samples, key=lambda row: row["time_s"]), name, number)
        for number, samples in sorted(streams.items())
    )


def _diagnose_stream(
    samples: Sequence[Mapping[str, Any]], name: str, number: int
) -> ForeignDiagnosis:
    states = [_state(row) for row in samples]
    held = [index for index, state in enumerate(states[:-1]) if _is_held(state)]
    # The state that shows a held segment stands for the whole, if that happens often.
    if held and len(held) >= _HELD_SHARE * len(states):
        states = [states[0], *(states[index] for index in held)]
    diagnosis = diagnose_socket(_without_end(states), files=(name,))
    start_s, end_s = samples[0]["time_s"], samples[-1]["time_s"]
    return replace(
        diagnosis,
        flow=name if number == 0 else f"{name}, stream {number}",
        duration_s=end_s - start_s,
        notes=(
            *diagnosis.notes,
            f"From {len(samples):,} samples of the tcp probe, {start_s:.3g} to {end_s:.3g} s.",
        ),
    )


def _without_end(states: list[SocketState]) -> list[SocketState]:
    """Leave out the last state if nothing is in flight there: the program has ended."""
    alive = [
        index
        for index, state in enumerate(states)
        if state.count("unacked") or state.count("notsent")
    ]
    return states[: alive[-1] + 1] if alive else states


def _is_held(state: SocketState) -> bool:
    """Return whether less than a segment waits for an acknowledgement, with an open window."""
    mss, cwnd = state.get("mss") or 0.0, state.get("cwnd") or 0.0
    return 0 < state.count("notsent") < mss and 0 < state.count("unacked") < 0.5 * cwnd


def _state(row: Mapping[str, Any]) -> SocketState:
    values = {
        name: float(row[column]) for name, column in _VALUES.items() if row.get(column) is not None
    }
    if row.get("ssthresh_bytes") and row.get("mss_bytes"):
        values["ssthresh"] = row["ssthresh_bytes"] / row["mss_bytes"]
    return SocketState(
        send_queue_bytes=float(row.get("unsent_bytes") or 0)
        + float(row.get("in_flight_bytes") or 0),
        congestion=row.get("congestion") or "",
        has_ecn=(row.get("ecn") or NO_ECN) != NO_ECN,
        is_app_limited=bool(row.get("delivery_app_limited")),
        values=values,
    )
