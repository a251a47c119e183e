"""Nobody gets anything without credentials, from another site, or under another name."""

from __future__ import annotations

import hmac
import re

import httpx
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


def test_the_token_of_the_url_is_exchanged_for_a_session(stranger: TestClient) -> None:
    first = stranger.get(f"/?open=a%20b.yaml&token={TOKEN}", follow_redirects=False)
    assert first.status_code == 303
    assert first.headers["location"] == f"{ORIGIN}/?open=a+b.yaml"
    cookie = first.headers["set-cookie"]
    assert re.match(rf"longfat-studio-{PORT}=[\w-]{{43}};", cookie)
    assert TOKEN not in cookie
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert first.headers["referrer-policy"] == "no-referrer"
    assert stranger.get("/").status_code == 200
    assert stranger.get("/api/state").status_code == 200


def test_the_token_as_a_cookie_and_a_session_as_a_token_open_nothing(
    stranger: TestClient, client: TestClient
) -> None:
    session = client.cookies[f"longfat-studio-{PORT}"]
    client.cookies.clear()
    cookie = {"Cookie": f"longfat-studio-{PORT}={TOKEN}"}
    assert stranger.get("/", headers=cookie).status_code == 403
    bearer = {"Authorization": f"Bearer {session}"}
    assert stranger.get("/", headers=bearer).status_code == 403
    assert stranger.get("/", params={"token": session}).status_code == 403
    other_name = {"Cookie": f"longfat-studio-{PORT + 1}={session}"}
    assert stranger.get("/", headers=other_name).status_code == 403
    right = {"Cookie": f"longfat-studio-{PORT}={session}"}
    assert stranger.get("/", headers=right).status_code == 200


def test_a_browser_that_opens_the_link_again_keeps_its_session(client: TestClient) -> None:
    again = client.get(f"/?token={TOKEN}", follow_redirects=False)
    assert again.status_code == 303
    assert "set-cookie" not in again.headers


def test_a_browser_without_a_session_gets_a_page_that_says_how_to_come_back(
    stranger: TestClient,
) -> None:
    """A browser gets a page, a program a text; neither gets anything of the studio."""
    answer = stranger.get("/", headers={"Accept": "text/html,*/*;q=0.8"})
    assert answer.status_code == 403
    assert "<h1>This browser is not logged in</h1>" in answer.text
    assert "longfat-session" not in answer.text
    assert stranger.get("/api/state").headers["content-type"].startswith("text/plain")


def page_session(client: TestClient) -> tuple[str, str]:
    """Return the public id of the page's session, and its key."""
    match = re.search(
        r'<meta name="longfat-session" content="([0-9a-f]{32}) ([0-9a-f]{64})"></head>',
        client.get("/").text,
    )
    assert match
    return match[1], match[2]


def proof(client: TestClient, **query: str) -> httpx.Response:
    answer: httpx.Response = client.get("/api/proof", params=query)
    return answer


NONCE = "0123456789abcdef" * 4


def test_the_server_proves_its_identity_to_a_page(client: TestClient) -> None:
    session, key = page_session(client)
    client.cookies.clear()
    answer = proof(client, session=session, nonce=NONCE)
    message = f"longfat studio: proof of the server\n{ORIGIN}\n{session}\n{NONCE}"
    right = hmac.new(bytes.fromhex(key), message.encode(), "sha256").hexdigest()
    assert answer.json() == {"proof": right}
    assert "set-cookie" not in answer.headers
    # It is that of the origin the page is at, of the session and of the number.
    by_name = client.get(
        "/api/proof",
        params={"session": session, "nonce": NONCE},
        headers={"Host": f"localhost:{PORT}", "Origin": f"http://localhost:{PORT}"},
    )
    others = [
        by_name,
        proof(client, session="0" * 32, nonce=NONCE),
        proof(client, session=session, nonce=NONCE[::-1]),
    ]
    proofs = {right, *(one.json()["proof"] for one in others)}
    assert len(proofs) == 4


def test_proofs_reveal_nothing_about_sessions(client: TestClient) -> None:
    session, _ = page_session(client)
    known = proof(client, session=session, nonce=NONCE)
    unknown = proof(client, session="f" * 32, nonce=NONCE)
    assert client.post("/api/log-out", json={}).status_code == 200
    assert proof(client, session=session, nonce=NONCE).json() == known.json()
    for one in (known, unknown):
        assert one.status_code == 200
        assert len(one.json()["proof"]) == 64
    assert known.headers == unknown.headers


@pytest.mark.parametrize(
    ("session", "nonce"),
    [
        ("", ""),
        ("f" * 32, ""),
        ("f" * 32, NONCE[:-1]),
        ("f" * 32, NONCE + "0"),
        ("f" * 32, NONCE.upper()),
        ("f" * 31, NONCE),
        ("f" * 32 + "\n", NONCE),
        ("\u0663" * 32, NONCE),
        ("f" * 32, "x" * 64),
        ("../" * 1000, NONCE),
    ],
)
def test_a_malformed_request_for_a_proof(stranger: TestClient, session: str, nonce: str) -> None:
    answer = proof(stranger, session=session, nonce=nonce)
    assert answer.status_code == 400
    assert "32 and 64 hexadecimal digits" in answer.text


def test_a_proof_is_for_pages_of_this_server(stranger: TestClient) -> None:
    query = {"session": "f" * 32, "nonce": NONCE}
    for headers in ({"Host": "evil.example"}, {"Origin": "http://evil.example"}):
        assert stranger.get("/api/proof", params=query, headers=headers).status_code == 403
    assert stranger.post("/api/proof", params=query).status_code == 403


def test_a_page_without_a_session_has_no_key(stranger: TestClient) -> None:
    for path in ("/", "/index.html"):
        answer = stranger.get(path, headers=BEARER)
        assert answer.status_code == 200
        assert "longfat-session" not in answer.text


def test_a_logout_ends_the_session_and_no_other(client: TestClient) -> None:
    name = f"longfat-studio-{PORT}"
    first = client.cookies[name]
    client.cookies.clear()
    client.get("/", params={"token": TOKEN})
    second = client.cookies[name]
    answer = client.post("/api/log-out", json={})
    assert answer.status_code == 200
    assert f'{name}=""' in answer.headers["set-cookie"]
    assert "Max-Age=0" in answer.headers["set-cookie"]
    client.cookies.clear()
    for value, status in ((first, 200), (second, 403)):
        cookie = {"Cookie": f"{name}={value}"}
        assert client.get("/api/state", headers=cookie).status_code == status
    page = client.get("/logged-out")
    assert page.status_code == 200
    assert "You are logged out" in page.text


def test_a_logout_of_all_others_keeps_this_one(client: TestClient) -> None:
    name = f"longfat-studio-{PORT}"
    first = client.cookies[name]
    client.cookies.clear()
    client.get("/", params={"token": TOKEN})
    answer = client.post("/api/log-out", json={"others": True})
    assert answer.json() == {"ended": 1}
    assert client.get("/api/state").status_code == 200
    client.cookies.clear()
    cookie = {"Cookie": f"{name}={first}"}
    assert client.get("/api/state", headers=cookie).status_code == 403


def test_a_logout_is_asked_for_by_the_page_itself(client: TestClient) -> None:
    assert client.get("/api/log-out").status_code in (404, 405)
    for origin in ("http://evil.example", "null"):
        answer = client.post("/api/log-out", json={}, headers={"Origin": origin})
        assert answer.status_code == 403
    assert client.post("/api/log-out", content="[]").status_code == 400
    assert client.post("/api/log-out", json={"others": "yes"}).status_code == 400
    client.cookies.clear()
    assert client.post("/api/log-out", json={}).status_code == 403
    assert client.post("/api/log-out", json={}, headers=BEARER).status_code == 409


def test_a_websocket_ends_with_its_session(client: TestClient) -> None:
    cookie = {"Cookie": f"longfat-studio-{PORT}={client.cookies[f'longfat-studio-{PORT}']}"}
    headers = {**cookie, "Origin": ORIGIN, "Host": HOST}
    with (
        client.websocket_connect("/ws/drafts", headers=headers) as session,
        client.websocket_connect("/ws/drafts", headers=SOCKET) as program,
    ):
        assert session.receive_json()["event"] == "hello"
        assert program.receive_json()["event"] == "hello"
        assert client.post("/api/log-out", json={}).status_code == 200
        with pytest.raises(WebSocketDisconnect) as ended:
            session.receive_json()
        assert ended.value.code == 1008
        draft: dict[str, object] = {"page": "p", "base": None, "steps": [], "fields": {"name": "x"}}
        client.put("/api/drafts/abcdefgh-1", json=draft, headers=BEARER)
        assert program.receive_json()["draft"]["name"] == "x"
    with (
        pytest.raises(WebSocketDisconnect),
        client.websocket_connect("/ws/drafts", headers=headers),
    ):
        pass


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
