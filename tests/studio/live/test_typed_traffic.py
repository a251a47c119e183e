"""Traffic that is typed at terminals becomes runs, named by what was changed before each."""

from __future__ import annotations

from pathlib import Path

import pytest

from longfat.analysis.advice.diagnosis import diagnose
from longfat.execution import Batch, run_batches
from longfat.execution.runs import Run, load_run
from longfat.studio.live.history import History
from longfat.studio.live.terminals import Typed
from longfat.studio.live.typed_traffic import is_in_background, typed_flow
from longfat.study.read import parse_study
from tests.studio.live.conftest import STUDY, MakePage, Page

NETWORK = parse_study(STUDY, name="small").cases["default"].case.network


@pytest.mark.parametrize(
    ("node", "line", "name"),
    [
        ("h1", "iperf3 -c 10.0.0.2 -t 3", "iperf3-h1-h2"),
        ("h1", "iperf3 -t 3 -c h2 -J > out.json", "iperf3-h1-h2"),
        ("h1", "time ping -c 3 h2", "ping-h1-h2"),
        ("root", "h1 ping -c 3 h2", "ping-h1-h2"),
        ("h1", "curl http://10.0.0.2:8000/x", "curl-h1-h2"),
        ("h2", "iperf3 -s", None),
        ("h1", "ping -c 3 10.9.9.9", None),
        ("h1", "tc qdisc show dev h1-eth0", None),
        ("h1", "ls", None),
        ("root", "ping -c 3 h2", None),
    ],
)
def test_typed_lines_that_are_traffic(node: str, line: str, name: str | None) -> None:
    addresses = {"10.0.0.1": "h1", "10.0.0.2": "h2"}
    typed = Typed(node=node, line=line, at_s=0.0)
    flow = typed_flow(typed, network=NETWORK, addresses=addresses, taken=())
    assert (flow.name if flow else None) == name
    other = typed_flow(typed, network=NETWORK, addresses=addresses, taken=[name or ""])
    assert (other.name if other else None) == (name and f"{name}-2")


def test_lines_in_the_background() -> None:
    assert is_in_background("iperf3 -c h2 &")
    assert not is_in_background("true &&")


def test_a_label_is_of_changes_that_succeeded_since_the_last_run() -> None:
    history = History()
    history.add(Typed(node="root", line="tc qdisc show", at_s=0, status=0))
    assert history.label() == ""
    wrong = "tc qdisc add dev s1-eth9 root netem delay 1ms"
    history.add(Typed(node="root", line=wrong, at_s=0, status=2))
    right = "tc qdisc add dev s1-eth2 root handle 1: netem delay 20ms"
    history.add(Typed(node="root", line=right, at_s=0, status=0))
    assert history.label() == "s1-eth2: netem delay 20ms"
    history.begin_run()
    history.add_change("s1 - h2: 5 Mbit/s")
    assert history.label() == "s1 - h2: 5 Mbit/s"


def type_line(page: Page, node: str, line: str) -> None:
    count = len([event for event in page.events if event["event"] == "typed"])
    page.do("type", nodes=[node], text=line)
    page.wait(lambda: len([event for event in page.events if event["event"] == "typed"]) > count)


def kept(page: Page, number: int, root: Path) -> Run:
    recording = page.wait(lambda: (entry := page.recording(number)) and entry["kept"] and entry)
    return load_run(root / recording["kept"])


def test_each_typed_experiment_is_a_run(make_page: MakePage, tmp_path: Path) -> None:
    page = make_page(STUDY)
    page.do("pace", factor="max")
    page.do("type", nodes=["h2"], text="iperf3 -s")
    type_line(page, "h1", "iperf3 -c 10.0.0.2 -t 3")
    first = kept(page, 1, tmp_path)
    type_line(page, "root", "tc qdisc replace dev s1-eth1 root netem delay 30ms")
    type_line(page, "h1", "ping -c 4 -i 0.2 h2")
    second = kept(page, 2, tmp_path)

    assert first.name == "live-1"
    assert first.metrics["iperf3-h1-h2.receiver_bps"] == pytest.approx(47e6, rel=0.1)
    assert first.metrics["iperf3-h1-h2.elapsed_s"] == pytest.approx(3, abs=0.5)
    assert "receiver" in (first.folder / "raw/iperf3-h1-h2.client.txt").read_text()
    # What limited it is known as of any flow.
    (diagnosis,) = diagnose(first, "iperf3-h1-h2")
    assert "filled the path" in diagnosis.verdict

    assert second.name == "s1-eth1-netem-delay-30ms-live-2"
    recording = page.recording(2)
    assert recording is not None
    assert recording["label"] == "s1-eth1: netem delay 30ms"
    assert second.metrics["ping-h1-h2.avg_s"] == pytest.approx(0.05, rel=0.02)
    assert second.metrics["ping-h1-h2.loss"] == 0
    (flow,) = recording["flows"]
    assert (flow["state"], flow["command"]) == ("done", "ping -c 4 -i 0.2 h2")


def test_a_typed_experiment_is_replayed_with_its_server(
    make_page: MakePage, tmp_path: Path
) -> None:
    page = make_page(STUDY)
    page.do("pace", factor="max")
    page.do("type", nodes=["h2"], text="iperf3 -s")
    type_line(page, "root", "tc qdisc replace dev s1-eth1 root netem delay 30ms")
    type_line(page, "h1", "iperf3 -c h2 -t 2")
    run = kept(page, 1, tmp_path)
    study = parse_study((run.folder / "study.yaml").read_text(), name="again")
    out = tmp_path / "again"
    assert run_batches([Batch(cases=study.cases, out=out, study="again")]).failures == ()
    (folder,) = out.glob("*-seed1")
    again = load_run(folder)
    name = "iperf3-h1-h2.receiver_bps"
    assert again.metrics[name] == pytest.approx(run.metrics[name], rel=0.1)


def test_two_programs_at_once_are_one_run(make_page: MakePage, tmp_path: Path) -> None:
    page = make_page(STUDY)
    page.do("type", nodes=["h2"], text="iperf3 -s")
    page.do("hold")
    page.wait(lambda: page.clock["state"] == "held")
    page.do("type", nodes=["h1"], text="iperf3 -c h2 -t 3")
    page.do("type", nodes=["h1"], text="ping -c 5 -i 0.2 h2")  # a second terminal
    page.do("pace", factor="max")
    page.do("go")
    run = kept(page, 1, tmp_path)
    assert {flow.name for flow in run.case.flows} == {"iperf3-h1-h2", "ping-h1-h2"}


def test_a_session_that_ends_keeps_what_runs(make_page: MakePage, tmp_path: Path) -> None:
    page = make_page(STUDY)
    page.do("type", nodes=["h1"], text="ping h2")
    page.wait(lambda: (1, "ping:ping h1 → h2:rtt_s") in page.series)
    page.live.close()
    run = kept(page, 1, tmp_path)
    assert "ping h2" in (run.folder / "study.yaml").read_text()
