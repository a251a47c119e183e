"""A mirror of kernel.org on this host, with a key of its own."""

from __future__ import annotations

import hashlib
import socket
import threading
import time
from collections.abc import Callable, Iterator
from http.server import SimpleHTTPRequestHandler
from pathlib import Path

import pytest

from longfat.engine.kernel import kernel_org, sources
from longfat.engine.kernel.job import Step
from longfat.engine.kernel.sources import NotOfferedError, Source
from longfat.errors import HostError, InputError
from tests.engine.kernel.archive import Key, serving
from tests.engine.kernel.conftest import ReportLog

Fetch = Callable[..., Source]


def _content(release: str) -> bytes:
    return f"the source of {release}".encode() * 1000


def _digest(release: str) -> str:
    return hashlib.sha256(_content(release)).hexdigest()


@pytest.fixture
def mirror(tmp_path: Path, key: Key) -> Path:
    folder = tmp_path / "mirror/v6.x"
    folder.mkdir(parents=True)
    lines = []
    for release in ("6.1", "6.1.9", "6.1.10", "6.12.3"):
        (folder / f"linux-{release}.tar.xz").write_bytes(_content(release))
        lines.append(f"{_digest(release)}  linux-{release}.tar.xz\n")
        lines.append(f"{'0' * 64}  linux-{release}.tar.gz\n")
    (folder / "sha256sums.asc").write_bytes(key.signed("".join(lines)))
    return folder


class _Odd(SimpleHTTPRequestHandler):
    """Breaks off within a tarball, or never begins with it, if a file says so."""

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        folder = Path(self.directory)
        if self.path.endswith(".tar.xz") and (folder / "cut").exists():
            self.send_response(200)
            self.send_header("Content-Length", "20000")
            self.end_headers()
            self.wfile.write(b"x" * 500)
        elif (folder / "silent").exists():
            time.sleep(3)
        else:
            super().do_GET()


@pytest.fixture
def fetch(
    mirror: Path,
    key: Key,
    monkeypatch: pytest.MonkeyPatch,
    empty_cache: Path,
    report_log: ReportLog,
) -> Iterator[Fetch]:
    """Fetch from the mirror, with its key on our ring."""
    assert empty_cache
    monkeypatch.setenv("GNUPGHOME", str(key.home))

    def get(version: str, sha256: str = "") -> Source:
        return kernel_org.fetch(
            version, sha256=sha256, signer=key.fingerprint, timeout_s=1, report=report_log
        )

    with serving(mirror.parent, handler=_Odd) as url:
        monkeypatch.setenv(kernel_org.MIRROR, f"{url}/")
        yield get


@pytest.fixture
def keyless(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Take the key off our ring; use after `fetch`."""
    monkeypatch.setenv("GNUPGHOME", str(tmp_path / "no-gnupg"))


def _left(cache: Path) -> list[str]:
    folder = cache / "sources"
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


def test_the_newest_of_a_series(fetch: Fetch, empty_cache: Path, report_log: ReportLog) -> None:
    found = fetch("6.1")
    assert found.path == empty_cache / "sources/6.1.10/linux-6.1.10.tar.xz"
    assert found.digest() == found.sha256 == _digest("6.1.10")
    assert "kernel.org's signed checksum" in found.origin
    total = len(_content("6.1.10"))
    assert report_log.reports[-1][:3] == (Step.DOWNLOAD, total, total)
    report_log.reports.clear()
    assert fetch("6.1") == found
    assert report_log.reports == []
    assert _left(empty_cache) == ["6.1.10"]


def test_a_release(fetch: Fetch, empty_cache: Path) -> None:
    assert fetch("6.1.9").sha256 == _digest("6.1.9")
    assert sources.find_download("6.1.9") is not None
    assert sources.find_download("6.1.10") is None
    assert _left(empty_cache) == ["6.1.9"]


@pytest.mark.parametrize("version", ["6.1.11", "6.2", "6.12-rc3"])
def test_a_version_that_is_not_there(fetch: Fetch, empty_cache: Path, version: str) -> None:
    with pytest.raises(NotOfferedError, match=rf"/v6\.x has no {version}"):
        fetch(version)
    assert _left(empty_cache) == []


def test_a_major_version_that_is_not_there(fetch: Fetch) -> None:
    with pytest.raises(NotOfferedError, match=r"v7\.x/sha256sums\.asc: 404"):
        fetch("7.2")


@pytest.mark.usefixtures("keyless")
def test_without_the_key_the_checksum_must_be_given(
    fetch: Fetch, empty_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GNUPGHOME", str(tmp_path / "no-gnupg"))
    with pytest.raises(NotOfferedError, match=r"has 6\.1\.10, .* gpg has no key") as caught:
        fetch("6.1")
    assert "longfat kernel build 6.1.10 --sha256 DIGEST" in caught.value.hint
    assert not (tmp_path / "no-gnupg").exists()
    (tmp_path / "no-gnupg").mkdir(mode=0o700)  # a ring without that key
    with pytest.raises(NotOfferedError, match="gpg has no key"):
        fetch("6.1")
    assert _left(empty_cache) == []
    # Of a series, the release that has it; of a release, without the list.
    assert fetch("6.1", _digest("6.1.9")).path.name == "linux-6.1.9.tar.xz"
    assert fetch("6.1.10", _digest("6.1.10")).sha256 == _digest("6.1.10")


def test_without_gpg_the_checksum_must_be_given(
    fetch: Fetch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NotOfferedError, match="there is no gpg"):
        fetch("6.1")
    assert fetch("6.1.10", _digest("6.1.10")).path.exists()


def test_a_list_that_was_changed_is_refused(fetch: Fetch, mirror: Path) -> None:
    sums = mirror / "sha256sums.asc"
    sums.write_bytes(sums.read_bytes().replace(_digest("6.1.9").encode(), b"1" * 64))
    with pytest.raises(HostError, match="signature is not a good one") as caught:
        fetch("6.1")
    assert not isinstance(caught.value, NotOfferedError)


def test_lines_beside_the_signed_ones_do_not_count(fetch: Fetch, mirror: Path) -> None:
    sums = mirror / "sha256sums.asc"
    more = f"{'1' * 64}  linux-6.1.11.tar.xz\n".encode()
    sums.write_bytes(more + sums.read_bytes() + more)
    assert fetch("6.1").path.name == "linux-6.1.10.tar.xz"


@pytest.mark.usefixtures("fetch")
def test_a_key_that_is_another_is_refused(report_log: ReportLog) -> None:
    with pytest.raises(HostError, match="signature is not a good one"):
        kernel_org.fetch("6.1", report=report_log)


def test_a_wrong_checksum(fetch: Fetch, mirror: Path, empty_cache: Path) -> None:
    (mirror / "linux-6.1.10.tar.xz").write_bytes(b"something else")
    for sha256 in ("", _digest("6.1.10")):
        with pytest.raises(HostError, match="is not the expected file") as caught:
            fetch("6.1", sha256)
        assert not isinstance(caught.value, NotOfferedError)
    assert _left(empty_cache) == []


def test_a_file_that_breaks_off(fetch: Fetch, mirror: Path, empty_cache: Path) -> None:
    (mirror.parent / "cut").touch()
    with pytest.raises(HostError, match=r"is incomplete: 500 of 20,000 bytes"):
        fetch("6.1.10")
    assert _left(empty_cache) == []


def test_a_server_that_is_silent(fetch: Fetch, mirror: Path) -> None:
    (mirror.parent / "silent").touch()
    begin_s = time.monotonic()
    with pytest.raises(NotOfferedError, match=r"does not answer: .*timed out"):
        fetch("6.1.10")
    assert time.monotonic() - begin_s < 2.5


@pytest.mark.usefixtures("fetch")
def test_no_server(key: Key, monkeypatch: pytest.MonkeyPatch, report_log: ReportLog) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    for address in (f"http://127.0.0.1:{port}", "http://no-such-host.invalid"):
        monkeypatch.setenv(kernel_org.MIRROR, address)
        with pytest.raises(NotOfferedError, match="does not answer"):
            kernel_org.fetch("6.1", signer=key.fingerprint, report=report_log)


def test_something_else_than_http(empty_cache: Path, report_log: ReportLog) -> None:
    assert empty_cache
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            connection, _ = server.accept()
            with connection:
                connection.recv(4096)
                connection.sendall(b"220 mail\r\n")

        thread = threading.Thread(target=answer)
        thread.start()
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv(kernel_org.MIRROR, f"http://127.0.0.1:{server.getsockname()[1]}")
            with pytest.raises(NotOfferedError, match="does not answer"):
                kernel_org.fetch("6.1", timeout_s=2, report=report_log)
        thread.join()


def test_an_address_that_is_none(monkeypatch: pytest.MonkeyPatch, report_log: ReportLog) -> None:
    monkeypatch.setenv(kernel_org.MIRROR, "file:///etc")
    with pytest.raises(InputError, match="LONGFAT_KERNEL_MIRROR"):
        kernel_org.fetch("6.1", report=report_log)


@pytest.mark.usefixtures("fetch")
def test_an_interruption_leaves_nothing(empty_cache: Path, key: Key) -> None:
    def interrupt(step: Step, done: int = 0, total: int = 0, *, words: str = "") -> None:
        del step, total, words
        if done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        kernel_org.fetch("6.1", signer=key.fingerprint, report=interrupt)
    assert _left(empty_cache) == []
