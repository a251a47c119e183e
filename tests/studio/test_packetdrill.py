"""packetdrill scripts over HTTP: listed, saved, checked, run, ended, and their packets decoded."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from longfat.studio.http import HttpError
from longfat.studio.packetdrill import PacketdrillRequest, PacketdrillScripts
from longfat.studio.workspace import Workspace
from tests.paths import TESTS

EXAMPLES = TESTS.parent / "examples/packetdrill"
HANDSHAKE = (EXAMPLES / "handshake.pkt").read_text()
ENDLESS = "0 `while true; do sleep 1; done`\n"


def run(client: TestClient, text: str, **more: object) -> dict[str, object]:
    answer = client.post("/api/packetdrill/run", json={"path": "a.pkt", "text": text, **more})
    assert answer.status_code == 200, answer.text
    report: dict[str, object] = answer.json()
    return report


def test_scripts_and_examples_are_listed(workspace: Path, client: TestClient) -> None:
    (workspace / "tests").mkdir()
    (workspace / "tests/mine.pkt").write_text(HANDSHAKE)
    overview = client.get("/api/packetdrill").json()
    assert [one["path"] for one in overview["scripts"]] == ["tests/mine.pkt"]
    assert {one["name"] for one in overview["examples"]} == {
        path.name for path in EXAMPLES.glob("*.pkt")
    }
    assert overview["ip_versions"] == ["ipv4", "ipv6", "ipv4-mapped-ipv6"]


def test_a_script_is_saved_and_opened(workspace: Path, client: TestClient) -> None:
    place = "/api/packetdrill/script"
    new = {"path": "a.pkt", "text": "// one\n", "before": ""}
    assert client.put(place, json=new).status_code == 200
    assert client.get(place, params={"path": "a.pkt"}).json()["text"] == "// one\n"
    (workspace / "a.pkt").write_text("// of an editor\n")
    later = {"path": "a.pkt", "text": "// two\n", "before": "// one\n"}
    assert client.put(place, json=later).status_code == 409
    assert client.put(place, json={**later, "force": True}).status_code == 200
    assert (workspace / "a.pkt").read_text() == "// two\n"


@pytest.mark.parametrize("path", ["a.txt", "../a.pkt", "/etc/a.pkt", ".a.pkt", ""])
def test_only_scripts_of_the_workspace(client: TestClient, path: str) -> None:
    asked = {"path": path, "text": HANDSHAKE}
    assert client.put("/api/packetdrill/script", json=asked).status_code == 400
    assert client.post("/api/packetdrill/run", json=asked).status_code == 400
    assert client.get("/api/packetdrill/script", params={"path": path}).status_code == 400


def test_what_is_wrong_with_a_script(client: TestClient) -> None:
    asked = {"path": "a.pkt", "text": "0 socket(..., SOCK_STREAM, 0) = 3\n+0 listn(3, 1) = 0\n"}
    (problem,) = client.post("/api/packetdrill/check", json=asked).json()
    assert (problem["line"], problem["column"]) == (2, 4)
    assert "did you mean 'listen'" in problem["message"]
    assert client.post("/api/packetdrill/check", json={**asked, "text": HANDSHAKE}).json() == []
    report = run(client, asked["text"])
    assert (report["status"], report["capture"]) == ("invalid", None)
    assert report["error"] == {**problem, "field": ""}


def test_a_script_passes_and_its_packets_are_decoded(client: TestClient) -> None:
    report = run(client, HANDSHAKE, kernel="6.1")
    assert (report["status"], report["failure"], report["script"]) == ("passed", None, "a.pkt")
    assert str(report["kernel"]).startswith("6.1.")
    asked = {"script": str(report["capture"]), "from": "0", "count": "100", "filter": ""}
    answer = client.get("/api/packet-rows", params=asked)
    assert answer.status_code == 200, answer.text
    page = answer.json()
    assert page["total"] >= 3
    first = next(row for row in page["rows"] if row["protocol"] == "TCP")
    assert first["time_s"] == pytest.approx(0, abs=0.01)
    assert first["tcp"]["flags"] == 2  # SYN
    assert "192.168.0.1" in (first["source"], first["target"])


def test_a_script_fails_at_its_line(client: TestClient) -> None:
    text = "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n+0 listen(3, 1) = -1\n"
    report = run(client, text)
    assert report["status"] == "failed"
    failure = report["failure"]
    assert isinstance(failure, dict)
    assert (failure["line"], failure["column"]) == (2, 1)


def test_a_script_sees_the_folder_that_is_chosen(workspace: Path, client: TestClient) -> None:
    (workspace / "set/tests").mkdir(parents=True)
    (workspace / "set/defaults.sh").write_text("echo defaults\n")
    asked = {"path": "set/tests/a.pkt", "text": "0 `sh ../defaults.sh`\n"}
    own = client.post("/api/packetdrill/run", json=asked).json()
    above = client.post("/api/packetdrill/run", json={**asked, "root": "set"}).json()
    assert (own["status"], above["status"]) == ("failed", "passed")
    assert above["output"] == "defaults\n"
    beside = client.post("/api/packetdrill/run", json={**asked, "root": "labs"})
    assert beside.status_code in (400, 404)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"ip_version": "ipx"}, "expected ipv4"),
        ({"kernel": "2.4"}, "2.4"),
        ({"seed": -1}, "seed"),
    ],
)
def test_wrong_options_are_refused(client: TestClient, more: dict[str, object], words: str) -> None:
    answer = client.post("/api/packetdrill/run", json={"path": "a.pkt", "text": "", **more})
    assert words in answer.json()["error"]
    assert answer.status_code in (400, 503)


def test_a_script_ends_when_the_page_goes_or_the_studio_ends(workspace: Path) -> None:
    scripts = PacketdrillScripts(Workspace(workspace))
    request = PacketdrillRequest(path="a.pkt", text=ENDLESS)
    for end in (threading.Event.set, lambda _: scripts.stop()):
        stop = threading.Event()
        threading.Timer(1.5, end, [stop]).start()
        began_s = time.monotonic()
        with pytest.raises(HttpError, match="was cancelled"):
            scripts.run(request, stop=stop)
        assert time.monotonic() - began_s < 60
    with pytest.raises(HttpError, match="is shutting down"):
        scripts.run(request, stop=threading.Event())
    scripts.close()


def test_packets_are_kept_for_a_while_only(workspace: Path) -> None:
    scripts = PacketdrillScripts(Workspace(workspace))
    request = PacketdrillRequest(path="a.pkt", text=HANDSHAKE)
    numbers = [scripts.run(request, stop=threading.Event())["capture"] or "" for _ in range(9)]
    with pytest.raises(HttpError, match="no longer available"):
        scripts.capture(numbers[0])
    last = scripts.capture(numbers[-1])
    assert last.stat().st_size > 24
    scripts.close()
    assert not last.exists()
