from __future__ import annotations

import shutil
import threading
from pathlib import Path

import pytest

from longfat.engine.kernel import locate, sources
from longfat.engine.kernel.job import Step
from longfat.engine.kernel.sources import Source
from longfat.errors import HostError, InputError
from tests.engine.kernel.conftest import ReportLog


@pytest.fixture
def packages(tmp_path: Path) -> Path:
    folder = tmp_path / "packages"
    folder.mkdir()
    (folder / "linux-source-6.1.tar.xz").write_bytes(b"6.1")
    return folder


def _keep(name: str, content: bytes = b"x") -> Source:
    with sources.downloading() as scratch:
        tarball = scratch / "linux.tar.xz"
        tarball.write_bytes(content)
        return sources.keep_download(tarball, name=name, origin="somewhere")


@pytest.mark.usefixtures("empty_cache")
def test_what_is_on_the_host_in_its_order(packages: Path, tmp_path: Path) -> None:
    assert locate.here("6.12", folder=packages) is None
    for name in ("6.12.9-1", "6.12.10-1~bpo12+1", "6.1.200-1"):
        _keep(name)
    downloaded = locate.here("6.12", folder=packages)
    assert downloaded is not None
    assert downloaded.path.parent.name == "6.12.10-1~bpo12+1"
    assert downloaded.origin == "downloaded before: somewhere"
    exact = locate.here("6.12.9", folder=packages)
    assert exact is not None
    assert exact.path.parent.name == "6.12.9-1"
    assert locate.here("6.12", folder=packages, refresh=True) is None
    installed = locate.here("6.1", folder=packages)
    assert installed == Source(packages / "linux-source-6.1.tar.xz", "of an installed package")
    named = locate.here("6.1", path=tmp_path, folder=packages)
    assert named == Source(tmp_path, "as --source says")


@pytest.mark.usefixtures("empty_cache")
def test_a_checksum_names_a_download(packages: Path) -> None:
    kept = _keep("6.1.9")
    found = locate.here("6.1", sha256=kept.sha256, folder=packages)
    assert found is not None
    assert found.path == kept.path
    assert locate.here("6.12", sha256=kept.sha256, folder=packages) is None
    assert locate.here("6.1", sha256="0" * 64, folder=packages) is None


@pytest.mark.parametrize("sha256", ["0" * 63, "g" * 64, "../"])
def test_what_is_no_checksum_is_refused(sha256: str) -> None:
    with pytest.raises(InputError, match="not a SHA-256"):
        locate.here("6.1", sha256=sha256)


def test_a_source_that_is_not_there_is_the_callers_fault(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no kernel source at"):
        locate.here("6.1", path=tmp_path / "none")


def test_what_is_no_version_is_refused(packages: Path) -> None:
    with pytest.raises(InputError):
        locate.here("../6.1", folder=packages)


@pytest.mark.usefixtures("offline", "empty_cache")
def test_all_places_are_named_where_none_has_it(report_log: ReportLog) -> None:
    with pytest.raises(HostError) as caught:
        locate.find("5.99", report=report_log)
    message = caught.value.message
    assert message.startswith("no source of kernel 5.99: none is on this host; apt-get's list")
    assert "/v5.x/sha256sums.asc does not answer" in message
    assert "\n" not in message
    assert caught.value.hint == "longfat kernel build 5.99 --source TARBALL"


@pytest.mark.usefixtures("offline", "empty_cache")
def test_another_release_where_the_tested_one_cannot_be_had(report_log: ReportLog) -> None:
    for name in ("5.99.5-1", "5.99.8-1", "5.99.20-1"):
        _keep(name)

    def find(wanted: str, *exclude: str) -> Source:
        return locate.find("5.99", wanted=wanted, exclude=exclude, report=report_log)

    assert find("5.99.8").origin == "downloaded before: somewhere"
    near = find("5.99.9")
    assert near.path.parent.name == "5.99.8-1"
    expected = "downloaded before: somewhere; instead of 5.99.9, with which longfat is tested; "
    assert near.origin.startswith(f"{expected}apt-get's list has no archive")
    assert find("5.99.9", "5.99.8").path.parent.name == "5.99.5-1"
    assert find("5.99.19", "5.99.20").path.parent.name == "5.99.8-1"
    with pytest.raises(
        HostError, match=r"do not apply to 5\.99\.5, 5\.99\.8, 5\.99\.20, and there"
    ):
        find("5.99.9", "5.99.5", "5.99.8", "5.99.20")


@pytest.mark.usefixtures("empty_cache")
def test_two_that_want_one_source_download_it_once(report_log: ReportLog) -> None:
    here = []
    with sources.download_lock("5.99", on_wait=lambda: None):
        other = threading.Thread(
            target=lambda: here.append(locate.find("5.99.1", report=report_log))
        )
        other.start()
        while not report_log.reports:
            pass
        kept = _keep("5.99.1")
    other.join()
    assert [found.path for found in here] == [kept.path]
    assert [report[0] for report in report_log.reports] == [Step.WAIT]


@pytest.mark.usefixtures("empty_cache")
def test_a_download_that_was_changed_is_seen() -> None:
    kept = _keep("6.6.5")
    assert kept.digest() == kept.sha256
    kept.path.write_bytes(b"y")
    with pytest.raises(HostError, match="is damaged") as caught:
        kept.digest()
    assert caught.value.hint == f"rm -r {kept.path.parent}"


def test_a_folder_that_is_no_download_is_none(empty_cache: Path) -> None:
    kept = _keep("6.6.5")
    (empty_cache / "sources/6.6.6").mkdir()
    (empty_cache / "sources/notes").write_text("")
    assert sources.find_download("6.6") == kept
    (kept.path.parent / "SHA256SUMS").unlink()
    assert sources.find_download("6.6") is None
    shutil.rmtree(empty_cache)
    assert sources.downloaded_versions() == []


@pytest.mark.parametrize("name", ["../6.1", "6.1/..", ".6", "", "6.1\n"])
def test_what_cannot_name_a_folder_is_refused(empty_cache: Path, name: str) -> None:
    with pytest.raises(HostError, match="is not a valid version"):
        _keep(name)
    assert list((empty_cache / "sources").iterdir()) == []


def test_a_cache_that_cannot_be_written(empty_cache: Path, report_log: ReportLog) -> None:
    empty_cache.write_text("a file where a folder should be")
    with pytest.raises(HostError, match="cannot write"):
        locate.find("5.99", report=report_log)


def test_the_series_on_the_host(empty_cache: Path) -> None:
    before = set(locate.local_series())
    _keep("5.98.7-1")
    _keep("5.98.8")
    assert set(locate.local_series()) == before | {"5.98"}
    assert empty_cache.exists()
