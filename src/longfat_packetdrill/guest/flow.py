"""The connection under test: its numbers in the script, and those on the wire.

A script counts sequence numbers from the SYN, names no addresses, and has timestamps of
its own. So each connection knows where its numbers begin in both worlds. As in
packetdrill, a script's packets belong to the newest connection, which is the socket
that was made last, or the one whose SYN has arrived at a listening one.
"""

from dataclasses import dataclass, field
from typing import Any

from longfat_packetdrill.guest import wire
from longfat_packetdrill.guest.failures import ScriptFailedError
from longfat_packetdrill.guest.wire import ACK, SYN, Sent

NEW, LISTENING, SYN_RECEIVED, SYNACK_SENT, SYNACK_ACKED = range(5)
CONNECTING, SYN_SENT, SYN_ACKED = range(5, 8)

_FIRST_REMOTE_PORT = 40000


@dataclass
class Flow:
    """A connection, or a socket that may become one.

    Attributes:
        descriptor: the kernel's descriptor; -1 before accept().
        script_isn: our initial sequence number in the script.
        local_isn: the same on the wire.
        remote_isn: the other side's, which is the same in both.
        echoes: of each timestamp of the script, what it was on the wire.
        first: the first timestamp that we sent: in the script, and on the wire.
        label: the flow label: in the script, and on the wire.
    """

    protocol: int
    state: int = NEW
    is_datagram: bool = False
    is_v6: bool = False
    descriptor: int = -1
    local: tuple[str, int] | None = None
    remote: tuple[str, int] | None = None
    script_isn: int = 0
    local_isn: int = 0
    remote_isn: int = 0
    echoes: dict[int, int] = field(default_factory=dict)
    first: tuple[int, int] | None = None
    label: tuple[int, int] | None = None

    @property
    def is_icmp(self) -> bool:
        """Whether this is a socket for pings."""
        return self.protocol in (wire.ICMP4, wire.ICMP6)

    def local_offset(self, flags: int) -> int:
        """Return what is added to one of our numbers in the script, to have it on the wire."""
        return self.local_isn - self.script_isn if flags & SYN else self.local_isn

    def remote_offset(self, flags: int) -> int:
        """Return the same of a number of the other side's."""
        return 0 if flags & SYN else self.remote_isn


class Flows:
    """The connections of a script.

    Args:
        settings: addresses and ports.
    """

    def __init__(self, settings: dict[str, Any]) -> None:
        self._settings = settings
        self._all: list[Flow] = []
        self._ports = iter(range(_FIRST_REMOTE_PORT, 65536))
        self.newest: Flow | None = None

    def add(self, flow: Flow) -> None:
        """Let a connection be the newest."""
        self._all.insert(0, flow)
        self.newest = flow

    def connect(self, flow: Flow) -> None:
        """Note that a socket is about to connect, or to send its first datagram."""
        if flow.state == NEW:
            flow.state = CONNECTING
            flow.local = None  # the kernel chooses; its first packet shows which
            flow.remote = (self._settings["remote_ip"], self._settings["connect_port"])

    def accepted(self, descriptor: int) -> Flow:
        """Return the connection that accept() gave.

        Raises:
            ScriptFailedError: none has come.
        """
        for flow in self._all:
            if flow.state in (SYNACK_SENT, SYNACK_ACKED):
                flow.descriptor = descriptor
                return flow
        raise ScriptFailedError("accept() gave a connection that no packet of the script made")

    def having(self, descriptor: int) -> Flow | None:
        """Return the connection that a descriptor of the kernel's is of."""
        return next((flow for flow in self._all if flow.descriptor == descriptor), None)

    def of(self, packet: dict[str, Any]) -> Flow:
        """Return the connection that a packet of the script belongs to.

        Raises:
            ScriptFailedError: there is none.
        """
        newest, segment = self.newest, packet["tcp"]
        if segment is not None:
            is_sent = packet["outbound"]
            if not is_sent and (newest is None or newest.state == LISTENING):
                return self._arrived(segment)
            is_syn = segment["flags"] & (SYN | ACK) == SYN
            if is_sent and is_syn and newest is not None and newest.state == CONNECTING:
                newest.state = SYN_SENT
                newest.script_isn = segment["sequence"]
                return newest
        if newest is None:
            raise ScriptFailedError("there is no socket that this packet could belong to")
        body = segment or packet["udp"]
        has_ports = body is not None and (body["source_port"] or body["target_port"])
        if self._fits(newest, packet) or has_ports:
            return newest
        raise ScriptFailedError("the newest socket is of another protocol than this packet")

    def _fits(self, flow: Flow, packet: dict[str, Any]) -> bool:
        if packet["icmp"] is not None:
            return True
        return flow.protocol == (wire.TCP if packet["tcp"] is not None else wire.UDP)

    def _arrived(self, segment: dict[str, Any]) -> Flow:
        settings = self._settings
        flow = Flow(protocol=wire.TCP, state=SYN_RECEIVED, remote_isn=segment["sequence"])
        flow.local = (settings["local_ip"], settings["bind_port"])
        flow.remote = (settings["remote_ip"], next(self._ports))
        self.add(flow)
        return flow

    def sent(self, packet: Sent) -> Flow | None:
        """Return the connection that a packet of the kernel's belongs to, if it is the newest."""
        flow = self.newest
        if flow is None or flow.remote is None:
            return None
        if flow.is_icmp != (packet.protocol in (wire.ICMP4, wire.ICMP6)):
            return None
        if flow.local is not None:
            return flow if _runs(packet, flow) else None
        return flow if self._begins(packet, flow) else None

    def _begins(self, packet: Sent, flow: Flow) -> bool:
        """Return whether this is a connection's first packet; then it says where that begins."""
        assert flow.remote is not None
        if packet.protocol != flow.protocol or packet.target != flow.remote[0]:
            return False
        if packet.protocol == wire.TCP:
            if flow.state != SYN_SENT or packet.flags & (SYN | ACK) != SYN:
                return False
            flow.local_isn = packet.sequence
        elif flow.state != CONNECTING:
            return False
        if not flow.is_icmp and packet.target_port != flow.remote[1]:
            return False
        flow.local = (packet.source, packet.source_port)
        return True

    def give_addresses(self, flow: Flow) -> None:
        """Give a socket that has sent nothing the addresses of the settings."""
        settings = self._settings
        if flow.remote is None or settings["is_anyip"]:
            flow.remote = (settings["remote_ip"], settings["connect_port"])
        if flow.local is None:
            flow.local = (settings["local_ip"], settings["bind_port"])


def _runs(packet: Sent, flow: Flow) -> bool:
    assert flow.local is not None
    assert flow.remote is not None
    if flow.is_icmp:
        return (packet.source, packet.target) == (flow.local[0], flow.remote[0])
    ends = ((packet.source, packet.source_port), (packet.target, packet.target_port))
    return packet.protocol == flow.protocol and ends == (flow.local, flow.remote)


def inbound_bytes(packet: dict[str, Any], flow: Flow, settings: dict[str, Any]) -> bytes:
    """Return a packet of the script as it arrives on the wire.

    Raises:
        ScriptFailedError: it echoes a timestamp that nobody sent.
    """
    assert flow.local is not None
    assert flow.remote is not None
    local_ip, local_port = flow.local
    remote_ip, remote_port = flow.remote
    version = 6 if ":" in remote_ip else 4
    if packet["tcp"] is not None:
        segment = _live_segment(packet["tcp"], flow, settings)
        ports = (segment["source_port"] or remote_port, segment["target_port"] or local_port)
        flags = segment["flags"]
        numbers = (
            (segment["sequence"] + flow.remote_offset(flags)) % 2**32,
            (segment["acknowledged"] + flow.local_offset(flags)) % 2**32,
        )
        protocol, at, length = wire.TCP, 16, segment["length"]
        head = wire.tcp_bytes(segment, ports, numbers)
    elif packet["udp"] is not None:
        datagram = packet["udp"]
        ports = (datagram["source_port"] or remote_port, datagram["target_port"] or local_port)
        protocol, at, length = wire.UDP, 6, datagram["length"]
        head = b"".join(number.to_bytes(2, "big") for number in (*ports, 8 + length, 0))
    else:
        icmp = packet["icmp"]
        echoed = b""
        if icmp["echoes"]:
            sequence = (icmp["sequence"] + flow.local_offset(0)) % 2**32
            echoed = wire.echoed_packet(
                icmp, local_ip, remote_ip, (local_port, remote_port), sequence
            )
        protocol, at, length = wire.ICMP6 if version == 6 else wire.ICMP4, 2, 0
        head = wire.icmp_bytes(icmp, echoed)
    whole = len(head) + length
    covers = protocol != wire.ICMP4
    pseudo = wire.pseudo_header(remote_ip, local_ip, protocol, whole) if covers else b""
    body = wire.summed(head, bytes(length), at=at, pseudo=pseudo)
    return wire.ip_packet(packet["ip"], remote_ip, local_ip, protocol, body)


def _live_segment(segment: dict[str, Any], flow: Flow, settings: dict[str, Any]) -> dict[str, Any]:
    """Return a segment whose options have the numbers of the wire."""
    options = [(option["kind"], bytes.fromhex(option["data"])) for option in segment["options"]]
    options = wire.shift_sack(options, flow.local_offset(segment["flags"]))
    times = wire.timestamps(options)
    if times is not None and segment["flags"] & ACK:
        value, echo = times
        if echo in flow.echoes:
            echo = flow.echoes[echo]
        elif settings["tcp_ts_ecr_scaled"] and flow.first is not None:
            echo += flow.first[1] - flow.first[0]
        else:
            raise ScriptFailedError(f"ecr {echo} echoes no timestamp of a packet before it")
        options = wire.with_timestamps(options, value, echo)
    plain = [{"kind": kind, "data": data.hex()} for kind, data in options]
    return {**segment, "options": plain}
