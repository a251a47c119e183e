"""A studio over a workspace of its own: in this process, or as a process that is spoken to."""

from __future__ import annotations

import subprocess
import sys
import urllib.parse
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from starlette.testclient import TestClient

from longfat.studio.app import make_app
from longfat.studio.auth import Keys, our_hosts
from longfat.studio.browser_sessions import BrowserSessions
from longfat.studio.credentials import ONLY_USER, Credentials, ServerProof, Tokens
from longfat.studio.state import VARIABLE

PORT = 8765
HOST = f"127.0.0.1:{PORT}"
ORIGIN = f"http://{HOST}"
TOKEN = "a-token-of-the-tests"
SECRET = b"a secret of the tests"
BEARER = {"Authorization": f"Bearer {TOKEN}"}
SOCKET = {**BEARER, "Origin": ORIGIN, "Host": HOST}
"""What a WebSocket of the test client has to say, which would be at another host."""

STUDY = """\
title: Two hosts
network:
  hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8}
  switches: [s1]
  links:
    - [h1, s1]
    - [h2, s1, {delay: 10ms, rate: 10mbit}]
memory: 256MB
flows:
  rtt: {ping: h1 -> h2, count: 2}
  bulk: {iperf3: h1 -> h2, time: 1s, after: rtt}
claims:
  - it has the delay: default.rtt.min > 10ms
"""


@pytest.fixture(autouse=True, scope="session")
def _own_state(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What studios remember of workspaces is not the person's who runs the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, str(tmp_path_factory.mktemp("state")))
        yield


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("tls")
    cert, key = folder / "cert.pem", folder / "key.pem"
    new = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost"]
    files = ["-days", "2", "-out", str(cert), "-keyout", str(key)]
    subprocess.run([*new, *files], check=True, capture_output=True)
    return cert, key


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder


@pytest.fixture
def static(tmp_path: Path) -> Path:
    """A page that says little."""
    folder = tmp_path / "static"
    (folder / "assets").mkdir(parents=True)
    (folder / "index.html").write_text("<!doctype html><head><title>studio</title></head>")
    (folder / "assets" / "main-1a2b3c.js").write_text("0")
    return folder


def keys_of_tests(*, sessions: BrowserSessions | None = None) -> Keys:
    """Return keys with the token of the tests."""
    credentials = Credentials(
        tokens=Tokens({ONLY_USER: TOKEN}),
        sessions=sessions or BrowserSessions(),
        proof=ServerProof(SECRET),
    )
    hosts = our_hosts("127.0.0.1", PORT, secure=False)
    return Keys(credentials=credentials, owner=ONLY_USER, hosts=hosts, port=PORT)


@pytest.fixture
def stranger(workspace: Path, static: Path) -> Iterator[TestClient]:
    """A client that has no token yet."""
    app = make_app(workspace=workspace, keys=keys_of_tests(), static=static)
    with TestClient(app, base_url=ORIGIN, raise_server_exceptions=False) as client:
        yield client


@pytest.fixture
def client(stranger: TestClient) -> TestClient:
    """A client as the page is one: with the cookie and its own origin."""
    assert stranger.get("/", params={"token": TOKEN}).status_code == 200
    stranger.headers["Origin"] = ORIGIN
    return stranger


@dataclass
class Studio:
    """A studio that runs."""

    process: subprocess.Popen[str]
    url: str
    token: str
    http: httpx.Client

    @property
    def origin(self) -> str:
        return self.url

    def said(self) -> str:
        """Return what it wrote to standard error after its URL; for when it has ended."""
        assert self.process.stderr is not None
        return self.process.stderr.read()


PROGRAM = """
import sys
from pathlib import Path
from longfat.studio.address import Address
from longfat.studio.serve import serve
serve(workspace=Path(sys.argv[1]), static=Path(sys.argv[2]), address=Address(),
      query={"lab": "lab08"}, browser=False, anew="--new-token" in sys.argv)
"""


@pytest.fixture
def start_studio(workspace: Path, static: Path) -> Iterator[Callable[..., Studio]]:
    """Start `serve` in a process of its own."""
    started: list[Studio] = []

    def start(*options: str) -> Studio:
        process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(workspace), str(static), *options],
            stderr=subprocess.PIPE,
            text=True,
        )
        assert process.stderr is not None
        line = process.stderr.readline()
        assert line.startswith("longfat studio: http://127.0.0.1:"), line
        parts = urllib.parse.urlsplit(line.split()[-1])
        query = dict(urllib.parse.parse_qsl(parts.query))
        assert query["lab"] == "lab08"
        url = f"http://{parts.netloc}"
        headers = {"Authorization": f"Bearer {query['token']}", "Origin": url}
        studio = Studio(process, url, query["token"], httpx.Client(base_url=url, headers=headers))
        started.append(studio)
        return studio

    yield start
    for studio in started:
        studio.http.close()
        if studio.process.poll() is None:
            studio.process.kill()
        studio.process.wait(20)
        assert studio.process.stderr is not None
        studio.process.stderr.close()
