"""Applying longfat's kernel patches, which may change arch/um and nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from longfat.errors import HostError

_FILE = re.compile(r"^(?:---|\+\+\+) (\S+)", re.MULTILINE)


class DoesNotApplyError(HostError):
    """A patch of longfat's own does not apply to a release, which another may do.

    Args:
        message: which patch, and which part of it.
        release: the release: `6.1.176`.
        hint: what to build instead.
    """

    def __init__(self, message: str, *, release: str, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.release = release


def patch_command(patch: Path, *, fuzz: int = 0) -> list[str]:
    """Return the command that applies a patch to the tree it runs in.

    Args:
        patch: the patch.
        fuzz: how many lines of a hunk's context may differ.
    """
    return ["patch", "-p1", "--batch", "--forward", f"--fuzz={fuzz}", f"--input={patch}"]


def check(patches: Iterable[Path]) -> None:
    """Check that no patch changes files outside of arch/um.

    The networking code is unmodified Linux; that is what makes the results valid.

    Raises:
        HostError: one does.
    """
    for patch in patches:
        for name in _FILE.findall(patch.read_text(encoding="utf-8", errors="replace")):
            inner = name.partition("/")[2]
            if name != "/dev/null" and (not inner.startswith("arch/um/") or ".." in inner):
                raise HostError(
                    f"{patch}: changes {inner or name}; a kernel patch may change arch/um only"
                )
