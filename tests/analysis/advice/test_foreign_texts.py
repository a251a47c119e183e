"""Any text and any bytes give a diagnosis or a message, and lines of ss are read in all forms."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from longfat.analysis.advice.foreign.detect import diagnose_file, diagnose_files
from longfat.analysis.advice.foreign.foreign_diagnosis import ForeignDiagnosis
from longfat.analysis.advice.foreign.socket_text import read_sockets
from longfat.analysis.advice.foreign.sockets import diagnose_socket
from longfat.analysis.advice.root_cause import RootCause
from longfat.errors import InputError
from tests.paths import TESTS

HEAD = "ESTAB 0 500000 10.0.0.1:40000 10.0.0.2:5201\n\t "
LINE = (
    "cubic wscale:7,7 rto:240 rtt:40/0.5 mss:1448 pmtu:1500 cwnd:100 ssthresh:80 "
    "bytes_sent:9000000 bytes_acked:8900000 segs_out:6300 data_segs_out:6300 send 28960000bps "
    "lastsnd:4 lastack:4 pacing_rate 34752000bps delivery_rate 28000000bps busy:3000ms "
    "unacked:90 notsent:300000 minrtt:39.9"
)
WORDS = (
    *LINE.split(),
    *(
        "ESTAB",
        "0",
        "10.0.0.1:1",
        "[::1]:2",
        "*:*",
        "LISTEN",
        "skmem:(r1,rb2,t3,tb4,f5,w6,o7,bl8,d9)",
    ),
    *("timer:(on,1.2sec,3)", 'users:(("x",pid=1,fd=2))', "bbr:(bw:1bps,mrtt:2)", "rtt:/", "mss:0"),
    *("rwnd_limited:99999999999ms(98.8%)", "cwnd:0", "pacing_rate", "wscale:99,99", "backoff:3"),
    *("busy:0ms", "minrtt:0", "rtt:0/0", "unacked:999999999999999999", "app_limited", "\n", "\t"),
)


def diagnose(text: str) -> ForeignDiagnosis:
    (states,) = read_sockets(text)
    return diagnose_socket(states, files=("ss",))


def causes(text: str) -> list[RootCause]:
    return [finding.cause for finding in diagnose(text).findings]


@pytest.mark.parametrize(
    ("change", "cause"),
    [
        (("notsent:300000", "notsent:300000 rwnd_limited:2700ms(90.0%)"), RootCause.RECEIVE_WINDOW),
        (
            ("busy:3000ms", "busy:3000ms sndbuf_limited:2400ms(80.0%)"),
            RootCause.SEND_BUFFER,
        ),
        ((" wscale:7,7", ""), RootCause.NO_WINDOW_SCALING),
        (("wscale:7,7", "wscale:0,7"), RootCause.NO_WINDOW_SCALING),
        (("minrtt:39.9", "minrtt:10"), RootCause.STANDING_QUEUE),
        (("busy", "retrans:0/1234 busy"), RootCause.RANDOM_LOSS),
        (("busy", "retrans:0/1234 dsack_dups:1200 reord_seen:40 busy"), RootCause.REORDERING),
        (("rto:240", "rto:1920 backoff:3"), RootCause.TIMEOUTS),
        (
            ("pacing_rate 34752000bps", "pacing_rate 28960000bps/28960000bps"),
            RootCause.SENDER_SHAPER,
        ),
        (("unacked:90", "unacked:20"), RootCause.SENDER_SHAPER),
        (("unacked:90 notsent:300000", "unacked:2 notsent:200"), RootCause.SMALL_WRITES),
        (("cubic", "bbr"), RootCause.MODEL),
    ],
)
def test_each_sign_of_a_socket_has_its_cause(change: tuple[str, str], cause: RootCause) -> None:
    line = LINE.replace(*change)
    assert line != LINE
    assert causes(HEAD + line)[0] is cause


def test_an_open_connection_without_data_waits_for_its_programs() -> None:
    line = (
        "cubic wscale:7,7 rto:204 rtt:0.1/0.1 mss:1448 cwnd:10 segs_out:2 segs_in:1 bytes_acked:1"
    )
    found = diagnose("ESTAB 0 0 10.0.0.1:40000 10.0.0.2:80\n " + line)
    assert found.findings[0].cause is RootCause.APPLICATION
    assert "neither end has sent any data" in found.verdict


def test_data_that_nothing_acknowledges_are_probably_too_big() -> None:
    line = (
        "cubic wscale:7,7 rto:1632 backoff:3 rtt:40/20 mss:1448 cwnd:1 ssthresh:7 bytes_sent:18824"
        " bytes_retrans:4344 segs_out:15 segs_in:2 data_segs_out:13 lastsnd:900 lastack:3400"
        " busy:3400ms unacked:10 retrans:1/3 lost:10 notsent:40000 minrtt:40"
    )
    found = diagnose(HEAD + line)
    assert found.findings[0].cause is RootCause.MTU_BLACK_HOLE
    assert found.findings[1].cause is RootCause.TIMEOUTS


def test_a_full_receive_buffer_is_a_slow_reader() -> None:
    found = diagnose(
        "ESTAB 5900000 0 10.0.0.2:5201 10.0.0.1:40000\n"
        " skmem:(r6200000,rb6291456,t0,tb87040,f0,w0,o0,bl0,d7) cubic wscale:7,7 rto:204"
        " rtt:0.1/0.1 mss:1448 cwnd:10 bytes_received:90000000 segs_in:60000 rcv_rtt:40"
    )
    assert found.findings[0].cause is RootCause.RECEIVE_WINDOW
    assert "reads too slowly" in found.verdict
    assert found.is_certain


def test_the_receiver_explains_what_the_sender_sees(tmp_path: Path) -> None:
    sender, receiver = tmp_path / "sender", tmp_path / "receiver"
    limited = LINE.replace("notsent", "rwnd_limited:2970ms(99.0%) notsent")
    sender.write_text(HEAD + limited)
    receiver.write_text(
        "ESTAB 5900000 0 [::ffff:10.0.0.2]:5201 [::ffff:10.0.0.1]:40000\n"
        " skmem:(r6200000,rb6291456,t0,tb87040,f0,w0,o0,bl0,d0) cubic wscale:7,7 rto:204"
        " rtt:0.1/0.1 mss:1448 cwnd:10 bytes_received:8900000 segs_in:6300"
    )
    for files in ([sender, receiver], [receiver, sender]):
        (found,) = diagnose_files(files)
        assert found.findings[0].share == pytest.approx(0.99)
        assert "reads too slowly" in found.verdict


def test_small_segments_are_noted() -> None:
    found = diagnose(HEAD + LINE.replace("mss:1448", "mss:536"))
    assert any("536 bytes" in note for note in found.notes)


FORMS = [
    HEAD + LINE,
    "State Recv-Q Send-Q Local Address:Port Peer Address:Port Process\n" + HEAD + LINE,
    "Netid State Recv-Q Send-Q Local Address:Port Peer Address:Port\ntcp " + HEAD + LINE,
    (HEAD + LINE).replace("\n\t", " "),  # ss -O
    HEAD.replace("\n", ' users:(("iperf3",pid=12,fd=5)) timer:(on,204ms,0)\n') + LINE,
    HEAD.replace("10.0.0.1", "[::ffff:10.0.0.1]").replace("10.0.0.2", "[fe80::1]%eth0") + LINE,
    HEAD.replace("10.0.0.1:", "10.0.0.1%eth0:") + LINE,
    LINE,
    HEAD + "skmem:(r0,rb131072,t0,tb4194304,f0,w2000000,o0,bl0,d0) ts sack " + LINE,
    # Before 4.20 ss wrote rates with a prefix.
    HEAD + LINE.replace("28000000bps", "28.0Mbps").replace("34752000bps", "34.8Mbps"),
    (HEAD + LINE).replace(" ", "   ").replace("\n", "\r\n"),
]


@pytest.mark.parametrize("text", FORMS)
def test_all_forms_of_the_output_are_read(text: str) -> None:
    ((state,),) = read_sockets(text)
    assert state.congestion == "cubic"
    assert state.scales == (7, 7)
    assert state.get("rtt") == 0.040
    assert state.get("minrtt") == 0.0399
    assert state.get("busy") == 3
    assert state.get("delivery_rate") == pytest.approx(28e6)


def test_the_growth_between_two_times_counts() -> None:
    second = (
        LINE.replace("busy:3000ms", "busy:5000ms rwnd_limited:2000ms(40.0%)")
        .replace("bytes_acked:8900000", "bytes_acked:15000000")
        .replace("notsent", "retrans:0/0 notsent")
    )
    found = diagnose(f"{HEAD}{LINE}\n{HEAD}{second}\n")
    assert found.findings[0].cause is RootCause.RECEIVE_WINDOW
    assert "100 %" in found.verdict
    assert found.duration_s == 2


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(WORDS), max_size=60))
def test_any_words_of_ss_give_a_diagnosis(words: list[str]) -> None:
    for text in (" ".join(words), HEAD + " ".join(words)):
        for states in read_sockets(text):
            found = diagnose_socket(states, files=("ss",))
            assert found.verdict
            assert all(0 <= one.share <= 1 for one in found.findings)


@settings(
    max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.one_of(st.binary(max_size=300), st.text(max_size=300).map(str.encode)))
def test_any_content_of_a_file_gives_a_message(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    try:
        diagnose_file(path)
    except InputError as error:
        assert error.message.startswith(str(path))


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_a_broken_capture_or_report_gives_a_message(tmp_path: Path, data: st.DataObject) -> None:
    names = ("captures/nagle.pcap", "captures/refused.pcap", "iperf3/rwnd.json", "sockets/rwnd.txt")
    name = data.draw(st.sampled_from(names))
    content = bytearray((TESTS / "data" / "foreign" / name).read_bytes())
    for _ in range(data.draw(st.integers(1, 20))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path / "file"
    path.write_bytes(content[: data.draw(st.integers(1, len(content)))])
    try:
        for found in diagnose_file(path):
            assert found.verdict
    except InputError as error:
        assert str(path) in error.message


# Figures of a public report: a television that has closed its window and does not open it again.
CLOSED = """\
ESTAB 0 3899264 192.0.2.1:32400 198.51.100.7:51234 timer:(persist,1min13sec,9)
\t bbr wscale:7,7 rto:220 backoff:9 rtt:11.2/4.1 mss:1448 cwnd:346 ssthresh:140 \
bytes_sent:157091065 bytes_acked:157090033 busy:153480ms rwnd_limited:146880ms(95.7%) \
retrans:0/1 notsent:3899264 minrtt:2.1
"""


def test_probes_of_a_closed_window_are_no_retransmission_timeouts(tmp_path: Path) -> None:
    path = tmp_path / "sockets.txt"
    path.write_text(CLOSED)
    (found,) = diagnose_file(path)
    assert [finding.cause for finding in found.findings] == [RootCause.RECEIVE_WINDOW]
