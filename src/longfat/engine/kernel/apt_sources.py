"""The archives that apt gets packages from, including those of other releases.

A release of a distribution has the kernels of its time. The older and newer
ones are in the same archive, under another suite: the host's own entries, with
the release's name replaced, specify where. So a mirror, its keys and its options
are the host's. Debian's security updates are in an archive of their own. Where the host's
list lacks it, it is looked for beside the main archive, as `debian-security` beside
`debian`, and then beside the archive that debootstrap(8) has as its default. From there, too,
a host of another distribution gets Debian's archive, since no other has the long-term
kernels of several years.
Source: sources.list(5).
"""

from __future__ import annotations

import os
import platform
import re
import shlex
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

_RELEASES = {
    "debian": ("trixie", "bookworm", "forky", "sid"),
    "ubuntu": ("resolute", "noble", "jammy", "devel"),
}
"""The releases that are searched after the host's own, in this order."""

_ROLLING = ("sid", "unstable", "testing")
_ALIASES = ("stable", "oldstable", *_ROLLING)
_BACKPORTS = "-backports"
_SECURITY = "-security"
# The pockets of a release, each a suite of its own; long names first.
_POCKETS = ("-proposed-updates", "-proposed", "-updates", _SECURITY, _BACKPORTS)
_COMPONENT = "main"
_DEBOOTSTRAP = "usr/sbin/debootstrap"
# The last folder of that name in an address.
_MAIN_ARCHIVE = re.compile(r"(.*/debian)((?:/.*)?)")
_DEFAULT_MIRROR = re.compile(r'^DEF_MIRROR="([^"]+)"', re.MULTILINE)
_KEYRING = "usr/share/keyrings/debian-archive-keyring.[gp]*"  # gpg or, since 2025, pgp

MIRROR = "LONGFAT_DEBIAN_MIRROR"
"""The environment variable with the address of Debian's archive, in place of debootstrap's.

It is for hosts of other distributions, and for security updates that are not beside the
host's own mirror.
"""

DEBIAN_PACKAGES = ("debootstrap", "debian-archive-keyring")
"""The packages that know the address of Debian's archive and its keys."""
_KEPT_OPTIONS = {
    *("signed-by", "trusted", "allow-insecure", "allow-weak"),
    *("check-valid-until", "check-date", "by-hash"),
}
_ONE_LINE = re.compile(r"deb\s+(?:\[([^\]]*)\]\s*)?(\S+)\s+(\S+)\s+(\S.*)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A suite of an archive.

    Attributes:
        uri: where the archive is.
        suite: such as `bookworm-updates`.
        components: such as `main`, separated by blanks.
        options: its options for apt, such as the key that signs it.
    """

    uri: str
    suite: str
    components: str = _COMPONENT
    options: tuple[tuple[str, str], ...] = ()

    @property
    def release(self) -> str:
        """The release of the suite: `bookworm`."""
        return self.suite.removesuffix(self.pocket)

    @property
    def pocket(self) -> str:
        """The part after the release's name: `-updates`; empty for the release itself."""
        return next((name for name in _POCKETS if self.suite.endswith(name)), "")

    def stanza(self) -> str:
        """Return the entry in the format of a `.sources` file, for package lists only."""
        fields = {
            "Types": "deb",
            "URIs": self.uri,
            "Suites": self.suite,
            "Components": self.components,
            # Source packages in binary form are for all architectures, and so in this list.
            "Architectures": "amd64",
            "Targets": "Packages",
            **{name.title(): value for name, value in self.options},
        }
        return "".join(f"{name}: {value}\n" for name, value in fields.items())


def host_entries() -> list[Entry]:
    """Return the entries of this host that are of its distribution's archive.

    Others, such as a vendor's, have no kernel sources, and need not be searched.
    """
    known = {name for releases in _RELEASES.values() for name in releases} | set(_ALIASES)
    known.add(_os_release().get("VERSION_CODENAME", ""))
    return [entry for entry in _configured() if entry.release in known]


def is_of_debian(entries: list[Entry]) -> bool:
    """Return whether entries are of Debian's archive."""
    return any(entry.release in (*_RELEASES["debian"], *_ALIASES) for entry in entries)


def debian_entries(root: Path) -> list[Entry]:
    """Return entries of Debian's archive, for a host of another distribution.

    Args:
        root: where `DEBIAN_PACKAGES` are unpacked; without them there are no entries.
    """
    script, keyrings = root / _DEBOOTSTRAP, sorted(root.glob(_KEYRING))
    default = (
        _DEFAULT_MIRROR.search(script.read_text("utf-8", errors="replace"))
        if script.exists()
        else None
    )
    uri = os.environ.get(MIRROR) or (default[1] if default else "")
    if not uri or not keyrings:
        return []
    uri = uri.rstrip("/")
    release = _RELEASES["debian"][0]
    options = (("signed-by", str(keyrings[0])),)
    found = [
        Entry(uri=uri, suite=f"{release}{pocket}", options=options) for pocket in ("", "-updates")
    ]
    return [*found, *security_entries(release, beside=found)]


def has_security_archive(release: str) -> bool:
    """Return whether the security updates of a release are in an archive of their own."""
    return release in _RELEASES["debian"] and release not in _ROLLING


def security_entries(release: str, *, beside: list[Entry]) -> list[Entry]:
    """Return the entries of Debian's security updates, which are beside its main archive.

    Args:
        release: whose updates.
        beside: entries of the main archive.
    """
    if not has_security_archive(release):
        return []
    addresses = {entry: security_archive(entry.uri) for entry in beside if not entry.pocket}
    found = [
        replace(entry, uri=uri, suite=f"{release}{_SECURITY}")
        for entry, uri in addresses.items()
        if uri
    ]
    return list(dict.fromkeys(found))


def security_archive(uri: str) -> str:
    """Return the address beside a main archive's; empty if it names no folder."""
    uri = uri.rstrip("/")
    # apt-transport-mirror(1): the address of a list of addresses.
    if uri.startswith("mirror") or not urlsplit(uri).path:
        return ""
    # A snapshot of an archive has a date after it.
    archive = _MAIN_ARCHIVE.fullmatch(uri)
    return f"{archive[1]}{_SECURITY}{archive[2]}" if archive else f"{uri}{_SECURITY}"


def groups(entries: list[Entry]) -> Iterator[tuple[str, list[Entry]]]:
    """Yield releases and their entries, in the order in which they are to be searched.

    Args:
        entries: those of this host.
    """
    own = list(dict.fromkeys(entry.release for entry in entries))
    for release in own:
        yield release, _of_release(release, entries=[e for e in entries if e.release == release])
    for release in _family(own):
        if release not in own:
            yield release, _of_release(release, entries=entries)


def _of_release(release: str, *, entries: list[Entry]) -> list[Entry]:
    """Return the entries of a release in the archives of these entries."""
    there = [entry for entry in entries if not (release in _ROLLING and entry.pocket)]
    found = [replace(entry, suite=f"{release}{entry.pocket}") for entry in there]
    if release not in _ROLLING:
        firsts = [entry for entry in entries if not entry.pocket]
        found += [replace(entry, suite=f"{release}{_BACKPORTS}") for entry in firsts]
        if not any(entry.pocket == _SECURITY for entry in entries):
            found += security_entries(release, beside=firsts)
    return list(dict.fromkeys(found))


def _family(own: list[str]) -> tuple[str, ...]:
    """Return the releases of the distribution of these entries."""
    for releases in _RELEASES.values():
        if set(releases) & set(own):
            return releases
    about = _os_release()
    names = [about.get("ID", ""), *about.get("ID_LIKE", "").split()]
    return next((_RELEASES[name] for name in names if name in _RELEASES), ())


def _os_release() -> dict[str, str]:
    try:
        return platform.freedesktop_os_release()
    except OSError:
        return {}


def source_files() -> list[Path]:
    """Return the files with apt's entries."""
    command = ["apt-config", "shell", "LIST", "Dir::Etc::sourcelist/f"]
    command += ["PARTS", "Dir::Etc::sourceparts/d"]
    answer = subprocess.run(
        command, capture_output=True, encoding="utf-8", errors="replace", check=False
    )
    settings = dict(word.partition("=")[::2] for word in shlex.split(answer.stdout))
    paths = [Path(settings["LIST"])] if "LIST" in settings else []
    if "PARTS" in settings:
        parts = Path(settings["PARTS"])
        paths += sorted([*parts.glob("*.list"), *parts.glob("*.sources")])
    return paths


def _configured() -> list[Entry]:
    """Return all entries for binary packages of the main component."""
    found: list[Entry] = []
    for path in source_files():
        with suppress(OSError):
            text = path.read_text(encoding="utf-8", errors="replace")
            found += _from_stanzas(text) if path.suffix == ".sources" else _from_lines(text)
    return list(dict.fromkeys(found))


def _from_lines(text: str) -> Iterator[Entry]:
    for line in text.splitlines():
        if match := _ONE_LINE.match(line.partition("#")[0].strip()):
            options, uri, suite, components = match.groups()
            if _COMPONENT in components.split():
                words = (word.partition("=") for word in (options or "").split())
                named = [(name, value.replace(",", " ")) for name, _, value in words]
                yield Entry(uri=uri, suite=suite, options=_kept(named))


def _from_stanzas(text: str) -> Iterator[Entry]:
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    for stanza in re.split(r"\n\s*\n", "\n".join(lines)):
        # A value continues on lines that begin with a blank: keys may be in the file.
        fields = re.findall(r"^(\S+?):[ \t]*(.*(?:\n[ \t].*)*)", stanza, re.MULTILINE)
        named = {name.lower(): value.rstrip() for name, value in fields}
        if named.get("enabled", "yes").lower() in ("no", "false", "0", "off"):
            continue
        lists = [named.get(key, "").split() for key in ("types", "components", "uris", "suites")]
        types, components, uris, suites = lists
        if "deb" in types and _COMPONENT in components:
            for uri in uris:
                for suite in suites:
                    yield Entry(uri=uri, suite=suite, options=_kept(list(named.items())))


def _kept(options: list[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    return tuple((name.lower(), value) for name, value in options if name.lower() in _KEPT_OPTIONS)
