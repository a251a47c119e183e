"""Reports of iperf3 3.12 on a loopback interface, and files that are no reports."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longfat.errors import InputError
from longfat.model.traffic.iperf3_any import read_any_report
from tests.paths import TESTS

DATA = TESTS / "data" / "iperf3"
TCP = (DATA / "tcp.json").read_text()


def test_every_kind_of_test_is_read() -> None:
    streams = {
        "tcp": 1,
        "parallel": 4,
        "udp": 1,
        "udp-reverse": 1,
        "reverse": 1,
        "bidir": 4,
        "fine": 1,
        "omit": 1,
        "interrupted": 1,
    }
    for name, count in streams.items():
        report = read_any_report(DATA / f"{name}.json")
        assert len(report.streams) == count
        assert report.version == "iperf 3.12"
        assert bool(report.broken) == (name == "interrupted")


def test_what_a_row_of_tcp_tells() -> None:
    ((row, *_),) = read_any_report(DATA / "tcp.json").streams
    message = json.loads(TCP)["intervals"][0]["streams"][0]
    assert row.bytes == message["bytes"]
    assert row.rtt_s == message["rtt"] / 1e6
    assert row.rttvar_s == message["rttvar"] / 1e6
    assert row.pmtu_bytes == 65535
    assert row.sender
    assert row.jitter_s is None


def test_what_a_row_of_received_udp_tells() -> None:
    ((row, *_),) = read_any_report(DATA / "udp-reverse.json").streams
    assert not row.sender
    assert row.jitter_s == pytest.approx(8.6357e-6, rel=1e-3)
    assert row.lost_packets == 0
    assert row.rtt_s is row.cwnd_bytes is row.retransmits is None


def test_a_row_of_an_old_version_may_lack_what_came_later(tmp_path: Path) -> None:
    data = json.loads(TCP)
    for interval in data["intervals"]:
        for row in interval["streams"]:
            for name in ("rtt", "rttvar", "pmtu", "snd_wnd", "snd_cwnd", "omitted", "sender"):
                row.pop(name)
    (tmp_path / "old.json").write_text(json.dumps(data))
    ((row, *_),) = read_any_report(tmp_path / "old.json").streams
    assert row.bps > 1e8
    assert row.rtt_s is None
    assert not row.omitted


def test_json_stream_is_the_same_report(tmp_path: Path) -> None:
    data = json.loads(TCP)
    events = [("start", data["start"])]
    events += [("interval", interval) for interval in data["intervals"]]
    events += [("end", data["end"])]
    lines = [json.dumps({"event": event, "data": body}) for event, body in events]
    path = tmp_path / "stream.json"
    path.write_text("\n".join(lines) + "\n")
    assert read_any_report(path).streams == read_any_report(DATA / "tcp.json").streams
    path.write_text("\n\n".join(["$ iperf3 -c h2 --json-stream", *lines, ""]))
    assert read_any_report(path).streams == read_any_report(DATA / "tcp.json").streams
    path.write_text("\n".join([*lines, *lines]))
    with pytest.raises(InputError, match=rf"stream\.json:{len(lines) + 1}: several reports"):
        read_any_report(path)
    path.write_text("\n".join([*lines[:3], "{}", lines[3]]))
    with pytest.raises(InputError, match=r"stream\.json:4: not an event"):
        read_any_report(path)
    path.write_text("\n".join(lines[:4])[:-9])
    cut = read_any_report(path)
    assert len(cut.streams[0]) == 2
    assert cut.broken == "the file is cut off in line 4"
    path.write_text('{"event":"error","data":"unable to connect to server: Connection refused"}\n')
    with pytest.raises(InputError, match=r"the test failed.*Connection refused"):
        read_any_report(path)


@pytest.mark.parametrize("before", ["", "warning: Ignoring nonsense\n\n"])
@pytest.mark.parametrize("behind", ["", "\niperf Done.\n", "iperf3: interrupt"])
def test_other_text_in_the_file_is_passed_over(tmp_path: Path, before: str, behind: str) -> None:
    path = tmp_path / "out.json"
    path.write_text(before + TCP + behind)
    assert read_any_report(path).streams == read_any_report(DATA / "tcp.json").streams


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "an empty file"),
        (" \n", "an empty file"),
        (TCP[:900], "cut off at its end"),
        (TCP[:-4], "cut off at its end"),
        (TCP[: TCP.index('"bits_per_second"') + 6], "cut off at its end"),
        ('{"error": "the server is busy"}', "the test failed, and there is nothing to draw: the s"),
        ('{"a": 1}', "not iperf3's: an object with 'a'"),
        ("{}", "not iperf3's: an empty object"),
        ("[1, 2]", "not iperf3's: a list"),
        ("null", "not iperf3's: null"),
        ("3", "not iperf3's: a number"),
        ("Connecting to host 10.0.0.2, port 5201\n", "iperf3's output for people"),
        ("[ ID] Interval", "broken JSON: "),
        ("hello", "not JSON: it starts with 'hello'"),
        ("x" * 100, "it starts with 'xxxx"),
        (TCP + TCP, "several reports, one behind the other"),
        (f"iperf3: error - {'x' * 60} refused\n", "refused'"),
        ('{"start": {}, "intervals": [], "end": {}}', "without any interval"),
        ('{"intervals": [{"streams": [{"socket": 1}]}]}', "[0].streams[0].start: is missing"),
        ('{"intervals": [{"streams": {}}], "start": 3}', "[0].streams: found an empty object"),
        (TCP.replace('"snd_cwnd":\t', '"snd_cwnd": "x", "no":'), "snd_cwnd: found the text 'x'"),
        (TCP.replace('"rtt":\t', '"rtt": NaN, "no":'), "rtt: found nan"),
        (TCP.replace('"end":\t', '"end": -1, "no":'), "before its start"),
        (TCP.replace('"omitted":\tfalse', '"omitted":\ttrue'), "all its intervals are omitted"),
        ("[" * 100_000, "nested too deep"),
    ],
)
def test_what_is_no_report_is_reported(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "out.json"
    path.write_text(content)
    with pytest.raises(InputError) as caught:
        read_any_report(path)
    assert str(caught.value).startswith(str(path))
    assert message in str(caught.value)


def test_what_is_no_text_file_is_reported(tmp_path: Path) -> None:
    (tmp_path / "binary").write_bytes(b"\x7fELF\x02\x01\x01\x00")
    (tmp_path / "zeros").write_bytes(bytes(100))
    for name, message in (
        ("binary", "binary data"),
        ("zeros", "binary data"),
        ("none", "no such file"),
        ("", "a directory"),
    ):
        with pytest.raises(InputError, match=message):
            read_any_report(tmp_path / name)


def test_a_failed_test_tells_why() -> None:
    with pytest.raises(InputError, match=r"refused\.json: the test failed.*Connection refused"):
        read_any_report(DATA / "refused.json")
    with pytest.raises(InputError, match="several reports"):
        read_any_report(DATA / "two-tests.json")
    assert "interrupt" in read_any_report(DATA / "interrupted.json").broken


def _mutated(draw: Any, value: Any) -> Any:
    junk: st.SearchStrategy[Any] = st.one_of(
        st.none(), st.integers(), st.text(max_size=3), st.just([]), st.just({}), st.floats()
    )
    if isinstance(value, dict) and value and draw(st.integers(0, 9)):
        key = draw(st.sampled_from(sorted(value)))
        if draw(st.integers(0, 3)) == 0:
            return {k: v for k, v in value.items() if k != key}
        return {**value, key: _mutated(draw, value[key])}
    if isinstance(value, list) and value and draw(st.integers(0, 9)):
        place = draw(st.integers(0, len(value) - 1))
        return [*value[:place], _mutated(draw, value[place]), *value[place + 1 :]]
    return draw(junk)


@given(st.data())
def test_a_broken_report_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    path = tmp_path_factory.getbasetemp() / "mutant.json"
    path.write_text(json.dumps(_mutated(data.draw, json.loads(TCP))))
    try:
        report = read_any_report(path)
    except InputError as error:
        assert str(path) in str(error)
    else:
        assert all(row.end_s >= row.start_s for stream in report.streams for row in stream)


@given(st.integers(0, len(TCP.strip()) - 1))
def test_every_cut_is_refused(tmp_path_factory: pytest.TempPathFactory, size: int) -> None:
    path = tmp_path_factory.getbasetemp() / "cut.json"
    path.write_text(TCP[:size])
    with pytest.raises(InputError, match=r"cut off at its end|an empty file"):
        read_any_report(path)
