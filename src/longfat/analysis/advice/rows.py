"""Diagnose a flow without a tcp probe from its tool's rows and the set-up lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longfat.analysis.advice import inferred
from longfat.analysis.advice.arithmetic import (
    SEND_BUFFER_BYTES,
    machine_buffer_bytes,
    receive_buffer_bytes,
)
from longfat.analysis.advice.limits import MODEL_BASED, merge_streams
from longfat.model.flow_path import NotUnderstoodError, sender_and_receiver, sysctl
from longfat.theory import bdp

if TYPE_CHECKING:
    from longfat.analysis.advice.limits import Slice
    from longfat.analysis.advice.link import LinkUse
    from longfat.execution.runs import Run
    from longfat.model.traffic import Bulk

SEND_BUFFER_SHARE = 0.76
"""The share of a send buffer that is data, with segmentation offload; tests/belief pins it."""


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
    for stream in flow.rows(run.checked_raw):
        rows = [
            inferred.Second(
                start_s=began_s + row.start_s,
                end_s=began_s + row.end_s,
                bps=row.bps,
                cwnd_bytes=row.cwnd_bytes or 0.0,
                rtt_s=row.rtt_s or 0.0,
                retransmits=row.retransmits or 0,
            )
            for row in stream
        ]
        links = [use.between(row.start_s, row.end_s, mss_bytes=mss_bytes) for row in rows]
        streams.append(inferred.infer(rows, links, known))
    return merge_streams(streams) if streams else ()


def _known(run: Run, flow: Bulk, congestion: str) -> inferred.Known:
    sender, receiver = sender_and_receiver(flow)
    receive: tuple[int, ...] | None = None
    send: tuple[int, ...] | None = None
    scale: tuple[int, ...] | None = None
    most = machine_buffer_bytes(run.case.memory_bytes)
    own_receive = (0, 0, min(receive_buffer_bytes(run.kernel["release"]), most))
    own_send = (0, 0, min(SEND_BUFFER_BYTES, most))
    # A socket with a size of its own does not grow to the sysctl's; the kernel doubles it.
    if flow.window_bytes is not None:
        receive = send = (0, 0, 2 * flow.window_bytes)
    else:
        try:
            receive = sysctl(run.case.setup, receiver, "net.ipv4.tcp_rmem") or own_receive
            send = sysctl(run.case.setup, sender, "net.ipv4.tcp_wmem") or own_send
            scale = sysctl(run.case.setup, receiver, "net.ipv4.tcp_adv_win_scale")
        except NotUnderstoodError:
            receive = send = None
    window = None
    if receive is not None and len(receive) == 3:
        if bdp.has_half_rule(run.kernel["release"]):
            window = float(
                bdp.window_bytes(
                    receive[2],
                    adv_win_scale=scale[0] if scale else bdp.DEFAULT_ADV_WIN_SCALE,
                )
            )
        else:
            window = SEND_BUFFER_SHARE * receive[2]
    return inferred.Known(
        receive_window_bytes=window,
        send_window_bytes=SEND_BUFFER_SHARE * send[2] if send and len(send) == 3 else None,
        rate_bps=flow.rate_bps,
        model_based=congestion in MODEL_BASED,
    )
