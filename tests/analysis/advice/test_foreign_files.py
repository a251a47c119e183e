"""Diagnoses of files from real machines in which one thing is wrong, and of public output.

The files were made in machines of longfat with real iperf3, ss and tcpdump: two hosts and a router,
40 ms of RTT, 10 or 100 Mbit/s, and the problem that the name says.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from longfat.analysis.advice.foreign.detect import diagnose_file, diagnose_files
from longfat.analysis.advice.foreign.foreign_diagnosis import ForeignDiagnosis
from longfat.analysis.advice.root_cause import RootCause
from longfat.errors import InputError
from tests.paths import TESTS

FOLDER = TESTS / "data" / "foreign"
RTT_S = 0.040


def first(name: str) -> ForeignDiagnosis:
    return diagnose_file(FOLDER / name)[0]


@pytest.mark.parametrize(
    ("name", "cause"),
    [
        ("iperf3/london-sydney.json", RootCause.RECEIVE_WINDOW),
        ("iperf3/rwnd.json", RootCause.RECEIVE_WINDOW),
        # Figures of a public report: 23 retransmissions, and a congestion window that stays.
        ("iperf3/window-despite-losses.json", RootCause.RECEIVE_WINDOW),
        ("iperf3/noscale.json", RootCause.NO_WINDOW_SCALING),
        ("iperf3/applimit.json", RootCause.APPLICATION),
        ("iperf3/blackhole.json", RootCause.MTU_BLACK_HOLE),
        ("iperf3/outage.json", RootCause.OUTAGE),
        ("iperf3/policer.json", RootCause.POLICER),
        ("iperf3/queue.json", RootCause.FULL_LINK),
        ("iperf3/loss.json", RootCause.RANDOM_LOSS),
        ("iperf3/startup.json", RootCause.START_UP),
        ("iperf3/shaper.json", RootCause.UNKNOWN),
        ("sockets/rwnd.txt", RootCause.RECEIVE_WINDOW),
        ("sockets/slow-reader.txt", RootCause.RECEIVE_WINDOW),
        ("sockets/noscale.txt", RootCause.NO_WINDOW_SCALING),
        ("sockets/sndbuf.txt", RootCause.SEND_BUFFER),
        ("sockets/shaper.txt", RootCause.SENDER_SHAPER),
        ("sockets/nagle.txt", RootCause.SMALL_WRITES),
        ("sockets/blackhole.txt", RootCause.MTU_BLACK_HOLE),
        ("sockets/queue.txt", RootCause.STANDING_QUEUE),
        ("sockets/reorder.txt", RootCause.REORDERING),
        ("sockets/loss.txt", RootCause.RANDOM_LOSS),
        ("sockets/synfw.txt", RootCause.FIREWALL),
        ("captures/receive-window.pcap", RootCause.RECEIVE_WINDOW),
        ("captures/receive-window-at-receiver.pcap", RootCause.RECEIVE_WINDOW),
        ("captures/slow-reader.pcap", RootCause.RECEIVE_WINDOW),
        ("captures/no-scaling.pcap", RootCause.NO_WINDOW_SCALING),
        ("captures/black-hole.pcap", RootCause.MTU_BLACK_HOLE),
        ("captures/nagle.pcap", RootCause.SMALL_WRITES),
        ("captures/nagle-at-receiver.pcap", RootCause.SMALL_WRITES),
        ("captures/policer.pcap", RootCause.POLICER),
        ("captures/loss.pcap", RootCause.RANDOM_LOSS),
        ("captures/short-queue.pcap", RootCause.SHORT_QUEUE),
        ("captures/queue.pcap", RootCause.STANDING_QUEUE),
        ("captures/reordering-at-receiver.pcap", RootCause.REORDERING),
        ("captures/shaper.pcap", RootCause.SENDER_SHAPER),
        ("captures/start-up.pcap", RootCause.START_UP),
        ("captures/outage.pcap", RootCause.OUTAGE),
        ("captures/own-rate.pcap", RootCause.APPLICATION),
        ("captures/no-answer.pcap", RootCause.FIREWALL),
        ("captures/refused.pcap", RootCause.FIREWALL),
    ],
)
def test_the_first_cause_is_what_was_built_in(name: str, cause: RootCause) -> None:
    diagnosis = first(name)
    assert diagnosis.findings[0].cause is cause
    assert diagnosis.verdict
    assert diagnosis.findings[0].remedy.words


def test_acks_that_wait_on_the_way_back_are_told_from_a_queue_ahead() -> None:
    upload = {each.flow: each for each in diagnose_file(FOLDER / "captures/way-back.pcap")}
    (flow,) = [each for name, each in upload.items() if name.endswith("10.0.2.2:5201")]
    assert flow.findings[0].cause is RootCause.ACK_PATH
    assert flow.is_certain


def test_london_to_sydney_is_limited_by_half_of_the_default_buffer(tmp_path: Path) -> None:
    source = (FOLDER / "iperf3/london-sydney.json").read_text()
    diagnosis = first("iperf3/london-sydney.json")
    assert diagnosis.is_certain  # this version reports the receiver's window
    # Older ones do not: the size is recognised.
    report = json.loads(source)
    for interval in report["intervals"]:
        for stream in interval["streams"]:
            del stream["snd_wnd"]
    older = tmp_path / "older.json"
    older.write_text(json.dumps(report))
    (diagnosis,) = diagnose_file(older)
    finding = diagnosis.findings[0]
    assert finding.cause is RootCause.RECEIVE_WINDOW
    assert not diagnosis.is_certain
    for part in ("half of tcp_rmem's default maximum (6 MB)", "before 6.6", "cwnd is above it"):
        assert part in finding.sentence
    assert finding.remedy.lines[0].text.startswith("sysctl -w net.ipv4.tcp_rmem=")
    assert any("receiver's window" in remark for remark in diagnosis.unknown)


def test_the_kernel_s_clock_says_it_itself() -> None:
    found = {each.flow: each for each in diagnose_file(FOLDER / "sockets/public.txt")}
    limited = found["10.0.1.29:42314 -> 10.0.1.37:5201"]
    assert limited.findings[0].cause is RootCause.RECEIVE_WINDOW
    assert limited.is_certain
    assert "98.8 %" in limited.verdict
    spurious = found["10.0.1.29:22 -> 73.231.248.16:49724"]
    assert spurious.findings[0].cause is RootCause.REORDERING
    assert "639 of 641 retransmissions" in spurious.verdict
    both = found["192.168.1.7:20880 -> 192.168.1.5:60760"]
    assert [each.cause for each in both.findings[:2]] == [
        RootCause.SEND_BUFFER,
        RootCause.RECEIVE_WINDOW,
    ]


@pytest.mark.parametrize(
    ("name", "side"),
    [
        ("captures/receive-window.pcap", "near the sender"),
        ("captures/receive-window-at-receiver.pcap", "near the receiver"),
    ],
)
def test_the_handshake_shows_the_side_and_the_rtt(name: str, side: str) -> None:
    diagnosis = first(name)
    assert side in diagnosis.title
    rtt = {fact.key: fact.value for fact in diagnosis.facts}["min_rtt_s"]
    assert rtt == pytest.approx(RTT_S, rel=0.02)


def test_without_the_syn_packets_the_window_is_not_known(tmp_path: Path) -> None:
    packets = (FOLDER / "captures/receive-window.pcap").read_bytes()
    # A pcap file: a head of 24 bytes, and for each packet its length behind the time.
    position, kept = 24, [packets[:24]]
    number = 0
    while position < len(packets):
        size = int.from_bytes(packets[position + 8 : position + 12], "little")
        number += 1
        if number > 60:
            kept.append(packets[position : position + 16 + size])
        position += 16 + size
    cut = tmp_path / "cut.pcap"
    cut.write_bytes(b"".join(kept))
    diagnosis = diagnose_file(cut)[0]
    assert diagnosis.findings[0].cause is not RootCause.NO_WINDOW_SCALING
    assert any("SYN packets are not in" in remark for remark in diagnosis.unknown)


def test_files_of_one_connection_are_combined() -> None:
    names = ("iperf3/rwnd.json", "sockets/rwnd.txt", "captures/receive-window.pcap")
    found = diagnose_files([FOLDER / name for name in names])
    together = [each for each in found if len(each.files) == 3]
    assert len(together) == 1
    assert together[0].findings[0].cause is RootCause.RECEIVE_WINDOW
    assert together[0].is_certain


def test_the_receiving_end_asks_for_the_sending_one() -> None:
    diagnosis = first("iperf3/queue-server.json")
    assert diagnosis.findings[0].cause is RootCause.UNKNOWN
    assert any("end that sent" in remark for remark in diagnosis.unknown)


def test_json_has_the_form_of_a_diagnosis_of_a_run() -> None:
    data = first("captures/black-hole.pcap").to_json()
    for key in ("flow", "title", "certain", "limit", "duration_s", "verdict", "evidence", "help"):
        assert key in data
    assert data["causes"][0]["cause"] == "MTU black hole"
    assert data["lines"][0]["text"] == "sysctl -w net.ipv4.tcp_mtu_probing=1"
    json.dumps(data)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "an empty file"),
        (b"   \n", "an empty file"),
        (b"\x7fELF\0\0\0", "binary data"),
        (b"\x1f\x8b\x08\0", "compressed by gzip: unpack it first"),
        (b"hello", "not known what this is"),
        (b"Connecting to host 10.0.0.2, port 5201\n", "run it with -J"),
        (b"State Recv-Q Send-Q Local Address:Port\n", "while the transfer runs"),
        (b"ESTAB 0 0 10.0.0.1:22 10.0.0.2:5000\n", "run `ss -tinm`"),
        (b"64 bytes from 10.0.0.2: icmp_seq=1 ttl=64 time=1 ms", "the output of ping"),
        (b'{"a": 1}', "JSON, but not iperf3's"),
        (b"\xd4\xc3\xb2\xa1", "no whole capture"),
    ],
)
def test_what_is_none_of_them_is_named(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        diagnose_file(path)
    assert message in caught.value.message
    assert str(path) in caught.value.message


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file or run"):
        diagnose_file(tmp_path / "nothing")
    with pytest.raises(InputError, match="a directory, but not of a run"):
        diagnose_file(tmp_path)
