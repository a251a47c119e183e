"""The capture probe: packets of an interface by tcpdump, in a file that Wireshark reads.

The decoded table has the headers only. A window counts in units of the shift
that its sender's SYN named (RFC 7323, section 2.3), so a capture that lacks the
SYN has no windows in bytes.
"""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from types import MappingProxyType
from typing import IO, TYPE_CHECKING, Any, ClassVar

from longfat.common.decoding import open_regular
from longfat.common.extras import lazy
from longfat.errors import MachineError
from longfat.model.fields import REQUIRED, declare
from longfat.model.kinds import Integer, Name, Size, Text
from longfat.model.metric import Metric, Unit, series
from longfat.model.probes.columns import TEXT, TIME, WHOLE, Column, make_table
from longfat.model.probes.probe import Probe
from longfat.model.probes.samples import UNREADABLE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import dpkt
    import pyarrow as pa

    from longfat.model.network import Network
    from longfat.model.traffic import Flow
else:
    dpkt = lazy("dpkt")

pc = lazy("pyarrow.compute")

COLUMNS = (
    TIME,
    Column("source", TEXT),
    Column("source_port", WHOLE),
    Column("target", TEXT),
    Column("target_port", WHOLE),
    Column("flags", TEXT),
    Column("sequence", WHOLE),
    Column("acknowledgment", WHOLE),
    Column("window_raw", WHOLE),
    Column("window_shift", WHOLE),
    Column("window_bytes", WHOLE, "bytes"),
    Column("payload_bytes", WHOLE, "bytes"),
    Column("wire_bytes", WHOLE, "bytes"),
)

DEFAULT_SNAP_BYTES = 128
"""Enough for Ethernet, IPv6 and TCP headers with all options."""

_MAX_FILE_BYTES = 4 << 30
_MAX_PACKETS = 4_000_000
_MAX_PACKET_LENGTH = 1 << 18  # MAXIMUM_SNAPLEN of libpcap
_TOO_MANY = f"more than {_MAX_PACKETS:,} packets; use a filter, or `packets`"

# What else tcpdump ends for: its file, its rights, the interface.
_NOT_OF_FILTERS = re.compile(r"savefile|permission|no such device|no space", re.IGNORECASE)

_FLAGS = ((2, "S"), (16, "A"), (1, "F"), (4, "R"), (8, "P"), (32, "U"), (64, "E"), (128, "C"))


_FULL_PACKET_BITS = 1500 * 8
_RECORD_BYTES = 16  # of a pcap file, before each packet


def _filter_problem(text: str) -> str | None:
    return "a filter does not begin with a hyphen" if text.startswith("-") else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Capture(Probe):
    """Captures packets of an interface.

    Attributes:
        of: the name of the interface.
        filter: which packets, in the syntax of pcap-filter(7); empty for all.
        snap_bytes: how much of each packet is kept, in bytes.
        packets: how many packets are kept; None for all.
    """

    kind: ClassVar[str] = "capture"
    columns: ClassVar[Sequence[Column]] = COLUMNS
    metrics: ClassVar[tuple[Metric, ...]] = (
        Metric(
            "packets",
            Unit.COUNT,
            "packets",
            series("time_s", "how many rows: packets of TCP and UDP"),
        ),
        Metric(
            "window_raw",
            Unit.COUNT,
            "window field",
            series("window_raw", "the field of the packet with the largest window_bytes"),
        ),
        Metric(
            "window_shift",
            Unit.COUNT,
            "window shift",
            series(
                "window_shift", "the shift of the packet with the largest window_bytes (RFC 7323)"
            ),
        ),
        Metric(
            "window_bytes",
            Unit.BYTES,
            "largest window",
            series("window_bytes", "largest window_raw * 2^window_shift"),
        ),
    )

    of: str = declare(
        Name(what="an interface (such as h1-eth0)"),
        default=REQUIRED,
        label="Of",
        help="the interface",
    )
    filter: str = declare(
        Text(
            what="a filter (such as tcp port 5201)",
            example="tcp port 5201",
            problem=_filter_problem,
        ),
        default="",
        label="Filter",
        help="which packets, as pcap-filter(7) has it",
        absent="all",
    )
    snap_bytes: int = declare(
        Size(minimum=64, maximum=262144),  # MAXIMUM_SNAPLEN of libpcap
        default=DEFAULT_SNAP_BYTES,
        label="Snap",
        help="how much of each packet is kept",
    )
    packets: int | None = declare(
        Integer(minimum=1), default=None, label="Packets", help="how many are kept", absent="all"
    )

    def series_bytes(self, time_s: float, *, rate_bps: float, streams: Mapping[str, int]) -> float:
        """Return about how much it writes; see `Probe.series_bytes`."""
        del streams
        packets = rate_bps * time_s / _FULL_PACKET_BITS
        if self.packets is not None:
            packets = min(packets, self.packets)
        return packets * (self.snap_bytes + _RECORD_BYTES)

    @property
    def targets(self) -> tuple[str, ...]:
        """The name of the interface."""
        return (self.of,)

    def order(self, *, network: Network, flows: Sequence[Flow]) -> dict[str, Any]:
        """Return the command line of tcpdump and the node that runs it."""
        del flows
        (node,) = network.interfaces_by_node((self.of,))
        argv = ["tcpdump", "-i", self.of, "-s", str(self.snap_bytes), "-n", "-Z", "root"]
        argv += ["--time-stamp-precision=nano", "-w", f"raw/{self._output_file}"]
        if self.packets is not None:
            argv += ["-c", str(self.packets)]
        if self.filter:
            argv += [self.filter]
        return {
            "kind": self.kind,
            "name": self.name,
            "output": self._output_file,
            "node": node,
            "argv": argv,
        }

    def is_refused(self, words: str) -> bool:
        """Return whether tcpdump complained of the filter, which it does in many ways."""
        return bool(self.filter and words) and not _NOT_OF_FILTERS.search(words)

    @property
    def _output_file(self) -> str:
        return f"{self.name}.pcap"

    def table(
        self,
        raw: Path,
        *,
        flows: Sequence[Flow],
        epoch_s: float,
        failed_ports: Mapping[str, int] = MappingProxyType({}),
    ) -> pa.Table:
        """Decode the headers of TCP and UDP packets: one row a packet."""
        del flows, failed_ports
        path = raw / self._output_file
        try:
            with open_regular(path) as file:
                if (size := os.fstat(file.fileno()).st_size) > _MAX_FILE_BYTES:
                    raise MachineError(
                        f"{path.name}: it has {size:,} bytes; at most {_MAX_FILE_BYTES:,} are read"
                    )
                return table_of(file, name=path.name, epoch_s=epoch_s)
        except OSError as error:
            raise MachineError(f"{path.name}: not a whole capture: {error}") from None

    def measure(self, table: pa.Table) -> dict[str, float]:
        """Return how many packets there are, and the largest window that any of them offers."""
        found = {"packets": float(table.num_rows)}
        known = table.filter(pc.is_valid(table["window_bytes"]))
        if known.num_rows:
            largest = pc.max(known["window_bytes"]).as_py()
            (row,) = known.filter(pc.equal(known["window_bytes"], largest)).slice(0, 1).to_pylist()
            names = ("window_raw", "window_shift", "window_bytes")
            found |= {name: float(row[name]) for name in names}
        return found


class _Capped:
    """A file of which no piece is read that is longer than a packet can be."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._pieces = 0

    def read(self, size: int) -> bytes:
        """Read a head, or a packet."""
        self._pieces += 1
        if size > _MAX_PACKET_LENGTH or self._pieces > 2 * _MAX_PACKETS:
            raise ValueError(
                f"a packet of {size} bytes" if size > _MAX_PACKET_LENGTH else _TOO_MANY
            )
        if size == 0:
            raise ValueError("a packet without bytes")
        piece = self._file.read(size)
        if piece and len(piece) < size:
            raise ValueError("its last packet is cut")
        return piece


def table_of(content: IO[bytes], *, name: str = "capture", epoch_s: float) -> pa.Table:
    """Decode the headers of TCP and UDP packets: one row a packet.

    Args:
        content: a pcap file.
        name: what to call it in messages.
        epoch_s: the time stamp from which time is counted, in seconds since 1970.

    Raises:
        MachineError: it is no whole pcap file.
    """
    try:
        return make_table(COLUMNS, decode(dpkt.pcap.Reader(_Capped(content)), epoch_s=epoch_s))
    except (*UNREADABLE, dpkt.Error) as error:
        raise MachineError(f"{name}: not a whole capture: {error}") from None


def decode(packets: Iterator[tuple[Any, bytes]], *, epoch_s: float) -> Iterator[dict[str, Any]]:
    """Yield a row for each packet of TCP or UDP.

    Args:
        packets: pairs of time stamp and bytes.
        epoch_s: the time stamp of the traffic's start, in seconds.
    """
    shifts: dict[tuple[bytes, int, bytes, int], int | None] = {}
    epoch = Decimal(repr(epoch_s))
    for stamp, content in packets:
        try:
            packet = dpkt.ethernet.Ethernet(content).data
        except dpkt.UnpackError:
            continue  # cut within its headers
        segment = getattr(packet, "data", None)
        if not isinstance(segment, dpkt.tcp.TCP | dpkt.udp.UDP):
            continue
        whole = packet.len if isinstance(packet, dpkt.ip.IP) else packet.plen + 40
        head = packet.hl * 4 if isinstance(packet, dpkt.ip.IP) else 40
        row = {
            "time_s": float(Decimal(stamp) - epoch),
            "source": _address(packet.src),
            "source_port": segment.sport,
            "target": _address(packet.dst),
            "target_port": segment.dport,
            "wire_bytes": whole + 14,
        }
        if isinstance(segment, dpkt.tcp.TCP):
            ends = (packet.src, segment.sport, packet.dst, segment.dport)
            row |= _tcp(segment, ends, shifts) | {
                "payload_bytes": whole - head - segment.off * 4,
            }
        else:
            row["payload_bytes"] = segment.ulen - 8
        yield row


def _address(packed: bytes) -> str:
    return socket.inet_ntop(socket.AF_INET if len(packed) == 4 else socket.AF_INET6, packed)


def _tcp(
    segment: dpkt.tcp.TCP,
    ends: tuple[bytes, int, bytes, int],
    shifts: dict[tuple[bytes, int, bytes, int], int | None],
) -> dict[str, Any]:
    syn = bool(segment.flags & dpkt.tcp.TH_SYN)
    if syn:
        shifts[ends] = _offered_shift(segment)
    # The window of a SYN itself is never scaled, RFC 7323, section 2.2.
    shift = 0 if syn else _agreed_shift(ends, shifts)
    return {
        "flags": "".join(letter for bit, letter in _FLAGS if segment.flags & bit),
        "sequence": segment.seq,
        "acknowledgment": segment.ack,
        "window_raw": segment.win,
        "window_shift": shift,
        "window_bytes": None if shift is None else segment.win << shift,
    }


def _offered_shift(syn: dpkt.tcp.TCP) -> int | None:
    for option in dpkt.tcp.parse_opts(syn.opts):
        if option is None:  # in dpkt: the rest is not an option
            break
        kind, value = option
        if kind == dpkt.tcp.TCP_OPT_WSCALE and len(value) == 1:
            return int(value[0])
    return None


def _agreed_shift(
    ends: tuple[bytes, int, bytes, int],
    shifts: dict[tuple[bytes, int, bytes, int], int | None],
) -> int | None:
    """Return the shift of a sender's windows; None if its SYN was not seen."""
    if ends not in shifts:
        return None
    own = shifts[ends]
    other = shifts.get((ends[2], ends[3], ends[0], ends[1]), own)
    # Both must offer it, or neither uses it.
    return 0 if own is None or other is None else own
