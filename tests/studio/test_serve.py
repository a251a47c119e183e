"""The process: where it listens, what it prints, and that its end leaves nothing."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import CliRunner
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from longfat.cli.studio import studio as studio_command
from longfat.engine import kernel as kernels
from longfat.errors import HostError, InputError
from longfat.studio.address import FIRST_PORT, Address
from longfat.studio.serve import serve
from longfat.studio.state import workspace_id
from tests.conftest import processes_running
from tests.studio.conftest import STUDY, Studio

Start = Callable[..., Studio]
ENDLESS = STUDY.replace("count: 2", "count: 500000")


def test_a_second_client_gets_nothing(start_studio: Start) -> None:
    studio = start_studio()
    assert studio.http.get("/api/state").json()["sessions"] == []
    with httpx.Client(base_url=studio.url) as second:
        assert second.get("/").status_code == 403
        assert second.get("/api/state").status_code == 403
        first = second.get("/", params={"token": studio.token})
        assert first.status_code == 303
        assert second.get("/").status_code == 200
    with httpx.Client(base_url=studio.url, headers={"Host": "evil.example"}) as other:
        assert other.get("/", params={"token": studio.token}).status_code == 403
    assert "uvicorn" not in studio.http.get("/").headers.get("server", "")


def test_a_restart_keeps_sessions_and_a_new_token_ends_them(
    start_studio: Start, workspace: Path
) -> None:
    studio = start_studio()
    with httpx.Client(base_url=studio.url) as browser:
        assert browser.get("/", params={"token": studio.token}).status_code == 303
        ((_, value),) = browser.cookies.items()

    def page() -> httpx.Response:
        # Another studio may have taken the port meanwhile.
        port = studio.url.rpartition(":")[2]
        cookie = f"longfat-studio-{port}-{workspace_id(workspace)}={value}"
        return httpx.get(studio.url, headers={"Cookie": cookie})

    before = page()
    assert "longfat-session" in before.text
    for number in (signal.SIGTERM, signal.SIGKILL):
        studio.process.send_signal(number)
        studio.process.wait(20)
        token = studio.token
        studio = start_studio()
        assert studio.token == token
        # A page that is open still knows its server.
        assert page().text == before.text
    for options in (("--new-token",), ()):
        studio.process.terminate()
        studio.process.wait(20)
        studio = start_studio(*options)
        assert studio.token != token
        assert page().status_code == 403


def test_a_websocket_without_origin_is_refused(start_studio: Start) -> None:
    studio = start_studio()
    bearer = {"Authorization": f"Bearer {studio.token}"}
    url = studio.url.replace("http", "ws") + "/ws/jobs"

    async def status(**options: Any) -> int:
        try:
            async with connect(url, **options):
                return 101
        except InvalidStatus as error:
            return error.response.status_code

    async def all_of_them() -> list[int]:
        evil: Any = "http://evil.example"
        own: Any = studio.url
        return [
            await status(additional_headers=bearer),
            await status(additional_headers=bearer, origin=evil),
            await status(origin=own),
            await status(additional_headers=bearer, origin=own),
        ]

    assert asyncio.run(all_of_them()) == [403, 403, 403, 101]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGKILL])
def test_an_end_leaves_nothing(
    start_studio: Start,
    own_kernels: Path,
    workspace: Path,
    monkeypatch: pytest.MonkeyPatch,
    number: signal.Signals,
) -> None:
    monkeypatch.setenv("LONGFAT_CACHE", str(own_kernels))
    binary = kernels.find("6.1").binary
    studio = start_studio()
    job: dict[str, Any] = {"name": "mine", "text": ENDLESS, "lab": None, "cases": [], "seeds": None}
    assert studio.http.post("/api/jobs", json=job).status_code == 201
    live: dict[str, Any] = {"name": "mine", "text": STUDY, "case": None}
    answer = studio.http.post("/api/sessions", json=live, timeout=30)
    assert answer.status_code == 201, answer.text
    until(lambda: len(processes_running(binary)) >= 2)
    studio.process.send_signal(number)
    status = studio.process.wait(20)
    assert status == (0 if number != signal.SIGKILL else -signal.SIGKILL)
    until(lambda: processes_running(binary) == [])
    if number != signal.SIGKILL:
        assert studio.said() == ""
        assert os.listdir(workspace / "runs" / "mine") == ["study.yaml"]


def until(condition: Callable[[], bool], *, within_s: float = 20.0) -> None:
    start = time.monotonic()
    while not condition():
        assert time.monotonic() - start < within_s
        time.sleep(0.05)


def _bound(own: socket.socket, port: int) -> bool:
    try:
        own.bind(("127.0.0.1", port))
    except OSError:
        return False
    return True


def test_the_usual_port_and_then_a_free_one(start_studio: Start) -> None:
    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        # A studio of another test, which may run beside this one, may have it.
        until(lambda: _bound(taken, FIRST_PORT), within_s=200)
        taken.listen()
        studio = start_studio()
        assert studio.url != f"http://127.0.0.1:{FIRST_PORT}"
        assert studio.http.get("/").status_code == 200


def test_a_taken_port_is_reported(workspace: Path, static: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(HostError, match=f"port {port} of .* is taken"):
            serve(
                workspace=workspace,
                address=Address(port=port),
                query={},
                browser=False,
                static=static,
            )


def test_a_page_that_is_not_built_is_reported(workspace: Path, tmp_path: Path) -> None:
    with pytest.raises(HostError, match="not built") as caught:
        serve(workspace=workspace, address=Address(), query={}, browser=False, static=tmp_path)
    assert "make web" in str(caught.value)


def test_beyond_loopback_needs_knowledge_and_tls(certificate: tuple[Path, Path]) -> None:
    cert, key = certificate
    for host in ("127.0.0.1", "127.8.9.1", "localhost", "::1"):
        Address(host=host).check()
    for address in (
        Address(host="192.0.2.1"),
        Address(host="lab.example", i_know=True),
        Address(host="lab.example", tls_cert=cert, tls_key=key),
    ):
        with pytest.raises(InputError, match="--i-know"):
            address.check()
    Address(host="lab.example", i_know=True, tls_cert=cert, tls_key=key).check()
    for host in ("0.0.0.0", "::"):
        with pytest.raises(InputError, match="by which others reach"):
            Address(host=host, i_know=True, tls_cert=cert, tls_key=key).check()
    with pytest.raises(InputError, match="belong together"):
        Address(tls_cert=cert).check()
    with pytest.raises(InputError, match="not a certificate with its key"):
        Address(tls_cert=cert, tls_key=cert).check()
    with pytest.raises(InputError, match="No such file"):
        Address(tls_cert=cert, tls_key=Path("none")).check()


def test_tls_makes_the_cookie_secure(
    certificate: tuple[Path, Path], workspace: Path, static: Path
) -> None:
    program = (
        "import sys; from pathlib import Path as P\n"
        "from longfat.studio.address import Address\n"
        "from longfat.studio.serve import serve\n"
        "w, s, c, k = map(P, sys.argv[1:])\n"
        "serve(workspace=w, static=s, query={}, browser=False,\n"
        "      address=Address(tls_cert=c, tls_key=k))\n"
    )
    arguments = [str(path) for path in (workspace, static, *certificate)]
    process = subprocess.Popen(
        [sys.executable, "-c", program, *arguments], stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stderr is not None
        url = process.stderr.readline().split()[-1]
        assert url.startswith("https://127.0.0.1:")
        trusting = ssl.create_default_context(cafile=certificate[0])
        trusting.check_hostname = False
        answer = httpx.get(url, verify=trusting)
        assert answer.status_code == 303
        assert "Secure" in answer.headers["set-cookie"]
        process.terminate()
        assert process.wait(20) == 0
    finally:
        process.kill()
        process.wait()
        process.stderr.close()  # type: ignore[union-attr]


class Served(Exception):  # noqa: N818
    """What the command line asks for."""

    def __init__(self, **asked: Any) -> None:
        super().__init__()
        self.asked = asked


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch) -> Callable[..., dict[str, Any] | str]:
    """Give a command line, and return what is to be served, or the error."""

    def caught(**asked: Any) -> None:
        raise Served(**asked)

    monkeypatch.setattr("longfat.studio.serve.serve", caught)

    def run(*words: str) -> dict[str, Any] | str:
        result = CliRunner().invoke(studio_command, words)
        if isinstance(result.exception, Served):
            return result.exception.asked
        assert isinstance(result.exception, (InputError, SystemExit)), result.exception
        return str(result.exception)

    return run


def test_what_is_opened_decides_the_workspace(
    command: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, other = tmp_path / "here", tmp_path / "other"
    for folder in (here, other / "lab"):
        folder.mkdir(parents=True)
    (here / "mine.yaml").write_text(STUDY)
    (other / "net.mn").write_text("{}")
    (other / "lab" / "study.yaml").write_text(STUDY)
    (other / "notes.txt").write_text("")
    monkeypatch.chdir(here)

    def opened(*words: str) -> tuple[Path, dict[str, str]]:
        asked = command(*words)
        assert isinstance(asked, dict), asked
        return asked["workspace"].resolve(), asked["query"]

    assert opened() == (here, {})
    assert opened("lab08") == (here, {"lab": "lab08"})
    assert opened("mine.yaml") == (here, {"open": "mine.yaml"})
    assert opened("../other/net.mn") == (other, {"open": "net.mn"})
    assert opened("../other/lab") == (other / "lab", {"open": "study.yaml"})
    assert opened("../other/lab", "--workspace", "../other") == (other, {"open": "lab/study.yaml"})
    assert "outside of the workspace" in command("mine.yaml", "--workspace", "../other")
    assert "no such file" in command("none.yaml")
    assert "no file, folder or lab" in command("lab80")
    assert "files that end in" in command("../other/notes.txt")
    assert command("--port", "70000") == "2"


def test_options_reach_the_address(command: Callable[..., Any]) -> None:
    asked = command("--port", "0", "--no-browser", "--host", "::1")
    assert asked["address"] == Address(host="::1", port=None)
    assert asked["browser"] is False
    assert command("--port", "1234")["address"].port == 1234


def test_an_end_does_not_wait_for_a_session_that_begins(start_studio: Start) -> None:
    studio = start_studio()
    endless = STUDY + "setup: [{h1: while :; do date > /dev/null; done}]\n"
    answers: list[httpx.Response] = []

    def create() -> None:
        live: dict[str, Any] = {"name": "mine", "text": endless, "case": None}
        answers.append(studio.http.post("/api/sessions", json=live, timeout=60))

    thread = threading.Thread(target=create)
    thread.start()
    time.sleep(2)
    studio.process.terminate()
    assert studio.process.wait(3) == 0
    thread.join(5)
    assert answers[0].status_code == 503
    assert "longfat studio is shutting down" in answers[0].json()["error"]
    assert studio.said() == ""


def test_rubbish_on_websockets_harms_nobody(start_studio: Start) -> None:
    studio = start_studio()
    live: dict[str, Any] = {"name": 'x "q" \u00fc\n', "text": STUDY, "case": None}
    number = studio.http.post("/api/sessions", json=live, timeout=30).json()["id"]
    bearer = {"Authorization": f"Bearer {studio.token}"}
    rubbish: list[str | bytes] = [
        b"\xff\xfe\x00", b"", "", "{", "[" * 200_000, '{"do": 1}', "\U0001f600", "x" * 1_000_000,
        '{"do": "ask", "number": NaN, "node": [], "line": {}}', os.urandom(100_000),
        '{"rows": 1e9, "columns": -1}', '{"rows": true, "columns": 2}',
        '{"do": "step", "by_s": ' + "9" * 500 + "}",
    ]  # fmt: skip

    async def throw(path: str) -> None:
        url = studio.url.replace("http", "ws") + path
        options: Any = {"additional_headers": bearer, "origin": studio.url, "max_size": None}
        async with connect(url, **options) as socket:
            try:
                for one in rubbish:
                    await socket.send(one)
                await socket.send("x" * 5_000_000)  # larger than is taken
                async for _ in socket:
                    pass
            except ConnectionClosed:
                pass

    for path in (
        f"/ws/sessions/{number}",
        f"/ws/sessions/{number}/terminals/1",
        f"/ws/sessions/{number}/terminals/{10**30}",
        "/ws/sessions/none",
        "/ws/sessions/%00",
        "/ws/jobs",
    ):
        asyncio.run(asyncio.wait_for(throw(path), 20))
    (session,) = studio.http.get("/api/state").json()["sessions"]
    assert session["id"] == number
    studio.process.terminate()
    assert studio.process.wait(10) == 0
    assert studio.said() == ""
