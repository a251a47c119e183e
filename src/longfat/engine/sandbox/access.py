"""Whether a sandbox can access a folder: with the user's rights, and without root's privileges.

In a sandbox root has no capabilities (capabilities(7)), CAP_DAC_OVERRIDE among them: it has
no access to other users' private files either. Debian gives homes the mode 0700, so
`sudo longfat run` in one meets that.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from pathlib import Path

from longfat.errors import HostError


def check_access(paths: Iterable[Path], *, writable: bool = False) -> None:
    """Check that a sandbox can access files or folders.

    Args:
        paths: the files or folders.
        writable: it has to write into them, too.

    Raises:
        HostError: it cannot access one; the message names its owner.
    """
    for path in paths:
        whole = path.resolve()
        for part in (*reversed(whole.parents), whole):
            # Parents only need search permission; a file's mode is not checked for its use.
            wanted = os.X_OK if part != whole else os.R_OK | (os.W_OK if writable else 0)
            try:
                found = part.stat()
            except OSError as error:
                raise HostError(f"{part}: {error.strerror}") from None
            if not _allows(part, found, wanted):
                raise HostError(
                    f"{path}: a machine of user {os.geteuid()} has no access to it, since"
                    f" {part} belongs to user {found.st_uid}"
                    f" and has mode {stat.S_IMODE(found.st_mode):04o}",
                    hint="a machine has no more rights than an ordinary user, even if root starts"
                    f" it: run longfat as user {found.st_uid}, or in another folder",
                )


def _allows(path: Path, found: os.stat_result, wanted: int) -> bool:
    user = os.geteuid()
    if user != 0:
        return os.access(path, wanted)
    # The rule of path_resolution(7) for a process without capabilities.
    if found.st_uid == user:
        shift = 6
    elif found.st_gid in {os.getegid(), *os.getgroups()}:
        shift = 3
    else:
        shift = 0
    return (found.st_mode >> shift) & wanted == wanted
