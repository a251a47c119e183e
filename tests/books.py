"""Whether a run's books balance: what its flows miss is what the ledger of losses has."""

from __future__ import annotations

import json

from longfat.analysis.loss_causes import Cause
from longfat.analysis.losses import losses
from longfat.execution.runs import Run
from longfat.model.traffic import Bulk, Cbr, Iperf3, Ping

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
        if isinstance(flow, Iperf3) and flow.udp:
            # Its server closes its socket while datagrams are on the way.
            most += sum(each.packets for each in losses(run, flow.name) if not each.cause.is_loss)
        elif isinstance(flow, Bulk):
            # What the receiver had already, or reports to have had, was sent again without a loss.
            reported = sum(each.count for each in run.counts if each.name == "TCPDSACKRecv")
            repeated = [each for each in losses(run, flow.name) if each.cause is Cause.DUPLICATE]
            most += max(reported, sum(each.packets for each in repeated))
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
        case Iperf3(udp=True, omit_s=0):
            return _missing_of_udp(run, flow)
        case Cbr() | Ping():
            sent, received = metrics.get("sent"), metrics.get("received")
            return None if sent is None or received is None else sent - received
    return None


def _missing_of_udp(run: Run, flow: Iperf3) -> float:
    """Return how many datagrams of iperf3 did not arrive.

    Its receiver counts gaps among those that came, and not what is missing after the last; so of
    what the sender sent, what the receiver did not get is missing.
    """
    names = ("server", "client") if flow.reverse else ("client", "server")
    paths = (run.raw / f"{flow.name}.{name}.json" for name in names)
    sender, receiver = (json.loads(path.read_text())["end"] for path in paths)
    streams = [each["udp"] for each in receiver["streams"]]
    arrived = sum(each["packets"] - each["lost_packets"] for each in streams)
    return float(sender["sum_sent"]["packets"] - arrived)
