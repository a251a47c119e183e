"""What a decoded capture is shown as: plain data, for the studio's page and `longfat packets`.

Times are in seconds after the traffic's start, unless another epoch was chosen.
"""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict


class PacketDecoder(TypedDict):
    """What has decoded a capture.

    Attributes:
        name: the program or library.
        version: its version.
        lacks: its limitations.
        why: why the preferred decoder is not used; empty if it is.
    """

    name: str
    version: str
    lacks: str
    why: str


class PacketEnd(TypedDict):
    """One end of a stream.

    Attributes:
        address: its address.
        port: its port.
    """

    address: str
    port: int


class PacketStream(TypedDict):
    """A TCP stream.

    Attributes:
        number: its number, as Wireshark counts.
        ends: its ends; the first is the one whose packet came first.
        packets: how many packets it has.
        bytes: of data, each way.
        repeated: retransmissions.
    """

    number: int
    ends: tuple[PacketEnd, PacketEnd]
    packets: int
    bytes: tuple[int, int]
    repeated: int


class PacketCapture(TypedDict):
    """A decoded capture.

    Attributes:
        name: its name.
        version: this state of a file that grows; in further requests it means this state.
        packets: how many packets were decoded.
        is_cut: there are more packets, which were not decoded.
        first_s: the time of the first packet.
        last_s: the time of the last packet.
        decoder: what has decoded it.
        streams: its TCP streams.
    """

    name: str
    version: str
    packets: int
    is_cut: bool
    first_s: float
    last_s: float
    decoder: PacketDecoder
    streams: list[PacketStream]


class StreamRef(TypedDict):
    """The stream that a packet belongs to.

    Attributes:
        kind: its protocol.
        number: its number, as Wireshark counts.
    """

    kind: Literal["tcp", "udp"]
    number: int


class TcpFields(TypedDict):
    """The TCP header of a packet.

    Attributes:
        flags: its flags.
        seq: the sequence number, relative to the stream's start.
        ack: the acknowledgement number, likewise.
        payload: the bytes of data.
        window: the receive window in bytes.
        window_raw: the same as in the header, not scaled.
        source_port: the port of the sender.
        target_port: the port of the receiver.
        sack: the edges of the selectively acknowledged ranges.
        ack_rtt_s: how long after the segment that it acknowledges; null if unknown.
        in_flight: the bytes that are sent and not acknowledged; null if unknown.
    """

    flags: int
    seq: int
    ack: int
    payload: int
    window: int
    window_raw: int
    source_port: int
    target_port: int
    sack: list[tuple[int, int]]
    ack_rtt_s: float | None
    in_flight: int | None


class PacketRow(TypedDict):
    """A packet in the list.

    Attributes:
        number: its number in the capture, from 1.
        time_s: its time.
        source: the address of its sender.
        target: the address of its receiver.
        protocol: the highest protocol that was decoded.
        length: its length on the wire in bytes.
        captured: how many of these were captured.
        info: a description.
        stream: the stream that it belongs to; null for none.
        ecn: 0 none, 1 and 2 capable, 3 congestion experienced (RFC 3168).
        marks: remarks of the TCP analysis, such as "retransmission".
        tcp: the TCP header, if it has one.
    """

    number: int
    time_s: float
    source: str
    target: str
    protocol: str
    length: int
    captured: int
    info: str
    stream: StreamRef | None
    ecn: int
    marks: list[str]
    tcp: NotRequired[TcpFields]


class PacketPage(TypedDict):
    """A part of the list of packets.

    Attributes:
        total: how many packets match.
        start: the first row of this part, from 0.
        rows: the packets.
    """

    total: int
    start: int
    rows: list[PacketRow]


_Sender = TypedDict("_Sender", {"from": int})


class FollowedPiece(_Sender):
    """A piece of the data of a TCP stream, in order.

    Attributes:
        from: which end sent it.
        number: the packet; 0 where the stream ends with a gap.
        length: its bytes.
        captured: how many of these were captured.
        text: the data, with a dot for each byte that cannot be printed.
        hex: the same in hexadecimal digits, its beginning.
        more: there is more of the stream, which is not shown.
    """

    number: int
    length: int
    captured: NotRequired[int]
    text: str
    hex: NotRequired[str]
    more: bool


class SentSegments(TypedDict):
    """The segments of a time-sequence graph, by column.

    Attributes:
        number: the packets.
        time_s: their times.
        seq: the first sequence number.
        end: the one after the last.
        repeated: 1 for a retransmission.
        late: 1 for a segment out of order.
        marked: 1 for congestion experienced.
    """

    number: list[int]
    time_s: list[float]
    seq: list[int]
    end: list[int]
    repeated: list[int]
    late: list[int]
    marked: list[int]


class Acknowledgements(TypedDict):
    """The acknowledgements of a time-sequence graph, by column.

    Attributes:
        number: the packets.
        time_s: their times.
        ack: the acknowledgement numbers.
        window: the end of the receive window.
    """

    number: list[int]
    time_s: list[float]
    ack: list[int]
    window: list[int]


class TimeSequence(TypedDict):
    """A stream's time-sequence graph, as tcptrace draws it.

    Attributes:
        stream: the stream.
        reverse: the segments are those of the end that did not send first.
        ends: the ends of the stream.
        thinned: only every n-th segment is included.
        sent: the segments.
        acked: the acknowledgements.
        sack: selectively acknowledged ranges: when, and from where to where.
    """

    stream: int
    reverse: bool
    ends: tuple[PacketEnd, PacketEnd]
    thinned: int
    sent: SentSegments
    acked: Acknowledgements
    sack: list[tuple[float, int, int]]
