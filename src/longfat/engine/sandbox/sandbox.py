"""The sandbox: what a machine's kernel process may do on the host, whoever controls it.

A guest's root can break into its kernel, which is an ordinary process of the
host. So the boundary is around that process, in layers; each protects if
another fails (docs/security.md):

* Namespaces, with a minimal view of the host's files: `longfat.engine.sandbox.namespaces`.
* Landlock allows reading that view, and no TCP,
  abstract sockets or signals beyond it.
* A system call filter allows what the kernel needs: `longfat.engine.sandbox.syscalls`.
* Resource limits bound each process, and a watch over the machine
  the total: `longfat.engine.sandbox.quota`.

Where the host allows no namespaces the other layers are used alone:
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
"""The environment variable with the name of the sandbox; by default the best available one."""

HOST_ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C"}
"""The environment of a sandbox's launcher: it contains nothing of ours."""


class Sandbox(Protocol):
    """A mechanism that isolates a kernel's process from the host.

    Attributes:
        name: its name in manifests and `LONGFAT_SANDBOX`.
        words: its description.
    """

    name: str
    words: str

    def check(self) -> None:
        """Try it on this host.

        Raises:
            HostError: it is not available; with a hint.
        """

    def around(self, contents: Contents) -> AbstractContextManager[Sandboxed]:
        """Create one; its resources on the host are released at the end of the context.

        Raises:
            HostError: the host lacks what it needs.
        """


SANDBOXES: tuple[Sandbox, ...] = (Namespaces(), Landlocked())
"""The best first."""


def current_sandbox() -> Sandbox:
    """Return the sandbox that our environment specifies, or the best that this host allows.

    Raises:
        InputError: our environment specifies an unknown one.
        HostError: this host allows none.
    """
    return _sandbox(os.environ.get(VARIABLE, ""))


@functools.cache
def _sandbox(name: str) -> Sandbox:
    wanted = [one for one in SANDBOXES if name in ("", one.name)]
    if not wanted:
        names = ", ".join(one.name for one in SANDBOXES)
        raise InputError(f"{VARIABLE}: there is no sandbox {name!r}; available: {names}")
    errors: list[HostError] = []
    for one in wanted:
        try:
            one.check()
        except HostError as error:
            errors.append(error)
        else:
            return one
    raise HostError(
        "no sandbox is available here, and without one no machine runs: "
        + "; ".join(error.message for error in errors),
        hint=errors[0].hint,
    )
