"""Root causes in ECN: it was asked for and not agreed on, or marks do not reach the receiver."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longfat.analysis.advice.causes.lines import qdisc_of
from longfat.analysis.advice.limits import Limit
from longfat.analysis.advice.recommendation import Line, Recommendation
from longfat.analysis.advice.root_cause import Finding, RootCause
from longfat.analysis.loss_causes import Cause
from longfat.model.flow_path.setting_warnings import ECN_CONTROLS
from longfat.model.probes.tcp_sockets import NO_ECN

if TYPE_CHECKING:
    from collections.abc import Iterator

    from longfat.analysis.advice.flow_evidence import FlowEvidence
    from longfat.analysis.losses import Loss

_ASKING = ("1", "3", "4")  # values of tcp_ecn with which the end that connects asks for ECN
# What Linux calls a control that needs ECN and has none.
_FALLBACK = "-reno"
_MIN_DROPS = 3


def missing_marks(evidence: FlowEvidence) -> Iterator[Finding]:
    """Yield that a queue which marks had to drop, since the flow had no ECN there."""
    if evidence.table is None:
        return
    drops = [loss for loss in evidence.losses if _would_mark(evidence, loss)]
    packets = sum(loss.packets for loss in drops)
    control = evidence.congestion.removesuffix(_FALLBACK)
    if packets < _MIN_DROPS:
        return
    at = f"{drops[0].interface} ({drops[0].qdisc})"
    share = 1.0 if control in ECN_CONTROLS else _held_back(evidence)
    modes = set(evidence.table["ecn"].cast("string").to_pylist())
    if modes <= {NO_ECN, None}:
        if control in ECN_CONTROLS or _asks(evidence):
            yield _refused(evidence, at=at, packets=packets, control=control, share=share)
    elif evidence.ecn is not None and not evidence.ecn.delivered_ce:
        yield Finding(
            cause=RootCause.NO_ECN,
            share=share,
            sentence=f"{evidence.flow.name} has negotiated ECN, and {at} dropped {packets:,} of "
            "its packets where it marks those that carry ECN: something before it clears the ECN "
            "field (bleaching).",
            remedy=Recommendation(
                words="Find what rewrites the DSCP and ECN byte on the way, and let it leave the "
                "last two bits: a capture on each side of a hop shows them (`ip.dsfield.ecn`)."
            ),
        )


def _would_mark(evidence: FlowEvidence, loss: Loss) -> bool:
    if loss.cause is not Cause.QUEUE_MANAGEMENT:
        return False
    qdisc = qdisc_of(evidence.run, loss)
    return qdisc is not None and bool(qdisc.parameters.get("ecn"))


def _asks(evidence: FlowEvidence) -> bool:
    return evidence.sysctl(evidence.flow.source, "net.ipv4.tcp_ecn") in _ASKING


def _held_back(evidence: FlowEvidence) -> float:
    return evidence.share_of(Limit.LOSS) + evidence.share_of(Limit.TIMEOUT)


def _refused(
    evidence: FlowEvidence, *, at: str, packets: int, control: str, share: float
) -> Finding:
    behaves = f", so that {control} behaves as Reno" if control in ECN_CONTROLS else ""
    other = evidence.flow.target
    return Finding(
        cause=RootCause.NO_ECN,
        share=share,
        sentence=f"{evidence.flow.name} has no ECN: it was not agreed on{behaves}, and {at} "
        f"dropped {packets:,} packets that it would have marked.",
        remedy=Recommendation(
            words=f"Let both ends take part in ECN: {evidence.flow.source} must ask for it, and "
            f"{other} accept it; a middlebox may also clear the flags of the SYN.",
            lines=tuple(
                Line(
                    node=host,
                    text="sysctl -w net.ipv4.tcp_ecn=1",
                    why="asks for ECN and accepts it (RFC 3168); 2, the default, only accepts it",
                )
                for host in (evidence.flow.source, other)
            ),
        ),
    )
