"""Nobody gets anything without the token, from another site, or under another name."""

from __future__ import annotations

import pytest
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from tests.studio.conftest import BEARER, HOST, ORIGIN, PORT, SOCKET, TOKEN

PATHS = [
    "/",
    "/index.html",
    "/assets/main-1a2b3c.js",
    "/api/state",
    "/api/files",
    "/api/document?path=a.yaml",
    "/api/runs",
    "/api/report/runs/x/report.html",
    "/api/share?runs=runs/x",
    "/no/such/path",
]


@pytest.mark.parametrize("path", PATHS)
def test_without_the_token_there_is_nothing(stranger: TestClient, path: str) -> None:
    answer = stranger.get(path)
    assert answer.status_code == 403
    assert "longfat studio" in answer.text
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize("token", ["", "wrong", TOKEN[:-1], TOKEN + "x", "\u00e9"])
def test_a_wrong_token_opens_nothing(stranger: TestClient, token: str) -> None:
    assert stranger.get("/", params={"token": token}).status_code == 403
    bearer = {"Authorization": f"Bearer {token}".encode()}
    assert stranger.get("/", headers=bearer).status_code == 403
    cookie = {"Cookie": f"longfat-studio-{PORT}={token}".encode()}
    assert stranger.get("/", headers=cookie).status_code == 403


def test_the_token_is_taken_from_the_url_into_a_cookie(stranger: TestClient) -> None:
    first = stranger.get(f"/?open=a%20b.yaml&token={TOKEN}", follow_redirects=False)
    assert first.status_code == 303
    assert first.headers["location"] == f"{ORIGIN}/?open=a+b.yaml"
    cookie = first.headers["set-cookie"]
    assert cookie.startswith(f"longfat-studio-{PORT}={TOKEN};")
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert first.headers["referrer-policy"] == "no-referrer"
    assert stranger.get("/").status_code == 200
    assert stranger.get("/api/state").status_code == 200


def test_a_url_with_the_token_leads_nowhere_else(stranger: TestClient) -> None:
    answer = stranger.get(f"{ORIGIN}//evil.example/?token={TOKEN}", follow_redirects=False)
    assert answer.headers["location"].startswith(f"{ORIGIN}/")


def test_a_program_sends_the_token_as_bearer(stranger: TestClient) -> None:
    assert stranger.get("/api/labs", headers=BEARER).status_code == 200


@pytest.mark.parametrize(
    "host", ["evil.example", f"evil.example:{PORT}", "127.0.0.1", "127.0.0.1:1", "", "0.0.0.0:8765"]
)
def test_another_name_for_this_machine_is_refused(stranger: TestClient, host: str) -> None:
    assert stranger.get("/", headers={**BEARER, "Host": host}).status_code == 403


@pytest.mark.parametrize("host", [f"localhost:{PORT}", f"[::1]:{PORT}", f"LOCALHOST:{PORT}"])
def test_our_own_names_are_known(stranger: TestClient, host: str) -> None:
    assert stranger.get("/", headers={**BEARER, "Host": host}).status_code == 200


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", f"https://{HOST}", "http://127.0.0.1"]
)
def test_another_site_is_refused(client: TestClient, origin: str) -> None:
    headers = {"Origin": origin}
    assert client.get("/api/state", headers=headers).status_code == 403
    body = {"text": "", "name": "x"}
    assert client.post("/api/check", json=body, headers=headers).status_code == 403


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS"])
def test_what_changes_something_says_where_it_comes_from(client: TestClient, method: str) -> None:
    del client.headers["Origin"]
    assert client.request(method, "/api/check").status_code == 403
    assert client.request(method, "/api/check", headers=BEARER).status_code == 403
    assert client.get("/api/state").status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Origin": ORIGIN},
        {**BEARER},
        {**BEARER, "Origin": "http://evil.example"},
        {**BEARER, "Origin": ORIGIN, "Host": "evil.example"},
    ],
)
def test_a_websocket_needs_token_and_origin(stranger: TestClient, headers: dict[str, str]) -> None:
    with (
        pytest.raises(WebSocketDisconnect),
        stranger.websocket_connect("/ws/jobs", headers={"Host": HOST, **headers}),
    ):
        pass


def test_a_websocket_with_both_opens(stranger: TestClient) -> None:
    with stranger.websocket_connect("/ws/jobs", headers=SOCKET):
        pass


def test_answers_tell_the_browser_what_it_may_do(client: TestClient) -> None:
    for path in ("/", "/api/state", "/no/such/path"):
        headers = client.get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'self'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "script-src 'self';" in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cache-control"] == "no-store"
    kept = client.get("/assets/main-1a2b3c.js").headers["cache-control"]
    assert kept == "private, max-age=31536000, immutable"


def test_a_websocket_to_nowhere_is_closed(stranger: TestClient) -> None:
    with (
        pytest.raises(WebSocketDisconnect),
        stranger.websocket_connect("/ws/none", headers=SOCKET),
    ):
        pass
