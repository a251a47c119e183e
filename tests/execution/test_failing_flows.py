"""A flow that fails is a result: its run is whole, kept and read by every command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from longfat.execution.batch_runner import run_batches
from longfat.execution.cache import ResultCache
from longfat.execution.executor import Batch
from longfat.execution.runs import Run, load_run
from longfat.study import read_study
from tests.command import longfat as run_longfat

STUDY = """\
title: Two flows fail
kernel: "6.1"
network:
  hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8}
  switches: [s1]
  links: [[h1, s1], [s1, h2, {rate: 20mbit, delay: 10ms}]]
setup:
  - h2: tc qdisc add dev h2-eth0 clsact
  - h2: tc filter add dev h2-eth0 ingress protocol ip u32 match ip dport 5201 0xffff action drop
flows:
  blocked: {iperf3: h1 -> h2, time: 5s%(blocked)s}
  hole: {transfer: h1 -> h2, time: 5s, limit: 8s%(hole)s}
  ping: {ping: h1 -> h2, count: 20}
  next: {ping: h1 -> h2, count: 2, after: hole}
events:
  - at: 2s
    h2: tc filter add dev h2-eth0 ingress protocol ip u32 match ip protocol 6 0xff action drop
probes:
  tcp: {of: [blocked, hole], every: 100ms}
  queue: {of: s1-eth2, every: 100ms}
  capture: {of: h1-eth0}
cases: {all: }
claims:
  - all.ping.received == 20
"""
EXPECTED = {"blocked": ", expect: fails", "hole": ", expect: either"}
"""What the fields of the flows are where their failures are results."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two studies: `expected` passes, `surprising` has flows that should not fail."""
    folder: Path = tmp_path_factory.mktemp("failing")
    status = "  - all.blocked.status == 1 and all.hole.status == 124\n"
    (folder / "expected.yaml").write_text(STUDY % EXPECTED + status)
    (folder / "surprising.yaml").write_text(STUDY % {"blocked": "", "hole": ""})
    return folder


@pytest.fixture(scope="module")
def expected(folder: Path) -> Run:
    """The run of `expected`, by the command."""
    done = run_longfat("run", "expected.yaml", "--no-cache", cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "blocked exit status" in done.stdout
    return load_run(folder / "runs/expected/all-seed1")


def test_what_failed_is_in_the_run(expected: Run) -> None:
    blocked, hole = (expected.flow_failures[name] for name in ("blocked", "hole"))
    assert expected.flow_failures.keys() == {"blocked", "hole"}
    assert str(blocked) == "iperf3 failed: unable to connect to server: Connection timed out"
    assert (hole.status, hole.reason) == (124, "it did not end within 8 s of virtual time")
    assert "longfat.guest.transfer" in hole.line
    assert not expected.unexpected


def test_everything_else_goes_on(expected: Run) -> None:
    assert expected.metrics["ping.received"] == 20
    times = expected.flow_times
    # Three retransmissions of SYN, and those after them, take 127 s and more.
    assert times["blocked"].end_s > 120
    assert times["hole"].end_s == pytest.approx(8, abs=0.1)
    assert times["next"].start_s == pytest.approx(times["hole"].end_s, abs=0.01)
    assert expected.metrics["next.received"] == 2
    # Probes saw the sockets of both, until the end of the last flow.
    tcp = expected.series("tcp")
    assert {row["flow"] for row in tcp.to_pylist()} == {"hole"}
    assert max(tcp["time_s"].to_pylist()) > 7
    assert max(expected.series("queue")["time_s"].to_pylist()) > 120
    script = (expected.folder / "commands.sh").read_text()
    assert "# flow hole failed" in script
    assert "wait $flow_2    # flow hole failed: status 124" in script


def test_a_second_run_has_the_same_bytes(expected: Run, folder: Path, tmp_path: Path) -> None:
    out = run_longfat(
        "run", str(folder / "expected.yaml"), "--no-cache", "--no-report", cwd=tmp_path
    )
    assert out.returncode == 0, out.stderr
    assert load_run(tmp_path / "runs/expected/all-seed1").digest == expected.digest


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (["diagnose", "RUN"], "hole failed after 8 s: it did not end within 8 s"),
        (["plot", "RUN"], "RTT.png"),
        (["packets", "RUN", "--filter", "tcp.flags.syn == 1"], "[SYN]"),
        (["compare", "RUN", "RUN"], "byte-identical"),
        (["explain", "RUN", "blocked.status"], "flow_failures"),
        (["query", "select flow, status, failure from flows order by flow"], "124"),
        (["query", "select count(*) as replies from replies"], "22"),
        (["query", "select max(cwnd_bytes) from series_tcp where flow = 'hole'"], "cwnd_bytes"),
    ],
    ids=lambda value: "-".join(value[:2]) if isinstance(value, list) else None,
)
@pytest.mark.usefixtures("expected")
def test_commands_read_it(words: list[str], shown: str, folder: Path) -> None:
    words = [word.replace("RUN", "runs/expected/all-seed1") for word in words]
    done = run_longfat(*words, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert shown in done.stdout


def test_a_failure_that_nobody_expects_fails_the_case_and_keeps_the_run(folder: Path) -> None:
    done = run_longfat("run", "surprising.yaml", "--no-cache", cwd=folder)
    assert done.returncode == 1
    assert "surprising.yaml:11:21: flows.blocked.iperf3: case 'all': flow 'blocked':" in done.stderr
    assert "unable to connect to server: Connection timed out" in done.stderr
    assert "flow 'hole': `ip netns exec h1 python3 -m longfat.guest.transfer" in done.stderr
    assert "its run is " in done.stderr
    run = load_run(folder / "runs/surprising/all-seed1")
    assert run.unexpected.keys() == {"blocked", "hole"}
    done = run_longfat("diagnose", "runs/surprising/all-seed1", cwd=folder)
    assert "blocked failed after" in done.stdout


def batch(study: Path, out: Path) -> Batch:
    return Batch(cases=read_study(study).cases, out=out, study=study.stem)


def test_such_a_run_is_not_cached(folder: Path, tmp_path: Path) -> None:
    cache = ResultCache(tmp_path / "cache")
    for _ in range(2):  # neither the run nor what it left in its place
        outcome = run_batches([batch(folder / "surprising.yaml", tmp_path / "a")], cache=cache)
        assert (outcome.cached, outcome.ran, len(outcome.failures)) == (0, 0, 1)
    for cached in (0, 1):
        outcome = run_batches([batch(folder / "expected.yaml", tmp_path / "b")], cache=cache)
        assert (outcome.cached, outcome.ran) == (cached, 1 - cached)


def study(flows: str, **more: str) -> str:
    lines = "".join(f"{key}: {value}\n" for key, value in more.items())
    return (
        'title: A flow\nkernel: "6.1"\n'
        "network: {hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8}, links: [[h1, h2, {rate: 1mbit}]]}\n"
        f"flows: {flows}\n{lines}"
    )


def play(text: str, folder: Path) -> tuple[int, str, dict[str, Any]]:
    """Run a study; return its exit code, its messages and its case's manifest."""
    (folder / "x.yaml").write_text(text)
    done = run_longfat("run", "x.yaml", "--no-cache", "--no-report", cwd=folder)
    path = folder / "runs/x/default-seed1/manifest.json"
    return done.returncode, done.stderr, json.loads(path.read_text()) if path.exists() else {}


@pytest.mark.parametrize(
    ("flow", "code", "message", "status"),
    [
        ("run: exit 3", 1, "exited with status 3: it printed nothing", 3),
        ("run: exit 3, expect: fails", 0, "", 3),
        ("run: exit 3, expect: either", 0, "", 3),
        ("run: exit 3, status: [3]", 0, "", None),
        ("run: exit 3, status: [3], expect: fails", 1, "expected to fail, and did not", None),
        ("run: 'true', expect: fails", 1, "flow 'x': it was expected to fail, and did not", None),
        ("run: sleep 60, limit: 2s, expect: fails", 0, "", 124),
        ("run: 'trap : TERM; sleep 9; sleep 9', limit: 2s", 1, "did not end within 2 s", 124),
        ("run: kill -SEGV $$, expect: fails", 0, "", 139),
        ("run: nonesuch", 2, "hint: a machine has the pinned tools", 127),
        ("run: sleep 9, serve: sleep 1; exit 5, expect: fails", 0, "", 5),
        ("run: sleep 9, serve: exit 5, port: 80, expect: fails", 0, "", 5),
    ],
)
def test_expectations(
    flow: str, code: int, message: str, status: int | None, tmp_path: Path
) -> None:
    found, stderr, manifest = play(study(f"{{x: {{program: h1 -> h2, {flow}}}}}"), tmp_path)
    assert (found, message in stderr) == (code, True), stderr
    failures = manifest.get("flow_failures", {})
    assert {name: failure["status"] for name, failure in failures.items()} == (
        {} if status is None else {"x": status}
    )


def test_statuses_are_metrics_of_flows_that_may_fail_only(tmp_path: Path) -> None:
    flows = "{x: {ping: h1 -> h2, count: 1}, y: {ping: h1 -> h2, count: 1, expect: either}}"
    code, _, manifest = play(study(flows, claims="[default.y.status == 0]"), tmp_path)
    assert (code, "x.status" in manifest["metrics"]) == (0, False)
    code, stderr, _ = play(study(flows, claims="[default.x.status == 0]"), tmp_path)
    assert code == 2
    assert "status" in stderr


def test_what_comes_after_a_flow_without_its_server_keeps_its_time(tmp_path: Path) -> None:
    lost = "run: echo x, serve: missing -l 7, after: first, start: 1s, expect: either"
    flows = f"{{program: h1 -> h2, {lost}}}, last: {{ping: h1 -> h2, count: 1, after: lost}}"
    text = study(f"{{first: {{ping: h1 -> h2, count: 3}}, lost: {flows}}}")
    assert play(text, tmp_path)[0] == 0
    times = load_run(tmp_path / "runs/x/default-seed1").flow_times
    assert times["first"].end_s == pytest.approx(2.0, abs=0.05)
    assert times["lost"].end_s == pytest.approx(3.0, abs=0.05)
    assert times["last"].start_s == pytest.approx(3.0, abs=0.05)
