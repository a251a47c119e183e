"""Whether a run's books balance: what its flows miss is what the ledger of losses has."""

from __future__ import annotations

from longfat.analysis.losses import Cause, losses
from longfat.execution.runs import Run
from longfat.model.traffic import Bulk, Cbr, Ping

# What waits in a queue at the end is dropped, too, and TCP does not send it again.
_AT_END = (Cause.OTHER, Cause.INTERFACE_DOWN)
_TOLERANCE = 0.03


def imbalances(run: Run) -> list[str]:
    """Return a line for each flow whose own count is not that of the ledger.

    TCP: what was sent again, beside the kernel's reasons that it answers so. Datagrams: those
    that did not arrive.
    """
    found = []
    for flow in run.measured_case.flows:
        missing = _missing(run, flow.name, flow)
        if missing is None:
            continue
        lost = [loss for loss in losses(run, flow.name) if loss.cause.is_loss]
        if isinstance(flow, Bulk):
            lost = [loss for loss in lost if not loss.is_backward]
        most = sum(loss.packets for loss in lost)
        if isinstance(flow, Bulk):
            # What the receiver reports to have had already was sent again without a loss.
            most += sum(each.count for each in run.counts if each.name == "TCPDSACKRecv")
        least = sum(loss.packets for loss in lost if loss.cause not in _AT_END)
        allowed = max(2, _TOLERANCE * missing)
        if not least - allowed <= missing <= most + allowed:
            found.append(f"{run.name} {flow.name}: {missing:g} missing, ledger {least} to {most}")
    return found


def _missing(run: Run, name: str, flow: object) -> float | None:
    metrics = run.metrics_of(name)
    match flow:
        case Bulk(udp=False, omit_s=0):
            return metrics.get("retransmits")
        case Cbr() | Ping():
            sent, received = metrics.get("sent"), metrics.get("received")
            return None if sent is None or received is None else sent - received
    return None
