"""The releases of Debian and Ubuntu that are tried, and the archives of their packages.

Where the host has the same distribution, the archives are those of its apt: the same mirror,
with the other release's name. Else they are where debootstrap(8) finds that distribution.
"""

from __future__ import annotations

import platform
import subprocess
from dataclasses import dataclass
from pathlib import Path

_KEYRINGS = Path("/usr/share/keyrings")


class HostError(Exception):
    """The host lacks something, or what belongs to it failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Distribution:
    """A distribution.

    Attributes:
        id: its name, as in os-release(5).
        keyring_package: the package with the keys of its archive.
        security_suffix: what the address of its security updates has more than the archive's.
        components: the parts of the archive that a fresh installation uses.
        script: debootstrap's script for releases that it does not know.
    """

    id: str
    keyring_package: str
    security_suffix: str
    components: tuple[str, ...]
    script: str

    @property
    def keyring(self) -> Path:
        """Return the file with the keys of its archive, on the host and in roots."""
        return _KEYRINGS / f"{self.id}-archive-keyring.gpg"

    def sources(self, release: str, *, site: str) -> tuple[Source, ...]:
        """Return the archives of a fresh installation, of which one is at a site."""
        pockets = ("", site), ("-updates", site), ("-security", site + self.security_suffix)
        return tuple(
            Source(site=place, suite=release + pocket, component=component)
            for pocket, place in pockets
            for component in self.components
        )


_DEBIAN = Distribution(
    id="debian",
    keyring_package="debian-archive-keyring",
    security_suffix="-security",
    components=("main",),
    script="sid",
)
_UBUNTU = Distribution(
    id="ubuntu",
    keyring_package="ubuntu-keyring",
    security_suffix="",
    components=("main", "universe"),
    script="gutsy",
)
RELEASES = {"bookworm": _DEBIAN, "trixie": _DEBIAN, "noble": _UBUNTU, "resolute": _UBUNTU}
"""The releases that are tried, with their distributions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """An archive that apt gets packages from.

    Attributes:
        site: its address.
        suite: a release's name, with a pocket such as `-updates` or none.
        component: such as `main`.
    """

    site: str
    suite: str
    component: str

    def of(self, release: str, *, instead_of: str) -> Source | None:
        """Return the same archive's suite of another release; None if it is no release's."""
        name, dash, pocket = self.suite.partition("-")
        if name != instead_of or pocket not in {"", "updates", "security"}:
            return None
        return Source(site=self.site, suite=f"{release}{dash}{pocket}", component=self.component)

    def line(self, keyring: Path) -> str:
        """Return its line in sources.list."""
        return f"deb [signed-by={keyring}] {self.site} {self.suite} {self.component}"


def sources_of(release: str, *, base: Path) -> tuple[Source, ...]:
    """Return the archives of a release; its own suite of the main component first.

    Args:
        release: its name.
        base: what debootstrap(8) made of it, which has the address that it was got from.

    Raises:
        HostError: the host has that distribution, but not its archive.
    """
    if found := host_sources(release):
        return found
    _, site, *_ = (base / "etc/apt/sources.list").read_text().split()
    return RELEASES[release].sources(release, site=site)


def host_sources(release: str) -> tuple[Source, ...]:
    """Return the archives of a release that the host's apt has; none if it has another's.

    Raises:
        HostError: the host has that distribution, but not its archive.
    """
    about = platform.freedesktop_os_release()
    own = about.get("VERSION_CODENAME", "")
    if about["ID"] != RELEASES[release].id:
        return ()
    form = "$(SITE)\t$(RELEASE)\t$(COMPONENT)"
    answer = output_of("apt-get", "indextargets", "--format", form, "Created-By: Packages")
    rows = (line.split("\t") for line in answer.splitlines())
    listed = (Source(site=site, suite=suite, component=part) for site, suite, part in rows)
    found = {one: None for source in listed if (one := source.of(release, instead_of=own))}
    main = [one for one in found if one.suite == release and one.component == "main"]
    if not main:
        raise HostError(f"the host's apt has no archive of {own}")
    return (main[0], *(one for one in found if one != main[0]))


def output_of(*command: str) -> str:
    """Return what a command printed.

    Raises:
        HostError: it is missing, or failed.
    """
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    except FileNotFoundError as error:
        raise HostError(f"{command[0]} is not installed") from error
    except subprocess.CalledProcessError as error:
        raise HostError(f"{' '.join(command)}: {error.stderr.strip()}") from error
    return done.stdout
