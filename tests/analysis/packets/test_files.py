"""Captures as files: both formats, whole or cut, filtered, followed and saved."""

from __future__ import annotations

import json
import struct
from dataclasses import replace
from pathlib import Path
from typing import Any

import dpkt
import pytest
from click.testing import CliRunner

from longfat.analysis.packets.capture import (
    COOKED,
    COOKED_V2,
    ETHERNET,
    RAW_IP,
    Frame,
    frames_of,
    open_capture,
    write_pcapng,
)
from longfat.analysis.packets.decoded_capture import DecodedCapture, open_packets
from longfat.analysis.packets.decoders import choose_decoder
from longfat.analysis.packets.headers import lines_of
from longfat.analysis.packets.tcp_analysis import ACK, SYN, Segment, Stream, after
from longfat.cli.packets import packets as command
from longfat.errors import InputError
from tests.analysis.packets.made import transfer

START_NS = 1_700_000_000 * 10**9


def pcap(
    frames: list[Frame], *, order: str = "<", nanoseconds: bool = True, link: int = ETHERNET
) -> bytes:
    magic = 0xA1B23C4D if nanoseconds else 0xA1B2C3D4
    unit = 1 if nanoseconds else 1000
    parts = [struct.pack(f"{order}IHHiIII", magic, 2, 4, 0, 0, 262144, link)]
    for one in frames:
        stamp = (one.time_ns // 10**9, one.time_ns % 10**9 // unit)
        parts.append(struct.pack(f"{order}IIII", *stamp, len(one.content), one.length))
        parts.append(one.content)
    return b"".join(parts)


def opened(path: Path) -> DecodedCapture:
    return open_packets(path, name=path.name, epoch_ns=START_NS, decoder=choose_decoder("dpkt"))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    found = tmp_path / "x.pcap"
    found.write_bytes(pcap(list(transfer(60))))
    return found


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("nanoseconds", [True, False])
def test_pcap_is_read_in_all_its_forms(tmp_path: Path, order: str, nanoseconds: bool) -> None:
    frames = list(transfer(20))
    path = tmp_path / "x.pcap"
    path.write_bytes(pcap(frames, order=order, nanoseconds=nanoseconds))
    found = list(frames_of(open_capture(path)))
    unit = 1 if nanoseconds else 1000
    assert [one.time_ns for one in found] == [one.time_ns // unit * unit for one in frames]
    assert [one.content for one in found] == [one.content for one in frames]
    assert [one.length for one in found] == [one.length for one in frames]


def test_pcapng_keeps_nanoseconds_and_lengths(tmp_path: Path) -> None:
    frames = list(transfer(20))
    path = tmp_path / "x.pcapng"
    path.write_bytes(b"".join(write_pcapng(frames)))
    assert list(frames_of(open_capture(path))) == frames
    # And others read it.
    with path.open("rb") as file:
        assert [content for _, content in dpkt.pcapng.Reader(file)] == [
            one.content for one in frames
        ]


_COOKED_HEADS = {
    ETHERNET: bytes(12) + b"\x08\x00",
    COOKED: struct.pack(">HHH8sH", 0, 1, 6, b"\2\0\0\0\0\1", 0x800),
    COOKED_V2: struct.pack(">HHIHBB8s", 0x800, 0, 2, 1, 0, 6, b"\2\0\0\0\0\1"),
}
_INIT = struct.pack(">BBHIIHHI", 1, 0, 20, 7, 65535, 1, 1, 99)
_DATA = struct.pack(">BBHIHHI", 0, 3, 19, 99, 0, 0, 0) + b"abc\0"


def of_ip(protocol: int, content: bytes, link: int) -> Frame:
    ends = bytes([10, 0, 0, 1]) + bytes([10, 0, 0, 2])
    size = 20 + len(content)
    ip = struct.pack(">BBHHHBBH", 0x45, 0, size, 0, 0x4000, 64, protocol, 0) + ends
    whole = _COOKED_HEADS[link] + ip + content
    return Frame(time_ns=START_NS, content=whole, length=len(whole), link=link)


@pytest.mark.parametrize("decoder", ["dpkt", "tshark"])
@pytest.mark.parametrize("link", [ETHERNET, COOKED, COOKED_V2])
def test_sctp_and_cooked_packets_are_named(tmp_path: Path, link: int, decoder: str) -> None:
    sctp = struct.pack(">HHII", 5000, 5001, 7, 0)
    udp = struct.pack(">HHHH", 1000, 2000, 11, 0) + b"abc"
    contents = [(132, sctp + _INIT), (132, sctp + _DATA + _DATA), (17, udp)]
    path = tmp_path / "x.pcap"
    path.write_bytes(pcap([of_ip(*content, link) for content in contents], link=link))
    packets = open_packets(path, name="x", epoch_ns=START_NS, decoder=choose_decoder(decoder))
    rows: list[Any] = list(packets.page("", start=0, count=3)["rows"])
    assert [row["protocol"] for row in rows] == ["SCTP", "SCTP", "UDP"]
    assert "INIT" in rows[0]["info"]
    assert rows[1]["info"].count("DATA") == 2
    assert (rows[0]["source"], rows[2]["target"]) == ("10.0.0.1", "10.0.0.2")
    assert [row["number"] for row in packets.page("sctp", start=0, count=3)["rows"]] == [1, 2]
    assert "5001" in packets.details(1)


@pytest.mark.parametrize(
    ("content", "info"),
    [
        (b"", "cut within its headers"),
        (struct.pack(">HHII", 1, 2, 0, 0), "1 → 2"),
        (struct.pack(">HHIIBBH", 1, 2, 0, 0, 3, 0, 0), "1 → 2 SACK"),
        (struct.pack(">HHIIBBH", 1, 2, 0, 0, 77, 0, 65535), "1 → 2 chunk 77"),
    ],
)
def test_sctp_that_is_cut(content: bytes, info: str) -> None:
    (line,) = lines_of([of_ip(132, content, ETHERNET)])
    assert line.endswith(info)


@pytest.mark.parametrize("decoder", ["dpkt", "tshark"])
def test_packets_without_ethernet_are_decoded_alike(tmp_path: Path, decoder: str) -> None:
    frames = list(transfer(20))
    raw = [
        replace(one, content=one.content[14:], length=one.length - 14, link=RAW_IP)
        for one in frames
    ]
    rows = []
    for link, each in ((ETHERNET, frames), (RAW_IP, raw)):
        path = tmp_path / f"{link}.pcap"
        path.write_bytes(pcap(each, link=link))
        packets = open_packets(
            path, name=path.name, epoch_ns=START_NS, decoder=choose_decoder(decoder)
        )
        found: list[Any] = list(packets.page("", start=0, count=20)["rows"])
        header = 14 if link == ETHERNET else 0
        sizes = [(row.pop("length") - header, row.pop("captured") - header) for row in found]
        rows.append((found, sizes))
        assert packets.followed(0)
        assert "5201" in packets.details(1)
        saved = tmp_path / f"{link}.pcapng"
        saved.write_bytes(b"".join(packets.saved("")))
        assert list(frames_of(open_capture(saved))) == each
    assert rows[0] == rows[1]


@pytest.mark.parametrize(
    ("decoder", "hop_by_hop"),
    # tshark 4.0 takes a packet with a length of 0 and no header of a jumbogram for an empty one.
    [("dpkt", False), ("dpkt", True), ("tshark", True)],
)
def test_large_packets_of_ipv6_have_their_payload(
    tmp_path: Path, decoder: str, hop_by_hop: bool
) -> None:
    # BIG TCP: more than 64 KB before it is cut up, with a length of 0, or that of a jumbogram.
    tcp = struct.pack(">HHIIBBHHH", 40000, 5201, 1, 1, 5 << 4, ACK, 500, 0, 0)
    body = tcp + bytes(80_000)
    if hop_by_hop:
        body = struct.pack(">BBBBI", 6, 0, 0xC2, 4, 8 + len(body)) + body
    ends = bytes(15) + b"\x01" + bytes(15) + b"\x02"
    header = struct.pack(">IHBB", 6 << 28, 0, 0 if hop_by_hop else 6, 64) + ends
    whole = bytes(6) + bytes(6) + b"\x86\xdd" + header + body
    frame = Frame(time_ns=START_NS, content=whole[:128], length=len(whole))
    path = tmp_path / "big.pcap"
    path.write_bytes(pcap([frame]))
    packets = open_packets(path, name=path.name, epoch_ns=START_NS, decoder=choose_decoder(decoder))
    (row,) = packets.page("", start=0, count=2)["rows"]
    assert row["info"].endswith("Len=80000")


def test_a_capture_that_is_being_written_is_read_as_far_as_it_goes(path: Path) -> None:
    whole = path.read_bytes()
    path.write_bytes(whole[:-7])
    assert len(opened(path).table) == 59


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "no capture"),
        (b"title: a study", "no capture"),
        (pcap(list(transfer(2)))[:20], "ends within its head"),
        (struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 65535, 105), "link type 105"),
        (pcap([]) + struct.pack("<IIII", 0, 0, 2**31, 2**31), "a packet of 2147483648 bytes"),
    ],
)
def test_what_is_none_is_reported(tmp_path: Path, content: bytes, words: str) -> None:
    path = tmp_path / "x.pcap"
    path.write_bytes(content)
    with pytest.raises(InputError, match=words):
        opened(path)


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("tcp.flags.syn == 1", [1, 2]),
        ("tcp.flags.syn == 1 && !(tcp.flags.ack == 1)", [1]),
        ("frame.number <= 3 and not tcp.flags.syn == 1", [3]),
        ("frame.number in {4, 7}", [4, 7]),
        ("ip.src == 10.0.0.2 && frame.number < 8", [2, 6]),
        ("ip.addr == 10.0.0.0/30 && frame.number == 5", [5]),
        ("udp || arp", []),
        ('_ws.col.info contains "SYN"', [1, 2]),
        ("tcp.port == 5201 && frame.number == 9", [9]),
        ("tcp.srcport != 5201 && frame.number < 5", [1, 3, 4]),
        ("frame.time_relative > 0.00045 && frame.number < 7", [6]),
    ],
)
def test_display_filters(path: Path, text: str, numbers: list[int]) -> None:
    packets = opened(path)
    assert [int(one) + 1 for one in packets.chosen(text)] == numbers


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("tcp.len >", "cannot be read"),
        ("http.host", "no field http.host"),
        ("tcp.len == many", "'many' is none"),
        ("ip.src == here", "no address"),
        ("(" * 60 + "tcp" + ")" * 60, "more than 40 brackets"),
        ("tcp " * 400, "1600 characters"),
    ],
)
def test_filters_that_are_none(path: Path, text: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        opened(path).chosen(text)


def test_a_stream_is_followed_once_and_in_order(path: Path) -> None:
    pieces = opened(path).followed(0)
    said = "".join(one["text"] for one in pieces if one["from"] == 0)
    assert said.startswith("line 0")
    assert [f"line {n}" in said for n in range(5)] == [True] * 5


def test_the_command(path: Path) -> None:
    runner = CliRunner()
    done = runner.invoke(
        command, [str(path), "--decoder", "dpkt", "--json", "--filter", "tcp.len > 0"]
    )
    assert done.exit_code == 0
    found = json.loads(done.stdout)
    assert found["total"] == len(found["rows"]) > 30
    assert found["rows"][0]["tcp"]["seq"] == 1
    saved = path.with_name("some.pcapng")
    runner.invoke(
        command,
        [str(path), "--decoder", "dpkt", "--filter", "frame.number < 4", "--save", str(saved)],
    )
    assert len(list(frames_of(open_capture(saved)))) == 3
    streams = runner.invoke(command, [str(path), "--decoder", "dpkt", "--streams"])
    assert "10.0.0.1:40000" in streams.stdout


def segment(
    time_ms: float, seq: int, *, payload: int = 0, flags: int = ACK, ack: int = 0
) -> Segment:
    return Segment(
        time_ns=round(time_ms * 1e6),
        seq=seq % 2**32,
        ack=ack,
        flags=flags,
        payload=payload,
        window=100,
    )


def test_numbers_wrap_round() -> None:
    assert after(5, 2**32 - 5) == 10
    stream = Stream()
    start = 2**32 - 100
    assert stream.take(0, segment(0, start, flags=SYN)).seq == 0
    assert stream.take(0, segment(1, start + 1, payload=200)).seq == 1
    last = stream.take(0, segment(2, start + 201, payload=100))
    assert (last.seq, last.marks) == (201, [])
    assert stream.take(0, segment(3, start + 1, payload=200)).marks == ["retransmission"]
