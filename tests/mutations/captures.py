"""Readers of packets: captures, what tshark decoded, packetdrill scripts and what they sent."""

from __future__ import annotations

import json
import tempfile
from functools import cache
from pathlib import Path

from longfat.analysis.packets.capture import frames_of, open_capture, write_pcapng
from longfat.analysis.packets.decoded_capture import DecodedCapture
from longfat.analysis.packets.decoders import choose_decoder
from longfat.analysis.packets.follow import follow
from longfat.analysis.packets.headers import describe, lines_of
from longfat.analysis.packets.table import parse_lines
from longfat_packetdrill.options import Settings
from longfat_packetdrill.parser import parse_script
from longfat_packetdrill.run import explain
from longfat_packetdrill.run import read_outcome as read_packets_outcome
from tests.mutations.kind import WrongError, write
from tests.mutations.results import _raw

_SCRIPT = "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n* > S 0:0(0)\n"


@cache
def captures() -> list[bytes]:
    """A capture in both formats, with what a machine sent."""
    pcap = _raw()["window.pcap"]
    with tempfile.TemporaryDirectory() as name:
        path = write(Path(name), "x.pcap", pcap)
        return [pcap, b"".join(write_pcapng(frames_of(open_capture(path))))]


def check_packets(folder: Path, content: bytes) -> None:
    """Decode a capture as the process of dpkt does, and ask all that the page asks."""
    capture = open_capture(write(folder, "x.pcap", content))
    table = parse_lines(lines_of(frames_of(capture)), name="x.pcap")
    opened = DecodedCapture(
        capture=capture, decoder=choose_decoder("dpkt"), table=table, epoch_ns=1_700_000_000 * 10**9
    )
    about = opened.about()
    json.dumps([about, opened.page("tcp || !udp", start=0, count=1000)], allow_nan=False)
    for text in ("tcp.analysis.flags && ip.addr == 10.0.0.0/8", "tcp.len > 0", "arp"):
        opened.row_at(text, time_s=1.0)
    for stream in about["streams"][:2]:
        number = stream["number"]
        json.dumps(opened.time_sequence(number, reverse=None), allow_nan=False)
        json.dumps(list(follow(frames_of(capture), number)))
    if len(table):
        "".join(describe(frames_of(capture), len(table)))
    if sum(map(len, opened.saved(""))) > 2 * len(content) + 100_000:
        raise WrongError("it became larger")


@cache
def decoded() -> list[bytes]:
    """What a decoder prints of a capture."""
    with tempfile.TemporaryDirectory() as name:
        capture = open_capture(write(Path(name), "x.pcap", captures()[0]))
        return ["\n".join(list(lines_of(frames_of(capture)))[:300]).encode()]


def check_decoded(folder: Path, content: bytes) -> None:
    """Read what a decoder prints that a packet has taken over."""
    table = parse_lines(content.decode(errors="replace").split("\n"), name="x.pcap")
    opened = DecodedCapture(
        capture=open_capture(write(folder, "x.pcap", captures()[0])),
        decoder=choose_decoder("dpkt"),
        table=table,
        epoch_ns=0,
    )
    about = opened.about()
    json.dumps([about, opened.page("frame.len > 0", start=0, count=1000)], allow_nan=False)
    for stream in about["streams"][:2]:
        json.dumps(opened.time_sequence(stream["number"], reverse=None), allow_nan=False)


def check_packets_script(folder: Path, content: bytes) -> None:
    """Read a packetdrill script as the command does, with its plan and its texts."""
    del folder
    text = content.decode("utf-8", "surrogateescape")
    script = parse_script(text, file="x.pkt", settings=Settings())
    json.dumps(script.plan())
    for event in script.events:
        event.text()


def check_packets_outcome(folder: Path, content: bytes) -> None:
    """Read what a guest says of a script, and explain why it failed."""
    result = read_packets_outcome(write(folder, "outcome.json", content), wall_s=1.0)
    script = parse_script(_SCRIPT, file="x.pkt", settings=Settings())
    for failure in filter(None, (result.failure, *result.warnings)):
        assert explain(script, failure)
