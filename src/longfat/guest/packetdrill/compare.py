"""What the kernel sent against what the script says, field by field."""

from typing import Any

from longfat.guest.packetdrill import wire
from longfat.guest.packetdrill.flow import Flow
from longfat.guest.packetdrill.wire import ACK, Sent

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
