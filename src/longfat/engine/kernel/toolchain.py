"""The host's programs that a build needs, and their versions."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from pathlib import Path

from longfat.common.installing import install_command
from longfat.errors import HostError

# Each program, and the Debian package that has it.
_PROGRAMS = {
    "bc": "bc",
    "bison": "bison",
    "flex": "flex",
    "gcc": "gcc",
    "ld": "binutils",
    "make": "make",
    "patch": "patch",
    "tar": "tar",
    "xz": "xz-utils",
}


def check() -> None:
    """Check that a kernel can be built on this host.

    Raises:
        HostError: programs are missing, or the processor is another.
    """
    if platform.machine() != "x86_64":
        raise HostError(
            f"User-Mode Linux needs an x86-64 processor, but this is {platform.machine()}"
        )
    missing = [name for name in _PROGRAMS if shutil.which(name) is None]
    # The C library's headers come in a package of their own.
    packages = [_PROGRAMS[name] for name in missing]
    if not any(
        Path(folder, "stdio.h").exists() for folder in ("/usr/include", "/usr/local/include")
    ):
        missing.append("stdio.h")
        packages.append("libc6-dev")
    if missing:
        raise HostError(
            f"building a kernel needs {', '.join(missing)}",
            hint=install_command(*packages),
        )


def lines() -> tuple[str, ...]:
    """Return the version lines of compiler and linker, which decide the binary.

    Raises:
        HostError: one of them does not answer.
    """
    return tuple(_first_line(name) for name in ("gcc", "ld"))


def compiler() -> str:
    """Return the command of the C compiler: gcc, behind ccache(1) if the host has that."""
    return "ccache gcc" if shutil.which("ccache") else "gcc"


def environment(*, temporary: Path, objects: Path) -> dict[str, str]:
    """Return the environment that a build runs in.

    It contains nothing of the caller's but the path to programs, so that neither
    locale nor flags nor the clock influence the binary.

    Args:
        temporary: the folder for the compiler's temporary files.
        objects: the folder where ccache keeps object files.
    """
    return {
        # Each build has a tree of its own, whose files are all new.
        "CCACHE_DIR": str(objects),
        "CCACHE_CONFIGPATH": os.devnull,
        "CCACHE_MAXSIZE": "1G",
        "CCACHE_NOHASHDIR": "1",
        "CCACHE_COMPILERCHECK": "content",
        "CCACHE_SLOPPINESS": "include_file_ctime,include_file_mtime",
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(temporary),
        "TMPDIR": str(temporary),
        "LC_ALL": "C",
        "TZ": "UTC",
        # These four are printed by `uname -v`.
        "KBUILD_BUILD_TIMESTAMP": "1970-01-01",
        "KBUILD_BUILD_VERSION": "1",
        "KBUILD_BUILD_USER": "longfat",
        "KBUILD_BUILD_HOST": "longfat",
    }


def _first_line(program: str) -> str:
    command = [program, "--version"]
    try:
        answer = subprocess.run(
            command,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            check=True,
            env={**os.environ, "LC_ALL": "C"},
        )
    except (OSError, subprocess.CalledProcessError) as error:
        raise HostError(f"{program} does not print its version: {error}") from error
    return answer.stdout.partition("\n")[0]
