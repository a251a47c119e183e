"""The memory limit of all machines together.

It is the memory available when they begin, and at most what is left of the
limit of longfat's own control group: a container, or a batch system's job, is
killed when it exceeds that. Sources: proc_meminfo(5), cgroups(7), and the
kernel's Documentation/admin-guide/cgroup-v2.rst (memory.max, memory.current,
memory.stat) and cgroup-v1/memory.rst.
"""

from __future__ import annotations

import re
from pathlib import Path

_SHARE = 0.9
_AVAILABLE = re.compile(r"^MemAvailable:\s+(\d+) kB$", re.MULTILINE)
_CACHE = re.compile(r"^(?:total_)?inactive_file (\d+)$", re.MULTILINE)
# v1 without a limit is a number near 2**63.
_NO_LIMIT = 2**60


def available_bytes(*, proc: Path = Path("/proc"), groups: Path = Path("/sys/fs/cgroup")) -> float:
    """Return how much memory machines may use together, in bytes; infinite if unknown.

    Args:
        proc: the mount point of procfs.
        groups: the mount point of the control groups.
    """
    bounds = [float(_NO_LIMIT)]
    if found := _AVAILABLE.search(_text(proc / "meminfo")):
        bounds.append(int(found[1]) * 1024)
    bounds += _group_bounds(_text(proc / "self" / "cgroup"), groups)
    minimum = min(bounds)
    return float("inf") if minimum >= _NO_LIMIT else _SHARE * minimum


def _group_bounds(text: str, groups: Path) -> list[float]:
    """Return what is left of the limit of each control group above this process."""
    bounds = []
    for line in text.splitlines():
        number, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if number == "0":
            top, names = groups, ("memory.max", "memory.current")
        elif "memory" in controllers.split(","):
            top, names = groups / "memory", ("memory.limit_in_bytes", "memory.usage_in_bytes")
        else:
            continue
        parts = [part for part in path.split("/") if part not in ("", "..")]
        # In a container the path may be the host's: then only the root group is visible.
        for count in range(len(parts) + 1):
            left = _left(top.joinpath(*parts[:count]), *names)
            if left is not None:
                bounds.append(left)
    return bounds


def _left(folder: Path, limit: str, usage: str) -> float | None:
    limited, used = _text(folder / limit).strip(), _text(folder / usage).strip()
    if not limited.isdigit() or not used.isdigit() or int(limited) >= _NO_LIMIT:
        return None
    # The page cache is reclaimed when memory is needed.
    cached = _CACHE.search(_text(folder / "memory.stat"))
    return int(limited) - int(used) + (int(cached[1]) if cached else 0)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
