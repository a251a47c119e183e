"""A root that is of no distribution: Python, the libraries that it needs, and busybox as its shell.

Its files are Debian's, laid out as in no release of Debian: all programs are in `/usr/bin` and all
libraries in `/usr/lib`, as in Arch Linux. There are no package manager, no `/etc/os-release`, no
list of libraries, no bash and none of the programs of coreutils, iproute2 or procps.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tools.releases import HostError
from tools.roots import ORDINARY, Cache, Root, Watch, run

BARE = "bare"
"""The name of this root among the releases."""

_DONOR = "trixie"
_PACKAGES = ("python3", "python3-venv", "busybox-static")
_FILES = Path(__file__).with_name("bare_files.py")
# busybox's setpriv(1) changes no user.
_AS_USER = """\
import os, pwd, sys
user = pwd.getpwnam(sys.argv[1])
os.setgroups([])
os.setgid(user.pw_gid)
os.setuid(user.pw_uid)
os.execvp(sys.argv[2], sys.argv[2:])
"""


def make_bare(cache: Cache, *, log: Path, watch: Watch) -> None:
    """Make the base of such a root, if there is none, from a release of Debian.

    Raises:
        HostError: it cannot be made.
    """
    if cache.base.exists():
        return
    donor = Cache(folder=cache.folder, release=_DONOR)
    with donor.reserved():
        donor.make_base(log=log, watch=watch)
        root = Root(cache=donor, user="root", log=log)
        with root.entered():
            shutil.copy(_FILES, root.host)
            script = root.preparation(_PACKAGES, sudo=False)
            script += f"python3 /mnt/{_FILES.name} /bare {ORDINARY}\n"
            ended = run(root.command(script, user="root"), log=log, watch=watch)
            if ended.status != 0:
                raise HostError(f"the bare root cannot be made; see {log}")
            cache.base.parent.mkdir(parents=True, exist_ok=True)
            shutil.move(root.on_host("/bare"), cache.base)


@dataclass(slots=True, kw_only=True)
class BareRoot(Root):
    """A fresh root of that base. Nothing can be installed in it but by pip."""

    shell: str = "/bin/sh"

    def _take_over_apt(self, target: Path) -> None:
        shutil.rmtree(target / "apt")

    def preparation(self, packages: Iterable[str], *, sudo: bool) -> str:
        """See `Root`."""
        del packages, sudo
        return f"""\
cp -a /mnt/etc/. /etc/
cp -a /mnt/home/. "{self.home}/"
chown -R {self.user}: "{self.home}"
"""

    def as_user(self, user: str) -> list[str]:
        """See `Root`."""
        return ["python3", "-c", _AS_USER, user]
