"""The root cause of a flow whose rate the CPU of a host sets, by the host's timing.

A host has a CPU that takes time only where a study gives it a `timing`. What its work costs is
known then, and how much of it was done is counted: the bytes that its flows copied, and at least
how many packets they were. Of system calls and wake-ups nothing is counted, so a CPU was busy for
that time at least.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from longfat.analysis.advice.facts import Fact
from longfat.analysis.advice.limits import Limit
from longfat.analysis.advice.recommendation import Recommendation
from longfat.analysis.advice.root_cause import Finding, RootCause
from longfat.model.metric import Unit
from longfat.model.traffic import Bulk
from longfat.model.units import format_quantity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from longfat.analysis.advice.flow_evidence import FlowEvidence
    from longfat.model.network.timing import HostTiming

# A CPU that is busy for this share of the time sets the rate.
_BUSY = 0.8
_GSO_BYTES = 65_536


@dataclass(frozen=True, slots=True)
class _Cpu:
    """A CPU, and how long it was busy with the bytes of flows.

    Attributes:
        name: what people call it.
        timing: what its work costs.
        share: the share of the flow's time in which it was busy, at least.
        copied_bytes: the bytes that its hosts copied to and from sockets.
    """

    name: str
    timing: HostTiming
    share: float
    copied_bytes: float


def busy_cpu(evidence: FlowEvidence) -> Iterator[Finding]:
    """Yield that the CPU of the sender or the receiver had no time for more.

    Args:
        evidence: the flow.
    """
    cpus = [
        cpu
        for host in (evidence.sender, evidence.receiver)
        if (cpu := _cpu_of(evidence, host)) is not None and cpu.share >= _BUSY
    ]
    if not cpus:
        return
    cpu = max(cpus, key=lambda each: each.share)
    if evidence.share_of(Limit.BOTTLENECK) >= _BUSY:
        return
    own = format_quantity(evidence.metric("receiver_bps") or 0.0, Unit.BPS)
    cost = cpu.timing.cpu.copy_s
    each = f", at {cost * 1e12:g}ps/B" if cost else ""
    yield Finding(
        cause=RootCause.HOST_CPU,
        share=min(1.0, cpu.share),
        sentence=f"The CPU of {cpu.name} sets the rate of {evidence.flow.name}, {own}: it was busy"
        f" for {min(1.0, cpu.share) * 100:.0f} % of the time at least, by copying"
        f" {format_quantity(cpu.copied_bytes, Unit.BYTES)}{each}, and links and windows had room.",
        evidence=(
            Fact(
                key="cpu_busy_fraction",
                label=f"CPU of {cpu.name}, busy at least",
                value=min(1.0, cpu.share),
                text=format_quantity(min(1.0, cpu.share), Unit.FRACTION),
            ),
        ),
        remedy=Recommendation(
            words=f"A faster CPU: smaller costs in the timing of {cpu.name} (`cpu: copy`, `packet`)"
            ", or none, as a host without a timing is infinitely fast. On a real host: larger"
            " writes, zero copy (sendfile, MSG_ZEROCOPY), segmentation offload, or more cores.",
        ),
    )


def _cpu_of(evidence: FlowEvidence, host: str) -> _Cpu | None:
    """Return the CPU that a host runs on; None if it takes no time."""
    network = evidence.run.case.network
    own = {each.name: each.timing for each in network.hosts}
    timing = own.get(host) or network.testbed
    if timing is None or not evidence.duration_s:
        return None
    shares_testbed = own.get(host) is None
    hosts = {name for name, each in own.items() if each is None} if shares_testbed else {host}
    begin_s, end_s = evidence.slices[0].start_s, evidence.slices[-1].end_s
    copied = 0.0
    for flow in evidence.run.case.flows:
        if not isinstance(flow, Bulk) or flow.name not in evidence.run.flow_times:
            continue
        rate_bps = evidence.run.metrics.get(f"{flow.name}.receiver_bps", 0.0)
        times = evidence.run.flow_times[flow.name]
        seconds = max(0.0, min(end_s, times.end_s) - max(begin_s, times.start_s))
        copied += rate_bps / 8 * seconds * len({flow.source, flow.target} & hosts)
    busy_s = copied * timing.cpu.copy_s + copied / _GSO_BYTES * timing.cpu.packet_s
    name = "the testbed" if shares_testbed else host
    return _Cpu(name, timing, busy_s / evidence.duration_s, copied)
