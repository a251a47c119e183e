"""Logins of a class: what ends them, and that nobody ends or has those of another."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
import websockets.sync.client as ws
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.typing import Origin

from longfat.studio.browser_sessions import MAX_SESSIONS
from tests.command import longfat
from tests.longfat_class.studio.classroom.test_class import ClassServer, cookies, socket

LIMITS = "machines=1"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "class"
    folder.mkdir()
    return folder


@pytest.fixture
def served(root: Path) -> Iterator[ClassServer]:
    server = ClassServer(root, 3, LIMITS)
    yield server
    server.end()


def token_of(link: str) -> str:
    return link.rpartition("=")[2]


def bearer(link: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token_of(link)}"}


def at(served: ClassServer, cookie: dict[str, str]) -> dict[str, str]:
    """Return a cookie for another start of a server, which may have another port."""
    port = served.origin.rpartition(":")[2]
    return {
        name: re.sub(r"longfat-studio-\d+-", f"longfat-studio-{port}-", value)
        for name, value in cookie.items()
    }


def status(client: httpx.Client, *, headers: dict[str, str] | None = None) -> int:
    return client.get("/api/state", headers=headers).status_code


def socket_status(served: ClassServer, client: httpx.Client) -> int:
    """Return the status with which a WebSocket is refused; 101 if it is opened."""
    try:
        with socket(served, client, "/ws/drafts") as connection:
            connection.recv(timeout=10)
            return 101
    except InvalidStatus as error:
        return error.response.status_code


def teacher_of(served: ClassServer) -> httpx.Client:
    """Return a browser of the teacher, which has opened the teacher's link."""
    client = httpx.Client(base_url=served.origin, follow_redirects=True)
    assert client.get(served.teacher).status_code == 200
    client.headers["Origin"] = served.origin
    return client


def link_of(teacher: httpx.Client, folder: str) -> str:
    students = teacher.get("/api/class").json()["students"]
    (url,) = [one["url"] for one in students if one["folder"] == folder]
    assert isinstance(url, str)
    return url


def test_a_session_opens_what_is_its_owners_only(served: ClassServer) -> None:
    one, two, teacher = served.client("s00"), served.client("s01"), teacher_of(served)
    ((name, of_one),) = one.cookies.items()
    ((_, of_two),) = two.cookies.items()
    ((teachers_name, of_teacher),) = teacher.cookies.items()
    workspaces = [client.get("/api/drafts").json()["workspace"] for client in (one, two)]
    assert workspaces[0] != workspaces[1]
    with httpx.Client(base_url=served.origin, headers={"Origin": served.origin}) as other:
        # Each session is that of its owner, whatever else the request says.
        for value, status_of_first in ((of_one, 200), (of_two, 421)):
            headers = {"Cookie": f"{name}={value}", "X-Longfat-Workspace": workspaces[0]}
            assert status(other, headers=headers) == status_of_first
        # Sessions of students open nothing of the teacher's, nor the teacher's a student's.
        for path in ("/class", "/api/class", "/class/new-link?student=s01"):
            for cookie in (f"{teachers_name}={of_one}", f"{name}={of_one}", f"{name}={of_teacher}"):
                assert other.get(path, headers={"Cookie": cookie}).status_code == 403
        assert status(other, headers={"Cookie": f"{name}={of_teacher}"}) == 403
        assert status(other, headers={"Cookie": f"{teachers_name}={of_teacher}"}) in (403, 404)
        # Tokens are no sessions.
        for link in (served.links["s00"], served.teacher):
            for each in (name, teachers_name):
                assert status(other, headers={"Cookie": f"{each}={token_of(link)}"}) == 403


def test_a_new_link_ends_all_that_the_old_one_opened_and_nothing_else(served: ClassServer) -> None:
    one, other_browser, two = served.client("s00"), served.client("s00"), served.client("s01")
    teacher = teacher_of(served)
    old = served.links["s00"]
    url = served.origin.replace("http://", "ws://") + "/ws/drafts"
    origin = Origin(served.origin)
    with (
        socket(served, one, "/ws/drafts") as of_one,
        ws.connect(url, additional_headers=bearer(old), origin=origin) as by_token,
        socket(served, two, "/ws/drafts") as of_two,
    ):
        for connection in (of_one, by_token, of_two):
            assert json.loads(connection.recv(timeout=10))["event"] == "hello"
        question = teacher.get("/class/new-link", params={"student": "s00"})
        assert "A new link for Student 0?" in question.text
        assert status(one) == 200
        page = teacher.post("/class/new-link", data={"student": "s00"})
        assert page.status_code == 200
        for connection in (of_one, by_token):
            with pytest.raises(ConnectionClosed) as closed:
                connection.recv(timeout=10)
            assert closed.value.rcvd is not None
            assert closed.value.rcvd.code == 1008
        draft: dict[str, object] = {
            "page": "p",
            "base": None,
            "steps": [],
            "fields": {"name": "mine"},
        }
        assert two.put("/api/drafts/abcdefgh-1", json=draft).status_code == 200
        assert json.loads(of_two.recv(timeout=10))["draft"]["name"] == "mine"
    new = link_of(teacher, "s00")
    assert new != old
    assert new in page.text
    for client in (one, other_browser):
        assert status(client) == 403
        assert socket_status(served, client) == 403
        assert client.get(old).status_code == 403
        assert status(client, headers=bearer(old)) == 403
    assert status(two) == 200
    assert socket_status(served, two) == 101
    served.links["s00"] = new
    assert status(served.client("s00")) == 200
    assert status(two, headers=bearer(new)) == 200
    assert link_of(teacher, "s01") == served.links["s01"]


def test_a_student_can_neither_log_out_nor_renew_another(served: ClassServer) -> None:
    one, two, teacher = served.client("s00"), served.client("s01"), teacher_of(served)
    forms = (("/class/new-link", {"student": "s01"}), ("/class/log-out", {"others": ""}))
    for path, form in forms:
        assert one.post(path, data=form).status_code == 403
        assert one.post(path, data=form, headers=bearer(served.links["s00"])).status_code == 403
        # Nor by the teacher's browser, from another site.
        for origin in ("http://evil.example", "null"):
            answer = teacher.post(path, data=form, headers={"Origin": origin})
            assert answer.status_code == 403
        with httpx.Client(base_url=served.origin, cookies=teacher.cookies) as no_origin:
            assert no_origin.post(path, data=form).status_code == 403
        assert teacher.get(path, params=form).status_code in (200, 405)  # a question at most
    for body in ({"student": "s01"}, {"owner": "s01"}):
        assert one.post("/api/log-out", json=body).status_code == 400
    assert one.post("/api/log-out", json={"others": True}).status_code == 200
    assert status(two) == 200
    assert teacher.get("/class").status_code == 200
    assert link_of(teacher, "s01") == served.links["s01"]


@pytest.mark.parametrize(
    ("form", "code"),
    [
        ({"student": "s99"}, 404),
        ({"student": "../s01"}, 404),
        ({"student": ""}, 404),
        ({}, 404),
        ({"student": "s01" * 5000}, 413),
    ],
)
def test_a_form_that_names_no_student(served: ClassServer, form: dict[str, str], code: int) -> None:
    teacher = teacher_of(served)
    answer = teacher.post("/class/new-link", data=form)
    assert answer.status_code == code
    assert "error" in answer.json()
    page = teacher.get("/class", params={"renewed": "<script>s99"})
    assert page.status_code == 200
    assert "has a new link" not in page.text
    assert "<script>" not in page.text


def test_the_teacher_logs_out(served: ClassServer) -> None:
    first, second, student = teacher_of(served), teacher_of(served), served.client("s00")
    ended = first.post("/class/log-out", data={"others": ""})
    assert "All other browsers are logged out" in ended.text
    assert second.get("/class").status_code == 403
    assert first.get("/class").status_code == 200
    value = cookies(first)
    ended = first.post("/class/log-out")
    assert ended.status_code == 200
    assert "You are logged out" in ended.text
    assert not first.cookies
    assert first.get("/class", headers=value).status_code == 403
    assert status(student) == 200


def test_a_student_who_logs_in_often_has_few_sessions(served: ClassServer) -> None:
    two = served.client("s01")
    clients = [served.client("s00") for _ in range(MAX_SESSIONS + 2)]
    assert [status(client) for client in clients] == [403] * 2 + [200] * MAX_SESSIONS
    assert status(two) == 200


def test_sessions_outlive_a_restart_except_those_that_were_ended(root: Path) -> None:
    server = ClassServer(root, 3, LIMITS)
    sessions = {name: cookies(server.client(name)) for name in ("s00", "s01", "s02")}
    teacher = teacher_of(server)
    teachers = cookies(teacher)
    logged_out = server.client("s00")
    ended = cookies(logged_out)
    assert logged_out.post("/api/log-out", json={}).status_code == 200
    teacher.post("/class/new-link", data={"student": "s02"})
    links = dict(server.links)
    server.end()

    def again(*more: str) -> dict[str, int]:
        """Start the server again; return which sessions there are, and the teacher's."""
        nonlocal server
        server = ClassServer(root, 3, LIMITS, *more)
        with httpx.Client(base_url=server.origin) as client:
            statuses = {
                name: status(client, headers=at(server, cookie))
                for name, cookie in sessions.items()
            }
            page = client.get("/api/class", headers=at(server, teachers))
            statuses["teacher"] = page.status_code
            assert status(client, headers=at(server, ended)) == 403
            assert status(client, headers=bearer(links["s02"])) == 403
        return statuses

    all_of_them = {"s00": 200, "s01": 200, "s02": 403, "teacher": 200}
    assert again() == all_of_them
    assert token_of(server.links["s00"]) == token_of(links["s00"])
    assert token_of(server.links["s02"]) != token_of(links["s02"])
    server.end()
    assert again("--new-link", "s01") == {**all_of_them, "s01": 403}
    assert token_of(server.links["s01"]) != token_of(links["s01"])
    server.end()
    # It does not come back.
    assert again() == {**all_of_them, "s01": 403}
    server.end()
    old = server.teacher
    assert again("--new-token") == {"s00": 403, "s01": 403, "s02": 403, "teacher": 403}
    assert token_of(server.teacher) != token_of(old)
    server.end()
    assert again() == {"s00": 403, "s01": 403, "s02": 403, "teacher": 403}
    server.end()


def test_who_left_the_roster_has_no_session_also_when_back(root: Path) -> None:
    server = ClassServer(root, 2, LIMITS)
    session = cookies(server.client("s01"))
    server.end()
    for count, expected in ((2, 200), (1, 403), (2, 403)):
        server = ClassServer(root, count, LIMITS)
        with httpx.Client(base_url=server.origin) as client:
            assert status(client, headers=at(server, session)) == expected
        server.end()


def test_new_links_are_for_students_of_a_class(root: Path) -> None:
    roster = root.parent / "roster.csv"
    roster.write_text("folder\nalice\nbob\n")
    class_of = ("studio", "--class", str(roster), "--workspace", str(root), "--no-browser")
    unknown = longfat(*class_of, "--new-link", "alise", cwd=root)
    assert unknown.returncode != 0
    assert "the roster has no such folder; did you mean 'alice'?" in unknown.stderr
    assert "Traceback" not in unknown.stderr
    none = longfat("studio", "--new-link", "alice", "--no-browser", cwd=root)
    assert none.returncode != 0
    assert "name its roster by --class" in none.stderr


def test_a_link_logs_in_its_owner_also_where_another_session_was_planted(
    served: ClassServer,
) -> None:
    """Another program of the computer can set cookies of 127.0.0.1, whatever its port."""
    mallory = served.client("s01")
    ((name, planted),) = mallory.cookies.items()
    with httpx.Client(base_url=served.origin, follow_redirects=True) as victim:
        victim.cookies.set(name, planted, domain="127.0.0.1")
        assert victim.get(served.links["s00"]).status_code == 200
        assert victim.cookies[name] != planted
        workspace = victim.get("/api/drafts").json()["workspace"]
    assert workspace == served.client("s00").get("/api/drafts").json()["workspace"]
    assert status(mallory) == 200
