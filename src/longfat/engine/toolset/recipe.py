"""What a toolset consists of: its packages, and which of their files it takes."""

from __future__ import annotations

import functools
import hashlib
import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from longfat.common import resources
from longfat.errors import HostError

if TYPE_CHECKING:
    from collections.abc import Mapping

PROGRAM_FOLDERS = ("bin", "sbin", "usr/bin", "usr/sbin")
"""The folders of a package with programs; in a toolset all are in `bin`."""

LIBRARY_FOLDERS = ("lib/x86_64-linux-gnu", "usr/lib/x86_64-linux-gnu")
"""The folders of a package with libraries; in a toolset those that a program needs are in `lib`."""

LOADER_FILE = "lib/x86_64-linux-gnu/ld-linux-x86-64.so.2"
"""The loader in its package."""

FOLDERS = {
    "etc/iproute2": "etc/iproute2",
    "usr/lib/locale": "lib/locale",
    "usr/lib/python3.11": "lib/python3.11",
    "usr/lib/x86_64-linux-gnu/tc": "lib/tc",
    "usr/lib/x86_64-linux-gnu/xtables": "lib/xtables",
    "usr/share/doc": "licences",
}
"""Folders of packages that a toolset takes, with their names in it; of the last, licences only."""

LINKS = {
    "awk": "mawk",
    "nc": "nc.openbsd",
    "netcat": "nc.openbsd",
    "sh": "dash",
    "python3": "python3.11",
    "traceroute": "traceroute.db",
    "traceroute6": "traceroute.db",
    **dict.fromkeys(("arptables", "ebtables", "ip6tables", "iptables"), "xtables-nft-multi"),
    **{
        f"{name}-{verb}": "xtables-nft-multi"
        for name in ("ip6tables", "iptables")
        for verb in ("restore", "save")
    },
}
"""Names of programs for which a distribution has links outside of its packages."""

TC_LIBRARY = "lib/tc/q_wire.so"
"""The library by which `tc` reads and prints the qdisc `wire`, in a toolset."""

IPERF3 = "bin/iperf3"
IPERF3_LIBRARY = "lib/liblongfat.so"
"""The library with longfat's changes of iperf3, in a toolset: see toolset/README.md."""

_DECIDING = ("build", "compiling", "elf", "library_cache", "package_file", "recipe")
"""The modules that decide what is in a toolset."""

# A machine has its own `sudo` and `su`, and there is nothing to log in to or to install.
_NOT_TAKEN = re.compile(
    r"agetty|arpd|blk.*|cfdisk|ctrlaltdel|eject|fdisk|findfs|findmnt|fs.*|getty|isosize|last|lastb"
    r"|ld\.so|ldattach|ldconfig|logger|login|lsblk|lslogins|mkfs.*|mkswap|partx|.*part|readprofile"
    r"|rtcwake|runuser|savelog|su|sulogin|swap.*|update-.*|utmpdump|wdctl|which\.debianutils"
    r"|wipefs|zramctl"
)
_LEFT_OUT_OF_PYTHON = ("idlelib", "lib2to3", "pydoc_data", "test", "tkinter", "turtledemo")
_LICENCE = re.compile(r"[^/]+/copyright")


@dataclass(frozen=True, slots=True, kw_only=True)
class Package:
    """A package of Debian's archive.

    Attributes:
        name: its name.
        version: its version.
        size_bytes: its size.
        sha256: its checksum, in hexadecimal.
        path: its path in an archive.
    """

    name: str
    version: str
    size_bytes: int
    sha256: str
    path: str


def read_packages(text: str, *, name: str = "packages.txt") -> tuple[Package, ...]:
    """Return the packages of a list.

    Args:
        text: a line for each package, in the order of the fields of `Package`.
        name: the list's name, for messages.

    Raises:
        HostError: a line has not these fields.
    """
    packages = []
    for number, line in enumerate(text.splitlines(), 1):
        fields = line.split()
        if not fields or fields[0].startswith("#"):
            continue
        if (
            len(fields) != 5
            or not fields[2].isdigit()
            or not re.fullmatch("[0-9a-f]{64}", fields[3])
        ):
            raise HostError(
                f"{name}, line {number}: not a package: name, version, size, SHA-256, path"
            )
        label, version, size, sha256, path = fields
        packages.append(
            Package(name=label, version=version, size_bytes=int(size), sha256=sha256, path=path)
        )
    return tuple(packages)


@functools.cache
def pinned_packages() -> tuple[Package, ...]:
    """Return the packages of the toolset.

    Raises:
        HostError: the installation is incomplete.
    """
    return _read_list("packages.txt")


@functools.cache
def build_packages() -> tuple[Package, ...]:
    """Return the packages that build the toolset and are no part of it: a compiler, and headers.

    Raises:
        HostError: the installation is incomplete.
    """
    return _read_list("build-packages.txt")


@functools.cache
def pinned_date() -> str:
    """Return a time at which Debian's archive had all packages: `20260131T000000Z`.

    Raises:
        HostError: the installation is incomplete.
    """
    return (resources.folder("toolset") / "date.txt").read_text(encoding="utf-8").strip()


def _read_list(name: str) -> tuple[Package, ...]:
    file = resources.folder("toolset") / name
    return read_packages(file.read_text(encoding="utf-8"), name=str(file))


@functools.cache
def sources() -> Mapping[str, tuple[Path, ...]]:
    """Return the C files of libraries that are compiled, by the libraries' places in a toolset.

    Raises:
        HostError: the installation is incomplete.
    """
    iperf3 = sorted((resources.folder("toolset") / "iperf3").glob("*.[ch]"))
    return {
        IPERF3_LIBRARY: tuple(iperf3),
        TC_LIBRARY: (resources.folder("toolset") / "q_wire.c",),
    }


def changes_text() -> str:
    """Return what a toolset says, beside its licences, of its changed programs.

    Raises:
        HostError: the installation is incomplete.
    """
    return (resources.folder("toolset") / "CHANGES.md").read_text(encoding="utf-8")


@functools.cache
def recipe_digest() -> str:
    """Return the digest of all that decides a toolset: packages, sources, and this code."""
    digest = hashlib.sha256(changes_text().encode())
    for package in (*pinned_packages(), *build_packages()):
        digest.update(f"{package.name} {package.sha256}\n".encode())
    for library, files in sources().items():
        for file in files:
            digest.update(f"{library} {file.name}\n".encode() + file.read_bytes())
    for name in _DECIDING:
        digest.update(Path(__file__).with_name(f"{name}.py").read_bytes())
    return digest.hexdigest()


def place_of(path: str, *, is_executable: bool, is_link: bool) -> str:
    """Return the place in a toolset of a file of a package; empty if the toolset has none for it.

    Args:
        path: its path in the package.
        is_executable: whether it may be executed.
        is_link: whether it is a symbolic link.
    """
    file = PurePosixPath(path)
    if path == LOADER_FILE:
        return "ld.so"
    if str(file.parent) in PROGRAM_FOLDERS:
        is_taken = (is_executable or is_link) and not _NOT_TAKEN.fullmatch(file.name)
        return f"bin/{file.name}" if is_taken else ""
    if str(file.parent) in LIBRARY_FOLDERS:
        return f"lib/{file.name}" if ".so" in file.name else ""
    for source, place in FOLDERS.items():
        if path.startswith(f"{source}/") and _is_taken_of(place, path[len(source) + 1 :]):
            return f"{place}/{path[len(source) + 1 :]}"
    return ""


def _is_taken_of(place: str, path: str) -> bool:
    if place == "licences":
        return _LICENCE.fullmatch(path) is not None
    if place == "lib/python3.11":
        parts = path.split("/")
        return parts[0] not in _LEFT_OUT_OF_PYTHON and parts[-1] != "sitecustomize.py"
    return path != "q_atm.so"  # it needs a library for networks that a machine does not have
