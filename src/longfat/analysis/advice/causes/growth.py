"""Root causes of windows that stay small: at the end of slow start, or at the receiver.

Sources: hystart_update in net/ipv4/tcp_cubic.c, and RFC 9406, section 4.2, for HyStart;
tcp_rcv_space_adjust in net/ipv4/tcp_input.c and tcp(7) for the receive window.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from longfat.analysis.advice.facts import Fact
from longfat.analysis.advice.limits import Limit
from longfat.analysis.advice.recommendation import (
    Line,
    Recommendation,
    bbr_line,
    needed_buffer_bytes,
)
from longfat.analysis.advice.root_cause import Finding, RootCause
from longfat.common.extras import lazy
from longfat.model.flow_path.setup_lines import sysctl
from longfat.model.metric import Unit
from longfat.model.network import ROOT_NAMESPACE
from longfat.model.traffic import Bulk
from longfat.model.typed_line import NotUnderstoodError
from longfat.model.units import format_quantity

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

    from longfat.analysis.advice.flow_evidence import FlowEvidence
else:
    pa = lazy("pyarrow")

_HYSTART = "/sys/module/tcp_cubic/parameters/hystart"
# Slow start that ends at this share of the path's BDP is early.
_EARLY = 0.5
# A window that grows by less than this in the second half of the time does not grow.
_GROWTH = 1.02
# A receive buffer offers at least this share of its size (docs/advice.md).
_OFFERED = 0.4
_LINUX_RECEIVE_BYTES = 131_072
_MODERATE = "net.ipv4.tcp_moderate_rcvbuf"


@dataclass(frozen=True, slots=True)
class _Exit:
    """The end of slow start of a stream without a loss."""

    time_s: float
    ssthresh_bytes: int
    until_s: float


def early_exit(evidence: FlowEvidence) -> Iterator[Finding]:
    """Yield that HyStart ended slow start far below the path's BDP, though nothing was lost.

    CUBIC grows by little from there on: its cubic function has its flat part at the window at
    which slow start ended. A rise of the RTT that has another reason makes HyStart end early:
    traffic of a moment, jitter, a route that changes.
    """
    whole = evidence.bdp_bytes
    if evidence.table is None or evidence.congestion != "cubic" or whole is None:
        return
    if not isinstance(evidence.flow, Bulk) or (evidence.ecn and evidence.ecn.delivered_ce):
        return
    bdp_bytes = whole / evidence.streams
    exits = [
        seen
        for seen in _exits(evidence.table)
        if seen.ssthresh_bytes < _EARLY * bdp_bytes / (1 + evidence.rivals)
    ]
    if not exits or len(exits) < evidence.streams:
        return
    first = min(exits, key=lambda seen: seen.time_s)
    until_s = min(seen.until_s for seen in exits)
    grew_s = sum(
        part.seconds.get(Limit.START_UP, 0.0) + part.seconds.get(Limit.UNKNOWN, 0.0)
        for part in evidence.slices
        if part.start_s >= first.time_s and part.end_s <= until_s
    )
    share = grew_s / evidence.duration_s
    if not share:
        return
    at_s = first.time_s - evidence.slices[0].start_s
    size = first.ssthresh_bytes
    line = bbr_line(evidence)
    yield Finding(
        cause=RootCause.EARLY_EXIT,
        share=share,
        sentence=f"Slow start of {evidence.flow.name} ended {at_s:.1f} s after its first data, at"
        f" {size:,} bytes, {size / bdp_bytes * 100:.2g} % of rate x RTT, though nothing was lost:"
        " HyStart took a rise of the RTT for a full path. From there cubic grew slowly for"
        f" {share * 100:.0f} % of the time, while the path was not full.",
        evidence=(
            Fact(
                key="slow_start_exit_bytes",
                label="cwnd at the end of slow start",
                value=float(size),
                text=f"{size:,} B",
            ),
        ),
        remedy=Recommendation(
            words="Without HyStart slow start goes on until a loss, so the queue has to hold what"
            " it sends too much; the switch is of the whole machine. bbr ends its start by the"
            " rate that arrives. Or remove what makes the RTT rise at the start.",
            lines=(
                Line(
                    node=ROOT_NAMESPACE,
                    text=f"echo 0 > {_HYSTART}",
                    why="slow start then ends at the first loss, and not at a rise of the RTT",
                ),
            ),
            alternatives=(line,) if line is not None else (),
        ),
    )


def _exits(table: pa.Table) -> Iterator[_Exit]:
    """Yield of each stream where slow start ended while nothing had been lost.

    After a pause Linux sets ssthresh, too, but to more than the window that it starts with.
    """
    streams: dict[int, list[dict[str, Any]]] = {}
    columns = ["time_s", "stream", "cwnd_bytes", "ssthresh_bytes", "retransmits", "ca_state"]
    for row in table.select(columns).sort_by([("time_s", "ascending")]).to_pylist():
        streams.setdefault(row["stream"], []).append(row)
    for rows in streams.values():
        index = next((i for i, row in enumerate(rows) if row["ssthresh_bytes"] is not None), None)
        if not index:  # not seen, or set before the first sample
            continue
        row = rows[index]
        if row["retransmits"] or row["ca_state"] != "open":
            continue
        if row["cwnd_bytes"] < row["ssthresh_bytes"]:
            continue
        cut = (each["time_s"] for each in rows[index:] if each["retransmits"])
        until_s = next(cut, rows[-1]["time_s"])
        yield _Exit(rows[index - 1]["time_s"], row["ssthresh_bytes"], until_s)


def stuck_window(evidence: FlowEvidence) -> Iterator[Finding]:
    """Yield that the receive window limits, has room to grow, and does not."""
    share = evidence.share_of(Limit.RECEIVE_WINDOW)
    numbers = evidence.buffer(evidence.receiver, "tcp_rmem")
    need = needed_buffer_bytes(evidence)
    if not share or evidence.table is None or numbers is None or need is None:
        return
    if evidence.socket_buffer_bytes is not None or evidence.has_window_scaling is False:
        return
    low, middle, largest = numbers
    window = _standing_window(evidence)
    if window is None or window >= _OFFERED * min(largest, need[0]):
        return
    if _is_switched_off(evidence):
        why = f"`{_MODERATE}=0` switches off the kernel's tuning"
        line = Line(
            node=evidence.receiver,
            text=f"sysctl -w {_MODERATE}=1",
            why="the kernel then lets the buffer grow with what the program reads",
        )
    else:
        why = "the kernel's tuning sees no reason to let it grow, or the program sets SO_RCVBUF"
        begin = _LINUX_RECEIVE_BYTES if middle < _LINUX_RECEIVE_BYTES else need[0]
        line = Line(
            node=evidence.receiver,
            text=f"sysctl -w net.ipv4.tcp_rmem='{low} {begin} {max(largest, begin)}'",
            why="a connection begins with the middle number"
            + (", 131072 in Linux" if begin == _LINUX_RECEIVE_BYTES else f": {need[1]}"),
        )
    size = format_quantity(largest, Unit.BYTES)
    yield Finding(
        cause=RootCause.STUCK_WINDOW,
        share=share,
        sentence=f"The receive window of {evidence.receiver} does not grow: it stays at"
        f" {int(window):,} bytes, though tcp_rmem allows a buffer of {size}, and limited"
        f" {evidence.flow.name} {share * 100:.0f} % of the time: {why}.",
        evidence=(
            Fact(
                key="standing_window_bytes",
                label="window in the second half",
                value=float(window),
                text=f"{int(window):,} B",
            ),
        ),
        remedy=Recommendation(
            words="A larger maximum of tcp_rmem changes nothing, since the window is far below it.",
            lines=(line,),
        ),
    )


def _standing_window(evidence: FlowEvidence) -> float | None:
    """Return the largest window that was offered to any stream; None if it grew to the end."""
    assert evidence.table is not None
    begin_s, end_s = evidence.slices[0].start_s, evidence.slices[-1].end_s
    halves: dict[int, tuple[float, float]] = {}
    rows = evidence.table.select(["time_s", "stream", "send_window_bytes"]).to_pylist()
    for row in rows:
        early, late = halves.get(row["stream"], (0.0, 0.0))
        window = row["send_window_bytes"] or 0.0
        if row["time_s"] < (begin_s + end_s) / 2:
            halves[row["stream"]] = (max(early, window), late)
        else:
            halves[row["stream"]] = (early, max(late, window))
    if not all(0 < late <= _GROWTH * early for early, late in halves.values()):
        return None
    return max((late for _, late in halves.values()), default=None)


def _is_switched_off(evidence: FlowEvidence) -> bool:
    """Return whether a set-up line switches the receiver's tuning off."""
    try:
        return sysctl(evidence.run.case.setup, evidence.receiver, _MODERATE) == (0,)
    except NotUnderstoodError:
        return False
