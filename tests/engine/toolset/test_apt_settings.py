from __future__ import annotations

from pathlib import Path

import pytest

from longfat.engine.toolset.apt_settings import apt_settings, proxy_of, snapshots

DATE = "20260131T000000Z"
SETTINGS = {
    "Acquire::http::Proxy": "http://proxy:3128",
    "Acquire::http::Proxy::near": "DIRECT",
    "Acquire::http::Proxy::far": "http://far:8080",
}


@pytest.mark.parametrize(
    ("url", "proxy"),
    [
        ("http://mirror/debian", "http://proxy:3128"),
        ("https://mirror/debian", "http://proxy:3128"),
        ("http://near:80/debian", ""),
        ("https://far/debian", "http://far:8080"),
    ],
)
def test_proxies_are_those_of_apt(url: str, proxy: str) -> None:
    assert proxy_of(url, SETTINGS) == proxy


def test_https_may_have_its_own_proxy() -> None:
    settings = {**SETTINGS, "Acquire::https::Proxy": "http://other:1"}
    assert proxy_of("https://mirror/debian", settings) == "http://other:1"
    assert proxy_of("http://mirror/debian", {}) is None


def test_settings_are_read_of_apt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "apt.conf"
    file.write_text(
        'Acquire::http::Proxy "http://proxy:3128"; Acquire::http { Proxy::x "DIRECT"; };'
    )
    monkeypatch.setenv("APT_CONFIG", str(file))
    settings = apt_settings()
    assert proxy_of("http://mirror/debian", settings) == "http://proxy:3128"
    assert proxy_of("http://x/debian", settings) == ""
    monkeypatch.setenv("PATH", str(tmp_path))
    assert apt_settings() == {}


def test_snapshot_archives_are_those_that_apt_and_its_files_name(tmp_path: Path) -> None:
    settings = {
        "Acquire::Snapshots::URI::Origin::Debian": "https://keeps/debian/@SNAPSHOTID@/",
        "Acquire::Snapshots::URI::Origin::Other": "https://keeps/other/@SNAPSHOTID@/",
    }
    file = tmp_path / "debian.sources"
    file.write_text(
        "# http://old.example/archive/debian/20250520T000000Z\n"
        "URIs: http://mirror/debian\n"
        "# http://old.example/archive/debian-security/20250520T000000Z\n"
    )
    assert snapshots(settings, [file, tmp_path / "none"], date=DATE) == [
        f"https://keeps/debian/{DATE}",
        f"http://old.example/archive/debian/{DATE}",
        f"http://old.example/archive/debian-security/{DATE}",
    ]
