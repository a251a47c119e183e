"""A PID namespace, a /tmp and a /dev/shm that nobody else uses; all else is read-only."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from longfat.common.folder_store import cache_root
from tests.paths import REPOSITORY

WORK = Path("/tmp/work")
"""Where the isolated process finds the one folder on a disk that it can write to."""

_MARK = "LONGFAT_KILLING_IS_ISOLATED"
_HIDDEN = (Path("/tmp"), Path("/dev/shm"))
_UNWANTED = ("TMPDIR", "XDG_RUNTIME_DIR", "LONGFAT_RESULT_CACHE")


def is_isolated() -> bool:
    """Tell whether this process is the isolated one."""
    return _MARK in os.environ


def run_isolated(arguments: list[str]) -> int:
    """Run this package's command line in isolation and return its exit status."""
    with tempfile.TemporaryDirectory() as work:
        argv = [
            # A new /proc has nothing mounted over it; without that, sandboxes inside could
            # not mount one of their own.
            *("unshare", "--user", "--map-current-user", "--mount", "--pid", "--fork"),
            *("--kill-child", "--mount-proc", "--"),
            *("bwrap", "--die-with-parent", "--ro-bind", "/", "/", "--dev-bind", "/dev", "/dev"),
            # bubblewrap's own --proc has mounts over it, see above.
            *("--dev-bind", "/proc", "/proc"),
            *(argument for path in _HIDDEN for argument in ("--tmpfs", str(path))),
        ]
        for path in _needed():
            argv += ["--ro-bind", str(path), str(path)]
        argv += ["--bind", work, str(WORK), "--chdir", str(REPOSITORY), "--"]
        environment = {name: text for name, text in os.environ.items() if name not in _UNWANTED}
        more = {
            _MARK: "1",
            "LONGFAT_CACHE": str(cache_root()),
            "PYTHONDONTWRITEBYTECODE": "1",
            "HOME": str(WORK / "home"),
        }
        return subprocess.run(
            [*argv, sys.executable, "-m", "tests.killing", *arguments],
            env=environment | more,
            check=False,
        ).returncode


def strangers() -> list[Path]:
    """Return what lies in /tmp and /dev/shm and was not there at the beginning."""
    needed = _needed()
    return [
        path
        for folder in _HIDDEN
        for path in sorted(folder.iterdir())
        if path != WORK and not any(one.is_relative_to(path) for one in needed)
    ]


def _needed() -> list[Path]:
    """Return the folders below hidden ones that an isolated process needs."""
    wanted = {REPOSITORY, Path(sys.prefix), Path(sys.base_prefix), cache_root()}
    wanted |= {Path(entry) for entry in sys.path if entry}
    found = [path for path in wanted if any(path.is_relative_to(one) for one in _HIDDEN)]
    # One that lies in another comes after it.
    return sorted(path for path in found if path.exists())
