"""The host's files that a machine sees: programs and their data, and no personal files.

A machine's guest, and an attacker who takes over its kernel process, sees the host's
`/usr` (with `/bin`, `/sbin` and `/lib*`), what the Python interpreter that runs
longfat needs, and the files of `/etc` that do not depend on this host or its
users. `/home`, `/root`, `/run`, `/var`, `/proc` and the like are empty
folders. Accounts, host names, name services and processor features are the
same on every host: ours, in the folder `root` beside this module. Further files
are specified by the user.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from longfat.common.guard import scratch_folder

_OURS = Path(__file__).resolve().parent / "root"

# Folders of programs at the root: links to those in /usr on most distributions.
_PROGRAMS = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")

# Of the host's own: what programs look up and does not differ between two
# installations of a distribution. Not: time zone, resolvers, sysctl settings,
# accounts, keys, services. Patterns of glob.
_SHOWN_OF_ETC = (
    "ImageMagick-*",
    "X11",
    "alternatives",
    "bash.bashrc",
    "bash_completion.d",
    "bindresvport.blacklist",
    "ca-certificates",
    "crypto-policies",
    "debian_version",
    "ethertypes",
    "fonts",
    "gai.conf",
    "groff",
    "host.conf",
    "inputrc",
    "iproute2",
    "java-*",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "libnl-3",
    "locale.alias",
    "login.defs",
    "magic",
    "magic.mime",
    "manpath.config",
    "matplotlibrc",
    "mime.types",
    "networks",
    "os-release",
    "perl",
    "pki/tls/certs",
    "profile",
    "protocols",
    "python3",
    "python3.*",
    "rpc",
    "services",
    "shells",
    "skel",
    "ssl/certs",
    "ssl/openssl.cnf",
    "terminfo",
    "vim",
    "wireshark",
    "xattr.conf",
)

# The guest mounts something over some of them, or writes into a layer above them.
_EMPTY = (
    *("boot", "dev", "home", "media", "mnt", "opt", "proc", "root", "run", "srv", "sys", "tmp"),
    *("var", "var/cache", "var/lib", "var/log", "var/spool", "var/tmp"),
)

INTERPRETER = Path(sys._base_executable).resolve()  # type: ignore[attr-defined]
"""The Python that runs this process, not a virtual environment's link to it."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A file, folder or link that a machine sees.

    Attributes:
        place: its path in the machine.
    """

    place: str

    @property
    def path(self) -> Path | None:
        """The file or folder of the host behind it, if any."""
        return None

    def bwrap_options(self) -> list[str]:
        """Return the options of bwrap(1) that create it."""
        raise NotImplementedError

    def put_into(self, root: Path) -> None:
        """Put it, or an empty placeholder, into a folder that represents the root."""
        raise NotImplementedError

    def _below(self, root: Path) -> Path:
        path = root / self.place[1:]
        path.parent.mkdir(parents=True, exist_ok=True)
        return path


@dataclass(frozen=True, slots=True)
class Shown(Entry):
    """A read-only file or folder of the host."""

    source: Path

    @property
    def path(self) -> Path:
        """See `Entry`."""
        return self.source

    def bwrap_options(self) -> list[str]:
        """See `Entry`."""
        return ["--ro-bind", str(self.source), self.place]

    def put_into(self, root: Path) -> None:
        """See `Entry`."""
        if self.source.is_dir():
            self._below(root).mkdir(exist_ok=True)
        else:
            self._below(root).touch()


@dataclass(frozen=True, slots=True)
class Linked(Entry):
    """A symbolic link, with its target."""

    target: str

    def bwrap_options(self) -> list[str]:
        """See `Entry`."""
        return ["--symlink", self.target, self.place]

    def put_into(self, root: Path) -> None:
        """See `Entry`."""
        self._below(root).symlink_to(self.target)


@dataclass(frozen=True, slots=True)
class Empty(Entry):
    """An empty folder."""

    def bwrap_options(self) -> list[str]:
        """See `Entry`."""
        return ["--dir", self.place]

    def put_into(self, root: Path) -> None:
        """See `Entry`."""
        self._below(root).mkdir(exist_ok=True)


@contextmanager
def own_files() -> Iterator[Path]:
    """Yield a folder with the files that are the same on every host, readable by all.

    It is the package's, or a copy of it: files are installed with the modes that the umask
    allows, and a guest's users are not all root.

    Raises:
        OSError: the copy cannot be created.
    """
    names = _own_names()
    if all((_OURS / name).stat().st_mode & 0o044 == 0o044 for name in names):
        yield _OURS
        return
    with scratch_folder() as folder:
        for name in names:
            copy = folder / name
            copy.parent.mkdir(exist_ok=True)
            shutil.copyfile(_OURS / name, copy)
            copy.chmod(0o644)
        yield folder


def _own_names() -> list[Path]:
    files = (path for path in _OURS.rglob("*") if path.is_file())
    return sorted(path.relative_to(_OURS) for path in files)


def view(
    own: Path, *, places: Sequence[str] = (), tools: Mapping[str, Path] = MappingProxyType({})
) -> list[Entry]:
    """Return the files of the host that a machine sees, folders before their contents.

    Args:
        own: the folder that `own_files` gives.
        places: additional empty folders, where no file of the host's is visible.
        tools: the folders of a toolset, by their paths in the machine, in place of the host's.
    """
    found: list[Entry] = [Shown("/usr", Path("/usr"))]
    for name in _PROGRAMS:
        path = Path("/", name)
        if path.is_symlink():
            found.append(Linked(str(path), str(path.readlink())))
        elif path.is_dir():
            found.append(Shown(str(path), path))
    found += [Empty(f"/{name}") for name in _EMPTY]
    found += [Linked("/var/run", "/run"), Linked("/etc/mtab", "/proc/self/mounts")]
    found.append(Linked("/etc/localtime", "/usr/share/zoneinfo/Etc/UTC"))
    found += [Shown(str(path), path) for path in _shown_of_etc() if str(path) not in tools]
    found += [Shown(place, path) for place, path in tools.items()]
    found += [Shown(f"/{name}", own / name) for name in _own_names()]
    found += [Shown(str(path), path) for path in _of_the_interpreter()]
    found += [Empty(place) for place in places if not is_visible(Path(place))]
    return list(_with_folders(found))


def _with_folders(entries: list[Entry]) -> Iterator[Entry]:
    """Yield entries after their parent folders, which bubblewrap would create as 0700."""
    there = {"/"}
    for entry in entries:
        if entry.place not in there:
            for parent in [str(one) for one in reversed(Path(entry.place).parents)]:
                if parent not in there:
                    yield Empty(parent)
                    there.add(parent)
            yield entry
            there.add(entry.place)


def _shown_of_etc() -> list[Path]:
    """Return the files and folders of /etc that exist and are shown."""
    paths = (path for name in _SHOWN_OF_ETC for path in sorted(Path("/etc").glob(name)))
    return [path for path in paths if path.exists()]


def _of_the_interpreter() -> list[Path]:
    """Return what the interpreter needs besides the files in /usr."""
    prefixes = {Path(sys.base_prefix).resolve(), Path(sys.base_exec_prefix).resolve()}
    libraries = [prefix / name for prefix in prefixes for name in ("lib", "lib64")]
    wanted = [INTERPRETER, *sorted(path for path in libraries if path.is_dir())]
    return [path for path in wanted if not path.is_relative_to("/usr")]


def is_visible(path: Path) -> bool:
    """Return whether a file or folder of the host is visible to a machine by default."""
    path = path.resolve()
    tops = (Path("/usr"), *(Path("/", name) for name in _PROGRAMS), *_of_the_interpreter())
    shown = (*tops, *_shown_of_etc())
    return any(path.is_relative_to(top) for top in shown) or path == Path("/")
