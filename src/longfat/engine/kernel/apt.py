"""Kernel sources as the packages of a distribution, downloaded by apt-get without root.

apt-get runs in folders of its own, with a separate list of archives, so that neither
the host's state nor its list matters or changes. It checks signatures and
checksums with the host's keys, as it does for the host. The archives are
determined by `apt_sources`. On a host of another distribution, Debian's address and keys
come from that distribution's packages. Source: apt-get(8), apt.conf(5).
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tarfile
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from longfat.common.guard import Guarded
from longfat.engine.kernel import sources
from longfat.engine.kernel.apt_sources import (
    DEBIAN_PACKAGES,
    Entry,
    debian_entries,
    groups,
    has_security_archive,
    host_entries,
    is_of_debian,
    security_entries,
)
from longfat.engine.kernel.job import Report, Step
from longfat.engine.kernel.sources import TARBALL, NotOfferedError, Source
from longfat.engine.kernel.version import by_preference, matches, nearest, series
from longfat.errors import HostError

_PROGRAMS = ("apt-get", "apt-cache", "apt-config", "dpkg-deb")
_PREFIX = "linux-source-"
# Not `linux-source-6.12-rt` or the like.
_PACKAGE = re.compile(rf"{_PREFIX}(\d+\.\d+(?:\.\d+)*)")
_STATUS = re.compile(rb"dlstatus:\d+:([0-9.]+):")
# The host's hooks at an update concern the host's own lists.
_HOOKS = tuple(
    f"APT::Update::{name}" for name in ("Pre-Invoke", "Post-Invoke", "Post-Invoke-Success")
)
# Lines of apt-get after the cause.
_NO_CAUSE = b"W: Some index files failed to download"
# Ubuntu has the package of Debian's keys in its component for what its community maintains.
_COMPONENTS = "main universe"
_ROOT = Path("/")
_TIMEOUT_S = 20
_PARTS = 10_000
"""The number of parts of a download in reports: apt-get reports percent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Offer:
    """A package in an archive.

    Attributes:
        package: its name.
        version: its version, such as `6.12.95-1~bpo12+1`.
        where: the archive and suite.
        group: the entries of the release that has it.
    """

    package: str
    version: str
    where: str
    group: tuple[Entry, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Offers:
    """The source packages that a search has found; they can be downloaded while it lasts.

    Attributes:
        reason: why there is none of the wanted release; empty if there is one.
    """

    reason: str = ""
    _apt: _Apt | None = None
    _offers: dict[str, _Offer] = field(default_factory=dict)

    @property
    def versions(self) -> list[str]:
        """The versions of the packages."""
        return list(self._offers)

    def has(self, version: str) -> bool:
        """Return whether there is a package of a version."""
        return any(matches(offered, version) for offered in self._offers)

    def download(self, wanted: str, *, report: Report) -> Source:
        """Return the source in the package that is preferred, downloaded unless it was before.

        Args:
            wanted: the preferred release, or else the nearest to it; of a series, the newest.
            report: called with the progress.

        Raises:
            NotOfferedError: there is no package.
            HostError: it cannot be downloaded.
        """
        if self._apt is None or not self._offers:
            raise NotOfferedError(self.reason)
        offer = self._offers[by_preference(self._offers, wanted)[0]]
        if found := sources.exact_download(offer.version):
            return found
        origin = f"{offer.package} {offer.version} from {offer.where}"

        def report_parts(parts: int) -> None:
            report(Step.DOWNLOAD, parts, _PARTS, words=origin)

        report_parts(0)
        self._apt.update(offer.group)
        name = f"{offer.package}={offer.version}"
        package = self._apt.download(name, report_parts=report_parts)
        origin = f"{origin}, by apt-get"
        return sources.keep_download(_unpacked(package), name=offer.version, origin=origin)


@contextmanager
def search(
    version: str, *, wanted: str = "", exclude: Collection[str] = (), report: Report
) -> Iterator[Offers]:
    """Search the archives for source packages of a version.

    Releases of the distribution are searched one after the other, until one has the kernel's
    release that is wanted.

    Args:
        version: such as `6.1` or `6.1.158`.
        wanted: the release that is preferred; any of the version, if empty.
        exclude: releases of the kernel that are not wanted.
        report: called with the progress.

    Raises:
        HostError: the cache of sources cannot be written.
    """
    if any(shutil.which(name) is None for name in _PROGRAMS):
        yield Offers(reason="this host has no apt-get")
        return
    entries = host_entries()
    if not entries:
        yield Offers(reason="apt-get's list has no archive of Debian or Ubuntu")
        return
    seen: list[str] = []
    searched: list[str] = []
    reason = ""
    offers: dict[str, _Offer] = {}
    with sources.downloading() as scratch:
        apt = _Apt(scratch)
        security = _Security(apt, entries)
        for release, group in _archives(apt, entries):
            report(Step.SEARCH, words=f"apt-get, packages of {release}")
            complaint = apt.update(group)
            if not apt.has_lists():
                if not searched:  # the host's own release: there will be no others either
                    yield Offers(reason=f"apt-get has no list of packages: {complaint}")
                    return
                continue
            security.complete(release, group)
            searched.append(release)
            names = apt.package_names()
            seen += names
            for offer in apt.offers(version, among=names):
                if not any(matches(offer.version, other) for other in exclude):
                    offers.setdefault(offer.version, offer)
            if any(matches(offered, wanted or version) for offered in offers):
                break
        else:
            reason = f"apt-get has no package of {wanted or version} in {', '.join(searched)}"
            near = nearest(version, [name.removeprefix(_PREFIX) for name in seen])
            reason += f" (the nearest is {near})" if near and not offers and not exclude else ""
        yield Offers(reason=reason, _apt=apt, _offers=offers)


def _archives(apt: _Apt, entries: list[Entry]) -> Iterator[tuple[str, list[Entry]]]:
    """Yield the releases to search: the host's distribution, then Debian if that is another."""
    yield from groups(entries)
    if not is_of_debian(entries):
        yield from groups(debian_entries(_ROOT) or apt.debian_entries(entries))


class _Security:
    """Adds Debian's default archive of security updates where the host's mirror has none.

    Args:
        apt: has the lists.
        entries: those of this host.
    """

    def __init__(self, apt: _Apt, entries: list[Entry]) -> None:
        self._apt = apt
        self._entries = entries
        self._is_found = not is_of_debian(entries)  # the default is where they come from
        self._default: list[Entry] | None = None

    def complete(self, release: str, group: list[Entry]) -> None:
        """Have the lists of a release's security updates, too, if they are anywhere."""
        suite = f"{release}-security"
        self._is_found |= self._apt.has_lists(suite)
        if self._is_found or not has_security_archive(release):
            return
        if self._default is None:
            self._default = debian_entries(_ROOT) or self._apt.debian_entries(self._entries)
        firsts = [entry for entry in self._default if not entry.pocket]
        self._apt.update([*group, *security_entries(release, beside=firsts)])
        self._is_found = self._apt.has_lists(suite)


class _Apt:
    """apt-get and apt-cache in a folder of their own.

    Args:
        folder: an empty folder.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._sources = folder / "apt.sources"
        self._lists = folder / "state" / "lists"
        status = folder / "status"
        for made in (self._lists / "partial", folder / "cache" / "archives" / "partial"):
            made.mkdir(parents=True)
        status.touch()
        settings = {
            "Dir::State": folder / "state",
            "Dir::State::status": status,
            "Dir::Cache": folder / "cache",
            "Dir::Etc::sourcelist": self._sources,
            "Dir::Etc::sourceparts": "/dev/null",
            "Dir::Etc::preferences": "/dev/null",
            "Dir::Etc::preferencesparts": "/dev/null",
            # For root, apt-get would become a user who has no access to our folder.
            "APT::Sandbox::User": "root",
            "APT::Status-Fd": "1",
            "Acquire::Retries": "1",
            "Acquire::http::Timeout": _TIMEOUT_S,
            "Acquire::https::Timeout": _TIMEOUT_S,
        }
        configuration = folder / "apt.conf"
        configuration.write_text("".join(f"#clear {name};\n" for name in _HOOKS), "utf-8")
        self._options = ["-c", str(configuration)]
        self._options += [
            word for name, value in settings.items() for word in ("-o", f"{name}={value}")
        ]
        self._env = {**os.environ, "LC_ALL": "C"}
        self._entries: tuple[Entry, ...] = ()
        self._complaint = ""

    def update(self, entries: Iterable[Entry]) -> str:
        """Download the lists of packages of these entries, and drop others.

        Some may be missing: not every release has all suites.

        Returns:
            The last error of apt-get; empty if none.
        """
        entries = tuple(entries)
        if entries == self._entries:
            return self._complaint
        self._entries = entries
        text = "\n".join(entry.stanza() for entry in entries)
        self._sources.write_text(text, encoding="utf-8")
        # Where a suite is missing, apt-get keeps the lists of earlier updates.
        shutil.rmtree(self._lists)
        (self._lists / "partial").mkdir(parents=True)
        _, self._complaint = self._run("update", report_parts=lambda _: None)
        return self._complaint

    def has_lists(self, suite: str = "") -> bool:
        """Return whether the last update got a list of packages.

        Args:
            suite: such as `bookworm-security`; any, if empty.
        """
        names = [path.name for path in self._lists.iterdir() if "_Packages" in path.name]
        return any(f"_dists_{suite}_" in name for name in names) if suite else bool(names)

    def package_names(self) -> list[str]:
        """Return the names of all packages with a kernel's source."""
        names = self._ask("pkgnames", _PREFIX).split()
        return [name for name in names if _PACKAGE.fullmatch(name)]

    def offers(self, version: str, *, among: list[str]) -> list[_Offer]:
        """Return the packages of a kernel version.

        Args:
            version: such as `6.1` or `6.1.158`.
            among: the available packages.
        """
        # Debian names packages by the series, Ubuntu by the first release: 6.8.0.
        names = [name for name in among if series(name.removeprefix(_PREFIX)) == series(version)]
        offers = []
        for line in self._ask("madison", *names).splitlines() if names else []:
            fields = [field.strip() for field in line.split("|")]
            # apt-cache takes an unknown name as a regular expression: compare it.
            if len(fields) == 3 and fields[0] in names and matches(fields[1], version):
                where = fields[2].removesuffix(" Packages")
                offers.append(
                    _Offer(package=fields[0], version=fields[1], where=where, group=self._entries)
                )
        return offers

    def debian_entries(self, entries: list[Entry]) -> list[Entry]:
        """Return the entries of Debian's archive; none if this distribution does not know it.

        Args:
            entries: those of this host.
        """
        firsts = [entry for entry in entries if not entry.pocket]
        self.update([replace(entry, components=_COMPONENTS) for entry in firsts])
        root = self._folder / "debian"
        for name in DEBIAN_PACKAGES:
            try:
                package = self.download(name, report_parts=lambda _: None)
            except HostError:
                return []
            subprocess.run(["dpkg-deb", "--extract", package, root], check=False, env=self._env)
            package.unlink()
        return debian_entries(root)

    def download(self, package: str, *, report_parts: Callable[[int], None]) -> Path:
        """Download a package.

        Args:
            package: its name, with `=` and its version if it is not the newest.
            report_parts: called with the number of downloaded `_PARTS`.

        Raises:
            HostError: it cannot be downloaded, or does not match the archive's list.
        """
        before = set(self._folder.glob("*.deb"))
        status, complaint = self._run("download", package, report_parts=report_parts)
        new = sorted(set(self._folder.glob("*.deb")) - before)
        if status != 0 or len(new) != 1:
            raise HostError(
                f"apt-get cannot download {package.replace('=', ' ')}:"
                f" {complaint or f'it ended with status {status}'}"
            )
        return new[0]

    def _run(self, *arguments: str, report_parts: Callable[[int], None]) -> tuple[int, str]:
        """Run apt-get; return its status and its last error."""
        complaint = ""
        near, far = os.pipe()
        with os.fdopen(near, "rb", buffering=0) as pipe:
            try:
                guarded = Guarded(
                    ["apt-get", *self._options, "-q", *arguments],
                    cwd=self._folder,
                    env=self._env,
                    stdout=far,
                )
            finally:
                os.close(far)
            with guarded:
                for line in guarded.lines(pipe.fileno()):
                    if match := _STATUS.match(line):
                        report_parts(min(_PARTS, round(float(match[1]) / 100 * _PARTS)))
                    elif line.startswith((b"E: ", b"W: ")) and not line.startswith(_NO_CAUSE):
                        complaint = line[3:].decode(errors="replace").strip()
                return guarded.wait() or 0, complaint

    def _ask(self, *arguments: str) -> str:
        done = subprocess.run(
            ["apt-cache", *self._options, *arguments],
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            check=False,
            env=self._env,
        )
        return done.stdout


def _unpacked(package: Path) -> Path:
    """Take the kernel's tarball out of a package, and put it beside it.

    Raises:
        HostError: it contains none, or it cannot be unpacked.
    """
    command = ["dpkg-deb", "--fsys-tarfile", str(package)]
    found = None
    try:
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as dpkg:
            assert dpkg.stdout is not None
            with tarfile.open(fileobj=dpkg.stdout, mode="r|") as tar:
                for member in tar:
                    name = Path(member.name).name
                    if found is None and member.isfile() and TARBALL.fullmatch(name):
                        content = tar.extractfile(member)
                        assert content is not None
                        found = package.parent / name
                        with content, found.open("xb") as file:
                            shutil.copyfileobj(content, file, 1 << 20)
    except (OSError, tarfile.TarError) as error:
        raise HostError(f"cannot unpack {package.name}: {error}") from error
    package.unlink()
    if found is None or dpkg.returncode != 0:
        raise HostError(f"{package.name} has no kernel's source in it")
    return found
