"""Every case of the labs, scaled down, on real machines: what limited its flow."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from longfat.analysis.advice.diagnosis import Diagnosis, diagnose
from longfat.analysis.advice.limits import Limit
from longfat.analysis.advice.root_cause import RootCause
from longfat.cli.diagnose import diagnose as command
from longfat.errors import InputError
from longfat.execution import run_case
from longfat.execution.runs import Run
from longfat.model.case import Command
from longfat.model.network import ROOT_NAMESPACE
from tests.analysis.advice import scaled


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("runs")


@pytest.fixture(scope="module")
def default_run(folder: Path) -> Run:
    return run_case(scaled.LABS["lab08 default"], name="default", out=folder)


@pytest.fixture(scope="module")
def tuned_run(folder: Path) -> Run:
    return run_case(scaled.LABS["lab08 tuned"], name="tuned", out=folder)


def whole(found: Diagnosis) -> None:
    """Check what holds for any diagnosis of a TCP flow."""
    assert sum(found.seconds.values()) == pytest.approx(found.duration_s)
    assert found.spans[0].start_s == 0
    assert found.spans[-1].end_s == pytest.approx(found.duration_s)
    json.dumps(found.to_json())


LIMITS = {
    "lab09 single": Limit.RECEIVE_WINDOW,
    "lab09 parallel": Limit.BOTTLENECK,
    "lab09 loss": Limit.BOTTLENECK,
    "lab11 tiny cubic": Limit.LOSS,
    "lab11 tiny reno": Limit.LOSS,
    "lab11 bdp cubic": Limit.BOTTLENECK,
    "lab11 bdp bbr": Limit.BOTTLENECK,
    "lab11 loss cubic": Limit.LOSS,
    "lab11 loss reno": Limit.LOSS,
    "lab11 loss bbr": Limit.BOTTLENECK,
    "lab16 drop tail": Limit.BOTTLENECK,
    "lab16 red": Limit.BOTTLENECK,
    "lab16 red slower": Limit.BOTTLENECK,
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "cause"),
    [("lab11 loss cubic", RootCause.RANDOM_LOSS), ("lab11 tiny cubic", RootCause.SHORT_QUEUE)],
)
def test_losses_that_are_not_counted_are_presumed(
    folder: Path, name: str, cause: RootCause
) -> None:
    run = run_case(scaled.LABS[name], name=f"uncounted-{cause.name}", out=folder)
    counted, presumed = (diagnose(each, "bulk")[0] for each in (run, replace(run, drops=None)))
    assert counted.causes[0].cause is presumed.causes[0].cause is cause
    assert counted.causes[0].certain
    assert not presumed.causes[0].certain
    assert presumed.recommendation.lines


@pytest.mark.slow
@pytest.mark.parametrize("name", LIMITS)
def test_labs(folder: Path, name: str) -> None:
    run = run_case(scaled.LABS[name], name=name.replace(" ", "-"), out=folder)
    found = diagnose(run, "bulk")[0]
    whole(found)
    assert found.limit is LIMITS[name]
    assert found.seconds[LIMITS[name]] > 0.8 * found.duration_s
    assert found.duration_s == pytest.approx(scaled.TIME_S, abs=0.4)
    # iperf3's own rows tell the same, if less surely.
    blind = replace(run, case=replace(run.case, probes=()))
    inferred = diagnose(blind, "bulk")[0]
    whole(inferred)
    assert not inferred.certain
    assert inferred.limit is LIMITS[name]
    assert len(diagnose(run)) == sum(flow.tool == "iperf3" for flow in run.case.flows)


def test_default_buffers(default_run: Run) -> None:
    (found,) = diagnose(default_run)
    whole(found)
    assert found.certain
    assert found.limit is Limit.RECEIVE_WINDOW
    assert found.seconds[Limit.RECEIVE_WINDOW] > 0.95 * found.duration_s
    assert "receive window of h2" in found.verdict
    assert [(line.node, line.text) for line in found.recommendation.lines] == [
        ("h2", "sysctl -w net.ipv4.tcp_rmem='10240 87380 500000'"),
        ("h1", "sysctl -w net.ipv4.tcp_wmem='10240 87380 500000'"),
    ]
    evidence = {fact.key: fact.value for fact in found.facts}
    # Half of the receive buffer, the kernel's rule before 6.6.
    assert evidence["peak_send_window_bytes"] == pytest.approx(167_772 / 2, rel=0.02)
    assert evidence["rwnd_limited_fraction"] > 0.95
    assert evidence["link_use"] < 0.5
    assert evidence["queue_drops"] == 0


def test_what_it_advises_helps(folder: Path, default_run: Run) -> None:
    (before,) = diagnose(default_run)
    lines = tuple(Command(node=line.node, line=line.text) for line in before.recommendation.lines)
    case = replace(default_run.case, setup=default_run.case.setup + lines)
    after = run_case(case, name="mended", out=folder)
    assert after.metrics["bulk.receiver_bps"] > 2.5 * default_run.metrics["bulk.receiver_bps"]
    assert diagnose(after)[0].limit is Limit.BOTTLENECK


def test_tuned_buffers(tuned_run: Run) -> None:
    (found,) = diagnose(tuned_run)
    whole(found)
    assert found.limit is Limit.BOTTLENECK
    assert found.seconds[Limit.BOTTLENECK] > 0.9 * found.duration_s
    assert found.recommendation.lines == ()
    assert found.recommendation.words.startswith("Nothing: the link is full.")


def test_a_send_buffer(folder: Path) -> None:
    case = scaled.LABS["lab08 tuned"]
    line = Command(node="h1", line="sysctl -w net.ipv4.tcp_wmem='4096 16384 150000'")
    run = run_case(replace(case, setup=(*case.setup, line)), name="sndbuf", out=folder)
    (found,) = diagnose(run)
    whole(found)
    assert found.limit is Limit.SEND_BUFFER
    (recommendation,) = found.recommendation.lines
    assert (recommendation.node, recommendation.text) == (
        "h1",
        "sysctl -w net.ipv4.tcp_wmem='4096 16384 500000'",
    )


@pytest.mark.parametrize("rate_bps", [30_000_000, 200_000])
def test_an_application_that_paces_itself(folder: Path, rate_bps: int) -> None:
    run = run_case(scaled.lab08(524_288, rate_bps=rate_bps), name="app", out=folder)
    (found,) = diagnose(run)
    whole(found)
    assert found.limit is Limit.APPLICATION
    assert found.recommendation.lines == ()


def test_a_larger_router_buffer_as_a_line(folder: Path) -> None:
    run = run_case(scaled.LABS["lab11 tiny cubic"], name="tiny", out=folder)
    found, beside = diagnose(run)
    assert (found.flow, beside.flow) == ("bulk", "beside")
    at_root = [line.text for line in found.recommendation.lines if line.node == ROOT_NAMESPACE]
    assert at_root == [
        "tc qdisc change dev s1-eth1 parent 1: handle 2: tbf rate 100mbit burst 50000 limit 250000"
    ]
    setup = (*run.case.setup, Command(node=ROOT_NAMESPACE, line=at_root[0]))
    after = run_case(replace(run.case, setup=setup), name="mended", out=folder)
    assert diagnose(after, "bulk")[0].limit is Limit.BOTTLENECK


def test_udp(folder: Path) -> None:
    case = scaled.lab08(524_288, udp=True, rate_bps=12_000_000, time_s=2.0)
    slower = [replace(line, line=line.line.replace("100mbit", "10mbit")) for line in case.setup]
    run = run_case(replace(case, setup=tuple(slower)), name="udp", out=folder)
    (found,) = diagnose(run)
    assert found.limit is None
    assert "no window" in found.verdict
    lost = run.metrics["bulk.loss"]
    # What does not fit is lost, and the buffer holds some of it at the end.
    assert 0.05 < lost < 1 - 10 / 12 * 1448 / 1490
    assert "must be lost" in found.verdict
    json.dumps(found.to_json())


def test_a_path_that_is_not_understood(folder: Path, default_run: Run) -> None:
    case = default_run.case
    shaped = Command(node=ROOT_NAMESPACE, line="for d in s1-eth2; do tc -s qdisc show dev $d; done")
    blind = replace(case, setup=(*case.setup, shaped))
    # Of a run that was made before what the kernel had was read.
    (found,) = diagnose(replace(default_run, case=blind, installed=None))
    whole(found)
    # The kernel's clocks need no path.
    assert found.limit is Limit.RECEIVE_WINDOW
    assert any("is not understood" in note for note in found.notes)
    assert found.recommendation.lines == ()
    assert folder.is_dir()


def test_what_to_add_is_told(default_run: Run) -> None:
    case = replace(default_run.case, probes=())
    (found,) = diagnose(replace(default_run, case=case))
    said = " ".join(found.notes)
    assert "inferred" in said
    assert "tcp: {of: bulk, every: 100ms}" in said
    assert "queue: {of: s1-eth2, every: 100ms}" in said
    assert "probably" in found.verdict


def test_bad_input(default_run: Run, folder: Path) -> None:
    with pytest.raises(InputError, match=r"no flow 'bulkk' in this run; its flows: bulk"):
        diagnose(default_run, "bulkk")
    ping = run_case(scaled.LABS["lab16 red slower"], name="ping", out=folder)
    with pytest.raises(InputError, match=r"'rtt' sends no data .* flows that do: bulk"):
        diagnose(ping, "rtt")
    (ping.folder / "series" / "tcp.parquet").unlink()
    with pytest.raises(InputError, match=r"tcp.parquet: damaged: it is missing"):
        diagnose(ping)
    pq.write_table(pa.table({"other": [1]}), ping.folder / "series" / "tcp.parquet")
    with pytest.raises(InputError, match=r"tcp.parquet: damaged: it has"):
        diagnose(ping)
    (ping.raw / "bulk.server.json").unlink()
    with pytest.raises(InputError, match=r"damaged: raw/bulk.server.json: it is missing"):
        diagnose(ping)
    only_ping = replace(ping.case, flows=ping.case.flows[1:], probes=())
    with pytest.raises(
        InputError, match="no flow of bulk traffic, cbr, requests or video in this run"
    ):
        diagnose(replace(ping, case=only_ping))


def test_the_command(default_run: Run) -> None:
    done = CliRunner().invoke(command, [str(default_run.folder)], env={"COLUMNS": "80"})
    assert done.exit_code == 0, done.output
    lines = done.output.splitlines()
    assert "receive window" in done.output
    # Lines to paste stand alone, whole, whatever the width.
    assert "sysctl -w net.ipv4.tcp_rmem='10240 87380 500000'" in lines
    assert all(line == line.rstrip() and len(line) <= 80 for line in lines)
    done = CliRunner().invoke(command, [str(default_run.folder), "bulk", "--json"])
    (flow,) = json.loads(done.output)["flows"]
    assert flow["limit"] == "receive window"
    assert sum(flow["seconds"].values()) == pytest.approx(flow["duration_s"])
