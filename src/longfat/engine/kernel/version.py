"""Kernel versions as people write them, and releases as kernels name themselves.

A *version* is what someone asks for: `6.1` (a series) or `6.1.158`. A
*release* is the whole string that a kernel gives for `uname -r`; its *series*
is its first two numbers. A kernel with patches or answers of somebody's own is a
*variant*, whose name stands behind both: `6.1+bbr3`. Who does not ask for it never
gets it.
"""

from __future__ import annotations

import re

from longfat.errors import InputError

NEWEST = "newest"
"""In place of a version: the newest kernel that is built or installed. It is the default."""

USUAL = "6.1"
"""The version that the labs name. Where no kernel is built, it is the one to build."""

VARIANT = r"[A-Za-z0-9_-]{1,20}"
"""What a variant may be called."""

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


def matches(release: str, version: str) -> bool:
    """Whether someone who asks for `version` is content with `release`.

    `6.1` is content with 6.1.158, but neither with 6.12 nor with 6.1.158+bbr3.
    """
    (theirs, variant), (wanted, asked) = split_variant(release), split_variant(version)
    if variant != asked:
        return False
    return theirs == wanted or (theirs.startswith(wanted) and theirs[len(wanted)] in ".-+")


def sort_key(release: str) -> tuple[tuple[int, ...], bool, str]:
    """Return a key that sorts releases from old to new: 6.1, 6.12-rc3, 6.12, 6.12.1."""
    numbers, _, rest = split_variant(release)[0].partition("-")
    parts = tuple(int(part) for part in re.findall(r"\d+", numbers))
    return (parts, not rest.startswith("rc"), rest)


def nearest(version: str, among: list[str]) -> str | None:
    """Return the version in `among` whose series is nearest to that of `version`."""

    def distance(other: str) -> tuple[int, int]:
        theirs = [int(part) for part in series(other).split(".")]
        ours = [int(part) for part in series(version).split(".")]
        return (abs(theirs[0] - ours[0]), abs(theirs[1] - ours[1]))

    return min(among, key=distance, default=None)
