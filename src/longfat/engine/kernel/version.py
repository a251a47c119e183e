"""Kernel versions as people write them, and releases as kernels report them.

A *version* is what a user requests: `6.1` (a series) or `6.1.158`. A
*release* is the whole string of `uname -r`; its *series*
is its first two numbers. A kernel with patches or answers of the user's own is a
*variant*, whose name is appended to both: `6.1+bbr3`. It is never used unless
requested.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from longfat.errors import InputError

NEWEST = "newest"
"""As a version: the newest kernel that is built or installed. It is the default."""

USUAL = "6.1"
"""The version of the labs. It is the one to build if no kernel is built."""

VARIANT = r"[A-Za-z0-9_-]{1,20}"
"""The pattern of a variant's name."""

_VERSION = re.compile(rf"\d+\.\d+(\.\d+)*(-[0-9A-Za-z.+~_-]+|(-rc\d+)?\+{VARIANT})?")
# Elsewhere a plus belongs to the release: 6.12.10-1~bpo12+1, 7.2.0-custom+.
_OF_VARIANT = re.compile(rf"([\d.]+(?:-rc\d+)?)\+({VARIANT})")


def check_version(text: str) -> str:
    """Return `text` if it is a kernel version.

    Raises:
        InputError: it is something else.
    """
    if not _VERSION.fullmatch(text):
        raise InputError(f"{text!r} is not a kernel version; one looks like 6.1 or 6.1.158")
    return text


def series(version: str) -> str:
    """Return the series of a version or release: `6.1` of `6.1.158`.

    Raises:
        InputError: `version` is not a version.
    """
    return ".".join(re.split(r"[.+-]", check_version(version))[:2])


def split_variant(version: str) -> tuple[str, str]:
    """Return a version or release without its variant, and the variant; empty for none."""
    found = _OF_VARIANT.fullmatch(version)
    return (found[1], found[2]) if found else (version, "")


def series_of(release: str) -> str:
    """Return the version that requests a release's series: `6.12+bbr3` of `6.12.10+bbr3`."""
    _, variant = split_variant(release)
    return series(release) + (f"+{variant}" if variant else "")


def matches(release: str, version: str) -> bool:
    """Return whether `release` satisfies a request for `version`.

    `6.1` is satisfied by 6.1.158, but neither by 6.12 nor by 6.1.158+bbr3.
    """
    (other, variant), (wanted, wanted_variant) = split_variant(release), split_variant(version)
    if variant != wanted_variant:
        return False
    return other == wanted or (other.startswith(wanted) and other[len(wanted)] in ".-+")


def sort_key(release: str) -> tuple[tuple[int, ...], bool, str]:
    """Return a key that sorts releases from old to new: 6.1, 6.12-rc3, 6.12, 6.12.1."""
    numbers, _, rest = split_variant(release)[0].partition("-")
    parts = tuple(int(part) for part in re.findall(r"\d+", numbers))
    return (parts, not rest.startswith("rc"), rest)


def by_preference(releases: Iterable[str], wanted: str) -> list[str]:
    """Return releases of one series in the order in which they are to be tried.

    First come those that satisfy `wanted`, then the others by their distance from it in patch
    releases. Of equals, the newer one comes first.

    Args:
        releases: such as `6.1.187` or `6.1.192-2`.
        wanted: such as `6.1.192`, or a series, which all of its releases satisfy.
    """

    def patch_level(release: str) -> int:
        return (*sort_key(release)[0], 0, 0, 0)[2]

    def distance(release: str) -> tuple[bool, int]:
        if matches(release, wanted):
            return False, 0
        return True, abs(patch_level(release) - patch_level(wanted))

    return sorted(sorted(releases, key=sort_key, reverse=True), key=distance)


def nearest(version: str, among: list[str]) -> str | None:
    """Return the version in `among` whose series is nearest to that of `version`."""

    def distance(other: str) -> tuple[int, int]:
        numbers = [int(part) for part in series(other).split(".")]
        own = [int(part) for part in series(version).split(".")]
        return (abs(numbers[0] - own[0]), abs(numbers[1] - own[1]))

    return min(among, key=distance, default=None)
