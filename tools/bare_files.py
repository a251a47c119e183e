"""Make the files of a bare root, from those of the Debian in which this runs: see `tools.bare`.

    python3 bare_files.py FOLDER USER

It runs in a root of its own, which has Python and busybox, and nothing of this repository.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

_FOLDERS = (
    *("usr/bin", "usr/lib", "etc/ssl/certs", "root", "home", "tmp", "var/tmp"),
    *("proc", "sys", "dev", "run", "mnt"),
)
_APT = "var/cache/apt/archives"  # where enter.sh mounts downloaded packages
_LINKS = {"bin": "usr/bin", "sbin": "usr/bin", "lib": "usr/lib", "lib64": "usr/lib"}
_LIBRARIES = Path("/usr/lib/x86_64-linux-gnu")
# What a wheel for manylinux may expect of every host.
_EXPECTED = (
    *("libstdc++.so.6", "libgcc_s.so.1", "libresolv.so.2", "libpthread.so.0"),
    *("libdl.so.2", "librt.so.1", "libutil.so.1"),
)
# Programs that are Python's alone to find, not busybox's to have.
_LEFT_OUT = {"busybox", "ip", "ping", "ping6", "sysctl", "tc"}
_USER_ID = 1000


def main(folder: Path, user: str) -> None:
    """Make the files."""
    for name in (*_FOLDERS, _APT):
        (folder / name).mkdir(parents=True, exist_ok=True)
    for name, target in _LINKS.items():
        (folder / name).symlink_to(target)
    for name in ("tmp", "var/tmp"):
        (folder / name).chmod(0o1777)
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    _put_python(folder, version)
    _put_busybox(folder)
    for library in _libraries(version):
        shutil.copy(library.resolve(), folder / "usr/lib" / library.name)
    shutil.copy("/etc/ssl/certs/ca-certificates.crt", folder / "etc/ssl/certs")
    home = folder / "home" / user
    home.mkdir()
    os.chown(home, _USER_ID, _USER_ID)
    accounts = f"root:x:0:0::/root:/bin/sh\n{user}:x:{_USER_ID}:{_USER_ID}::/home/{user}:/bin/sh\n"
    (folder / "etc/passwd").write_text(accounts)
    (folder / "etc/group").write_text(f"root:x:0:\n{user}:x:{_USER_ID}:\n")


def _put_python(folder: Path, version: str) -> None:
    shutil.copy(f"/usr/bin/{version}", folder / "usr/bin")
    (folder / "usr/bin/python3").symlink_to(version)
    shutil.copytree(f"/usr/lib/{version}", folder / "usr/lib" / version, symlinks=True)
    shutil.copytree("/usr/share/python-wheels", folder / "usr/share/python-wheels")


def _put_busybox(folder: Path) -> None:
    shutil.copy("/usr/bin/busybox", folder / "usr/bin")
    for name in _output("busybox", "--list").split():
        if name not in _LEFT_OUT:
            (folder / "usr/bin" / name).symlink_to("busybox")


def _libraries(version: str) -> list[Path]:
    """Return Python's libraries, and what they need."""
    modules = Path(f"/usr/lib/{version}/lib-dynload").glob("*.so")
    files = [Path(f"/usr/bin/{version}"), *modules, *(_LIBRARIES / name for name in _EXPECTED)]
    needed = _output("ldd", *map(str, files))
    loaded = re.findall(r"=> (/\S+)", needed) + re.findall(
        r"^\s+(/lib64/\S+)", needed, re.MULTILINE
    )
    return sorted({*map(Path, loaded), *(_LIBRARIES / name for name in _EXPECTED)})


def _output(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
