"""Links that follow traces: what a study says, what becomes of it, and what is refused where."""

from __future__ import annotations

from pathlib import Path

import pytest

from longfat.engine.kernel import Kernel
from longfat.execution import run_case
from longfat.execution.compile import compile_job
from longfat.live import Network
from longfat.model.case import Case
from longfat.model.flow_path.setting_warnings import setting_warnings
from longfat.study.formats.write import study_text
from tests.study.messages import error, read

HEAD = """\
title: A study
network:
  hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8}
  switches: [s1]
"""
FLOWS = """\
flows:
  bulk: {iperf3: h1 -> h2, time: 4s}
"""


def case_of(link: str, folder: Path, *, more: str = "") -> Case:
    text = f"{HEAD}  links: [[h1, s1], [s1, h2, {link}]]\n{FLOWS}{more}"
    return read(text, folder).cases["default"].case


def wrong(link: str, folder: Path, *, more: str = "") -> tuple[str, str]:
    return error(f"{HEAD}  links: [[h1, s1], [s1, h2, {link}]]\n{FLOWS}{more}", folder)


def test_the_cases_of_a_grid_have_their_traces(tmp_path: Path) -> None:
    (tmp_path / "up.trace").write_text("1\n2\n")
    (tmp_path / "down.trace").write_text("3\n")
    text = f"{HEAD}  links: [[h1, s1], [s1, h2, {{trace: $<which>}}]]\n{FLOWS}"
    found = read(f"{text}grid: {{which: [up.trace, down.trace]}}\n", tmp_path).cases.values()
    assert [one.case.files[0].content for one in found] == [b"1\n2\n", b"3\n"]
    message = "there is no such file"
    assert message in error(f"{text}grid: {{which: [up.trace, none.trace]}}\n", tmp_path)[1]


@pytest.mark.parametrize(("first", "is_reported"), [("12.5", True), ("0", False)])
def test_a_table_that_begins_later_is_reported(
    first: str, is_reported: bool, tmp_path: Path
) -> None:
    (tmp_path / "late.csv").write_text(f"time_s,rate_mbps\n{first},10\n20,5\n")
    warnings = [text for _, text in setting_warnings(case_of("{trace: late.csv}", tmp_path))]
    assert any("trace late.csv is at 12.5 s" in text for text in warnings) == is_reported


def test_a_trace_beside_the_study_goes_into_the_case(tmp_path: Path) -> None:
    (tmp_path / "up.trace").write_text("1\n2\n")
    case = case_of("{delay: 5ms, to: {h2: {trace: up.trace, qdisc: codel}}}", tmp_path)
    (file,) = case.files
    assert (file.path, file.content) == ("/opt/traces/up.trace", b"1\n2\n")
    job = compile_job(case)
    lines = [
        line for batch in job["network"] if batch["program"] == "tc" for line in batch["lines"]
    ]
    assert [line.split(" dev ")[1] for line in lines if "s1-eth2" in line] == [
        "s1-eth2 root handle 1: netem limit 1000000000 delay 5ms",
        "s1-eth2 parent 1: handle 2: trace",
        "s1-eth2 parent 2:1 handle 3: codel",
    ]
    (order,) = job["traces"]
    assert order == {
        "node": "root",
        "order": "s1-eth2 2 /run/traces/s1-eth2",
        "control": "/proc/net/trace_qdisc",
    }
    assert job["files"][1]["text"].startswith("opportunities repeat -10 2000000\n")
    # Another content is another case.
    (tmp_path / "up.trace").write_text("1\n3\n")
    other = case_of("{delay: 5ms, to: {h2: {trace: up.trace, qdisc: codel}}}", tmp_path)
    assert other.digest != case.digest


def test_it_is_written_again_as_it_was(tmp_path: Path) -> None:
    case = case_of("{trace: lte-like, trace_once: yes, queue: 100kB}", tmp_path)
    text = study_text(title="A study", case=case)
    assert "trace: lte-like" in text
    assert read(text, tmp_path).cases["default"].case == case


@pytest.mark.parametrize(
    ("link", "words"),
    [
        ("{trace: no.trace}", "'no.trace' cannot be read: there is no such file"),
        ("{trace: /opt/mine}", "the trace /opt/mine is not among the files of the machine"),
        ("{trace: bad.trace}", "line 2 of this trace goes back in time, from 5 to 3 ms"),
        ("{trace: lte-like, rate: 1mbit}", "a trace sets the rate itself"),
        ("{trace_once: yes}", "there is no trace that is played once"),
        ("{trace: lte-like, queue: 1kB}", "1024 bytes hold no full packet"),
    ],
)
def test_what_cannot_be_is_refused_where_it_is_written(
    tmp_path: Path, link: str, words: str
) -> None:
    (tmp_path / "bad.trace").write_text("5\n3\n")
    place, said = wrong(link, tmp_path)
    assert words in said
    assert place.startswith("5:")


@pytest.mark.parametrize(
    ("event", "words"),
    [
        ("{at: 1s, link: [s1, h2], trace: lte-like}", "a trace begins with the traffic"),
        ("{at: 1s, link: [s1, h2], delay: 9ms}", "s1-eth2 follows a trace"),
    ],
)
def test_events_begin_and_end_no_trace(tmp_path: Path, event: str, words: str) -> None:
    link = "{to: {h2: {trace: lte-like}}}"
    assert words in wrong(link, tmp_path, more=f"events: [{event}]\n")[1]


def test_an_event_changes_the_delay_above_a_trace(tmp_path: Path) -> None:
    more = "events: [{at: 1s, link: [s1, h2], delay: 9ms}]\n"
    case = case_of("{delay: 5ms, to: {h2: {trace: lte-like}}}", tmp_path, more=more)
    lines = [line["line"] for step in compile_job(case)["events"] for line in step["lines"]]
    assert lines[0].startswith("tc qdisc change dev s1-eth2 root handle 1: netem")


def test_a_run_follows_its_trace_and_repeats(tmp_path: Path, kernel: Kernel) -> None:
    # 200 moments of 1,504 bytes a second, a fourth of them in the second half of each second.
    early, late = range(0, 500, 3), range(500, 1000, 15)
    moments = [*early, *late, 1000]
    (tmp_path / "slow.trace").write_text("".join(f"{ms}\n" for ms in moments))
    link = "{delay: 5ms, to: {h2: {trace: slow.trace, queue: 30kB}}}"
    probes = "probes: {q: {kind: queue, of: s1-eth2, every: 10ms}}\n"
    plain, probed = case_of(link, tmp_path), case_of(link, tmp_path, more=probes)
    runs = [
        run_case(case, name=name, out=tmp_path / name, kernel=kernel)
        for name, case in (("a", plain), ("b", plain), ("probed", probed))
    ]
    assert runs[0].digest == runs[1].digest
    outputs = [(run.folder / "raw/bulk.client.json").read_bytes() for run in runs]
    assert outputs[0] == outputs[2]
    goodput = runs[0].metrics["bulk.receiver_bps"]
    # A moment carries a packet of 1,448 bytes of data.
    assert goodput == pytest.approx(len(moments) * 1448 * 8, rel=0.05)
    assert (
        "echo s1-eth2 2 /run/traces/s1-eth2 > /proc/net/trace_qdisc"
        in (runs[0].folder / "commands.sh").read_text()
    )


def test_a_live_network_follows_one_from_when_it_is_built(tmp_path: Path, kernel: Kernel) -> None:
    (tmp_path / "up.trace").write_text("10\n")
    with Network(kernel=kernel.series) as net:
        h1, h2 = net.host("h1"), net.host("h2")
        net.link(h1, h2, delay="1ms", trace=str(tmp_path / "up.trace"))
        said = h1.run("ping -c 5 -i 0.1 10.0.0.2", check=True).stdout
        net.save(tmp_path / "saved.yaml")
    assert "5 received" in said
    # One moment in 10 ms each way: 2 ms and up to 20 of waiting.
    assert 10.0 < float(said.split(" = ")[1].split("/")[1]) < 25.0
    assert "/opt/traces/up.trace" in (tmp_path / "saved.yaml").read_text()
