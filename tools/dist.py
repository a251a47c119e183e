"""Make wheels to install where nothing can be compiled: longfat's, and those of kernels.

`make dist` calls this when the studio's page and the kernels are built. Of each
series whose kernel fits today's recipe there is one wheel, with the kernel that
machines would boot (`longfat.engine.kernel.find`).

Run as `python -m tools.dist FOLDER [SERIES...]` from the top of the repository;
with series named, those kernels alone are packed. Wheels of longfat that are in
the folder are removed.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import longfat
from longfat.common import resources
from longfat.common.guard import scratch_folder
from longfat.engine import kernel as kernels
from longfat.engine import toolset as toolsets
from longfat.engine.kernel import Kernel, Manifest
from longfat.engine.kernel.cache import WHEEL_PACKAGE as PACKAGE
from longfat.engine.kernel.cache import distribution
from longfat.engine.kernel.source_offer import recipe_files, source_text
from longfat.engine.kernel.version import split_variant
from longfat.engine.toolset import Toolset
from longfat.engine.toolset.archive import WHEEL_PACKAGE as TOOLS_PACKAGE
from longfat.engine.toolset.archive import archive_name, pack
from longfat.engine.toolset.recipe import recipe_digest
from longfat.errors import HostError, LongfatError
from tools.wheel import Member, write_wheel

_TOP = Path(__file__).parents[1]
# Versions in the C library that are named otherwise, and the release they came with.
_NAMED = {"GLIBC_ABI_DT_RELR": 36}


def kernel_wheel(kernel: Kernel, *, folder: Path) -> Path:
    """Pack a built kernel and what it was made of.

    The wheel's version ends with the kernel's digest: two kernels of one release that
    were built by different recipes or compilers are different packages to pip.

    Args:
        kernel: one of today's recipe.
        folder: where to.

    Raises:
        HostError: the kernel is of another recipe, or cannot be packed so
            that it would run elsewhere.
        OSError: a file cannot be read or written.
    """
    about = kernels.manifest_of(kernel)
    if not kernels.fits(kernel):
        raise HostError(f"kernel {kernel.release} is of another recipe than today's")
    text = _text(about)
    source = f"{PACKAGE}/source-{kernel.series}"
    members = {
        f"{PACKAGE}/{kernel.digest}/{path.name}": Member.of(path)
        for path in sorted(kernel.folder.iterdir())
    }
    members |= {
        f"{source}/kernel/{name}": Member.of(path)
        for name, path in recipe_files(kernel.release).items()
    }
    members[f"{source}/README.md"] = Member(content=text.encode())
    return write_wheel(
        folder,
        name=distribution(kernel.series),
        version=_wheel_version(kernel),
        tag=f"py3-none-manylinux_2_{glibc_minor(kernel.folder)}_x86_64",
        about={
            "Summary": f"Linux {kernel.release} for longfat, built",
            "License-Expression": "GPL-2.0-only AND Apache-2.0",
        },
        text=text,
        members=members,
        licences={
            "COPYING": Member.of(resources.folder("kernel") / "patches/COPYING"),
            "LICENSE": Member.of(_TOP / "LICENSE"),
        },
    )


def toolset_wheel(toolset: Toolset, *, folder: Path) -> Path:
    """Pack a toolset.

    Args:
        toolset: the toolset.
        folder: where to.

    Raises:
        OSError: a file cannot be read or written.
    """
    with scratch_folder() as scratch:
        archive = scratch / archive_name(recipe_digest())
        pack(toolset.folder, archive)
        content = Member.of(archive)
    packages = "\n".join(f"- {name} {version}" for name, version in toolset.versions.items())
    return write_wheel(
        folder,
        name="longfat-tools",
        version=f"{longfat.__version__}+t{toolset.digest[:12]}",
        tag="py3-none-manylinux_2_17_x86_64",
        about={"Summary": "The pinned programs of longfat's machines"},
        text=(
            "# Pinned programs for longfat\n\nPrograms of Debian 12 for the machines of longfat"
            f" {longfat.__version__}, with the digest\n`{toolset.digest}`. Their licences are in"
            " the folder `licences` of the archive, and their\nsources in the packages of Debian"
            " of these versions. iperf3 is modified; `licences/changes.md` says how.\n\n"
            f"{packages}\n"
        ),
        members={f"{TOOLS_PACKAGE}/{archive.name}": content},
        licences={"LICENSE": Member.of(_TOP / "LICENSE")},
    )


def glibc_minor(folder: Path) -> int:
    """Return NN of the oldest GNU C library, 2.NN, that has all that a folder's binaries use.

    Raises:
        HostError: one of them needs another library, or readelf does not answer.
    """
    binaries = [path for path in folder.iterdir() if path.stat().st_mode & 0o100]
    command = ["readelf", "--wide", "--dynamic", "--version-info", *map(str, binaries)]
    try:
        said = subprocess.run(
            command, capture_output=True, text=True, check=True, env={**os.environ, "LC_ALL": "C"}
        ).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        raise HostError(
            f"readelf does not tell what the kernel needs: {error}",
            hint="sudo apt-get install binutils",
        ) from error
    libraries = set(re.findall(r"\(NEEDED\)\s+Shared library: \[(.*)\]", said))
    if strange := libraries - {"libc.so.6", "ld-linux-x86-64.so.2"}:
        raise HostError(f"the kernel in {folder} needs {', '.join(sorted(strange))}")
    needed = set(re.findall(r"Name: (\S+)\s+Flags:", said))
    minors = [_NAMED.get(name) or _minor(name) for name in needed]
    return max(minors)


def _minor(name: str) -> int:
    if match := re.fullmatch(r"GLIBC_2\.(\d+)(?:\.\d+)?", name):
        return int(match[1])
    raise HostError(f"the kernel needs {name}, and which C library has it is not known")


def _wheel_version(kernel: Kernel) -> str:
    """Return the release and the digest as a Python version: `6.1.192+k0123456789ab`."""
    match = re.match(r"[\d.]*\d", kernel.release)
    assert match is not None  # a release begins with its numbers
    rest = re.findall("[a-z0-9]+", kernel.release[match.end() :].lower())
    return f"{match[0]}+{'.'.join([*rest, f'k{kernel.digest[:12]}'])}"


def _text(about: Manifest) -> str:
    """Return the description of a kernel's wheel."""
    return f"""\
# Linux {about.release} for longfat

`{PACKAGE}/{about.digest}` holds a User-Mode Linux kernel, which longfat {longfat.__version__}
boots. `linux` is under the GPL, version 2 (COPYING). The launcher `confine` and the
libraries `*.so` are longfat's own, under the Apache licence, version 2.0 (LICENSE).

{source_text(about, folder=f"{PACKAGE}/source-{about.series}", what="wheel")}"""


def _longfat_wheel(folder: Path) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    done = subprocess.run(command, cwd=_TOP, check=False, capture_output=True, text=True)
    if done.returncode != 0:
        raise HostError(f"longfat's own wheel cannot be built:\n{done.stderr}")


def main(arguments: Sequence[str]) -> None:
    """Make the wheels.

    Args:
        arguments: the folder, and the series to pack; all, and longfat itself, if none.
    """
    folder = Path(arguments[0]).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("longfat*.whl"):
        old.unlink()
    chosen = arguments[1:]
    if not chosen:
        _longfat_wheel(folder)
        ready = [found for found in kernels.kernels() if kernels.fits(found)]
        if (toolset := toolsets.stored()) is not None:
            toolset_wheel(toolset, folder=folder)
        chosen = [found.series for found in ready if not split_variant(found.release)[1]]
    for series in dict.fromkeys(chosen):
        kernel_wheel(kernels.find(series), folder=folder)
    for made in sorted(folder.glob("longfat*.whl")):
        print(f"{made.stat().st_size / 1e6:6.1f} MB  {made.name}")


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except LongfatError as error:
        hint = error.hint
        sys.exit(f"error: {error.message}" + (f"\nhint: {hint}" if hint else ""))
