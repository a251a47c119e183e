"""Installed packages: wheels for a machine's programs, installed once, into the cache.

    CACHE/packages/for-KEY           the digest for these pins and an interpreter
    CACHE/packages/DIGEST/packages   the modules, for PYTHONPATH
    CACHE/packages/DIGEST/SHA256SUMS the checksums of all of it
    CACHE/packages/.making-RANDOM/   one that is being installed

pip installs them, from wheels only, each with one of its hashes: no code of a package runs
on the host. What pip writes besides (scripts, which name the host's interpreter, and records)
is omitted. Bytecode is compiled once, and does not check times. DIGEST is that of the
checksums of all but the bytecode: if a file and its checksum are changed, they do not match
the folder's name, which is checked whenever a machine uses it.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from longfat.common.atomic import write_whole
from longfat.common.checksum import SUMS, folder_damage, write_sums
from longfat.common.folder_store import FolderStore, cache_root
from longfat.common.installing import install_command
from longfat.engine.toolset import PYTHON_VERSION
from longfat.errors import HostError, InputError
from longfat.model.packages import PACKAGES_PLACE, PinnedPackage

if TYPE_CHECKING:
    from longfat.engine.toolset import Toolset
    from longfat.errors import Place

# To be incremented when the same wheels are installed in another way.
_FORMAT = 1
_MAX_INSTALL_S = 900.0
# Noon of the first day of 2000, UTC: results must not depend on the time of installation.
_MODIFIED_S = 946_728_000

_INTERPRETER = """
import importlib.util, json, os, platform, sys
print(json.dumps([platform.python_implementation(), platform.python_version(),
    importlib.util.MAGIC_NUMBER.hex(), os.uname().machine, " ".join(platform.libc_ver())]))
"""
_ERROR = re.compile("^ *ERROR: *", re.MULTILINE)
_MISSING = re.compile(r"^ {4}(\S.*?)(?: from \S+)? \(from (\S+?)(?:->|[\s)])", re.MULTILINE)
_NO_WHEEL = re.compile(r"(?:No matching distribution found for|the requirement) (\S+)")
_NETWORK = re.compile(
    "Retrying|NewConnectionError|Temporary failure|ConnectTimeout|timed out|ProxyError"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class InstalledPackages:
    """Installed packages.

    Attributes:
        folder: the folder for a machine.
        digest: of all their files, in hexadecimal.
        versions: their names and versions, for people: `aioquic 1.2.0, ...`.
    """

    folder: Path
    digest: str
    versions: str


def install_packages(
    packages: Sequence[PinnedPackage], *, toolset: Toolset, places: Sequence[Place] = ()
) -> InstalledPackages:
    """Return packages for a machine; they are installed, if they are not yet.

    Args:
        packages: the packages, including all dependencies.
        toolset: the toolset whose Python will import them.
        places: their locations, for messages.

    Raises:
        InputError: there is no wheel of one for the interpreter, none with its hash, or
            a dependency is not among them.
        HostError: they cannot be downloaded, or the cache is damaged.
    """
    about = _about(toolset)
    decides = [_FORMAT, about, [one.line for one in packages]]
    key = hashlib.sha256(json.dumps(decides).encode()).hexdigest()
    try:
        digest = _digest(key)
        if digest is None:
            digest = _install(packages, key, toolset=toolset, about=about, places=places)
    except OSError as error:
        where = f" ({error.filename})" if error.filename else ""
        raise HostError(
            f"Python packages cannot be installed: {error.strerror or error}{where}"
        ) from None
    folder = _path(digest)
    problem = folder_damage(folder)
    if not problem and _digest_of(folder) != digest:
        problem = f"{folder / SUMS}: it does not match the installed packages"
    if problem:
        raise HostError(
            f"the cached Python packages are damaged: {problem}",
            hint=f"run rm -r {folder} to have them reinstalled",
        )
    return InstalledPackages(
        folder=folder / "packages", digest=digest, versions=(folder / "versions").read_text("utf-8")
    )


def _store() -> FolderStore:
    return FolderStore(folder=cache_root() / "packages", prefix=".making-")


def _path(digest: str) -> Path:
    return _store().folder / digest


def _digest(key: str) -> str | None:
    """Return the digest of an earlier installation; None if there is none."""
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        text = (_store().folder / f"for-{key}").read_text("ascii", errors="replace")
        if re.fullmatch("[0-9a-f]{64}", text) and _path(text).is_dir():
            return text
    return None


def _digest_of(folder: Path) -> str:
    """Return the digest of an installation: of its checksums, except for those of bytecode."""
    digest = hashlib.sha256()
    for line in (folder / SUMS).read_bytes().splitlines(keepends=True):
        if b"/__pycache__/" not in line:
            digest.update(line)
    return digest.hexdigest()


def _about(toolset: Toolset) -> list[str]:
    """Return what determines which wheels fit a toolset's Python."""
    done = toolset.run_python("-c", _INTERPRETER)
    if done.returncode != 0:
        raise HostError(f"the toolset's Python cannot be run: {done.stderr.strip()[-200:]}")
    return [str(one) for one in json.loads(done.stdout)]


def _install(
    packages: Sequence[PinnedPackage],
    key: str,
    *,
    toolset: Toolset,
    about: Sequence[str],
    places: Sequence[Place],
) -> str:
    store = _store()
    with store.new_folder() as folder:
        made = folder / "made"
        target = made / "packages"
        target.mkdir(parents=True)
        lock = folder / "requirements.txt"
        lock.write_text("".join(f"{one.line}\n" for one in packages), encoding="utf-8")
        done = _run_pip(lock, target, toolset=toolset, scratch=folder)
        if done.returncode != 0:
            raise _failure(done.stderr, packages, about=about, places=places)
        names = sorted(path.stem for path in target.glob("*.dist-info"))
        versions = ", ".join(name.replace("-", " ", 1) for name in names)
        (made / "versions").write_text(versions, encoding="utf-8")
        _tidy(target)
        _compile(target, toolset)
        for path in [*_all(made), made]:
            path.chmod(0o755 if path.is_dir() else 0o644)
            os.utime(path, (_MODIFIED_S, _MODIFIED_S))
        write_sums(made)
        digest = _digest_of(made)
        store.publish(made, _path(digest))
    write_whole(store.folder / f"for-{key}", digest.encode("ascii"))
    return digest


def _all(folder: Path) -> Iterator[Path]:
    """Yield files and folders below a folder; a folder's contents before the folder itself."""
    for path in sorted(folder.iterdir()):
        if path.is_dir() and not path.is_symlink():
            yield from _all(path)
        yield path


def _run_pip(
    lock: Path, target: Path, *, toolset: Toolset, scratch: Path
) -> subprocess.CompletedProcess[str]:
    # A toolset has no pip. It is run by the interpreter whose wheels are needed.
    spec = importlib.util.find_spec("pip")
    if spec is None or spec.origin is None:
        raise HostError(
            "pip, which installs a study's packages, is not installed",
            hint=f"{sys.executable} -m ensurepip, or: {install_command('python3-pip')}",
        )
    argv = [*toolset.on_host(f"python{PYTHON_VERSION}"), "-s", "-B", str(Path(spec.origin).parent)]
    argv += ["install", "--no-input", "--disable-pip-version-check", "--quiet", "--no-compile"]
    argv += ["--require-hashes", "--only-binary=:all:", "--no-warn-script-location"]
    argv += ["--target", str(target), "-r", str(lock)]
    # The index is determined by the user's environment and pip's configuration.
    environment = {**os.environ, "TMPDIR": str(scratch), "PIP_ROOT_USER_ACTION": "ignore"}
    environment.pop("PYTHONPATH", None)
    try:
        done = subprocess.run(
            argv,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            check=False,
            env=environment,
            cwd=scratch,
            stdin=subprocess.DEVNULL,
            timeout=_MAX_INSTALL_S,
        )
    except subprocess.TimeoutExpired:
        raise HostError(f"pip did not install the packages within {_MAX_INSTALL_S:.0f} s") from None
    return done


def _failure(
    output: str, packages: Sequence[PinnedPackage], *, about: Sequence[str], places: Sequence[Place]
) -> InputError | HostError:
    """Return the error that corresponds to pip's messages, at the package that it is about."""

    def at(text: str) -> Place | None:
        name = re.sub("[-_.]+", "-", re.split(r"[=<>~!;\[ ]", text, maxsplit=1)[0]).lower()
        found = [index for index, one in enumerate(packages) if one.name == name]
        index = found[0] if found else 0
        return places[index] if index < len(places) else None

    system = f"{about[0]} {about[1]} on Linux {about[3]}"
    if "THESE PACKAGES DO NOT MATCH THE HASHES" in output:
        found = re.search(r"^ {4}(\S+==\S+)", output, re.MULTILINE)
        what = found[1] if found else "a package"
        return InputError(
            f"{what}: the file for {system} has none of the specified hashes: either the "
            "lock file lacks those of this system, or the file was changed",
            place=at(what),
        )
    if "must have their versions pinned" in output and (found := _MISSING.search(output)):
        needs, by = found[1], found[2]
        return InputError(
            f"{by} needs {needs}, which is not among the packages: add it with its version and "
            "hashes (pip-compile --generate-hashes writes all that are needed)",
            place=at(by),
        )
    if _NETWORK.search(output):
        return HostError(
            "Python packages cannot be downloaded: the index does not answer",
            hint="the network is needed once, until they are in the cache; pip config list shows "
            "the configured index",
        )
    if found := _NO_WHEEL.search(output):
        return InputError(
            f"{found[1]}: the index has no wheel of it for {system}; source distributions "
            "are not installed",
            place=at(found[1]),
        )
    words = _ERROR.sub("", output.strip()).splitlines()
    return InputError(
        f"pip cannot install the packages: {words[-1][:300] if words else 'it printed nothing'}",
        place=at(""),
    )


def _tidy(target: Path) -> None:
    """Remove what contains the host's name, or is not needed to import."""
    shutil.rmtree(target / "bin", ignore_errors=True)
    for name in ("RECORD", "REQUESTED", "INSTALLER", "direct_url.json"):
        for path in target.glob(f"*.dist-info/{name}"):
            path.unlink()


def _compile(target: Path, toolset: Toolset) -> None:
    """Compile all modules, with the paths that tracebacks in a machine show."""
    # A package may contain templates that are not Python: its exit status reports those.
    toolset.run_python(
        *("-m", "compileall", "-q", "--invalidation-mode", "unchecked-hash"),
        *("-s", str(target), "-p", PACKAGES_PLACE, str(target)),
    )
