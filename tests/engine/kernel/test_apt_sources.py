from __future__ import annotations

from pathlib import Path

import pytest

from longfat.engine.kernel.apt_sources import Entry, groups, host_entries, security_entries


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a host's own lists of archives."""
    parts = tmp_path / "parts"
    parts.mkdir()
    configuration = tmp_path / "apt.conf"
    configuration.write_text(
        f'Dir::Etc::sourcelist "{tmp_path}/sources.list";\nDir::Etc::sourceparts "{parts}";\n'
    )
    monkeypatch.setenv("APT_CONFIG", str(configuration))
    return parts


def test_lines_and_stanzas_are_read(host: Path) -> None:
    (host.parent / "sources.list").write_text(
        "# deb http://old.example/debian bookworm main\n"
        "deb [arch=amd64 signed-by=/one.gpg,/two.gpg] http://a.example/debian bookworm main x\n"
        "deb-src http://a.example/debian bookworm main\n"
        "deb http://a.example/debian bookworm-updates main # here\n"
        "deb http://a.example/debian bookworm contrib\n"
        "deb http://vendor.example/apt cloud-bookworm main\n"
        "deb http://flat.example/ ./\n"
    )
    (host / "security.sources").write_text(
        "# a comment\nTypes: deb deb-src\nURIs: http://s.example/security\n"
        "Suites: bookworm-security\nComponents: main\nSigned-By:\n -----BEGIN-----\n .\n abc\n"
        "\n\nTypes: deb\nEnabled: no\nURIs: http://off\nSuites: bookworm\nComponents: main\n"
    )
    assert host_entries() == [
        Entry(
            uri="http://a.example/debian",
            suite="bookworm",
            options=(("signed-by", "/one.gpg /two.gpg"),),
        ),
        Entry(uri="http://a.example/debian", suite="bookworm-updates"),
        Entry(
            uri="http://s.example/security",
            suite="bookworm-security",
            options=(("signed-by", "\n -----BEGIN-----\n .\n abc"),),
        ),
    ]


@pytest.mark.usefixtures("host")
def test_a_host_without_lists_has_no_archive() -> None:
    assert host_entries() == []


def _suites(*suites: str) -> dict[str, list[str]]:
    main = [Entry(uri="http://a", suite=suite) for suite in suites if "security" not in suite]
    other = [Entry(uri="http://s", suite=suite) for suite in suites if "security" in suite]
    found = groups([*main, *other])
    return {release: [f"{e.uri[-1]} {e.suite}" for e in entries] for release, entries in found}


def test_other_releases_are_where_the_hosts_own_is() -> None:
    found = _suites("bookworm", "bookworm-updates", "bookworm-security")
    assert list(found) == ["bookworm", "trixie", "forky", "sid"]
    assert found["bookworm"] == [
        *("a bookworm", "a bookworm-updates", "s bookworm-security", "a bookworm-backports")
    ]
    assert found["trixie"] == [
        *("a trixie", "a trixie-updates", "s trixie-security", "a trixie-backports")
    ]
    assert found["sid"] == ["a sid"]


def test_a_host_may_have_its_releases_backports_and_others() -> None:
    found = _suites("trixie", "trixie-backports", "sid")
    assert list(found) == ["trixie", "sid", "bookworm", "forky"]
    assert found["trixie"] == ["a trixie", "a trixie-backports"]
    assert found["bookworm"] == ["a bookworm", "a bookworm-backports"]


@pytest.mark.parametrize(
    ("main", "security"),
    [
        ("http://a.example/debian", "http://a.example/debian-security"),
        ("https://a.example/pub/debian/", "https://a.example/pub/debian-security"),
        ("http://debian.example/debian", "http://debian.example/debian-security"),
        (
            "http://s.example/archive/debian/20260101T000000Z/",
            "http://s.example/archive/debian-security/20260101T000000Z",
        ),
        ("http://a.example/debianized", "http://a.example/debianized-security"),
        ("file:/srv/mirror/debian", "file:/srv/mirror/debian-security"),
    ],
)
def test_security_updates_are_beside_the_main_archive(main: str, security: str) -> None:
    options = (("signed-by", "/k.gpg"),)
    entry = Entry(uri=main, suite="trixie", options=options)
    found = dict(groups([entry]))
    expected = Entry(uri=security, suite="bookworm-security", options=options)
    assert found["bookworm"][-1] == expected
    assert [e.suite for e in found["sid"]] == ["sid"]


@pytest.mark.parametrize("uri", ["mirror+file:/etc/apt/mirrors/debian.list", "http://a.example"])
def test_an_address_that_names_no_folder_has_none_beside_it(uri: str) -> None:
    entry = Entry(uri=uri, suite="trixie")
    assert security_entries("trixie", beside=[entry]) == []


def test_no_archive_of_security_updates_for_others() -> None:
    ubuntu = Entry(uri="http://a.example/ubuntu", suite="noble")
    assert "noble-security" not in {entry.suite for entry in dict(groups([ubuntu]))["noble"]}


def test_a_stanza_keeps_the_options() -> None:
    entry = Entry(uri="http://a", suite="sid", options=(("signed-by", "/k.gpg"),))
    assert entry.stanza().splitlines() == [
        *("Types: deb", "URIs: http://a", "Suites: sid", "Components: main"),
        *("Architectures: amd64", "Targets: Packages", "Signed-By: /k.gpg"),
    ]
