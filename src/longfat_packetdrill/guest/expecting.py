"""Packets that the kernel sends: awaited, reassembled, and compared with those of the script."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from longfat_packetdrill.guest import wire
from longfat_packetdrill.guest.failures import FailureError
from longfat_packetdrill.guest.flow import SYN_RECEIVED, SYNACK_SENT, Flow, Flows
from longfat_packetdrill.guest.waiting import Waiting
from longfat_packetdrill.guest.wire import ACK, Sent

_TIMESTAMP = 8
_PUSH_FIN, _CWR = wire.PSH | wire.FIN, 128

Difference = dict[str, Any]
"""A field, what was expected of it, and what it was."""


def to_script(packet: Sent, flow: Flow) -> None:
    """Turn a segment's numbers into those of the script."""
    if packet.protocol != wire.TCP:
        return
    offset = flow.remote_offset(packet.flags)
    packet.sequence = (packet.sequence - flow.local_offset(packet.flags)) % 2**32
    if packet.flags & ACK:
        packet.acknowledged = (packet.acknowledged - offset) % 2**32
    packet.options = wire.shift_sack(packet.options, -offset)


def joined(parts: list[Sent]) -> Sent:
    """Return segments that follow each other as one: the last, that begins where the first does.

    That a window was reduced is reported by the first alone.
    """
    whole = parts[-1]
    whole.sequence = parts[0].sequence
    whole.flags = whole.flags & ~_CWR | parts[0].flags & _CWR
    whole.rest = b"".join(part.rest for part in parts)
    return whole


def gap(part: Sent, before: Sent, *, is_last: bool) -> str:
    """Return why a segment cannot be a part of the same as the one before; empty if it can."""
    if part.sequence != (before.sequence + len(before.rest)) % 2**32:
        return f"a segment begins at {part.sequence}, not where the one before ends"
    if not is_last and len(part.rest) != len(before.rest):
        return f"a segment of {len(part.rest)} bytes follows one of {len(before.rest)}"
    if (part.flags ^ before.flags) & ~(_PUSH_FIN | _CWR):
        return "segments have different flags"
    if part.acknowledged != before.acknowledged:
        return "segments acknowledge different bytes"
    return ""


def learn_timestamps(sent: Sent, script: dict[str, Any], flow: Flow) -> None:
    """Learn which timestamp of the script is which of the wire, and put in the script's."""
    if script["tcp"] is None or script["tcp"]["options"] is None:
        return
    options = [(one["kind"], bytes.fromhex(one["data"])) for one in script["tcp"]["options"]]
    wanted, found = wire.timestamps(options), wire.timestamps(sent.options)
    if wanted is None or found is None:
        return
    flow.echoes[wanted[0]] = found[0]
    if flow.first is None:
        flow.first = (wanted[0], found[0])
    value = flow.first[0] + found[0] - flow.first[1]
    sent.options = wire.with_timestamps(sent.options, value, found[1])


def differences(
    sent: Sent, script: dict[str, Any], flow: Flow, *, most_ticks: int | None
) -> list[Difference]:
    """Return where a packet differs from the script's.

    Args:
        sent: the packet, in the numbers of the script.
        script: the script's.
        flow: the connection.
        most_ticks: how far a timestamp may be off; None if they are not looked at.
    """
    found: list[Difference] = []

    def see(field: str, expected: object, actual: object) -> None:
        if expected != actual:
            found.append({"field": field, "expected": str(expected), "actual": str(actual)})

    if sent.wrong:
        see("IP header", "a right checksum", sent.wrong)
    _see_ip(see, sent, script["ip"], flow)
    if script["tcp"] is not None:
        _see_tcp(see, sent, script["tcp"], most_ticks=most_ticks)
    elif script["udp"] is not None:
        see("protocol", "udp", _protocol_name(sent))
        see("payload bytes", script["udp"]["length"], len(sent.rest))
    else:
        see("protocol", "icmp", _protocol_name(sent))
        see("ICMP type", script["icmp"]["kind"], sent.kind)
        see("ICMP code", script["icmp"]["code"], sent.code)
    if script["icmp"] is None and any(sent.rest):
        see("payload", "zeros, as write() gave", "something else")
    return found


def _see_ip(see: Any, sent: Sent, ip: dict[str, Any], flow: Flow) -> None:
    names = ("noecn", "ect1", "ect0", "ce")
    mark = names[sent.tos & 3]
    if ip["any_ect"] and mark not in ("ect0", "ect1"):
        see("ECN", "ect0 or ect1", mark)
    if ip["ecn"] is not None:
        see("ECN", names[ip["ecn"]], mark)
    if ip["tos"] is not None:
        see("TOS", f"{ip['tos']:#04x}", f"{sent.tos:#04x}")
    if ip["ttl"] is not None:
        see("TTL", ip["ttl"], sent.ttl)
    wanted = ip["flow_label"]
    if wanted:
        if not sent.flow_label:
            see("flow label", "one", "none")
        elif flow.label is None or wanted != flow.label[0]:
            if flow.label is not None and sent.flow_label == flow.label[1]:
                see("flow label", "another one than before", "the same")
            flow.label = (wanted, sent.flow_label)
        elif sent.flow_label != flow.label[1]:
            see("flow label", "the same as before", "another one")


def _see_tcp(see: Any, sent: Sent, tcp: dict[str, Any], *, most_ticks: int | None) -> None:
    if sent.protocol != wire.TCP:
        see("protocol", "tcp", _protocol_name(sent))
        return
    see("flags", _flags_text(tcp["flags"]), _flags_text(sent.flags))
    see("sequence number", tcp["sequence"], sent.sequence)
    see("payload bytes", tcp["length"], len(sent.rest))
    if tcp["flags"] & sent.flags & ACK:
        see("acknowledgement number", tcp["acknowledged"], sent.acknowledged)
    if tcp["window"] is not None:
        see("window", tcp["window"], sent.window)
    see("urgent pointer", tcp["urgent"], sent.urgent)
    if tcp["options"] is None:
        return
    wanted = [(one["kind"], bytes.fromhex(one["data"])) for one in tcp["options"]]
    if [kind for kind, _ in wanted] != [kind for kind, _ in sent.options]:
        see("TCP options", _kinds_text(wanted), _kinds_text(sent.options))
        return
    for (kind, expected), (_, actual) in zip(wanted, sent.options, strict=True):
        if kind != _TIMESTAMP:
            see(f"TCP option {kind}", expected.hex(), actual.hex())
    times = wire.timestamps(wanted), wire.timestamps(sent.options)
    if most_ticks is not None and times[0] is not None and times[1] is not None:
        off = (times[1][0] - times[0][0] + 2**31) % 2**32 - 2**31
        if abs(off) > most_ticks:
            see("TS val", times[0][0], times[1][0])


def _flags_text(flags: int) -> str:
    letters = "".join(
        letter for bit, letter in enumerate("FSRP.UEWA") if flags & 1 << bit and letter != "."
    )
    return letters + ("." if flags & ACK else "") or "-"


def _kinds_text(options: list[tuple[int, bytes]]) -> str:
    names = {0: "eol", 1: "nop", 2: "mss", 3: "wscale", 4: "sackOK", 5: "sack", 8: "TS",
             19: "md5", 34: "FO", 172: "ECN", 174: "ECN", 254: "FOEXP"}  # fmt: skip
    return ",".join(names.get(kind, str(kind)) for kind, _ in options) or "none"


def _protocol_name(sent: Sent) -> str:
    names = {wire.TCP: "tcp", wire.UDP: "udp", wire.ICMP4: "icmp", wire.ICMP6: "icmp"}
    return names.get(sent.protocol, str(sent.protocol))


def shown(sent: Sent, script: dict[str, Any], flow: Flow) -> dict[str, Any]:
    """Return a packet of the kernel's in the form of the script's, to be printed beside it."""
    ip = script["ip"]
    label = ip["flow_label"]
    if label and flow.label is not None and sent.flow_label != flow.label[1]:
        label = sent.flow_label
    marks = ip["ecn"] is not None or ip["any_ect"]
    found: dict[str, Any] = {
        "outbound": True,
        "ip": {
            "ecn": sent.tos & 3 if marks else None,
            "any_ect": False,
            "tos": sent.tos if ip["tos"] is not None else None,
            "flow_label": label,
            "ttl": sent.ttl if ip["ttl"] is not None else None,
        },
        "tcp": None,
        "udp": None,
        "icmp": None,
    }
    ports = {"source_port": 0, "target_port": 0}
    if sent.protocol == wire.TCP:
        found["tcp"] = {
            **ports,
            "flags": sent.flags,
            "counts_ce": bool(script["tcp"] and script["tcp"]["counts_ce"]),
            "sequence": sent.sequence,
            "length": len(sent.rest),
            "acknowledged": sent.acknowledged,
            "window": sent.window,
            "urgent": sent.urgent,
            "options": [{"kind": kind, "data": data.hex()} for kind, data in sent.options],
        }
    elif sent.protocol == wire.UDP:
        found["udp"] = {**ports, "length": len(sent.rest)}
    else:
        found["icmp"] = {
            "version": sent.version,
            "kind": sent.kind,
            "code": sent.code,
            "mtu": None,
            "echo_id": 0,
            "echoes": "",
            "sequence": 0,
            "length": 0,
        }
    return found


# How long after its time a packet is waited for.
_PATIENCE_NS = 2_000_000_000
_NEVER_NS = 2**62

Event = dict[str, Any]


@dataclass(frozen=True)
class Times:
    """When a packet is expected, in ns of the script.

    Attributes:
        due_ns: the time that the script says.
        end_ns: the end of its range; the same, if it says none.
        now_ns: what time it is in the script.
        tolerance_ns: how far off it may be.
    """

    due_ns: int
    end_ns: int
    now_ns: int
    tolerance_ns: int


@dataclass(frozen=True)
class Taken:
    """A packet that the kernel sent.

    Attributes:
        sent_ns: when.
        off_ns: how far that is from its time; None if that may be any.
        failure: where it differs from the script; None if it does not.
    """

    sent_ns: int
    off_ns: int | None
    failure: FailureError | None


class Expecting:
    """Takes what the kernel sends.

    Args:
        settings: the tolerances.
        flows: the connections.
        waiting: where packets come from.
    """

    def __init__(self, settings: dict[str, Any], flows: Flows, waiting: Waiting) -> None:
        self._settings = settings
        self._flows = flows
        self._waiting = waiting

    def take(self, event: Event, times: Times, *, until: Callable[..., bool]) -> Taken:
        """Wait for a packet of the script, and compare it.

        Args:
            event: the packet's event.
            times: when it is expected.
            until: lets time pass, see `Waiting.until`.

        Raises:
            FailureError: it does not come, or only parts of it.
        """
        script = event["packet"]
        segment = script["tcp"]
        flow = self._flows.of(script)
        is_any = event["moment"]["kind"] == "any"
        deadline_ns = _NEVER_NS if is_any else max(times.now_ns, times.end_ns) + _PATIENCE_NS
        answers = segment is not None and flow.state == SYN_RECEIVED and segment["flags"] & 18 == 18
        if answers:
            flow.script_isn = segment["sequence"]
        parts: list[wire.Sent] = []
        while True:
            sent = self._next(flow, lambda: until(deadline_ns, done=self._has_packets))
            if sent is None:
                got = sum(len(part.rest) for part in parts)
                more = f"; {got} bytes of it came" if parts else ""
                message = f"the kernel did not send this packet{more}"
                raise FailureError(event["line"], message, expected_ns=times.due_ns)
            if answers and not parts:
                flow.state = SYNACK_SENT
                flow.local_isn = sent.sequence
            to_script(sent, flow)
            parts.append(sent)
            if self._is_whole(event, parts, flow, times):
                return self._judge(event, joined(parts), flow, times)

    def _has_packets(self) -> bool:
        return bool(self._waiting.packets)

    def _next(self, flow: Flow, wait: Callable[[], bool]) -> wire.Sent | None:
        """Return the next packet of a connection that the kernel sends; None if none comes."""
        packets = self._waiting.packets
        while True:
            while packets:
                time_ns, data = packets.popleft()
                try:
                    sent = wire.parse(data, time_ns)
                except wire.NotOursError:
                    continue
                if self._flows.sent(sent) is flow:
                    return sent
            if not wait():
                return None

    def _is_whole(self, event: Event, parts: list[wire.Sent], flow: Flow, times: Times) -> bool:
        """Return whether these are all of a packet of the script's.

        Raises:
            FailureError: the last one cannot be a part of it.
        """
        script = event["packet"]
        wanted = (script["tcp"] or script["udp"] or {"length": 0})["length"]
        is_last = sum(len(part.rest) for part in parts) >= wanted
        is_last = is_last or self._settings["strict_segments"] or script["tcp"] is None
        if len(parts) > 1 and (why := gap(*parts[:-3:-1], is_last=is_last)):
            raise FailureError(
                event["line"],
                f"the kernel did not send this packet, nor parts of it: {why}",
                expected_ns=None if event["moment"]["kind"] == "any" else times.due_ns,
                actual_ns=parts[-1].time_ns,
                sent=shown(parts[-1], script, flow),
            )
        return is_last

    def _judge(self, event: Event, sent: wire.Sent, flow: Flow, times: Times) -> Taken:
        script = event["packet"]
        learn_timestamps(sent, script, flow)
        found = differences(sent, script, flow, most_ticks=self._most_ticks(times))
        off_ns: int | None = sent.time_ns - times.due_ns
        if event["moment"]["kind"] == "any":
            off_ns = None
        elif event["moment"]["end_ns"] is not None:
            off_ns = min(0, sent.time_ns - times.due_ns) + max(0, sent.time_ns - times.end_ns)
        failure = None
        if found or (off_ns is not None and abs(off_ns) > times.tolerance_ns):
            failure = FailureError(
                event["line"],
                f"the kernel sent {'another packet' if found else 'it at another time'}",
                expected_ns=None if off_ns is None else times.due_ns,
                actual_ns=sent.time_ns,
                differences=found,
                sent=shown(sent, script, flow),
            )
        return Taken(sent.time_ns, off_ns, failure)

    def _most_ticks(self, times: Times) -> int | None:
        """Return how far a timestamp may be off; None if they are not looked at."""
        tick_us: int = self._settings["tcp_ts_tick_usecs"]
        if not tick_us:
            return None
        share_ns = round(self._settings["tolerance_percent"] / 100 * times.due_ns)
        most_us: int = max(self._settings["tolerance_ns"], share_ns) // 1000
        return most_us // tick_us
