"""Rules about lines that take effect on nothing that the case's flows send.

Sources: prio_classify in net/sched/sch_prio.c and tc-prio(8) for the bands of packets that no
filter matches; veth_setup in drivers/net/veth.c (its interfaces have no queue, so `txqueuelen` is
only read by a qdisc that is made later: fifo_init, htb_init); tcp_rcv_space_adjust and
tcp_sndbuf_expand for the end that a sysctl is of. The numbers of docs/lint.md are from runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from longfat.model.flow_path import flow_interfaces
from longfat.model.lint.case_facts import CaseFacts, FlowFacts, entry_rate_bps
from longfat.model.lint.machine_state import DeviceState, Entry, Origin, Typed, major
from longfat.model.lint.shell_words import settings_of
from longfat.model.lint.tc_numbers import rate_word
from longfat.model.metric import Unit
from longfat.model.traffic import Bulk
from longfat.model.units import format_quantity

_BEST_EFFORT_BAND = 2
"""The band of prio, as in `1:2`, of packets with the usual TOS."""

_CONTROL = "net.ipv4.tcp_congestion_control"
_RECEIVERS_TOO = frozenset(("dctcp", "prague"))
"""Congestion controls that matter at a receiver, too: it answers each mark."""

_SENDERS = frozenset(("net.ipv4.tcp_wmem", _CONTROL))
_ACK_BYTES = 66
_RECEIVERS = frozenset(("net.ipv4.tcp_rmem",))
_READS_QUEUE_LENGTH = frozenset(("pfifo", "bfifo", "htb", "pfifo_head_drop", "gred", "plug"))

Warnings = Iterator[tuple[Origin, str]]


def no_effect_warnings(facts: CaseFacts) -> Warnings:
    """Find lines that no packet of a flow meets."""
    if not facts.is_complete:
        return
    for typed in facts.commands:
        yield from ((typed.origin, text) for text in _loopback(facts, typed))
    yield from _queue_lengths(facts)
    for device in facts.known_devices():
        yield from _unused_bands(device)
    if _has_only_tcp_and_pings(facts):
        for typed in facts.commands:
            yield from ((typed.origin, text) for text in _other_end(facts, typed))
        for device in facts.known_devices():
            yield from _limits_only_acks(facts, device)


def _has_only_tcp_and_pings(facts: CaseFacts) -> bool:
    """Return whether all traffic is that of flows over TCP whose paths are known, and of pings."""
    case = facts.case
    return len(facts.paths) > 0 and len(facts.paths) + len(case.pings) == len(case.flows)


def ends_of(flow: Bulk) -> tuple[str, str]:
    """Return the hosts that send and receive a flow's data."""
    return (flow.target, flow.source) if flow.reverse else (flow.source, flow.target)


def _loopback(facts: CaseFacts, typed: Typed) -> Iterator[str]:
    tc, flows = typed.tc, facts.case.flows
    is_local = any(flow.source == flow.target for flow in flows)
    if tc is None or tc.device != "lo" or tc.verb == "delete" or is_local or not flows:
        return
    own = [name for name, one in facts.state.devices.items() if one.node == typed.command.node]
    meant = f": write `dev {own[0]}`" if own else ""
    yield (
        f"`dev lo`: only what {typed.command.node} sends to itself passes it, and no flow does"
        f"{meant}"
    )


def _queue_lengths(facts: CaseFacts) -> Warnings:
    """Find a `txqueuelen` that no qdisc reads: of an interface without one, or set after it."""
    for number, typed in enumerate(facts.commands):
        words = typed.command.words
        length = _queue_length(words)
        if length is None or typed.origin.setup is None:
            continue
        name, value = length
        device = facts.state.devices.get(name)
        later = (one.tc for one in facts.commands[number + 1 :])
        is_read = any(
            tc is not None and tc.device == name and tc.kind in _READS_QUEUE_LENGTH for tc in later
        )
        if device is None or not device.is_known or is_read:
            continue
        yield (
            typed.origin,
            f"`txqueuelen {value}`: is read by a qdisc when it is made, and none is made at {name}"
            " after this line (the interface itself has no queue): write the length as the `limit`"
            f" of a qdisc, such as `tc qdisc add dev {name} parent 1:1 pfifo limit {value}` below a"
            " shaper",
        )


def _queue_length(words: Sequence[str | None]) -> tuple[str, str] | None:
    """Return the interface and the length that `ip link set` or ifconfig gives it."""
    for name in ("txqueuelen", "qlen", "txqlen"):
        if name not in words[:-1]:
            continue
        value = words[words.index(name) + 1]
        if words[0] == "ifconfig":
            device = words[1]
        elif words[0] == "ip" and len(words) > 4 and words[2] == "set":
            device = words[4] if words[3] == "dev" else words[3]
        else:
            return None
        return (device, value) if device and value else None
    return None


def _unused_bands(device: DeviceState) -> Warnings:
    """Find a qdisc below a band of prio that no packet gets to: they have the usual TOS."""
    root = device.root
    if root is None or root.command.kind != "prio" or device.filters or root.command.rest:
        return
    handle = next(key for key, one in device.qdiscs.items() if one is root)
    for entry in device.qdiscs.values():
        parent, kind = entry.command.parent, entry.command.kind
        minor = parent.partition(":")[2]
        if entry is root or major(parent) != handle or minor in {"", str(_BEST_EFFORT_BAND)}:
            continue
        if kind in {"netem", "tbf"}:
            yield (
                entry.origin,
                f"`parent {parent} {kind}`: no filter puts packets into that band of prio, and"
                f" those with the usual TOS are in band {handle}{_BEST_EFFORT_BAND}: write"
                f" `tc filter add dev {device.name} parent {handle} ... flowid {parent}`, or"
                f" `parent {handle}{_BEST_EFFORT_BAND}`",
            )


def _other_end(facts: CaseFacts, typed: Typed) -> Iterator[str]:
    """Find a sysctl at the end of the flows that it does nothing for."""
    node = typed.command.node
    flows = [path.flow for path in facts.paths]
    for name, value in settings_of(typed.command.words):
        if name == _CONTROL and (
            value in _RECEIVERS_TOO or any(flow.congestion is not None for flow in flows)
        ):
            continue
        if name in _SENDERS:
            own, wanted, does = [ends_of(flow)[0] for flow in flows], "sends", "receives"
            others = [ends_of(flow)[0] for flow in flows if ends_of(flow)[1] == node]
        elif name in _RECEIVERS:
            own, wanted, does = [ends_of(flow)[1] for flow in flows], "receives", "sends"
            others = [ends_of(flow)[1] for flow in flows if ends_of(flow)[0] == node]
        else:
            continue
        set_at = {
            one.command.node
            for one in facts.commands
            if any(key == name for key, _ in settings_of(one.command.words))
        }
        if node in own or not others or set_at != {node}:
            continue
        yield (
            f"`{name}` at {node}, which only {does} data: it is a setting of the end that"
            f" {wanted}: write the line at `{others[0]}`"
        )


def _limits_only_acks(facts: CaseFacts, device: DeviceState) -> Warnings:
    """Find a typed rate at a receiver's own interface, where only acknowledgements leave.

    One beside a typed rate on the data's way is an uplink that is slower on purpose.
    """
    if any(True for _ in facts.crossing(device)):
        return
    for entry in device.qdiscs.values():
        typed = (entry, *(one for one in device.classes.values() if entry.command.kind == "htb"))
        rates = [rate for one in typed if one.is_typed and (rate := entry_rate_bps(one))]
        if not rates or entry.command.kind == "wire":
            continue
        for path in facts.paths:
            if ends_of(path.flow)[1] == device.node and not _has_typed_rate(facts, path):
                text = _acks_text(facts, device, path, max(rates), entry)
                if text:
                    yield entry.origin, text
                    return


def _has_typed_rate(facts: CaseFacts, path: FlowFacts) -> bool:
    """Return whether a typed line limits the rate of a flow's data, or the flow does itself."""
    devices = (facts.state.devices[name] for name in path.interfaces)
    entries = (entry for one in devices for entry in (*one.qdiscs.values(), *one.classes.values()))
    return path.flow.rate_bps is not None or any(
        entry.command.kind != "wire" and entry.is_typed and entry_rate_bps(entry) is not None
        for entry in entries
    )


def _acks_text(
    facts: CaseFacts, device: DeviceState, path: FlowFacts, rate_bps: float, entry: Entry
) -> str:
    back = flow_interfaces(facts.case.network, path.flow, is_back=True) or []
    if device.name not in {name for _, name in back}:
        return ""
    if path.rate_bps is None or path.rate_bps <= rate_bps:
        return ""
    if path.rate_bps * _ACK_BYTES / (2 * facts.packet_bytes(path.rate_bps)) > rate_bps:
        return ""  # it holds up acknowledgements
    far = path.interfaces[-1]
    node = facts.state.devices[far].node
    return (
        f"`{entry.command.kind}` at {device.name} limits what leaves it to"
        f" {format_quantity(rate_bps, Unit.BPS)}, and of {path.flow.name} these are"
        f" acknowledgements: its data comes in there, which a qdisc does not limit: write"
        f" `rate {rate_word(rate_bps)}` at `dev {far}` of {node}, the other end of the link"
    )
