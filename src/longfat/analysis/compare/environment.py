"""What differs around two sides' cases: the kernel, the host's tools, longfat itself."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from longfat.analysis.compare.changes import Change

if TYPE_CHECKING:
    from longfat.execution.runs import Run

_SHOWN = 12  # digits of a digest: enough to distinguish two


def environment_changes(a: Iterable[Run], b: Iterable[Run]) -> tuple[Change, ...]:
    """Return what differs between all runs of A and all of B, beside their cases.

    A tool that only one side's cases use is no difference of the environment: it
    follows from the cases.

    Args:
        a: the runs of A.
        b: the runs of B.
    """
    ours, theirs = _environment(a), _environment(b)
    found = []
    for name in (name for name in ours if name in theirs):
        if ours[name] == theirs[name]:
            continue
        versions = [{version for version, _ in side[name]} for side in (ours, theirs)]
        # Equal versions are distinguished by their digests.
        with_digest = versions[0] == versions[1]
        before, after = (
            ", ".join(sorted(_text(one, digest=with_digest) for one in side[name]))
            for side in (ours, theirs)
        )
        found.append(Change(name, before, after))
    return tuple(found)


def _environment(runs: Iterable[Run]) -> dict[str, set[tuple[str, str]]]:
    """Return version and digest of kernel and tools, by name: one, or those that runs differ in."""
    found: dict[str, set[tuple[str, str]]] = {"Linux": set()}
    for run in runs:
        found["Linux"].add((run.kernel["release"], run.kernel["digest"]))
        for name, tool in run.tools.items():
            found.setdefault(name, set()).add((tool.version, tool.digest))
    return found


def _text(version_and_digest: tuple[str, str], *, digest: bool) -> str:
    version, hashed = version_and_digest
    short = f"bytes {hashed[:_SHOWN] or 'unknown'}"
    if not version:
        return short
    return f"{version}, {short}" if digest else version
