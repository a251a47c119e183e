"""Lines of tc that repair what a run's kernel had installed, for pasting."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from longfat.analysis.advice.arithmetic import FRAME_BYTES
from longfat.analysis.advice.recommendation import Line
from longfat.model.flow_path.installed import ROOT, last_snapshot
from longfat.model.metric import Unit
from longfat.model.units import format_quantity

if TYPE_CHECKING:
    from longfat.analysis.losses import Loss
    from longfat.execution.runs import Run
    from longfat.model.flow_path.installed import InstalledInterface, InstalledQdisc

# A shaper with one class, whose child hangs below handle:1.
_ONE_CLASS = ("wire", "tbf")
_PLAIN = ("pfifo", "bfifo", "pfifo_fast")
_CLASSES = ("htb", "hfsc")

# tc of the kernels here works with timers of HZ=100; at 250 or 1000 less would do.
_HZ = 100
_MIN_BURST_BYTES = 4 * FRAME_BYTES
_MIN_LIMIT_BYTES = 10 * FRAME_BYTES
_QUEUE_S = 0.1
_SPARE = 1.5

# RED's mean packet, and what its authors advise: max is three times min (Floyd and Jacobson 1993).
_RED_PACKET_BYTES = 1000
_RED_RATIO = 3
# RFC 8289: the target is a twentieth of the interval, which is of the order of the RTT.
_TARGET = 20


def qdisc_of(run: Run, loss: Loss) -> InstalledQdisc | None:
    """Return the qdisc that dropped, as it was installed at the end; None if it is not known."""
    if run.installed is None or not loss.qdisc:
        return None
    kind, _, handle = loss.qdisc.split(", ")[0].partition(" ")
    interface = last_snapshot(run.installed).interface(loss.node, loss.interface)
    return next(
        (each for each in interface.qdiscs if each.kind == kind and each.handle == handle), None
    )


def change_line(
    run: Run, loss: Loss, *, rtt_s: float | None, rate_bps: float | None
) -> Line | None:
    """Return the line that changes the qdisc that dropped packets so that it does not.

    Args:
        run: the run.
        loss: what it dropped.
        rtt_s: the RTT of the idle path, if that is known.
        rate_bps: the rate of the path, likewise.
    """
    qdisc = qdisc_of(run, loss)
    options = None if qdisc is None else _options(qdisc, rtt_s=rtt_s, rate_bps=rate_bps)
    if qdisc is None or options is None:
        return None
    text, why = options
    parent = "root" if qdisc.parent == ROOT else f"parent {qdisc.parent}"
    return Line(
        node=loss.node,
        text=f"tc qdisc change dev {loss.interface} {parent} handle {qdisc.handle} {qdisc.kind} "
        + text,
        why=why,
    )


def _options(
    qdisc: InstalledQdisc, *, rtt_s: float | None, rate_bps: float | None
) -> tuple[str, str] | None:
    match qdisc.kind:
        case "tbf" if qdisc.rate_bps:
            return _tbf(qdisc, rtt_s=rtt_s)
        case "netem":
            return _netem(qdisc, rate_bps=rate_bps)
        case "red" if rtt_s and rate_bps:
            return _red(rtt_s=rtt_s, rate_bps=rate_bps)
        case "codel" | "fq_codel" if rtt_s:
            return _codel(rtt_s=rtt_s, rate_bps=rate_bps)
        case "pie" | "fq_pie" if rtt_s:
            target_s = max(rtt_s / 5, 0.015)
            return f"target {_milliseconds(target_s)}", "a fifth of the RTT"
    return None


def _tbf(qdisc: InstalledQdisc, *, rtt_s: float | None) -> tuple[str, str]:
    rate_bps = qdisc.rate_bps or 0.0
    burst = max(_MIN_BURST_BYTES, math.ceil(rate_bps / 8 / _HZ))
    limit = max(_MIN_LIMIT_BYTES, burst, math.ceil(rate_bps / 8 * (rtt_s or _QUEUE_S)))
    text = f"rate {rate_bps:.0f}bit burst {burst} limit {max(limit, qdisc.limit_bytes or 0)}"
    return text, f"burst: rate / HZ = {burst:,} bytes; limit: at least rate x RTT"


def _netem(qdisc: InstalledQdisc, *, rate_bps: float | None) -> tuple[str, str] | None:
    if qdisc.parameters.keys() - {"jitter_s"} or not rate_bps:
        return None
    packets = math.ceil(_SPARE * rate_bps * qdisc.delay_s / 8 / FRAME_BYTES) + 1000
    text = f"delay {qdisc.delay_s * 1e6:.0f}us"
    if jitter_s := qdisc.parameters.get("jitter_s"):
        text += f" {jitter_s * 1e6:.0f}us"
    if qdisc.loss:
        text += f" loss {qdisc.loss * 100:.10g}%"
    rate, delay = format_quantity(rate_bps, Unit.BPS), format_quantity(qdisc.delay_s, Unit.SECONDS)
    why = f"1.5 x {rate} x {delay} / {FRAME_BYTES} bytes, and 1,000 more"
    return f"{text} limit {packets}", why


def _red(*, rtt_s: float, rate_bps: float) -> tuple[str, str]:
    bdp = rate_bps * rtt_s / 8
    most = max(math.ceil(bdp), 30 * _RED_PACKET_BYTES)
    least = most // _RED_RATIO
    burst = math.ceil((2 * least + most) / (3 * _RED_PACKET_BYTES))
    text = (
        f"limit {4 * most} min {least} max {most} avpkt {_RED_PACKET_BYTES} burst {burst} "
        f"bandwidth {rate_bps:.0f}bit probability 0.02"
    )
    return text, f"max = rate x RTT = {most:,} bytes, min a third of it, limit four times that"


def _codel(*, rtt_s: float, rate_bps: float | None) -> tuple[str, str]:
    packet_s = FRAME_BYTES * 8 / rate_bps if rate_bps else 0.0
    interval_s = max(rtt_s, 0.1)
    target_s = max(interval_s / _TARGET, 0.005, 1.5 * packet_s)
    text = f"target {_milliseconds(target_s)} interval {_milliseconds(interval_s)}"
    why = "interval: the RTT, at least 100 ms; target: a twentieth of it, at least 1.5 packets"
    return text, why


def _milliseconds(time_s: float) -> str:
    return f"{math.ceil(time_s * 1e3)}ms"


def fair_queue_line(run: Run, node: str, name: str) -> Line | None:
    """Return the line that puts fq_codel behind the rate of an interface.

    None if it is no plain queue behind one shaper.

    Args:
        run: the run.
        node: the node.
        name: its interface.
    """
    if run.installed is None:
        return None
    parent = _leaf_class(last_snapshot(run.installed).interface(node, name))
    if parent is None:
        return None
    return Line(
        node=node,
        text=f"tc qdisc replace dev {name} parent {parent} fq_codel",
        why="it drops when packets wait for longer than 5 ms, and serves flows in turns (RFC 8290)",
    )


def _leaf_class(interface: InstalledInterface) -> str | None:
    """Return the class in which packets wait for the least rate, if its queue is a plain one."""
    inner = {each.parent for each in interface.classes}
    limits = [
        (each.rate_bps, f"{each.handle}1")
        for each in interface.qdiscs
        if each.kind in _ONE_CLASS and each.rate_bps
    ]
    leaves = [each for each in interface.classes if each.handle not in inner]
    limits += [
        (rate_bps, each.handle)
        for each in leaves
        if each.kind in _CLASSES and (rate_bps := each.ceil_bps or each.rate_bps)
    ]
    if not limits or len(leaves) > 1:
        return None
    _, parent = min(limits)
    below = [each for each in interface.qdiscs if each.parent == parent]
    return parent if all(each.kind in _PLAIN for each in below) else None
