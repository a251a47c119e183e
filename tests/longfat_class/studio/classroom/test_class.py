"""A class at one studio: each student has what is theirs, and nothing of another's."""

from __future__ import annotations

import csv
import json
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
import websockets.sync.client as ws
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.typing import Origin

from longfat.errors import InputError
from longfat_class.analysis import seed_of
from longfat_class.studio.classroom.app import check_students
from longfat_class.study.roster import Entry
from tests.command import Command, longfat
from tests.paths import REPOSITORY

STUDENTS = 30
STUDY = """\
title: Two hosts
kernel: "6.1"
memory: 256MB
network:
  hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8}
  links: [[h1, h2, {delay: 1ms}]]
flows: {rtt: {ping: h1 -> h2, count: 1}}
"""


SCRIPT = """\
from mininet.net import Mininet
from mininet.topo import SingleSwitchTopo
net = Mininet(topo=SingleSwitchTopo(k=2), controller=None)
net.addHost("h7")
net.start()
net.stop()
"""


class ClassServer:
    """`longfat studio --class`."""

    def __init__(self, root: Path, count: int, limits: str, *more: str) -> None:
        self.root = root
        roster = root.parent / "roster.csv"
        rows = [f"s{number:02},Student {number}\n" for number in range(count)]
        roster.write_text("folder,name\n" + "".join(rows))
        self.process = Command(
            *(
                *("longfat", "studio", "--class", str(roster), "--workspace", str(root)),
                *("--no-browser", "--port", "0", "--limits", limits),
                *more,
            ),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        lines = [self.process.stdout.readline() for _ in range(count + 1)]
        self.links = {row["folder"]: row["link"] for row in csv.DictReader(lines)}
        said = self.process.stderr.readline() + self.process.stderr.readline()
        found = re.search(r"http://\S+", said)
        assert found, said
        self.teacher = found[0]
        self.origin = self.teacher.partition("/class")[0]

    def client(self, student: str) -> httpx.Client:
        """Return a browser of a student, which has opened the link."""
        client = httpx.Client(base_url=self.origin, timeout=120, follow_redirects=True)
        client.headers["Origin"] = self.origin
        assert client.get(self.links[student]).status_code == 200
        return client

    def end(self) -> None:
        self.process.terminate()
        assert self.process.wait(30) == 0
        for stream in (self.process.stdout, self.process.stderr):
            assert stream is not None
            stream.close()


@pytest.fixture
def served(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[ClassServer]:
    root = tmp_path / "class"
    root.mkdir()
    count, limits = getattr(request, "param", (3, "machines=2, each=1, memory=512MB, wall=5min"))
    server = ClassServer(root, count, limits)
    yield server
    server.end()


def test_each_has_a_folder_and_sees_no_other(served: ClassServer) -> None:
    one, two = served.client("s00"), served.client("s01")
    saved = one.put("/api/document", json={"path": "mine.yaml", "text": STUDY})
    assert saved.status_code < 300, saved.text
    assert (served.root / "s00" / "mine.yaml").read_text() == STUDY
    assert "mine.yaml" in one.get("/api/files").text
    assert "mine.yaml" not in two.get("/api/files").text
    one.put("/api/labs/lab03/progress", json={"claims": {"x": True}})
    assert two.get("/api/progress").json() == []
    assert len(one.get("/api/progress").json()) == 1
    draft: dict[str, object] = {
        "page": "p",
        "base": None,
        "steps": [],
        "fields": {"name": "secret"},
    }
    assert one.put("/api/drafts/abcdefgh-1", json=draft).status_code == 200
    assert "secret" in one.get("/api/drafts").text
    assert "secret" not in two.get("/api/drafts").text


def test_nobody_reaches_another_s_files(served: ClassServer) -> None:
    (served.root / "s00" / "secret.yaml").write_text("title: secret\n")
    (served.root / "s00" / "secret.tar").write_text("secret")
    two = served.client("s01")
    for path in (
        *("../s00/secret.yaml", "..%2fs00%2fsecret.yaml", "s00/secret.yaml"),
        *(str(served.root / "s00" / "secret.yaml"), "./../s00/secret.yaml"),
    ):
        answer = two.get("/api/document", params={"path": path})
        assert answer.status_code >= 400
        assert "title: secret" not in answer.text
        assert two.get(f"/api/report/{path}").status_code >= 400
        assert two.get("/api/share", params={"runs": path}).status_code >= 400
    (served.root / "s01" / "link").symlink_to(served.root / "s00")
    assert two.get("/api/document", params={"path": "link/secret.yaml"}).status_code >= 400
    # Nor by what a study takes in: files beside it, a host's root.
    for line in (
        "files: {/opt/x: {from: ../s00/secret.yaml}}",
        f"files: {{/opt/x: {{from: {served.root}/s00/secret.yaml}}}}",
        "files: {/opt/x: {from: link/secret.yaml}}",
    ):
        body = {"name": "mine", "path": "mine.yaml", "text": STUDY + line + "\n", "case": None}
        answer = two.post("/api/sessions", json=body)
        assert answer.status_code == 400, answer.text
    rooted = STUDY.replace("h1: 10.0.0.1/8", "h1: {address: 10.0.0.1/8, root: ../s00/secret.tar}")
    body = {"name": "mine", "path": "mine.yaml", "text": rooted, "case": None}
    assert two.post("/api/sessions", json=body).status_code == 400


def test_nobody_reaches_another_s_session_or_job(served: ClassServer) -> None:
    one, two = served.client("s00"), served.client("s01")
    body = {"name": "mine", "text": STUDY, "case": None}
    number = one.post("/api/sessions", json=body).json()["id"]
    assert two.delete(f"/api/sessions/{number}").status_code == 404
    assert two.get("/api/state").json()["sessions"] == []
    assert len(one.get("/api/state").json()["sessions"]) == 1
    assert sessions_end(served, two, f"/ws/sessions/{number}") == 4404
    assert sessions_end(served, two, f"/ws/sessions/{number}/terminals/1") == 4404
    job = two.post("/api/jobs", json={"name": "mine", "text": STUDY}).json()
    assert one.delete(f"/api/jobs/{job['id']}").status_code == 404
    assert one.get("/api/jobs").json() == []
    # What a shell sees of the host holds nothing of any student's.
    (served.root / "s01" / "secret").write_text("secret")
    said = typed(served, one, number, f"cat {served.root}/s01/secret; ls {served.root}; ls /home\n")
    assert "No such file" in said
    assert "s01" not in said.replace("/s01/secret", "")


def test_other_tokens_open_nothing(served: ClassServer) -> None:
    stranger = httpx.Client(base_url=served.origin)
    token = served.links["s00"].rpartition("=")[2]
    teacher = served.teacher.rpartition("=")[2]
    for path in ("/", "/api/files", "/class", "/api/class", "/api/progress"):
        assert stranger.get(path).status_code == 403
        assert stranger.get(path, params={"token": token[:-1] + "x"}).status_code == 403
    bearer = {"Authorization": f"Bearer {token}"}
    assert stranger.get("/api/files", headers=bearer).status_code == 200
    for path in ("/class", "/api/class"):  # a student is no teacher
        assert stranger.get(path, headers=bearer).status_code == 403
        assert stranger.get(path, params={"token": token}).status_code == 403
    # And the teacher's token opens the teacher's page only.
    bearer = {"Authorization": f"Bearer {teacher}"}
    assert stranger.get("/api/files", headers=bearer).status_code in (403, 404)
    assert stranger.get("/api/class", headers=bearer).status_code == 200
    # A page of one student says so, and gets nothing where another one's link was opened since.
    one = served.client("s00")
    workspace = one.get("/api/drafts").json()["workspace"]
    assert one.get(served.links["s01"]).status_code == 200
    answer = one.get("/api/files", headers={"X-Longfat-Workspace": workspace})
    assert answer.status_code == 421


def after_waiting(ask: Callable[[], httpx.Response]) -> httpx.Response:
    """Ask until no machine is waited for: one whose session was ended still ends."""
    end_s = time.monotonic() + 30
    while (answer := ask()).status_code == 429 and time.monotonic() < end_s:
        time.sleep(0.1)
    return answer


def test_a_machine_is_waited_for_and_the_teacher_sees_who_is_where(served: ClassServer) -> None:
    clients = [served.client(f"s0{number}") for number in range(3)]
    body = {"name": "mine", "text": STUDY, "case": None}
    first = clients[0].post("/api/sessions", json=body)
    second = clients[1].post("/api/sessions", json=body)
    assert (first.status_code, second.status_code) == (201, 201)
    more = clients[0].post("/api/sessions", json={**body, "name": "more"})
    assert more.status_code == 429
    assert "queued" not in more.json()
    assert "as many as one may have" in more.json()["error"]
    waits = clients[2].post("/api/sessions", json=body)
    assert waits.status_code == 429
    assert waits.json()["queued"] is True
    assert "you are next" in waits.json()["error"]
    large = {**body, "text": STUDY.replace("256MB", "1GB")}
    clients[2].put("/api/labs/lab03/progress", json={"step_count": 9, "claims": {"x": True}})
    teacher = httpx.Client(base_url=served.origin, follow_redirects=True)
    page = teacher.get(served.teacher)
    assert page.status_code == 200
    assert "Student 2" in page.text
    assert "waits for 1" in page.text
    state = {one["folder"]: one for one in teacher.get("/api/class").json()["students"]}
    assert [state[f"s0{n}"]["machines"] for n in range(3)] == [1, 1, 0]
    assert state["s02"]["progress"][0]["lab"] == "lab03"
    clients[0].delete(f"/api/sessions/{first.json()['id']}")
    refused = after_waiting(
        lambda: clients[2].post("/api/sessions", json={**large, "name": "mine"})
    )
    assert refused.status_code == 400
    assert "over the quota" in refused.json()["error"]
    assert clients[2].post("/api/sessions", json=body).status_code == 201


@pytest.mark.timeout(600)
def test_exercises_take_turns_with_the_students_seeds(tmp_path: Path) -> None:
    shutil.copytree(REPOSITORY / "labs" / "templates" / "bdp", tmp_path / "given" / "my-lab")
    (root := tmp_path / "class").mkdir()
    limits = "machines=1, each=1, memory=2GB"
    served = ClassServer(root, 2, limits, "--exercises", str(tmp_path / "given" / "my-lab"))
    place, right = "/api/labs/my-lab", {"question": "bdp", "text": "6.25 MB"}
    try:
        one, two = served.client("s00"), served.client("s01")
        session = one.post("/api/sessions", json={"name": "mine", "text": STUDY, "case": None})
        assert session.status_code == 201, session.text
        assert two.put(f"{place}/answer", json=right).status_code == 200
        assert two.post(f"{place}/check", json={"exercises": ["bdp"]}).status_code == 201
        again = two.post(f"{place}/check", json={"exercises": ["bdp"]})
        assert again.status_code == 409
        until(lambda: state_of(two, place)["waits"])
        assert "you are next" in state_of(two, place)["waits"]
        assert state_of(two, place)["state"] == "waiting"
        # Nobody else's check is this one, and who gives up has no place any more.
        assert one.get(f"{place}/exercises").json()["check"] is None
        two.delete(f"{place}/check")
        until(lambda: state_of(two, place)["state"] == "cancelled")
        two.post(f"{place}/check", json={"exercises": ["bdp"]})
        assert one.delete(f"/api/sessions/{session.json()['id']}").status_code == 200
        until(lambda: state_of(two, place)["state"] == "done")
        assert two.get(f"{place}/progress").json()["exercises"]["bdp"]["points"] == 2
        assert one.get(f"{place}/progress").json()["exercises"] == {}
        for number, client in enumerate((one, two)):
            seed = client.get(f"{place}/exercises").json()["seed"]
            assert seed == seed_of(f"s0{number}")
        teacher = httpx.Client(base_url=served.origin, follow_redirects=True)
        page = teacher.get(served.teacher).text
        assert re.search(r"2\s+of\s+2\s+points checked\s*, 1 check\b", page)
    finally:
        served.end()
    graded = longfat(
        *("grade", "class/s01", "--folder", "my-lab", "--against", "given/my-lab", "--json"),
        *("--roster", "roster.csv", "--exercise", "bdp"),
        cwd=tmp_path,
    )
    assert graded.returncode == 0, graded.stderr
    (found,) = json.loads(graded.stdout)["submissions"]
    assert (found["student"], found["seed"]) == ("Student 1", seed_of("s01"))


def state_of(client: httpx.Client, place: str) -> Any:
    return client.get(f"{place}/exercises").json()["check"]


def until(holds: Callable[[], object]) -> None:
    deadline_s = time.monotonic() + 120
    while not holds():
        assert time.monotonic() < deadline_s
        time.sleep(0.1)


@pytest.mark.parametrize("served", [(2, "machines=2, each=1, disk=1MB")], indirect=True)
def test_a_full_folder_is_its_owners_affair(served: ClassServer) -> None:
    (served.root / "s00" / "large").write_bytes(bytes(2 << 20))
    saved = {"path": "a.yaml", "text": STUDY}
    refused = served.client("s00").put("/api/document", json=saved)
    assert refused.status_code == 507
    assert "its limit is 1.00 MB" in refused.json()["error"]
    assert served.client("s01").put("/api/document", json=saved).status_code == 200


@pytest.mark.parametrize("served", [(2, "machines=1, each=1, memory=1GB")], indirect=True)
def test_a_mininet_script_waits_for_a_machine(served: ClassServer) -> None:
    one, two = served.client("s00"), served.client("s01")
    session = one.post("/api/sessions", json={"name": "mine", "text": STUDY, "case": None})
    assert session.status_code == 201, session.text
    (served.root / "s01" / "net.py").write_text(SCRIPT)

    def read() -> list[httpx.Response]:
        return [
            two.post("/api/import", json={"name": "net.py", "text": SCRIPT}),
            two.get("/api/document", params={"path": "net.py"}),
        ]

    for waits in read():
        assert waits.status_code == 429
        assert waits.json()["queued"] is True
    # A study is read without a machine.
    assert two.post("/api/import", json={"name": "a.yaml", "text": STUDY}).status_code == 200
    assert one.delete(f"/api/sessions/{session.json()['id']}").status_code == 200
    after_waiting(lambda: read()[0])
    for found in read():
        assert found.status_code == 200, found.text
        assert "h7" in found.json()["text"]


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    "served", [(STUDENTS, "machines=4, each=1, memory=256MB, wall=5min")], indirect=True
)
def test_thirty_students_at_once(served: ClassServer) -> None:
    """Each boots a network, pings at a terminal and ends; four machines at a time."""

    def work(number: int) -> tuple[str, float]:
        name = f"s{number:02}"
        client = served.client(name)
        assert client.get("/api/labs").status_code == 200
        began_s = time.monotonic()
        while True:
            answer = client.post("/api/sessions", json={"name": name, "text": STUDY, "case": None})
            if answer.status_code == 201:
                break
            assert answer.json()["queued"] is True, answer.text
            assert time.monotonic() - began_s < 400
            time.sleep(1)
        waited_s = time.monotonic() - began_s
        session = answer.json()["id"]
        said = typed(served, client, session, "ping -c 1 10.0.0.2\n", until="1 received")
        assert client.delete(f"/api/sessions/{session}").status_code == 200
        return said, waited_s

    with ThreadPoolExecutor(STUDENTS) as pool:
        done = list(pool.map(work, range(STUDENTS)))
    assert all("1 received" in said for said, _ in done)
    assert {path.name for path in served.root.iterdir()} == {f"s{n:02}" for n in range(STUDENTS)}


@pytest.mark.parametrize(
    ("folders", "words"),
    [
        ([], "0 students"),
        (["../x"], "use ASCII letters"),
        ([".hidden"], "use ASCII letters"),
        (["a/b"], "use ASCII letters"),
        (["Bob", "bob"], "differ in capitals"),
        (["file"], "not a link"),
        (["link"], "not a link"),
    ],
)
def test_a_roster_that_gives_no_folders(tmp_path: Path, folders: list[str], words: str) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "link").symlink_to("/")
    roster = {folder: Entry(folder=folder) for folder in folders}
    with pytest.raises(InputError, match=words):
        check_students(roster, root=tmp_path)


def test_where_machines_look_no_class_can_be() -> None:
    with pytest.raises(InputError, match="machines can read"):
        check_students({"a": Entry(folder="a")}, root=Path("/usr/share"))


def test_links_outlive_a_restart(tmp_path: Path) -> None:
    root = tmp_path / "class"
    root.mkdir()
    tokens = []
    for _ in range(2):
        server = ClassServer(root, 2, "machines=1")
        tokens.append({name: link.rpartition("=")[2] for name, link in server.links.items()})
        assert httpx.get(server.origin).status_code == 403  # it answers, and so ends well
        server.end()
    assert tokens[0] == tokens[1]
    assert len(set(tokens[0].values())) == 2
    assert all(len(token) >= 32 for token in tokens[0].values())


def cookies(client: httpx.Client) -> dict[str, str]:
    return {"Cookie": "; ".join(f"{name}={value}" for name, value in client.cookies.items())}


def socket(served: ClassServer, client: httpx.Client, path: str) -> ws.ClientConnection:
    url = served.origin.replace("http://", "ws://") + path
    return ws.connect(url, additional_headers=cookies(client), origin=Origin(served.origin))


def sessions_end(served: ClassServer, client: httpx.Client, path: str) -> int:
    """Return the status with which a WebSocket is closed that may not be."""
    try:
        with socket(served, client, path) as connection:
            connection.recv(timeout=30)
    except InvalidStatus as error:
        return error.response.status_code
    except ConnectionClosed as error:
        assert error.rcvd is not None
        return error.rcvd.code
    return 0


def typed(
    served: ClassServer, client: httpx.Client, session: str, text: str, *, until: str = "# \n"
) -> str:
    """Type at h1 of a session; return what its terminal shows."""
    with socket(served, client, f"/ws/sessions/{session}") as orders:
        orders.send(json.dumps({"do": "type", "nodes": ["h1"], "text": text}))
        number = None
        while number is None:
            said = orders.recv(timeout=60)
            event = json.loads(said) if isinstance(said, str) else {}
            if event.get("event") == "terminal":
                number = event["terminal"]["id"]
        shown = ""
        with socket(served, client, f"/ws/sessions/{session}/terminals/{number}") as terminal:
            end_s = time.monotonic() + 30
            while time.monotonic() < end_s and until not in shown:
                try:
                    part = terminal.recv(timeout=3)
                except TimeoutError:
                    break
                shown += part.decode("utf-8", "replace") if isinstance(part, bytes) else ""
    return shown
