"""Cache folders of tests' own, which have the toolset of the usual one."""

from __future__ import annotations

from pathlib import Path

from longfat.engine import toolset as toolsets


def share_toolset(cache: Path) -> None:
    """Let a cache folder have the toolset, without a copy."""
    cache.mkdir(parents=True, exist_ok=True)
    (cache / "toolsets").symlink_to(toolsets.find().folder.parent)
