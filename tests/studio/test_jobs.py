"""Jobs on real machines: progress, tables, reports, failures in their places, quick ends."""

from __future__ import annotations

import json
import re
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from longfat.engine import kernel as kernels
from longfat.execution import run_cases
from longfat.study import read_study
from longfat.study.labs import find_lab
from tests.conftest import processes_running
from tests.studio.conftest import SOCKET, STUDY

# Long enough to be looked at on its way.
TWO_CASES = (
    STUDY.replace("time: 1s", "time: 60s").replace(
        "default.rtt.min > 10ms", "near.rtt.min > 10ms and far.rtt.min > 30ms"
    )
    + """\
cases:
  near:
  far:
    title: far away
    setup: [{root: tc qdisc replace dev s1-eth1 root netem delay 20ms}]
published:
  source: nobody
  near: {rtt.min: 10ms}
"""
)
ENDLESS = STUDY.replace("count: 2", "count: 500000")
LONG_S = 60.0


def ask(client: TestClient, text: str, **more: Any) -> Any:
    body = {"name": "mine.yaml", "text": text, "lab": None, "cases": [], "seeds": None, **more}
    return client.post("/api/jobs", json=body)


def info(client: TestClient, number: str) -> Any:
    return next(job for job in client.get("/api/jobs").json() if job["id"] == number)


def wait(client: TestClient, number: str, until: Callable[[Any], bool]) -> Any:
    start = time.monotonic()
    while time.monotonic() - start < LONG_S:
        found = info(client, number)
        if until(found):
            return found
        time.sleep(0.05)
    raise AssertionError(found)


def ended(client: TestClient, number: str) -> Any:
    return wait(client, number, lambda job: job["state"] != "running")


def test_a_job_from_end_to_end(client: TestClient, tmp_path: Path) -> None:
    started = ask(client, TWO_CASES)
    assert started.status_code == 201, started.text
    job = started.json()
    assert [case["state"] for case in job["cases"]] == ["waiting", "waiting"]
    assert job["claims"][0]["holds"] is None
    seen: list[Any] = []
    with client.websocket_connect("/ws/jobs", headers=SOCKET) as socket:
        while not seen or seen[-1]["state"] == "running":
            event = socket.receive_json()
            assert event["event"] == "job"
            seen.append(event["job"])
    done = seen[-1]
    assert done["state"] == "done", done["problem"]
    assert any(0 < c["virtual_s"] < c["expected_s"] for one in seen for c in one["cases"])
    near, far = done["cases"]
    assert (near["state"], near["seeds_done"], far["title"]) == ("done", 1, "far away")
    assert near["runs"] == ["runs/mine/near-seed1"]
    (claim,) = done["claims"]
    assert claim["holds"] is True
    assert "near.rtt.min = 20" in claim["detail"]
    assert "far.rtt.min = 40" in claim["detail"]
    assert done["published"]["columns"] == ["", "published", "measured", "ratio"]
    (row,) = done["published"]["rows"]
    assert row["cells"][1].startswith("10.0")
    assert done["measured"]["columns"] == ["", "far"]
    # The same bytes as from the command line.
    (tmp_path / "mine.yaml").write_text(TWO_CASES)
    study = read_study(tmp_path / "mine.yaml")
    (alone,) = run_cases({"near": study.cases["near"]}, out=tmp_path / "runs")["near"]
    listed = {run["case"]: run for run in client.get("/api/runs").json()}
    assert listed["near"]["digest"] == alone.digest
    _look_at_runs(client, near["runs"] + far["runs"])
    _look_at_report(client, done["report"])


def _look_at_runs(client: TestClient, paths: list[str]) -> None:
    near, far = client.get("/api/runs", params={"search": "MINE seed 1"}).json()[::-1]
    assert {near["path"], far["path"]} == set(paths)
    assert near["study"] == "mine"
    assert near["results"][0]["name"] == "bulk receiver"
    assert client.get("/api/runs", params={"search": "far-seed1"}).json() == [
        one for one in (near, far) if one["case"] == "far"
    ]
    assert client.get("/api/runs", params={"search": "nothing of this"}).json() == []
    panels = {
        one["metric"]: one for one in client.get("/api/panels", params={"runs": paths}).json()
    }
    assert panels["rtt"]["unit"] == "s"
    labels = [line["label"] for line in panels["rtt"]["lines"]]
    assert len(labels) == len(set(labels)) == 4
    # A case has its colour in whichever order the runs were chosen.
    other_way = client.get("/api/panels", params={"runs": paths[::-1]}).json()
    assert [one["lines"] for one in other_way] == [one["lines"] for one in panels.values()]
    for panel in panels.values():
        for line in panel["lines"]:
            assert 0 < len(line["times_s"]) == len(line["values"]) <= 2000
    (told,) = client.get("/api/diagnosis", params={"run": paths[0]}).json()
    assert told["flow"] == "bulk"
    assert told["advice"]["verdict"].endswith(".")
    assert told["advice"]["notes"]
    losses = client.get("/api/losses", params={"run": paths[0]}).json()
    assert losses[0]["packets"] > 1
    assert losses[0]["place"] == "s1-eth2"
    assert losses[0]["flow"] == "bulk"
    assert losses[0]["cause"].startswith("queue full (wire ")
    shared = client.get("/api/share", params={"runs": paths})
    assert shared.headers["content-disposition"] == 'attachment; filename="mine.html"'
    assert "it has the delay" in shared.text  # the claims of the study that they are runs of
    assert 'src="http' not in shared.text
    single = client.get("/api/share", params={"runs": paths[0]})
    assert "far away" not in single.text.partition("What was run")[2].partition("</table>")[0]


def _look_at_report(client: TestClient, path: str) -> None:
    report = client.get(path)
    assert report.headers["content-type"].startswith("text/html")
    assert report.headers["content-security-policy"].startswith("sandbox allow-scripts")
    assert "Two hosts" in report.text
    pdf = client.get(path.replace(".html", ".pdf"))
    assert pdf.content.startswith(b"%PDF")
    assert client.get(path.replace("report.html", "study.yaml")).status_code == 404


def test_what_was_run_before_counts(client: TestClient) -> None:
    assert ended(client, ask(client, TWO_CASES, cases=["near"]).json()["id"])["state"] == "done"
    second = ask(client, TWO_CASES, cases=["far"]).json()
    assert {case["name"]: case["state"] for case in second["cases"]} == {
        "near": "known",
        "far": "waiting",
    }
    assert ended(client, second["id"])["claims"][0]["holds"] is True
    # A case that has changed since is another case.
    changed = TWO_CASES.replace("delay: 10ms", "delay: 11ms")
    third = ask(client, changed, cases=["far"]).json()
    assert [case["name"] for case in third["cases"]] == ["far"]
    assert ended(client, third["id"])["claims"][0]["holds"] is None


def test_seeds_become_a_band(client: TestClient) -> None:
    lossy = STUDY.replace("rate: 10mbit", "rate: 10mbit, loss: 2%").replace("time: 1s", "time: 3s")
    done = ended(client, ask(client, lossy, seeds=3).json()["id"])
    (case,) = done["cases"]
    assert (case["seeds"], case["seeds_done"], len(case["runs"])) == (3, 3, 3)
    assert "seeds" in done["claims"][0]["detail"]
    panels = client.get("/api/panels", params={"runs": case["runs"]}).json()
    line = next(one for one in panels if one["metric"] == "throughput")["lines"][0]
    assert len(line["low"]) == len(line["high"]) == len(line["values"])
    assert any(low < high for low, high in zip(line["low"], line["high"], strict=True))


def test_a_failed_case_is_reported_in_its_place(client: TestClient) -> None:
    text = TWO_CASES.replace("netem delay 20ms", "netem delay soon")
    done = ended(client, ask(client, text).json()["id"])
    assert done["state"] == "failed"
    assert done["problem"]["line"] == text[: text.index("tc qdisc")].count("\n") + 1
    assert "soon" in done["problem"]["message"]
    assert {case["name"]: case["state"] for case in done["cases"]}["far"] == "failed"
    assert done["report"] is None


def test_a_kernel_that_is_missing(client: TestClient) -> None:
    done = ended(client, ask(client, STUDY + 'kernel: "5.99"\n').json()["id"])
    assert done["state"] == "failed"
    assert "longfat kernel build 5.99" in done["problem"]["message"]


def test_a_wrong_study_starts_nothing(client: TestClient, workspace: Path) -> None:
    for text, more in (
        (STUDY.replace("10ms,", "soon,"), {}),
        (STUDY, {"cases": ["none"]}),
        (STUDY, {"seeds": 100_000}),
        (STUDY, {"lab": "lab99"}),
        (STUDY, {"lab": "../lab08"}),
    ):
        assert ask(client, text, **more).status_code == 400
    assert client.get("/api/jobs").json() == []
    assert list(workspace.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "folder"),
    [
        ("../../etc/x.yaml", "x"),
        ("a b (2).mn", "a-b-2"),
        ("..", "drawing"),
        ("\u00e9\u00e8", "drawing"),
        (".hidden", "hidden"),
    ],
)
def test_a_name_becomes_a_folder_below_runs(name: str, folder: str) -> None:
    from longfat.studio.formats import folder_name

    assert folder_name(name) == folder


def test_cancelling_ends_the_machines(
    client: TestClient, own_kernels: Path, monkeypatch: pytest.MonkeyPatch, workspace: Path
) -> None:
    monkeypatch.setenv("LONGFAT_CACHE", str(own_kernels))
    binary = kernels.find("6.1").binary
    number = ask(client, ENDLESS).json()["id"]
    wait(client, number, lambda job: job["cases"][0]["virtual_s"] > 2)
    assert processes_running(binary)
    again = ask(client, ENDLESS)
    assert again.status_code == 409
    start = time.monotonic()
    assert client.delete(f"/api/jobs/{number}").status_code == 200
    done = ended(client, number)
    assert time.monotonic() - start < 5
    assert done["state"] == "cancelled"
    assert done["cases"][0]["state"] == "waiting"
    assert processes_running(binary) == []
    assert [path.name for path in (workspace / "runs" / "mine").iterdir()] == ["study.yaml"]
    assert client.delete("/api/jobs/none").status_code == 404


def test_runs_of_others_are_listed_quickly(client: TestClient, workspace: Path) -> None:
    number = ask(client, STUDY).json()["id"]
    (path,) = ended(client, number)["cases"][0]["runs"]
    manifest = (workspace / path / "manifest.json").read_text()
    for index in range(2000):
        folder = workspace / "runs" / "many" / f"default-seed{index + 2}"
        folder.mkdir(parents=True)
        (folder / "manifest.json").write_text(manifest)
    broken = workspace / "runs" / "many" / "broken"
    broken.mkdir()
    (broken / "manifest.json").write_text(json.dumps({"format": 2, "case": []}))
    times = []
    for _ in range(2):
        start = time.perf_counter()
        assert len(client.get("/api/runs").json()) == 2001
        times.append(time.perf_counter() - start)
    assert times[0] < 5
    assert times[1] < 1
    for where in ("diagnosis?run", "panels?runs", "share?runs"):
        answer = client.get(f"/api/{where}=runs/many/broken")
        assert answer.status_code == 400
        assert "format" in answer.json()["error"] or "missing" in answer.json()["error"]
        assert client.get(f"/api/{where}=runs/many").status_code == 404


def test_a_refused_job_changes_nothing(client: TestClient, workspace: Path) -> None:
    number = ask(client, ENDLESS).json()["id"]
    assert ask(client, ENDLESS.replace("Two hosts", "Another")).status_code == 409
    assert (workspace / "runs" / "mine" / "study.yaml").read_text() == ENDLESS
    client.delete(f"/api/jobs/{number}")
    ended(client, number)


def test_errors_speak_of_paths_below_the_workspace(client: TestClient, workspace: Path) -> None:
    only_ping = STUDY.replace("  bulk: {iperf3: h1 -> h2, time: 1s, after: rtt}\n", "")
    (path,) = ended(client, ask(client, only_ping).json()["id"])["cases"][0]["runs"]
    told = client.get("/api/diagnosis", params={"run": path}).json()["error"]
    assert told.startswith(f"{path}: no flow of bulk traffic, cbr, requests or video in this run")
    (workspace / path / "manifest.json").write_text("{")
    for where in ("diagnosis?run", "panels?runs", "share?runs"):
        told = client.get(f"/api/{where}={path}").json()["error"]
        assert told.startswith(path)
        assert str(workspace) not in told


def test_runs_tell_where_their_report_is(client: TestClient, workspace: Path) -> None:
    done = ended(client, ask(client, STUDY, name="a study (2).yaml").json()["id"])
    (run,) = client.get("/api/runs").json()
    assert run["report"] == done["report"] == "/api/report/runs/a-study-2/report.html"
    assert client.get(run["report"]).status_code == 200
    (workspace / "runs" / "a-study-2").rename(workspace / "runs" / "zwei W\u00f6rter #2")
    (run,) = client.get("/api/runs").json()
    assert client.get(run["report"]).status_code == 200
    (workspace / "runs" / "zwei W\u00f6rter #2" / "report.html").unlink()
    assert client.get("/api/runs").json()[0]["report"] is None


def test_a_qdisc_that_tc_refuses_is_reported_with_its_link(client: TestClient) -> None:
    text = STUDY.replace("rate: 10mbit", "rate: 10mbit, qdisc: red limit 3")
    done = ended(client, ask(client, text, seeds=2).json()["id"])
    assert "the qdisc of the link h2 - s1: `" in done["problem"]["message"]
    assert "RED: Required parameter" in done["problem"]["message"]
    assert done["cases"][0]["state"] == "failed"


def test_a_folder_that_vanishes_under_a_job_is_reported(
    client: TestClient, workspace: Path
) -> None:
    number = ask(client, TWO_CASES).json()["id"]
    wait(client, number, lambda job: job["cases"][0]["virtual_s"] > 0)
    shutil.rmtree(workspace)
    workspace.write_text("a file in its place")
    done = ended(client, number)
    assert done["state"] == "failed"
    assert "internal error" not in done["problem"]["message"]
    for url in ("/api/state", "/api/files", "/api/runs"):
        assert client.get(url).status_code == 200
    assert ask(client, STUDY).status_code == 404


def test_a_labs_report_is_in_the_language_of_the_page(client: TestClient, workspace: Path) -> None:
    text = find_lab("lab08").study_file.read_text()
    more: dict[str, Any] = {"name": "lab08", "lab": "lab08", "cases": ["unshaped"]}
    started = ask(client, text, languages=["xx", "ru-RU", "en"], **more)
    assert started.status_code == 201, started.text
    done = ended(client, started.json()["id"])
    assert done["state"] == "done", done["problem"]
    title = re.compile(r'<h1 lang="ru">Произведение полосы пропускания')
    assert title.search(client.get(done["report"]).text)
    # The texts are kept with the runs, so that what is shared can be in any of them later.
    assert {path.name for path in (workspace / "runs/lab08").glob("text*.md")} == {
        path.name for path in find_lab("lab08").folder.glob("text*.md")
    }
    (path,) = done["cases"][0]["runs"]
    for languages, there in ((["ru"], True), (["xx", "ru-RU"], True), (["en"], False), ([], False)):
        shared = client.get("/api/share", params={"runs": path, "languages": languages})
        assert bool(title.search(shared.text)) is there, languages
    assert "Bandwidth-delay product" in shared.text
    assert ask(client, text, languages="ru", **more).status_code == 400
