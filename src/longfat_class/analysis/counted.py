"""What a case's kernels counted, against the figures that its tools report.

A tool is out of a student's reach, and what it measures is not: another server may answer it, and
packets may be led around the links that the exercise is about. Then sockets or interfaces have
counted less than the tool reports.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from longfat.common.extras import lazy
from longfat.common.suggest import listed
from longfat.model.flow_path import flow_interfaces, sender_and_receiver
from longfat.model.metric import Unit
from longfat.model.network.cuts import cuts_between
from longfat.model.probes import Queue, Rate, Tcp
from longfat.model.probes.samples import growth
from longfat.model.traffic import Bulk, Ping, Program
from longfat.model.units import format_quantity
from longfat_class.analysis.submission import Played

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    import pyarrow as pa

    from longfat.execution.runs import Run
    from longfat.model.case import Case
    from longfat.model.network import Network
    from longfat.model.network.cuts import Cut
    from longfat.model.probes import Probe
    from longfat.model.traffic import Flow
    from longfat.model.traffic.iperf3_any import AnyReport

ADDED = "grading-"
"""What the names of the probes that are added begin with: no figure of theirs is the lab's."""

_SOCKETS_EVERY_S = 0.1
_QUEUES_EVERY_S = 0.5
_INTERFACES_EVERY_S = 1.0


def watched(case: Case) -> Case:
    """Return a case with probes of all its flows.

    Each flow's sockets are sampled often, since what a kernel carried after the last sample is
    not known; of the interfaces the first and the last sample count.

    Args:
        case: the case.
    """
    seen = {
        name
        for probe in case.probes_of(Tcp)
        if probe.every_s <= _SOCKETS_EVERY_S
        for name in probe.of
    }
    sockets = [flow.name for flow in measured_flows(case) if flow.has_tcp_sockets]
    network = case.network
    ends = [sender_and_receiver(flow) for flow in case.flows]
    cuts = [cut for pair in ends for cut in cuts_between(network, *pair)]
    crossed = [name for cut in cuts for name in cut.interfaces]
    passed = [name for flow in case.flows for name in way_of(network, flow)]
    probes: list[Probe] = [
        probe
        for probe in (
            Tcp(name="tcp", of=_each(sockets, but=seen), every_s=_SOCKETS_EVERY_S),
            Rate(name="rate", of=_each([*crossed, *passed]), every_s=_INTERFACES_EVERY_S),
            Queue(name="queue", of=_each(passed), every_s=_QUEUES_EVERY_S),
        )
        if probe.of
    ]
    taken = {flow.name for flow in case.flows} | {probe.name for probe in case.probes}
    return replace(
        case, probes=(*case.probes, *(replace(one, name=_free(one.kind, taken)) for one in probes))
    )


def measured_flows(case: Case) -> tuple[Flow, ...]:
    """Return the flows whose tools are longfat's or the distribution's, and no study's."""
    return tuple(flow for flow in case.flows if not isinstance(flow, Program))


def way_of(network: Network, flow: Flow) -> tuple[str, ...]:
    """Return the interfaces through which a flow's data leaves, as links and routes give them."""
    hops = flow_interfaces(network, flow) or ()
    return tuple(interface for _, interface in hops)


def _each(names: Iterable[str], *, but: frozenset[str] | set[str] = frozenset()) -> tuple[str, ...]:
    return tuple(name for name in dict.fromkeys(names) if name not in but)


def _free(kind: str, taken: set[str]) -> str:
    """Return a probe's name that nothing of the case has."""
    names = (f"{ADDED}{kind}{end}" for end in ("", *range(len(taken))))
    return next(name for name in names if name not in taken)


pc = lazy("pyarrow.compute")

_MISREPORTED = 1.1
_MISREPORTED_BYTES = 100_000
_OTHER_RTT = 2.0
_OTHER_RTT_S = 0.002
_UNACCOUNTED = 1.25
_UNACCOUNTED_BYTES = 1_000_000
_MISSED = 0.98
"""The share of a flow's bytes that each cut on its way has to carry."""

TRANSLATION = re.compile(r"\b(nat|[ds]nat|masquerade)\b", re.IGNORECASE)
"""What a line has that translates addresses."""

_PROGRAMS = ("/usr/", "/bin/", "/sbin/", "/lib", "/etc/ld.so")


def forged(played: Played) -> Iterator[str]:
    """Yield what speaks against a case's figures being those of its traffic."""
    for file in played.case.files:
        if file.path.startswith(_PROGRAMS):
            yield f"the study puts a file of its own at {file.path}, where programs are"
    if played.run is None:
        return
    for flow in played.case.tcp_flows:
        yield from _misreported(played.run, flow)
    yield from led_around(played.run)
    yield from unaccounted(played.run)
    yield from _pinged_otherwise(played.run)


def _misreported(run: Run, flow: Bulk) -> Iterator[str]:
    """Yield what a tool reports and sockets have not carried."""
    reported = run.metrics.get(f"{flow.name}.received_bytes")
    carried = _carried_bytes(run, flow)
    if reported is not None and reported > _MISREPORTED * carried + _MISREPORTED_BYTES:
        yield (
            f"{flow.name} reports {format_quantity(reported, Unit.BYTES)} received, and the "
            f"kernel's sockets carried {format_quantity(carried, Unit.BYTES)}"
        )
    arrived = _counted(run, flow, "bytes_received", end="receiver")
    is_less = arrived < carried / _MISREPORTED - _MISREPORTED_BYTES
    if is_less and not _translates(run.case):
        sender, receiver = sender_and_receiver(flow)
        yield (
            f"sockets of {flow.name} at {sender} sent {format_quantity(carried, Unit.BYTES)}, and "
            f"those at {receiver} received {format_quantity(arrived, Unit.BYTES)}"
        )
    longest_s = _longest_s(run, flow)
    reported_bps = run.metrics.get(f"{flow.name}.receiver_bps")
    if reported_bps is None or longest_s is None:
        return
    moved = _MISREPORTED * carried + _MISREPORTED_BYTES
    if reported_bps * longest_s > 8 * moved:
        yield (
            f"{flow.name} reports {format_quantity(reported_bps, Unit.BPS)}, and the kernel's "
            f"sockets carried {format_quantity(carried, Unit.BYTES)} in {longest_s:.1f} s"
        )


def _translates(case: Case) -> bool:
    """Return whether addresses are translated: the receiver's sockets then have other ports."""
    lines = (command.line for command in case.setup)
    return any(host.nat for host in case.network.hosts) or any(map(TRANSLATION.search, lines))


def _longest_s(run: Run, flow: Bulk) -> float | None:
    """Return for how long a flow counts, in seconds; None if its bytes decide that."""
    if flow.name not in run.flow_times or flow.time_s is None:
        return None
    times = run.flow_times[flow.name]
    return min(flow.time_s, times.end_s - times.start_s)


def _carried_bytes(run: Run, flow: Flow) -> float:
    """Return what was acknowledged of a flow, as its sender's kernel counts it."""
    return _counted(run, flow, "bytes_acked")


def _counted(run: Run, flow: Flow, column: str, *, end: str = "sender") -> float:
    """Return what the sockets of a flow's end counted, all streams together."""
    largest = 0.0
    for probe in run.case.probes_of(Tcp, target=flow.name):
        rows = _of_end(run, probe, flow, end=end)
        streams = rows.group_by("stream").aggregate([(column, "max")])
        largest = max(largest, float(pc.sum(streams[f"{column}_max"]).as_py() or 0))
    return largest


def _of_end(run: Run, probe: Tcp, flow: Flow, *, end: str) -> pa.Table:
    table = run.series(probe.name)
    is_of_flow = pc.equal(table["flow"].cast("string"), flow.name)
    return table.filter(pc.and_(is_of_flow, pc.equal(table["end"].cast("string"), end)))


# ----------------------------------------------------------- around the links


def led_around(run: Run) -> Iterator[str]:
    """Yield which flows moved more than the links that lead from one end to the other.

    Args:
        run: the run of a case as `watching.watched` returns it.
    """
    flows = measured_flows(run.case)
    sent_bytes, sent_packets = (_sent(run, name) for name in ("tx_bytes", "tx_packets"))
    moved_bytes = {flow.name: _moved_bytes(run, flow) for flow in flows}
    cuts: dict[Cut, None] = {}
    for flow in flows:
        cuts |= dict.fromkeys(cuts_between(run.case.network, *sender_and_receiver(flow)))
    suspects: set[str] = set()
    for cut in cuts:
        crossing = [flow for flow in flows if cut.separates(*sender_and_receiver(flow))]
        if suspects & {flow.name for flow in crossing}:
            continue
        moved = sum(moved_bytes[flow.name] for flow in crossing)
        passed = sum(sent_bytes.get(name, 0) for name in cut.interfaces)
        pings = [flow for flow in crossing if isinstance(flow, Ping)]
        replies = sum(run.metrics.get(f"{ping.name}.received", 0.0) for ping in pings)
        packets = sum(sent_packets.get(name, 0) for name in cut.interfaces)
        links = " and ".join(cut.interfaces)
        if passed < _MISSED * moved - _MISREPORTED_BYTES:
            names = [flow.name for flow in crossing if moved_bytes[flow.name]]
            suspects.update(names)
            yield (
                f"{listed(names)} moved {format_quantity(moved, Unit.BYTES)}, and {links}, which "
                f"all of it has to pass, sent {format_quantity(float(passed), Unit.BYTES)}"
            )
        elif packets < _MISSED * replies:
            names = [ping.name for ping in pings]
            suspects.update(names)
            yield (
                f"{listed(names)} got {replies:.0f} replies, and {links}, which all requests have "
                f"to pass, sent {packets} packets"
            )


def went_elsewhere(run: Run, interface: str) -> str:
    """Return by how much an interface sent less than the flows whose way leads through it moved.

    Args:
        run: the run of a case as `watching.watched` returns it.
        interface: an interface on the way of a flow, as links and routes give it.

    Returns:
        What was counted of both; empty if it sent as much.
    """
    crossing = [
        flow for flow in measured_flows(run.case) if interface in way_of(run.case.network, flow)
    ]
    moved_bytes = {flow.name: _moved_bytes(run, flow) for flow in crossing}
    moved = sum(moved_bytes.values())
    passed = _sent(run, "tx_bytes").get(interface, 0)
    if passed >= _MISSED * moved - _MISREPORTED_BYTES:
        return ""
    names = listed([name for name, size in moved_bytes.items() if size])
    amounts = (format_quantity(float(one), Unit.BYTES) for one in (moved, passed))
    return f"{names} moved {next(amounts)}, and {interface} sent {next(amounts)}"


def _pinged_otherwise(run: Run) -> Iterator[str]:
    """Yield which pings took a time that the segments of a flow between the same hosts did not.

    The flow is the first one, so that its first segments met no queue.
    """
    starts = {
        flow: run.flow_times[flow.name].start_s
        for flow in run.case.bulk_flows
        if flow.name in run.flow_times
    }
    if not starts or run.case.events:
        return
    first = min(starts, key=lambda flow: starts[flow])
    least_s = _least_rtt_s(run, first)
    for ping in run.case.pings:
        took_s = run.metrics.get(f"{ping.name}.min_s")
        is_same_way = {ping.source, ping.target} == {first.source, first.target}
        if took_s is None or least_s is None or not is_same_way:
            continue
        is_idle = run.flow_times[ping.name].end_s <= starts[first]
        is_long = is_idle and took_s > _OTHER_RTT * least_s + _OTHER_RTT_S
        if is_long or took_s < least_s / _OTHER_RTT - _OTHER_RTT_S:
            took, least = (format_quantity(one, Unit.SECONDS) for one in (took_s, least_s))
            yield (
                f"{ping.name} took {took} at the least, and segments of {first.name} between the "
                f"same hosts {least}"
            )


def _least_rtt_s(run: Run, flow: Flow) -> float | None:
    """Return the least round-trip time that a flow's sender saw, in seconds."""
    for probe in run.case.probes_of(Tcp, target=flow.name):
        least: float | None = pc.min(_of_end(run, probe, flow, end="sender")["min_rtt_s"]).as_py()
        return least
    return None


def unaccounted(run: Run) -> Iterator[str]:
    """Yield where links carried much more than all flows sent.

    Args:
        run: the run of a case as `watching.watched` returns it.
    """
    flows = run.case.flows
    if any(not isinstance(flow, Bulk | Ping) for flow in flows):
        return  # what others send both ways is not known
    # Headers and acknowledgements are a part of what is sent, and no more.
    sent = sum(_sent_bytes(run, flow) for flow in flows)
    carried = _sent(run, "tx_bytes")
    for flow in flows:
        for cut in cuts_between(run.case.network, *sender_and_receiver(flow)):
            passed = sum(carried.get(name, 0) for name in cut.interfaces)
            if passed > _UNACCOUNTED * sent + _UNACCOUNTED_BYTES:
                names = " and ".join(cut.interfaces)
                amounts = (format_quantity(float(one), Unit.BYTES) for one in (passed, sent))
                yield "{} sent {}, and all flows together {}".format(names, *amounts)
                return


def _sent_bytes(run: Run, flow: Flow) -> float:
    """Return how many bytes a flow's sender sent, those that were lost among them."""
    if isinstance(flow, Bulk) and flow.has_tcp_sockets:
        return sum(_counted(run, flow, name) for name in ("bytes_acked", "bytes_retransmitted"))
    return run.metrics.get(f"{flow.name}.sent_bytes", 0.0)


def _moved_bytes(run: Run, flow: Flow) -> float:
    """Return how many bytes of a flow arrived."""
    if flow.has_tcp_sockets:
        return _carried_bytes(run, flow)
    return run.metrics.get(f"{flow.name}.received_bytes", 0.0)


def _sent(run: Run, column: str) -> Mapping[str, int]:
    """Return by how much a counter of each interface grew while the traffic ran."""
    grown: dict[str, int] = {}
    for probe in run.case.probes_of(Rate):
        table = run.series(probe.name).sort_by("time_s")
        names = table["interface"].cast("string")
        for name in probe.of:
            counts = table.filter(pc.equal(names, name))[column]
            grown[name] = max(grown.get(name, 0), growth(counts.to_numpy(), from_start=True))
    return grown


# -------------------------------------------------------------------- reports


def contradiction(report: AnyReport) -> str:
    """Return what in a report of iperf3 cannot all be true; empty if all can."""
    counted = [row for stream in report.streams for row in stream if not row.omitted]
    for row in counted:
        length_s = row.end_s - row.start_s
        moved, reported = row.bytes * 8, row.bps * length_s
        if length_s > 0 and abs(moved - reported) > 0.02 * max(moved, reported) + 1000:
            return (
                f"its row from {row.start_s:.1f} to {row.end_s:.1f} s reports {row.bytes:,} "
                f"bytes and of {format_quantity(row.bps, Unit.BPS)}, which are not the same"
            )
    sent = sum(row.bytes for row in counted if row.sender) or sum(row.bytes for row in counted)
    total = report.total_bytes
    if total is not None and not report.broken and abs(total - sent) > 0.1 * max(total, sent) + 1e5:
        return (
            f"its intervals add up to {format_quantity(sent, Unit.BYTES)}, and its end reports "
            f"{format_quantity(total, Unit.BYTES)}"
        )
    return ""
