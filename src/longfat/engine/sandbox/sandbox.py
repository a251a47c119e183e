"""The sandbox: what a machine's kernel process may do on the host, whoever controls it.

A guest's root can break into its kernel, which is an ordinary process of the
host. So the boundary stands around that process, in layers; each holds where
another fails (docs/security.md):

* Namespaces, with a minimal view of the host's files: `longfat.engine.sandbox.namespaces`.
* Landlock allows reading that view and writing the run's folder, and no TCP,
  abstract sockets or signals beyond it.
* A system call filter allows what the kernel needs: `longfat.engine.sandbox.syscalls`.
* Resource limits bound what each process may take, and a watch over the machine
  what all of them may: `longfat.engine.sandbox.quota`.

Where the host allows no namespaces the other layers stand alone:
`longfat.engine.sandbox.landlock`. Where it has no Landlock either, there is no machine.
"""

from __future__ import annotations

import functools
import os
from typing import TYPE_CHECKING, Protocol

from longfat.engine.sandbox.landlock import Landlocked
from longfat.engine.sandbox.namespaces import Namespaces
from longfat.errors import HostError, InputError

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from longfat.engine.sandbox.confinement import Contents, Sandboxed

VARIABLE = "LONGFAT_SANDBOX"
"""The environment variable that names the sandbox to use; the best that there is, without it."""

HOST_ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C"}
"""The environment of what starts a sandbox: nothing of ours can be read there."""


class Sandbox(Protocol):
    """A way to keep a kernel's process apart from the host.

    Attributes:
        name: what manifests and `LONGFAT_SANDBOX` call it.
        words: what it gives, for people.
    """

    name: str
    words: str

    def check(self) -> None:
        """Try it on this host.

        Raises:
            HostError: it cannot be had; with a hint.
        """

    def around(self, contents: Contents) -> AbstractContextManager[Sandboxed]:
        """Make one; what it needs on the host goes at the end of the context.

        Raises:
            HostError: the host lacks what it needs.
        """


SANDBOXES: tuple[Sandbox, ...] = (Namespaces(), Landlocked())
"""The best first."""


def current_sandbox() -> Sandbox:
    """Return the sandbox that our environment names, or the best that this host allows.

    Raises:
        InputError: our environment names none of them.
        HostError: this host allows none.
    """
    return _sandbox(os.environ.get(VARIABLE, ""))


@functools.cache
def _sandbox(name: str) -> Sandbox:
    wanted = [one for one in SANDBOXES if name in ("", one.name)]
    if not wanted:
        names = ", ".join(one.name for one in SANDBOXES)
        raise InputError(f"{VARIABLE}: there is no sandbox {name!r}; there are {names}")
    errors: list[HostError] = []
    for one in wanted:
        try:
            one.check()
        except HostError as error:
            errors.append(error)
        else:
            return one
    raise HostError(
        "no sandbox can be made here, and without one no machine runs: "
        + "; ".join(error.message for error in errors),
        hint=errors[0].hint,
    )
