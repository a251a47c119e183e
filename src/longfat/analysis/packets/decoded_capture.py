"""A decoded capture: serves pages of its list, streams, plots, and files of selected packets."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from longfat.analysis.packets import decoders
from longfat.analysis.packets.capture import (
    MAX_PACKETS,
    Capture,
    frames_of,
    open_capture,
    write_pcapng,
)
from longfat.analysis.packets.display_filter import UnknownFieldError, passing
from longfat.analysis.packets.records import (
    FollowedPiece,
    PacketCapture,
    PacketPage,
    TimeSequence,
)
from longfat.analysis.packets.streams import streams_of, time_sequence
from longfat.analysis.packets.table import PacketTable
from longfat.errors import InputError
from longfat.execution.compile import server_ports
from longfat.model.probes import Capture as CaptureProbe

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from longfat.execution.runs import Run
    from longfat.model.case import Case

MAX_ROWS = 1000
"""So many packets a page of the list has."""

_MAX_FILTERS = 20
_LAST_SYSTEM_PORT = 1023  # RFC 6335, section 6
_HTTP_PORTS = (3128, 8080, 8088)  # Wireshark's preference http.tcp.port


@dataclass(eq=False, slots=True, kw_only=True)
class DecodedCapture:
    """A capture that is decoded.

    Attributes:
        capture: the file.
        decoder: what has decoded it.
        table: its packets.
        epoch_ns: the time stamp from which time is counted, in nanoseconds since 1970.
        version: names the state of the file that was decoded: it may grow.
    """

    capture: Capture
    decoder: decoders.Decoder
    table: PacketTable
    epoch_ns: int
    version: str = ""
    _filtered: OrderedDict[str, NDArray[np.intp]] = field(default_factory=OrderedDict)

    def about(self) -> PacketCapture:
        """Return its description."""
        times = self.table.wholes["time"]
        ends = [
            (int(one) - self.epoch_ns) / 1e9 for one in (times[:1].tolist() + times[-1:].tolist())
        ]
        return {
            "name": self.capture.name,
            "version": self.version,
            "packets": len(self.table),
            "is_cut": len(self.table) >= MAX_PACKETS,
            "first_s": ends[0] if ends else 0.0,
            "last_s": ends[-1] if ends else 0.0,
            "decoder": self.decoder.to_json(),
            "streams": streams_of(self.table),
        }

    def chosen(self, text: str) -> NDArray[np.intp]:
        """Return the indices of the packets that pass a display filter, in their order.

        Raises:
            InputError: it is no filter, or no such field is known.
        """
        if text in self._filtered:
            return self._filtered[text]
        try:
            mask = passing(self.table, text, epoch_ns=self.epoch_ns)
            found = np.flatnonzero(mask)
        except UnknownFieldError:
            if not self.decoder.is_tshark:
                raise
            numbers = decoders.filtered_by_tshark(self.capture, text, decoder=self.decoder)
            found = np.array([one - 1 for one in numbers if one <= len(self.table)], dtype=np.intp)
        while len(self._filtered) >= _MAX_FILTERS:
            self._filtered.popitem(last=False)
        self._filtered[text] = found
        return found

    def page(self, text: str, *, start: int, count: int) -> PacketPage:
        """Return rows of the list.

        Args:
            text: a display filter.
            start: the first row, from 0, of those that pass.
            count: how many.

        Raises:
            InputError: it is no filter.
        """
        chosen = self.chosen(text)
        rows = chosen[start : start + min(count, MAX_ROWS)]
        return {
            "total": len(chosen),
            "start": start,
            "rows": [self.table.row(int(one), epoch_ns=self.epoch_ns) for one in rows],
        }

    def row_at(self, text: str, *, time_s: float) -> int:
        """Return which row of the list has the last packet up to a time; 0 where none has."""
        chosen = self.chosen(text)
        times = self.table.wholes["time"][chosen]
        limit = self.epoch_ns + round(min(max(time_s, -1e9), 1e9) * 1e9)
        return max(0, int(np.searchsorted(times, limit, side="right")) - 1)

    def row_of(self, text: str, *, number: int) -> int:
        """Return which row of the list has a packet, or the next one that passes."""
        chosen = self.chosen(text)
        return min(int(np.searchsorted(chosen, number - 1)), max(0, len(chosen) - 1))

    def time_sequence(self, stream: int, *, reverse: bool | None) -> TimeSequence:
        """See `streams.time_sequence`."""
        return time_sequence(self.table, stream, reverse=reverse, epoch_ns=self.epoch_ns)

    def details(self, number: int) -> str:
        """Return all that is known of a packet; see `decoders.details`."""
        if not 1 <= number <= len(self.table):
            raise InputError(f"there is no packet {number}: there are {len(self.table)}")
        return decoders.details(self.capture, number, decoder=self.decoder)

    def followed(self, stream: int) -> list[FollowedPiece]:
        """Return the payload of a TCP stream, in order."""
        if stream not in self.table.wholes["tcp_stream"]:
            raise InputError(f"there is no TCP stream {stream}")
        lines = decoders.followed(self.capture, stream, decoder=self.decoder)
        return [json.loads(line) for line in lines]

    def saved(self, text: str) -> Iterator[bytes]:
        """Return the packets that pass a filter, as the parts of a pcapng file."""
        chosen = {int(one) for one in self.chosen(text)}
        frames = enumerate(frames_of(self.capture))
        return write_pcapng(frame for index, frame in frames if index in chosen)


def open_packets(
    path: Path,
    *,
    name: str,
    epoch_ns: int,
    decoder: decoders.Decoder,
    count: int = MAX_PACKETS,
    opaque_ports: tuple[int, ...] = (),
) -> DecodedCapture:
    """Decode a capture, or so many of its first packets, at least one.

    Args:
        path: the file.
        name: what to call it in messages.
        epoch_ns: the time stamp from which time is counted, in nanoseconds since 1970.
        decoder: what decodes it.
        count: at most so many packets are decoded.
        opaque_ports: see `Capture`; those of a run are `opaque_ports`.

    Raises:
        InputError: it is none, or cannot be decoded within the limits.
    """
    capture = open_capture(path, name=name, opaque_ports=opaque_ports)
    version = capture.version
    table = decoders.decode(capture, decoder=decoder, count=count)
    return DecodedCapture(
        capture=capture, decoder=decoder, table=table, epoch_ns=epoch_ns, version=version
    )


def captures_of(run: Run) -> dict[str, str]:
    """Return the captures of a run: the interface of each, by the probe's name."""
    return {probe.name: probe.of for probe in run.case.probes_of(CaptureProbe)}


def opaque_ports(case: Case) -> tuple[int, ...]:
    """Return the ports of a case's flows whose data is of no protocol that a decoder knows.

    A decoder names a protocol by the port, or by the first bytes: a datagram of cbr was
    WireGuard, and a program at port 7000 Gryphon. A program may speak the protocol of a
    well-known port.
    """
    ports = server_ports(case)
    programs = {flow.name: flow.port for flow in case.programs}
    opaque = [port for name, port in ports.items() if name not in programs]
    opaque += [port for port in programs.values() if port and not _is_well_known(port)]
    return tuple(sorted(set(opaque)))


def _is_well_known(port: int) -> bool:
    return port <= _LAST_SYSTEM_PORT or port in _HTTP_PORTS


def capture_path(run: Run, probe: str) -> Path:
    """Return the file of a run's capture.

    Raises:
        InputError: it has no such capture, or the file is not as it was.
    """
    found = captures_of(run)
    if probe not in found:
        names = ", ".join(found) or "none: give the study a capture probe"
        raise InputError(f"{run.name}: it has no capture {probe!r} (there are: {names})")
    return run.checked_raw / f"{probe}.pcap"


def start_of(capture: Capture) -> int:
    """Return the time stamp of a capture's first packet, in nanoseconds since 1970; 0 if empty."""
    return next((frame.time_ns for frame in frames_of(capture)), 0)
