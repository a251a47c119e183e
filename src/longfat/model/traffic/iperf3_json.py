"""The part of iperf3's JSON report that is read: names and types of its fields.

Fields that are not named here are passed over, since every version has some more.
A number that iperf3 could not compute is null. Large whole numbers are printed as
floats such as `1.25e+15`.

Source: the iperf3(1) manual, iperf_api.c, and reports captured from 3.12, kept
under tests/data.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from longfat.common.decoding import Decoder


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """The ports of a stream."""

    local_port: int
    remote_port: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """What is known before the test."""

    version: str
    connected: list[Connection] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """An interval of a stream; times in seconds, but `rtt` and `rttvar` in microseconds."""

    socket: int
    start: float
    end: float
    bits_per_second: float
    bytes: float
    retransmits: float | None = None
    snd_cwnd: float | None = None
    snd_wnd: float | None = None
    rtt: float | None = None
    rttvar: float | None = None
    pmtu: float | None = None
    jitter_ms: float | None = None
    lost_packets: float | None = None
    omitted: bool = False
    sender: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Streams:
    """An interval of all streams."""

    streams: list[Row]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sum:
    """The sum over all streams, of one direction."""

    bits_per_second: float
    bytes: float
    retransmits: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class UdpSum:
    """The sum over all streams of UDP."""

    jitter_ms: float
    lost_percent: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Sender:
    """The sending end of a stream of TCP; RTTs in microseconds."""

    mean_rtt: float | None = None
    min_rtt: float = 0
    max_rtt: float = 0
    max_snd_cwnd: float = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Receiver:
    """The receiving end of a stream of TCP."""

    bytes: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Udp:
    """Both ends of a stream of UDP."""

    packets: float
    lost_packets: float


@dataclass(frozen=True, slots=True, kw_only=True)
class EndOfStream:
    """A stream as a whole: `udp`, or the others."""

    udp: Udp | None = None
    sender: Sender | None = None
    receiver: Receiver | None = None

    def __post_init__(self) -> None:
        if self.udp is None and (self.sender is None or self.receiver is None):
            raise ValueError("neither udp, nor sender and receiver")


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """The test as a whole."""

    streams: list[EndOfStream]
    sum_sent: Sum
    sum_received: Sum
    sum: UdpSum | None = None

    def __post_init__(self) -> None:
        if not self.streams:
            raise ValueError("no stream")
        if self.streams[0].udp is not None and self.sum is None:
            raise ValueError("no sum of the streams of UDP")


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A report of a good test."""

    start: Start
    intervals: list[Streams]
    end: End


REPORT = Decoder(Report, ignore_unknown=True)
INTERVALS = Decoder(list[Streams], ignore_unknown=True)
