from __future__ import annotations

import hashlib
import http.server
import os
import threading
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from longfat.engine.kernel.apt_sources import MIRROR
from longfat.engine.toolset import download
from longfat.engine.toolset.recipe import Package, pinned_date
from longfat.errors import HostError


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  its name there
        pass


@pytest.fixture
def archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An archive of Debian on this host."""
    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), partial(_Quiet, directory=str(tmp_path))
    )
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setenv(MIRROR, f"http://127.0.0.1:{server.server_port}/debian")
    monkeypatch.setattr(download, "host_entries", list)
    monkeypatch.setattr(download, "source_files", list)
    folder = tmp_path / "debian/pool"
    folder.mkdir(parents=True)
    yield folder
    server.shutdown()
    server.server_close()


def _package(name: str, content: bytes, *, sha256: str = "") -> Package:
    return Package(
        name=name,
        version="1",
        size_bytes=len(content),
        sha256=sha256 or hashlib.sha256(content).hexdigest(),
        path=f"pool/{name}",
    )


def test_packages_come_in_their_order(archive: Path) -> None:
    contents = {f"p{number}+x": bytes([number]) * 1000 for number in range(9)}
    for name, content in contents.items():
        (archive / name).write_bytes(content)
    packages = tuple(_package(name, content) for name, content in contents.items())
    reports: list[tuple[int, int]] = []
    got = list(
        download.downloaded(packages, report=lambda done, total: reports.append((done, total)))
    )
    assert got == list(contents.values())
    assert reports == [(done, 9000) for done in range(0, 9001, 1000)]


def test_an_archive_that_is_busy_is_asked_again(
    archive: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (archive / "p").write_bytes(b"new")
    failures = iter([503, 503])

    class _Busy(_Quiet):
        def do_GET(self) -> None:
            if status := next(failures, None):
                self.send_error(status)
            else:
                super().do_GET()

    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), partial(_Busy, directory=str(archive.parents[1]))
    )
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setenv(MIRROR, f"http://127.0.0.1:{server.server_port}/debian")
    pauses: list[float] = []
    monkeypatch.setattr(time, "sleep", pauses.append)
    assert list(download.downloaded((_package("p", b"new"),), report=lambda *_: None)) == [b"new"]
    assert len(pauses) == 1  # the archive and that of security updates were busy
    # What is not there is looked for once.
    with pytest.raises(HostError, match="404"):
        list(download.downloaded((_package("q", b"new"),), report=lambda *_: None))
    assert len(pauses) == 1
    server.shutdown()
    server.server_close()


def test_security_updates_are_beside_the_archive(archive: Path) -> None:
    other = archive.parent.with_name("debian-security") / "pool"
    other.mkdir(parents=True)
    (other / "p").write_bytes(b"new")
    assert list(download.downloaded((_package("p", b"new"),), report=lambda *_: None)) == [b"new"]


def test_old_versions_are_in_a_snapshot_archive(
    archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "debian.sources"
    file.write_text(f"# {os.environ[MIRROR]}/20250520T000000Z\n")
    monkeypatch.setattr(download, "source_files", lambda: [file])
    (archive / "new").write_bytes(b"new")
    for folder in ("debian", "debian-security"):
        old = tmp_path / folder / pinned_date() / "pool"
        old.mkdir(parents=True)
        (old / folder).write_bytes(folder.encode())
    packages = tuple(_package(name, name.encode()) for name in ("new", "debian", "debian-security"))
    got = list(download.downloaded(packages, report=lambda *_: None))
    assert got == [b"new", b"debian", b"debian-security"]


def test_a_proxy_of_apt_is_used(
    archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "apt.conf").write_text(f'Acquire::http::Proxy "{os.environ[MIRROR]}";')
    monkeypatch.setenv("APT_CONFIG", str(tmp_path / "apt.conf"))
    # A server of files, as a proxy: it looks for the whole address.
    monkeypatch.setenv(MIRROR, "http://mirror.invalid/debian")
    place = archive.parents[1] / "http:/mirror.invalid/debian/pool"
    place.mkdir(parents=True)
    (place / "p").write_bytes(b"by proxy")
    got = list(download.downloaded((_package("p", b"by proxy"),), report=lambda *_: None))
    assert got == [b"by proxy"]


def test_another_file_is_refused(archive: Path) -> None:
    (archive / "p").write_bytes(b"other")
    with pytest.raises(HostError, match=r"p 1 cannot be downloaded.*its checksum is not") as caught:
        list(download.downloaded((_package("p", b"wants"),), report=lambda *_: None))
    assert MIRROR in caught.value.hint
    with pytest.raises(HostError, match="404"):
        list(download.downloaded((_package("q", b"wants"),), report=lambda *_: None))


def test_an_archive_is_needed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv(MIRROR, raising=False)
    monkeypatch.setattr(download, "host_entries", list)
    monkeypatch.setattr(download, "source_files", list)
    monkeypatch.setattr(download, "_DEBOOTSTRAP", tmp_path / "none")
    with pytest.raises(HostError, match="no archive of Debian is known"):
        download.archives()
