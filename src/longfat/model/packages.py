"""Python packages that a machine's programs may import: pinned by version and by hash.

A case holds what was pinned, so that it decides the case's digest. Which wheels these are
depends on the interpreter; `longfat.engine.packages` installs them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from longfat.errors import InputError

SHOWN = "packages"
"""The name of the folder of packages among the sandbox's shared files."""

PACKAGES_PLACE = f"/run/longfat/{SHOWN}"
"""Where a machine has it: on the `PYTHONPATH` of what runs there."""

_HASH = re.compile("sha256:[0-9a-f]{64}")
_REQUIREMENT = re.compile(r"[A-Za-z0-9][^\0\n]*==[^\0\n]+")
_FORM = "NAME==VERSION --hash=sha256:DIGEST (pip-compile --generate-hashes writes it)"


@dataclass(frozen=True, slots=True, kw_only=True)
class PinnedPackage:
    """A Python package in one version, and the files that are taken for it.

    Attributes:
        requirement: `NAME==VERSION` with a marker, if it has one: PEP 508, written as there.
        hashes: of the files that may be installed, each as `sha256:DIGEST`; sorted.
    """

    requirement: str
    hashes: tuple[str, ...]

    def __post_init__(self) -> None:
        if not _REQUIREMENT.fullmatch(self.requirement):
            raise ValueError(f"{self.requirement[:80]!r} is no requirement with one version")
        if not self.hashes or not all(map(_HASH.fullmatch, self.hashes)):
            raise ValueError(f"{self.requirement[:80]}: its hashes are not SHA-256 digests")

    @property
    def name(self) -> str:
        """The name, in small letters and with hyphens."""
        return re.sub("[-_.]+", "-", re.split(r"[\[= ]", self.requirement, maxsplit=1)[0]).lower()

    @property
    def line(self) -> str:
        """The line of a requirements file."""
        return " ".join([self.requirement, *(f"--hash={one}" for one in self.hashes)])


def pinned_package(text: str) -> PinnedPackage:
    """Return what a line of a requirements file pins.

    Args:
        text: the line, continued lines joined.

    Raises:
        InputError: it is no requirement, or it lacks the version or a hash.
    """
    # pip's own model of requirements; few studies have any, and it takes 15 ms.
    from packaging.requirements import InvalidRequirement, Requirement  # noqa: PLC0415

    first, *options = re.split(r"\s--(?=hash\b)", f" {text.strip()}")
    written = first.strip()
    if written.startswith("-"):
        raise InputError(
            f"{written[:80]!r} is an option of pip; only packages are allowed: {_FORM}. The index "
            "they come from is configured for pip"
        )
    try:
        found = Requirement(written)
    except InvalidRequirement as error:
        reason = str(error).partition("\n")[0]
        raise InputError(f"{written[:80]!r} is not {_FORM}: {reason}") from None
    versions = list(found.specifier)
    if found.url or len(versions) != 1 or versions[0].operator != "==":
        raise InputError(f"{written[:80]!r} names no one version: write {_FORM}")
    if versions[0].version.endswith("*"):
        raise InputError(f"{written[:80]!r} names several versions: write {_FORM}")
    hashes = [option.partition("hash")[2].lstrip(" =").strip() for option in options]
    if not hashes:
        raise InputError(
            f"{written[:80]!r} has no hash, so the index decides what it is: write {_FORM}"
        )
    for one in hashes:
        if not _HASH.fullmatch(one):
            raise InputError(f"{written[:60]}: {one[:80]!r} is no sha256:DIGEST of 64 digits")
    return PinnedPackage(requirement=str(found), hashes=tuple(sorted(set(hashes))))


def pinned_packages(lines: Iterable[str], *, name: str) -> tuple[PinnedPackage, ...]:
    """Return what the lines of a lock file pin.

    Args:
        lines: the lines.
        name: what to call the file in messages.

    Raises:
        InputError: a line is wrong, or a package is there twice.
    """
    found: dict[str, PinnedPackage] = {}
    for number, line in _joined(lines):
        try:
            add_package(found, pinned_package(line))
        except InputError as error:
            raise InputError(f"{name}, line {number}: {error.message}") from None
    if not found:
        raise InputError(f"{name} names no package")
    return tuple(found.values())


def add_package(found: dict[str, PinnedPackage], one: PinnedPackage) -> None:
    """Put a package to others; a universal lock has one several times, with markers.

    Raises:
        InputError: it is there already.
    """
    key = f"{one.name}{one.requirement.partition(';')[2]}"
    if key in found:
        raise InputError(f"{one.requirement}: {found[key].requirement} is named before")
    found[key] = one


def _joined(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Yield the non-empty lines, each with the number of its first line."""
    begun, start = "", 0
    for number, line in enumerate(lines, start=1):
        text = re.sub(r"(^|\s)#.*", "", line.rstrip("\n")).strip()
        start = start if begun else number
        if text.endswith("\\"):
            begun += f"{text[:-1].rstrip()} "
            continue
        if whole := f"{begun}{text}".strip():
            yield start, whole
        begun = ""
    if begun.strip():
        yield start, begun.strip()
