"""The sockets that a tcp probe samples: the kernel's format, and which stream each belongs to.

Source of the format: SOCK_DIAG_BY_FAMILY, include/uapi/linux/{inet_diag,tcp,sock_diag}.h.
A field that a kernel does not have yet is null, and so is one that it does not send of a
socket that has ended.
"""

from __future__ import annotations

import contextlib
import ipaddress
import socket
import struct
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from longfat.errors import InputError, MachineError
from longfat.model.probes.columns import REAL, TEXT, TIME, WHOLE, YES_NO, Column
from longfat.model.probes.samples import attributes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from longfat.model.probes.samples import Message
    from longfat.model.traffic import Flow

COLUMNS = (
    TIME,
    Column("flow", TEXT),
    Column("end", TEXT),
    Column("host", TEXT),
    Column("stream", WHOLE),
    Column("state", TEXT),
    Column("congestion", TEXT),
    Column("ca_state", TEXT),
    Column("cwnd_packets", WHOLE, "packets"),
    Column("cwnd_bytes", WHOLE, "bytes"),
    Column("ssthresh_bytes", WHOLE, "bytes"),
    Column("mss_bytes", WHOLE, "bytes"),
    Column("rtt_s", REAL, "s"),
    Column("rttvar_s", REAL, "s"),
    Column("min_rtt_s", REAL, "s"),
    Column("rto_s", REAL, "s"),
    Column("in_flight_packets", WHOLE, "packets"),
    Column("in_flight_bytes", WHOLE, "bytes"),
    Column("pacing_bps", REAL, "bit/s"),
    Column("delivery_bps", REAL, "bit/s"),
    Column("delivery_app_limited", YES_NO),
    Column("retransmits", WHOLE, "packets"),
    Column("lost_packets", WHOLE, "packets"),
    Column("reordering", WHOLE, "packets"),
    Column("send_window_bytes", WHOLE, "bytes"),
    Column("receive_window_bytes", WHOLE, "bytes"),
    Column("receive_space_bytes", WHOLE, "bytes"),
    Column("unsent_bytes", WHOLE, "bytes"),
    Column("send_buffer_bytes", WHOLE, "bytes"),
    Column("receive_buffer_bytes", WHOLE, "bytes"),
    Column("write_queue_bytes", WHOLE, "bytes"),
    Column("busy_s", REAL, "s"),
    Column("rwnd_limited_s", REAL, "s"),
    Column("sndbuf_limited_s", REAL, "s"),
    Column("bytes_acked", WHOLE, "bytes"),
    Column("bytes_received", WHOLE, "bytes"),
    Column("bytes_retransmitted", WHOLE, "bytes"),
    Column("delivered_packets", WHOLE, "packets"),
    Column("timeouts", WHOLE, later=True),
    Column("ecn", TEXT, later=True),
    Column("delivered_ce_packets", WHOLE, "packets", later=True),
    Column("received_ce_packets", WHOLE, "packets", later=True),
    Column("backoff", WHOLE, later=True),
    Column("dsack_packets", WHOLE, "packets", later=True),
    Column("window_scaling", YES_NO, later=True),
)

_FLOWS = ("flow", "end", "stream")

SOCKET_COLUMNS = (
    TIME,
    Column("host", TEXT),
    Column("local_address", TEXT),
    Column("local_port", WHOLE),
    Column("remote_address", TEXT),
    Column("remote_port", WHOLE),
    *(column for column in COLUMNS[1:] if column.name not in ("host", *_FLOWS)),
)
"""The columns of sockets that belong to no flow: a live network's."""

_MESSAGE = struct.Struct("=4B")  # family, state, timer, retrans; then struct inet_diag_sockid
_PORTS = struct.Struct(">HH")
_MESSAGE_SIZE = 72
_INFO, _CONGESTION, _MEMORY = 2, 4, 7
_INFINITE_SSTHRESH = 0x7FFFFFFF
_UNLIMITED = 2**64 - 1
_STATES = (
    *("?", "established", "syn-sent", "syn-recv", "fin-wait-1", "fin-wait-2", "time-wait"),
    *("close", "close-wait", "last-ack", "listen", "closing"),
)
ENDED = "close"
"""The state in which a socket is reported once, if it was destroyed since the last sample."""

_CA_STATES = ("open", "disorder", "cwr", "recovery", "loss")

# struct tcp_info: bytes, then numbers in the order of the header file.
_HEAD = struct.Struct("=8B")
_WORDS = (
    *("rto", "ato", "snd_mss", "rcv_mss", "unacked", "sacked", "lost", "retrans", "fackets"),
    *("last_data_sent", "last_ack_sent", "last_data_recv", "last_ack_recv", "pmtu"),
    *("rcv_ssthresh", "rtt", "rttvar", "snd_ssthresh", "snd_cwnd", "advmss", "reordering"),
    *("rcv_rtt", "rcv_space", "total_retrans"),
    *("Q:pacing_rate", "Q:max_pacing_rate", "Q:bytes_acked", "Q:bytes_received"),
    *("segs_out", "segs_in", "notsent_bytes", "min_rtt", "data_segs_in", "data_segs_out"),
    *("Q:delivery_rate", "Q:busy_time", "Q:rwnd_limited", "Q:sndbuf_limited"),
    *("delivered", "delivered_ce", "Q:bytes_sent", "Q:bytes_retrans"),
    *("dsack_dups", "reord_seen", "rcv_ooopack", "snd_wnd", "rcv_wnd", "rehash"),
    *("H:total_rto", "H:total_rto_recoveries", "total_rto_time", "received_ce"),
    *("delivered_e1_bytes", "delivered_e0_bytes", "delivered_ce_bytes"),
    *("received_e1_bytes", "received_e0_bytes", "received_ce_bytes", "ecn_bits"),
)
_NAMES = tuple(word.rpartition(":")[2] for word in _WORDS)
_FORMATS = tuple(word.rpartition(":")[0] or "I" for word in _WORDS)

NO_ECN, CLASSIC_ECN, ACCURATE_ECN = "off", "classic", "accurate"
"""What a connection has negotiated: nothing, RFC 3168, or AccECN (RFC 9768)."""

_OPTION_WINDOW_SCALING, _OPTION_ECN = 4, 8  # TCPI_OPT_WSCALE, TCPI_OPT_ECN
_MODES = (NO_ECN, CLASSIC_ECN, ACCURATE_ECN, NO_ECN)  # tcpi_ecn_mode; the last is pending


@dataclass(frozen=True, slots=True)
class End:
    """One end of a stream: whose it is."""

    flow: str
    end: str
    stream: int


Ends = dict[tuple[str, int, int], End]
"""Ends of streams by host, local port and remote port."""


def find_ends(flows: Sequence[Flow], raw: Path) -> Ends:
    """Find which sockets carry which stream, from what the client reported of its connections.

    A flow that failed may have left no report, and then has no streams.
    """
    found: Ends = {}
    for flow in flows:
        with contextlib.suppress(InputError, MachineError):
            for stream, (local, remote) in enumerate(flow.connections(raw)):
                add_stream(flow, local, remote, stream=stream, ends=found)
    return found


def _claim(
    host: str,
    local: int,
    remote: int,
    *,
    flows: Sequence[Flow],
    ends: Ends,
    failed_ports: Mapping[str, int],
) -> bool:
    """Assign a socket that no report names to the first flow that claims it."""
    for flow in flows:
        if host not in (flow.source, flow.target) or remote == 0:  # a listening one
            continue
        client, server = (local, remote) if host == flow.source else (remote, local)
        if flow.owns_connection(client, server) or failed_ports.get(flow.name) == server:
            stream = sum(end.flow == flow.name for end in ends.values()) // 2
            add_stream(flow, client, server, stream=stream, ends=ends)
            return True
    return False


def add_stream(flow: Flow, client: int, server: int, *, stream: int, ends: Ends) -> None:
    """Add both ends of a stream.

    Args:
        flow: its flow.
        client: the client's port.
        server: the server's port.
        stream: its number.
        ends: where to add them.
    """
    sender, receiver = ("receiver", "sender") if flow.reverse else ("sender", "receiver")
    ends[flow.source, client, server] = End(flow.name, sender, stream)
    ends[flow.target, server, client] = End(flow.name, receiver, stream)


def ports_of(message: Message) -> tuple[int, int]:
    """Return the local and the remote port of the socket that a message speaks of."""
    local, remote = _PORTS.unpack_from(message.body, _MESSAGE.size)
    return local, remote


def decode(
    messages: Iterable[Message],
    ends: Ends,
    *,
    flows: Sequence[Flow] = (),
    failed_ports: Mapping[str, int] = MappingProxyType({}),
) -> Iterator[dict[str, Any]]:
    """Yield a row for each end of a stream of each sample; other sockets are left out.

    Args:
        messages: the samples.
        ends: which sockets are of which stream.
        flows: flows that may have more connections than those; they are added to `ends`.
        failed_ports: the ports of the servers of those that failed, by name.
    """
    for message in messages:
        host = message.source.node
        ports = ports_of(message)
        end = ends.get((host, *ports))
        if (
            end is None
            and flows
            and _claim(host, *ports, flows=flows, ends=ends, failed_ports=failed_ports)
        ):
            end = ends[host, *ports]
        values = end and _socket(message)
        if end and values:
            whose = {"flow": end.flow, "end": end.end, "stream": end.stream}
            yield {"time_s": message.time_s, "host": host, **whose, **values}


def decode_sockets(messages: Iterable[Message]) -> Iterator[dict[str, Any]]:
    """Yield a row for each socket of each sample, named by its addresses and ports."""
    for message in messages:
        local, remote = ports_of(message)
        # One that has ended and has no other end was a listening one.
        if remote and (values := _socket(message)):
            family = message.body[0]
            ends = {
                "local_address": _address(family, message.body[8:24]),
                "local_port": local,
                "remote_address": _address(family, message.body[24:40]),
                "remote_port": remote,
            }
            yield {"time_s": message.time_s, "host": message.source.node, **ends, **values}


def _address(family: int, packed: memoryview) -> str:
    if family == socket.AF_INET:
        return str(ipaddress.IPv4Address(bytes(packed[:4])))
    address = ipaddress.IPv6Address(bytes(packed))
    # So a server that listens for both kinds sees the older one.
    return str(address.ipv4_mapped or address)


def _socket(message: Message) -> dict[str, Any]:
    """Return the values of a message's socket; nothing, if it has no tcp_info."""
    _, state, _, _ = _MESSAGE.unpack_from(message.body)
    values = attributes(message.body[_MESSAGE_SIZE:])
    if _INFO not in values:
        return {}
    name = bytes(values.get(_CONGESTION, b"")).rstrip(b"\0").decode()
    return {
        "state": _STATES[state] if state < len(_STATES) else "?",
        "congestion": name,
        **_info(values[_INFO]),
        **_memory(values.get(_MEMORY)),
    }


def _info(view: memoryview) -> dict[str, Any]:
    head = _HEAD.unpack_from(view)
    known = _unpack(view)
    mss = known["snd_mss"]
    in_flight = known["unacked"] - known["sacked"] - known["lost"] + known["retrans"]
    ssthresh = known["snd_ssthresh"]
    pacing = known["pacing_rate"]
    return {
        "ca_state": _CA_STATES[head[1]] if head[1] < len(_CA_STATES) else "?",
        "cwnd_packets": known["snd_cwnd"],
        "cwnd_bytes": known["snd_cwnd"] * mss,
        "ssthresh_bytes": None if ssthresh >= _INFINITE_SSTHRESH else ssthresh * mss,
        "mss_bytes": mss,
        "rtt_s": known["rtt"] / 1e6,
        "rttvar_s": known["rttvar"] / 1e6,
        "min_rtt_s": known["min_rtt"] / 1e6,
        "rto_s": known["rto"] / 1e6,
        "in_flight_packets": in_flight,
        "in_flight_bytes": in_flight * mss,
        "pacing_bps": None if pacing == _UNLIMITED else pacing * 8.0,
        "delivery_bps": known["delivery_rate"] * 8.0,
        "delivery_app_limited": bool(head[7] & 1),
        "retransmits": known["total_retrans"],
        "lost_packets": known["lost"],
        "reordering": known["reordering"],
        "send_window_bytes": known.get("snd_wnd"),
        "receive_window_bytes": known.get("rcv_wnd"),
        "receive_space_bytes": known["rcv_space"],
        "unsent_bytes": known["notsent_bytes"],
        "busy_s": known["busy_time"] / 1e6,
        "rwnd_limited_s": known["rwnd_limited"] / 1e6,
        "sndbuf_limited_s": known["sndbuf_limited"] / 1e6,
        "bytes_acked": known["bytes_acked"],
        "sacked_packets": known["sacked"],  # for who reads while it runs: no column of tables
        "bytes_received": known["bytes_received"],
        "bytes_retransmitted": known.get("bytes_retrans"),
        "delivered_packets": known.get("delivered"),
        "timeouts": known.get("total_rto"),
        "ecn": _ecn(options=head[5], mode=known.get("ecn_bits")),
        "delivered_ce_packets": known.get("delivered_ce"),
        "received_ce_packets": known.get("received_ce"),
        "backoff": head[4],
        "dsack_packets": known.get("dsack_dups"),
        "window_scaling": bool(head[5] & _OPTION_WINDOW_SCALING),
    }


def _ecn(*, options: int, mode: int | None) -> str:
    if not options & _OPTION_ECN:
        return NO_ECN
    return CLASSIC_ECN if mode is None else _MODES[mode & 3]


def _unpack(view: memoryview) -> Mapping[str, int]:
    """Return as many numbers of tcp_info as this kernel wrote."""
    layout = _layout(len(view))
    return dict(zip(_NAMES, layout.unpack_from(view, _HEAD.size), strict=False))


@cache
def _layout(size: int) -> struct.Struct:
    text = "="
    for one in _FORMATS:
        if struct.calcsize(text + one) > size - _HEAD.size:
            break
        text += one
    return struct.Struct(text)


def _memory(view: memoryview | None) -> dict[str, int]:
    if view is None or len(view) < 24:
        return {}
    _, receive, _, send, _, queued = struct.unpack_from("=6I", view)
    return {
        "receive_buffer_bytes": receive,
        "send_buffer_bytes": send,
        "write_queue_bytes": queued,
    }
