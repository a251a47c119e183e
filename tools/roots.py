"""Roots of a release of Debian or Ubuntu, in which commands run as on a fresh machine.

The base of a release is made once by debootstrap, and is only read after that. Each
`Root` is an overlay over it that goes when it is left. A command runs in mount and PID
namespaces of its own: when it ends, or when we are killed in whatever way, the kernel
ends all that it started and takes off all that was mounted. Folders that a kill left
are removed by whoever makes the next root of that release.

Proxies and certificates are the host's: apt says which they are.
"""

from __future__ import annotations

import codecs
import fcntl
import os
import re
import resource
import selectors
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from tools.releases import RELEASES, HostError, host_sources, output_of, sources_of

ORDINARY = "tester"
"""The account in each root that is not root."""

_ENTER = Path(__file__).with_name("enter.sh")
_SCRIPTS = Path("/usr/share/debootstrap/scripts")
# What goes with apt's sources; the rest of its configuration is the fresh system's.
_APT_OPTIONS = re.compile(
    r"Acquire::(https?|ftp|Check-|Retries|ForceIPv|AllowWeak|AllowInsecure)", re.I
)
_PASSED_ON = re.compile(
    r"(https?|ftp|all|no)_proxy|(PIP|NPM_CONFIG)_.+|SSL_CERT_(FILE|DIR)|NODE_EXTRA_CA_CERTS"
    r"|GIT_SSL_CAINFO|CURL_CA_BUNDLE|REQUESTS_CA_BUNDLE",
    re.I,
)
_COPIED = (
    *("resolv.conf", "hosts", "pip.conf", "npmrc"),
    *("apt/auth.conf", "apt/auth.conf.d", "ssl/certs/ca-certificates.crt"),
)
_COPIED_FROM_HOME = (".npmrc", ".config/pip/pip.conf", ".pip/pip.conf")
_MAX_LINE_LENGTH = 10_000
_PIECE_BYTES = 65536


def passed_on(environment: Mapping[str, str]) -> dict[str, str]:
    """Return which variables of the host a root gets: proxies, certificates, pip's and npm's.

    Paths are left out that a root does not have.
    """
    return {
        name: value
        for name, value in environment.items()
        if _PASSED_ON.fullmatch(name)
        and (not value.startswith("/") or value.startswith("/etc/ssl/"))
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a command ended.

    Attributes:
        status: its exit status; None if it was killed since it took too long.
        wall_s: how long it took.
        cpu_s: how much CPU time all its processes took.
    """

    status: int | None
    wall_s: float
    cpu_s: float


Heard = Callable[[float, str], None]
"""Called with the seconds since a command began, and a line of its output."""


def _ignore(_seconds: float, _line: str) -> None:
    pass


@dataclass(frozen=True, slots=True, kw_only=True)
class Watch:
    """How a command is looked after.

    Attributes:
        most_s: after how many seconds it is killed.
        waiting: called every `every_s` seconds, with the seconds since it began.
        heard: gets each line of its output.
        every_s: see there.
    """

    most_s: float
    waiting: Callable[[float], None]
    heard: Heard = _ignore
    every_s: float = 30


def run(command: Sequence[str], *, log: Path, watch: Watch) -> Ended:
    """Run a command in mount, PID and UTS namespaces of its own, which end with us.

    Args:
        command: the command.
        log: what its output is appended to.
        watch: how long it may take, and who is informed.
    """
    inside = ["unshare", "--mount", "--pid", "--uts", "--fork", "--kill-child=KILL"]
    began = time.monotonic()
    with log.open("ab") as out:
        process = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", *inside, "--propagation", "private", *command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        assert process.stdout is not None
        try:
            in_time = _listen(process.stdout.fileno(), out, began=began, watch=watch)
        finally:
            status, used = _end(process.pid)
            process.returncode = os.waitstatus_to_exitcode(status)
            process.stdout.close()
    return Ended(
        status=process.returncode if in_time else None,
        wall_s=time.monotonic() - began,
        cpu_s=used.ru_utime + used.ru_stime,
    )


def _end(pid: int) -> tuple[int, resource.struct_rusage]:
    """Kill what unshare started, if anything still runs, and wait for it.

    Without its first process nothing of a PID namespace is left, and that process
    is waited for only when all others are gone.
    """
    while True:
        ended, status, used = os.wait4(pid, os.WNOHANG)
        if ended:
            return status, used
        for child in _children(pid):
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        time.sleep(0.02)


def _children(pid: int) -> list[int]:
    try:
        return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except FileNotFoundError:
        return []


def _listen(stream: int, log: BinaryIO, *, began: float, watch: Watch) -> bool:
    """Return whether the stream ended in time."""
    decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
    line = ""
    reported = began
    with selectors.DefaultSelector() as selector:
        selector.register(stream, selectors.EVENT_READ)
        while (now := time.monotonic()) < began + watch.most_s:
            if now >= reported + watch.every_s:
                reported = now
                watch.waiting(now - began)
            if not selector.select(min(reported + watch.every_s, began + watch.most_s) - now):
                continue
            piece = os.read(stream, _PIECE_BYTES)
            log.write(piece)
            log.flush()
            *lines, line = re.split(r"[\r\n]+", line + decoder.decode(piece, final=not piece))
            line = line[-_MAX_LINE_LENGTH:]
            for one in lines:
                watch.heard(time.monotonic() - began, one)
            if not piece:
                if line:
                    watch.heard(time.monotonic() - began, line)
                return True
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Cache:
    """The folder of what is kept between two calls: bases, packages, kernels.

    Only one process at a time works with a release's part of it.

    Attributes:
        folder: the folder.
        release: the release.
    """

    folder: Path
    release: str

    @property
    def base(self) -> Path:
        """Return the folder of the base."""
        return self.folder / "bases" / self.release

    @property
    def packages(self) -> Path:
        """Return the folder of downloaded packages."""
        return self.folder / "packages" / self.release

    @property
    def kernels(self) -> Path:
        """Return the folder of kernels that one root left for others."""
        return self.folder / "kernels" / self.release

    @property
    def scratch(self) -> Path:
        """Return the folder of the root that is in use."""
        return self.folder / "scratch" / self.release

    @contextmanager
    def reserved(self) -> Iterator[None]:
        """Keep other processes from this release, and remove what a kill left of it.

        Raises:
            HostError: another process has it.
        """
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with (self.folder / f"{self.release}.lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise HostError(f"another process uses {self.release} of {self.folder}") from error
            _remove(self.scratch, self.base.with_suffix(".part"), self.kernels.with_suffix(".part"))
            self.packages.mkdir(parents=True, exist_ok=True)
            try:
                yield
            finally:
                _remove(self.scratch)

    def make_base(self, *, log: Path, watch: Watch) -> None:
        """Make the base, if there is none: the smallest, with certificates.

        Raises:
            HostError: it cannot be made.
        """
        if self.base.exists():
            return
        if not (debootstrap := shutil.which("debootstrap", path="/usr/sbin:/usr/bin:/sbin")):
            raise HostError("debootstrap is not installed: apt-get install debootstrap")
        distribution = RELEASES[self.release]
        if not distribution.keyring.exists():
            package = distribution.keyring_package
            raise HostError(f"{package} is not installed: apt-get install {package}")
        part = self.base.with_suffix(".part")
        part.mkdir(parents=True)
        keys = f"--keyring={distribution.keyring}"
        options = ["--variant=minbase", "--include=ca-certificates", keys]
        known = (_SCRIPTS / self.release).exists()
        script = str(_SCRIPTS / (self.release if known else distribution.script))
        # An empty address is the script's own.
        site = next((source.site for source in host_sources(self.release)), "")
        command = [debootstrap, *options, self.release, str(part), site, script]
        ended = run(command, log=log, watch=watch)
        if ended.status != 0:
            _remove(part)
            raise HostError(f"debootstrap failed; see {log}")
        part.rename(self.base)

    def keep_kernels(self, folder: Path) -> None:
        """Keep a folder's kernels and their sources for other roots."""
        part = self.kernels.with_suffix(".part")
        part.mkdir(parents=True)
        for name in ("kernels", "sources"):
            if (folder / name).exists():
                _copy(folder / name, part / name)
        _remove(self.kernels)
        part.rename(self.kernels)


def _remove(*folders: Path) -> None:
    for folder in folders:
        if folder.exists():
            shutil.rmtree(folder)


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    output_of("cp", "-a", "--reflink=auto", str(source), str(target))


@dataclass(slots=True, kw_only=True)
class Root:
    """A fresh root. What is in `host` when it is prepared can be read in there as `/mnt`.

    Attributes:
        cache: where its base is.
        user: who runs commands, `root` or `ORDINARY`.
        log: the file of all that commands print.
        only_main: whether apt's list has the release's main archive and nothing else.
        shell: the users' shell.
    """

    cache: Cache
    user: str
    log: Path
    only_main: bool = False
    shell: str = "/bin/bash"
    _variables: dict[str, str] = field(default_factory=dict)

    @property
    def home(self) -> str:
        """Return the user's home folder, in the root."""
        return "/root" if self.user == "root" else f"/home/{self.user}"

    @property
    def host(self) -> Path:
        """Return the folder of the host that is `/mnt` in the root."""
        return self.cache.scratch / "host"

    def on_host(self, path: str) -> Path:
        """Return where on the host a file lies that was made in the root."""
        return self.cache.scratch / "upper" / path.lstrip("/")

    @contextmanager
    def entered(self) -> Iterator[None]:
        """Make the root's folders and what it takes over of the host, and remove them.

        Raises:
            HostError: the host's own configuration cannot be read.
        """
        scratch = self.cache.scratch
        for name in ("upper", "work", "root", "host/etc/apt/apt.conf.d", "host/home"):
            (scratch / name).mkdir(parents=True)
        scratch.chmod(0o700)
        (scratch / "upper").chmod(0o755)
        try:
            self._take_over(Path("/etc"), self.host / "etc")
            yield
        finally:
            _remove(scratch)

    def _take_over(self, etc: Path, target: Path) -> None:
        for name in _COPIED:
            if (etc / name).exists():
                _copy((etc / name).resolve(), target / name)
        own = Path("/usr/local/share/ca-certificates")
        if own.exists():
            _copy(own, self.host / "ca-certificates")
        for name in _COPIED_FROM_HOME:
            if (found := Path.home() / name).exists():
                _copy(found, self.host / "home" / name)
        with (target / "hosts").open("a") as hosts:
            hosts.write("\n127.0.0.1 localhost longfat-matrix\n")
        self._variables = passed_on(os.environ)
        self._take_over_apt(target)

    def _take_over_apt(self, target: Path) -> None:
        lines = output_of("apt-config", "dump", "--no-empty").splitlines()
        options = [line for line in lines if _APT_OPTIONS.match(line)]
        (target / "apt/apt.conf.d/99host").write_text("\n".join(options) + "\n")
        keyring = RELEASES[self.cache.release].keyring
        sources = sources_of(self.cache.release, base=self.cache.base)
        lines = [source.line(keyring) for source in sources[: 1 if self.only_main else None]]
        (target / "apt/sources.list").write_text("\n".join(lines) + "\n")

    def preparation(self, packages: Iterable[str], *, sudo: bool) -> str:
        """Return the script, for root, that installs packages and makes the user; see there."""
        return preparation(self.user, packages, sudo=sudo)

    def as_user(self, user: str) -> list[str]:
        """Return the command in front of those that a user runs."""
        return ["setpriv", f"--reuid={user}", f"--regid={user}", "--init-groups"]

    def command(self, script: str, *, user: str) -> list[str]:
        """Return the command that runs a shell's script in the root as a user."""
        home = "/root" if user == "root" else f"/home/{user}"
        sbin = "/usr/local/sbin:/usr/sbin:/sbin:" if user == "root" else ""
        variables = self._variables | {
            "HOME": home,
            "USER": user,
            "LOGNAME": user,
            "SHELL": self.shell,
            "LANG": "C.UTF-8",
            "PATH": f"{sbin}/usr/local/bin:/usr/bin:/bin",
        }
        folders = (self.cache.base, self.cache.scratch, self.cache.packages)
        return [
            *(str(_ENTER), str(self.cache.folder)),
            *(str(folder.relative_to(self.cache.folder)) for folder in folders),
            *(() if user == "root" else self.as_user(user)),
            *("env", "-i", *(f"{name}={value}" for name, value in variables.items())),
            *("sh", "-euc", f'cd "$HOME"\n{script}'),
        ]


def preparation(user: str, packages: Iterable[str], *, sudo: bool) -> str:
    """Return the script, for root, that makes of a base a machine with a user.

    Args:
        user: whose home folder gets what is in `/mnt/home`.
        packages: what is installed.
        sudo: whether the ordinary user may do all by sudo, without a password.
    """
    account = f"/etc/sudoers.d/{ORDINARY}"
    sudoers = (
        f"{ORDINARY} ALL=(ALL) NOPASSWD: ALL\n"
        'Defaults env_keep += "http_proxy https_proxy ftp_proxy all_proxy no_proxy"'
    )
    return f"""\
cp -a /mnt/etc/. /etc/
if [ -d /mnt/ca-certificates ]; then
    cp -a /mnt/ca-certificates/. /usr/local/share/ca-certificates/
fi
useradd --create-home --shell /bin/bash {ORDINARY}
apt-get update -q
export DEBIAN_FRONTEND=noninteractive
apt-get install -y -q --no-install-recommends {" ".join(packages)}
{f"echo '{sudoers}' >{account}" if sudo else ""}
home=$(getent passwd {user} | cut -d: -f6)
cp -a /mnt/home/. "$home/"
chown -R {user}: "$home"
"""
