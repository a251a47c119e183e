"""The fields of a decoded packet: their names in Wireshark, and how a line of text has them.

Source of the names: `tshark -G fields`, and the display filter reference of Wireshark.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Form(Enum):
    """How a field is written."""

    WHOLE = "whole"
    NANOSECONDS = "seconds with nine decimals"
    TEXT = "text"
    PRESENT = "present"
    WHOLES = "whole numbers with commas"


@dataclass(frozen=True, slots=True)
class PacketColumn:
    """A field of a packet.

    Attributes:
        name: what tshark calls it, and a display filter.
        key: what a row calls it.
        form: how it is written.
        label: what marks a packet that has it; empty where nothing does.
    """

    name: str
    key: str
    form: Form = Form.WHOLE
    label: str = ""


COLUMNS = (
    PacketColumn("frame.number", "number"),
    PacketColumn("frame.time_epoch", "time", Form.NANOSECONDS),
    PacketColumn("frame.len", "length"),
    PacketColumn("frame.cap_len", "captured"),
    PacketColumn("_ws.col.Source", "source", Form.TEXT),
    PacketColumn("_ws.col.Destination", "target", Form.TEXT),
    PacketColumn("_ws.col.Protocol", "protocol", Form.TEXT),
    PacketColumn("ip.dsfield.ecn", "ecn"),
    PacketColumn("ipv6.tclass.ecn", "ecn6"),
    PacketColumn("tcp.stream", "tcp_stream"),
    PacketColumn("udp.stream", "udp_stream"),
    PacketColumn("tcp.srcport", "tcp_source_port"),
    PacketColumn("tcp.dstport", "tcp_target_port"),
    PacketColumn("udp.srcport", "udp_source_port"),
    PacketColumn("udp.dstport", "udp_target_port"),
    PacketColumn("tcp.flags", "flags"),
    PacketColumn("tcp.seq", "seq"),
    PacketColumn("tcp.ack", "ack"),
    PacketColumn("tcp.len", "payload"),
    PacketColumn("tcp.window_size_value", "window_raw"),
    PacketColumn("tcp.window_size", "window"),
    PacketColumn("tcp.options.sack_le", "sack_left", Form.WHOLES),
    PacketColumn("tcp.options.sack_re", "sack_right", Form.WHOLES),
    PacketColumn("tcp.options.mss_val", "mss"),
    PacketColumn("tcp.options.wscale.shift", "shift"),
    PacketColumn("tcp.options.timestamp.tsval", "stamp"),
    PacketColumn("icmp.type", "icmp_type"),
    PacketColumn("icmp.code", "icmp_code"),
    PacketColumn("icmpv6.type", "icmp6_type"),
    PacketColumn("icmpv6.code", "icmp6_code"),
    PacketColumn("tcp.analysis.ack_rtt", "ack_rtt", Form.NANOSECONDS),
    PacketColumn("tcp.analysis.bytes_in_flight", "in_flight"),
    PacketColumn("tcp.analysis.retransmission", "retransmission", Form.PRESENT, "retransmission"),
    PacketColumn("tcp.analysis.fast_retransmission", "fast", Form.PRESENT, "fast retransmission"),
    PacketColumn(
        "tcp.analysis.spurious_retransmission", "spurious", Form.PRESENT, "spurious retransmission"
    ),
    PacketColumn("tcp.analysis.out_of_order", "out_of_order", Form.PRESENT, "out of order"),
    PacketColumn("tcp.analysis.lost_segment", "lost_segment", Form.PRESENT, "gap before"),
    PacketColumn("tcp.analysis.ack_lost_segment", "ack_lost", Form.PRESENT, "acks what is unseen"),
    PacketColumn("tcp.analysis.duplicate_ack", "duplicate", Form.PRESENT, "duplicate ACK"),
    PacketColumn("tcp.analysis.zero_window", "zero_window", Form.PRESENT, "zero window"),
    PacketColumn("tcp.analysis.window_full", "window_full", Form.PRESENT, "window full"),
    PacketColumn("tcp.analysis.window_update", "window_update", Form.PRESENT, "window update"),
    PacketColumn("tcp.analysis.keep_alive", "keep_alive", Form.PRESENT, "keep-alive"),
    PacketColumn("_ws.col.Info", "info", Form.TEXT),
)
"""In the order in which a line has them."""

MARKS = tuple(one for one in COLUMNS if one.form is Form.PRESENT)
"""The result of the TCP analysis of a packet."""

SEPARATOR = "\t"
"""Between the fields of a line."""
