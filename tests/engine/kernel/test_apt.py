"""Packages of archives that are made here and signed, by the host's own apt-get."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler
from pathlib import Path
from typing import Protocol

import pytest

from longfat.engine.kernel import apt, sources
from longfat.engine.kernel.apt_sources import MIRROR
from longfat.engine.kernel.job import Step
from longfat.engine.kernel.sources import NotOfferedError, Source
from longfat.errors import HostError
from tests.engine.kernel.archive import (
    Key,
    content_of,
    end_agent,
    make_archive,
    make_key,
    serving,
)
from tests.engine.kernel.conftest import ReportLog

_SUITES = {
    "trixie": [("linux-source-6.12", "6.12.5-1"), ("linux-source-6.12-rt", "6.12.9-1")],
    "trixie-backports": [("linux-source-7.2", "7.2.4-1~bpo13+1")],
    "bookworm": [("linux-source-6.1", "6.1.9-1"), ("linux-source-6.1", "6.1.10-1")],
    "sid": [("linux-source-6.8.0", "6.8.0-12.3")],
}
_SECURITY = {"bookworm-security": [("linux-source-6.1", "6.1.11-1")]}
_GONE_WITHIN_S = 20.0


class Configure(Protocol):
    """Writes apt's list of archives."""

    def __call__(self, uri: str, public: Path, release: str = "trixie") -> None:
        """Have one archive with a release, signed with a key."""


@pytest.fixture
def configure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Configure:
    """Have apt believe that the host is a Debian 13, or another release, with this archive."""

    def write(uri: str, public: Path, release: str = "trixie") -> None:
        folder = tmp_path / "etc"
        folder.mkdir(exist_ok=True)
        line = f"deb [signed-by={public}] {uri} {release} main\n"
        (folder / "sources.list").write_text(line)
        configuration = folder / "apt.conf"
        configuration.write_text(
            f'Dir::Etc::sourcelist "{folder}/sources.list";\n'
            f'Dir::Etc::sourceparts "{folder}/none";\nAcquire::http::Proxy "DIRECT";\n'
            f'APT::Update::Post-Invoke {{ "touch {folder}/hook"; }};\n'
        )
        monkeypatch.setenv("APT_CONFIG", str(configuration))

    return write


@pytest.fixture(autouse=True)
def _no_default_of_the_hosts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep Debian's own archive out of the tests, which debootstrap knows where it is installed."""
    monkeypatch.setattr(apt, "_ROOT", tmp_path / "none")


@pytest.fixture
def archive(tmp_path: Path, key: Key, configure: Configure) -> Iterator[Path]:
    """Serve an archive, with that of security updates beside it, and have apt's list name it."""
    root = tmp_path / "archives" / "debian"
    make_archive(root, _SUITES, key=key)
    make_archive(root.with_name("debian-security"), _SECURITY, key=key)
    with serving(root.parent) as uri:
        configure(f"{uri}/debian", key.public)
        yield root


def _fetch(version: str, *, wanted: str = "", report: ReportLog) -> Source:
    with apt.search(version, wanted=wanted, report=report) as offers:
        return offers.download(wanted or version, report=report)


def _left(cache: Path) -> list[str]:
    return sorted(path.name for path in (cache / "sources").iterdir())


@pytest.mark.usefixtures("archive")
def test_a_package_of_the_hosts_release(
    empty_cache: Path, tmp_path: Path, report_log: ReportLog
) -> None:
    found = _fetch("6.12", report=report_log)
    assert found.path == empty_cache / "sources/6.12.5-1/linux-source-6.12.tar.xz"
    assert found.path.read_bytes() == content_of("linux-source-6.12", "6.12.5-1")
    assert found.digest() == found.sha256
    assert "linux-source-6.12 6.12.5-1 from http://127.0.0.1" in found.origin
    assert "trixie/main" in found.origin
    assert report_log.words(Step.SEARCH) == ["apt-get, packages of trixie"]
    assert report_log.reports[-1][1:3] == (10_000, 10_000)
    assert _left(empty_cache) == ["6.12.5-1"]
    assert not (tmp_path / "etc/hook").exists()


@pytest.mark.usefixtures("archive")
def test_the_newest_of_another_release(empty_cache: Path, report_log: ReportLog) -> None:
    # 6.1 is a regular expression that fits 6.12, which the host's own release has.
    # The host's list has no archive of security updates: it is beside the one that is there.
    found = _fetch("6.1", report=report_log)
    assert found.path.read_bytes() == content_of("linux-source-6.1", "6.1.11-1")
    assert "/debian-security bookworm-security/main" in found.origin
    assert report_log.words(Step.SEARCH)[1:] == ["apt-get, packages of bookworm"]
    assert _fetch("6.1.9", report=report_log).path.parent.name == "6.1.9-1"
    assert _left(empty_cache) == ["6.1.11-1", "6.1.9-1"]
    assert sources.downloaded_versions() == ["6.1.9-1", "6.1.11-1"]


@pytest.mark.usefixtures("archive", "empty_cache")
@pytest.mark.parametrize(
    ("wanted", "expected"),
    [("6.1.10", "6.1.10-1"), ("6.1.8", "6.1.9-1"), ("6.1.40", "6.1.11-1")],
)
def test_the_release_that_is_wanted_or_the_nearest_to_it(
    wanted: str, expected: str, report_log: ReportLog
) -> None:
    assert _fetch("6.1", wanted=wanted, report=report_log).path.parent.name == expected


@pytest.mark.usefixtures("archive", "empty_cache")
def test_a_release_that_is_excluded_is_passed_over(report_log: ReportLog) -> None:
    with apt.search("6.1", wanted="6.1.8", exclude=["6.1.9"], report=report_log) as offers:
        assert not offers.has("6.1.8")
        assert not offers.has("6.1.9")
        assert offers.reason == "apt-get has no package of 6.1.8 in trixie, bookworm, sid"
        assert offers.download("6.1.8", report=report_log).path.parent.name == "6.1.10-1"


@pytest.mark.usefixtures("empty_cache")
def test_security_updates_of_the_default_mirror(
    tmp_path: Path, key: Key, configure: Configure, report_log: ReportLog
) -> None:
    """A mirror may have the main archive alone: then they are beside debootstrap's default."""
    root = tmp_path / "archives"
    with serving(root) as uri:
        contents = {
            "debootstrap": ("usr/sbin/debootstrap", f'DEF_MIRROR="{uri}/default"\n'.encode()),
            "debian-archive-keyring": (
                "usr/share/keyrings/debian-archive-keyring.gpg",
                key.public.read_bytes(),
            ),
        }
        packages = [("debootstrap", "1.0.141"), ("debian-archive-keyring", "2025.1")]
        suites = {**_SUITES, "trixie": [*_SUITES["trixie"], *packages]}
        make_archive(root / "debian", suites, key=key, contents=contents)
        make_archive(root / "default-security", _SECURITY, key=key)
        configure(f"{uri}/debian", key.public)
        found = _fetch("6.1", wanted="6.1.11", report=report_log)
        assert "/default-security bookworm-security/main" in found.origin
        # And a package of the host's own mirror is downloaded after that search, too.
        assert _fetch("6.1", wanted="6.1.10", report=report_log).path.parent.name == "6.1.10-1"


@pytest.mark.usefixtures("archive", "empty_cache")
def test_backports_and_ubuntus_names(report_log: ReportLog) -> None:
    assert _fetch("7.2", report=report_log).path.parent.name == "7.2.4-1~bpo13+1"
    assert _fetch("6.8", report=report_log).path.name == "linux-source-6.8.0.tar.xz"


@pytest.mark.usefixtures("archive")
def test_what_was_downloaded_is_not_again(empty_cache: Path, report_log: ReportLog) -> None:
    found = _fetch("6.12", report=report_log)
    report_log.reports.clear()
    assert _fetch("6.12", report=report_log) == found
    assert report_log.words(Step.DOWNLOAD) == []
    assert _left(empty_cache) == ["6.12.5-1"]


@pytest.mark.usefixtures("archive")
def test_a_version_that_no_release_has(empty_cache: Path, report_log: ReportLog) -> None:
    expected = r"in trixie, bookworm, sid \(the nearest is 6\.8\.0\)"
    with pytest.raises(NotOfferedError, match=expected):
        _fetch("6.7", report=report_log)
    with pytest.raises(NotOfferedError):
        _fetch("6.1.12", report=report_log)
    assert _left(empty_cache) == []


@pytest.fixture
def ubuntu(tmp_path: Path, key: Key, configure: Configure) -> Iterator[Path]:
    """Have a host with an archive of Ubuntu, which has the keys of Debian's, at another address."""
    root = tmp_path / "archives"
    key_of_debian = make_key(tmp_path / "debian")
    suites = {
        "noble": [
            ("linux-source-6.8.0", "6.8.0-31.31"),
            ("debootstrap", "1.0.134ubuntu1"),
            ("universe/debian-archive-keyring", "2023.4ubuntu1"),
        ]
    }
    make_archive(root / "debian", _SUITES, key=key_of_debian)
    try:
        with serving(root) as uri:
            contents = {
                "debootstrap": ("usr/sbin/debootstrap", f'DEF_MIRROR="{uri}/debian"\n'.encode()),
                "debian-archive-keyring": (
                    "usr/share/keyrings/debian-archive-keyring.gpg",
                    key_of_debian.public.read_bytes(),
                ),
            }
            make_archive(root / "ubuntu", suites, key=key, contents=contents)
            configure(f"{uri}/ubuntu", key.public, "noble")
            yield root
    finally:
        end_agent(key_of_debian)


@pytest.mark.usefixtures("ubuntu", "empty_cache")
def test_ubuntu_gets_what_it_lacks_from_debian(report_log: ReportLog) -> None:
    assert _fetch("6.8", report=report_log).path.name == "linux-source-6.8.0.tar.xz"
    found = _fetch("6.1", report=report_log)
    assert found.path.read_bytes() == content_of("linux-source-6.1", "6.1.10-1")
    assert "/debian bookworm/main" in found.origin
    assert _fetch("7.2", report=report_log).path.parent.name == "7.2.4-1~bpo13+1"


@pytest.mark.usefixtures("empty_cache")
def test_debians_archive_needs_the_keys_that_ubuntu_has(
    ubuntu: Path, report_log: ReportLog
) -> None:
    listing = ubuntu / "debian/dists/bookworm/InRelease"
    listing.write_bytes(listing.read_bytes().replace(b"Origin: Test", b"Origin: Toast"))
    with pytest.raises(NotOfferedError, match=r"in noble, trixie, sid \(the nearest is"):
        _fetch("6.1", report=report_log)
    (ubuntu / "ubuntu/dists/noble/universe/binary-amd64/Packages").unlink()
    with pytest.raises(NotOfferedError, match=r"in noble \(the nearest is"):
        _fetch("6.1", report=report_log)


def test_another_key_is_refused(empty_cache: Path, archive: Path, report_log: ReportLog) -> None:
    listing = archive / "dists/trixie/InRelease"
    listing.write_bytes(listing.read_bytes().replace(b"Origin: Test", b"Origin: Toast"))
    backports = archive / "dists/trixie-backports/InRelease"
    backports.unlink()
    with pytest.raises(
        NotOfferedError, match=r"no list of packages: .*(sign|GPG|OpenPGP|Release file)"
    ):
        _fetch("6.12", report=report_log)
    assert _left(empty_cache) == []


def test_a_package_with_other_bytes_is_refused(
    empty_cache: Path, archive: Path, report_log: ReportLog
) -> None:
    package = archive / "pool/linux-source-6.12_6.12.5-1_all.deb"
    package.write_bytes(package.read_bytes()[:-1] + b"x")
    with pytest.raises(HostError, match=r"cannot download .*(Hash Sum|size)") as caught:
        _fetch("6.12", report=report_log)
    assert not isinstance(caught.value, NotOfferedError)
    assert _left(empty_cache) == []


def test_a_package_that_is_gone(empty_cache: Path, archive: Path, report_log: ReportLog) -> None:
    (archive / "pool/linux-source-6.12_6.12.5-1_all.deb").unlink()
    with pytest.raises(HostError, match=r"cannot download .*404"):
        _fetch("6.12", report=report_log)
    assert _left(empty_cache) == []


def test_an_archive_that_does_not_answer(
    empty_cache: Path, key: Key, configure: Configure, report_log: ReportLog
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    configure(f"http://127.0.0.1:{port}", key.public)
    with pytest.raises(NotOfferedError, match=r"no list of packages: .*onnect"):
        _fetch("6.12", report=report_log)
    assert report_log.words(Step.SEARCH) == ["apt-get, packages of trixie"]
    assert _left(empty_cache) == []


def test_a_host_without_apt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, report_log: ReportLog
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NotOfferedError, match="no apt-get"):
        _fetch("6.12", report=report_log)


class _Slow(SimpleHTTPRequestHandler):
    """Never comes to the end of a package."""

    def log_message(self, *_: object) -> None:
        pass

    def copyfile(self, source: object, outputfile: object) -> None:
        if not self.path.endswith(".deb"):
            super().copyfile(source, outputfile)  # type: ignore[arg-type]
            return
        (Path(self.directory) / "begun").touch()
        while not (Path(self.directory) / "over").exists():
            time.sleep(0.05)


_FETCH = """
from longfat.engine.kernel import apt
report = lambda *_, **__: None
with apt.search("6.12", report=report) as offers:
    offers.download("6.12", report=report)
"""


@pytest.mark.slow
@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_nothing_is_left_of_a_killed_download(
    empty_cache: Path,
    tmp_path: Path,
    key: Key,
    configure: Configure,
    end: signal.Signals,
) -> None:
    root = tmp_path / "archive"
    make_archive(root, {"trixie": _SUITES["trixie"]}, key=key)
    with serving(root, handler=_Slow) as uri:
        configure(uri, key.public)
        # Security updates are not looked for in Debian's own archive by the other process either.
        env = {**os.environ, MIRROR: f"{uri}/none"}
        command = [sys.executable, "-c", _FETCH]
        with subprocess.Popen(command, stderr=subprocess.DEVNULL, env=env) as it:
            left_at_s = time.monotonic() + _GONE_WITHIN_S
            while not (root / "begun").exists():
                assert it.poll() is None
                assert time.monotonic() < left_at_s
                time.sleep(0.05)
            it.send_signal(end)
            it.wait(_GONE_WITHIN_S)
        left_at_s = time.monotonic() + _GONE_WITHIN_S
        while _left(empty_cache) or _running_in(empty_cache):
            assert time.monotonic() < left_at_s, (_left(empty_cache), _running_in(empty_cache))
            time.sleep(0.05)
        (root / "over").touch()


def _running_in(folder: Path) -> list[str]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                command = (entry / "cmdline").read_bytes().decode(errors="replace")
            except OSError:
                continue
            if str(folder) in command:
                found.append(command)
    return found
