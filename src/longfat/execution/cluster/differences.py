"""What keeps a worker from giving the results that another host would give."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_SHOWN = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What a worker must be like: as the client is.

    Attributes:
        software: versions by name, of what both sides must have in common.
        longfat: the digest of longfat's code.
        tools: for each case that is asked about, its tools: version and digest by name.
        kernels: the fingerprints of the kernels by their digests.
    """

    software: Mapping[str, str]
    longfat: str
    tools: Sequence[Mapping[str, Sequence[str]]]
    kernels: Mapping[str, str]


def differences(answer: Mapping[str, Any], wanted: Wanted) -> list[str]:
    """Return how a worker differs from what it must be; an empty list if it does not.

    Args:
        answer: what `look` told of the worker.
        wanted: what it must be.
    """
    found = version_differences(answer["software"], wanted.software)
    if found:
        return found  # all else may follow from that
    if answer["loaded"] != answer["longfat"]:
        return ["longfat has been changed there since the worker was started; start it anew"]
    if answer["lacks"]:
        return [answer["lacks"]]
    if answer["longfat"] != wanted.longfat:
        version = wanted.software.get("longfat", "")
        return [f"longfat has other code there, though both are {version}"]
    found += _tool_differences(answer["tools"], wanted.tools)
    for digest, content in answer["kernels"].items():
        if wanted.kernels[digest] != content:
            short = digest[:_SHOWN]
            found.append(
                f"kernel {short} has other bytes there; there: longfat kernel remove {short}"
            )
    if answer["storage"]:
        found.append(answer["storage"])
    return found


def version_differences(theirs: Mapping[str, str], ours: Mapping[str, str]) -> list[str]:
    """Return which versions differ, in words."""
    return [
        f"{name} {theirs.get(name, 'is not installed')} there, {ours.get(name, 'none')} here"
        for name in sorted({*theirs, *ours})
        if theirs.get(name) != ours.get(name)
    ]


def _tool_differences(
    theirs: Sequence[Mapping[str, Sequence[str]]], ours: Sequence[Mapping[str, Sequence[str]]]
) -> list[str]:
    told: dict[str, str] = {}
    for one, other in zip(theirs, ours, strict=True):
        for name in sorted({*one, *other}):
            if difference := _tool_difference(name, one.get(name), other.get(name)):
                told[name] = difference
    return list(told.values())


def _tool_difference(
    name: str, theirs: Sequence[str] | None, ours: Sequence[str] | None
) -> str | None:
    if theirs is None or ours is None:
        where, not_where = ("here", "there") if theirs is None else ("there", "here")
        return f"{name} is installed {where} and not {not_where}"
    if theirs[1] == ours[1]:
        return None
    if theirs[0] != ours[0]:
        return f"{name}: {theirs[0]} there, {ours[0]} here"
    same = f", though both are {ours[0]}" if ours[0] else ""
    return f"{name}, or a library that it loads, has other bytes there{same}"
