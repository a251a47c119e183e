"""What to run in a fresh machine, and which of the host's files it can access."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from longfat.engine.kernel.version import NEWEST
from longfat.engine.machine.watchdog import STALL_CPU_S
from longfat.live.session import LIVE_ENVIRONMENT
from longfat.model.case import DEFAULT_MEMORY_BYTES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from longfat.live.folders import SharedFolder


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """A command that is to be run in a fresh machine.

    Attributes:
        argv: the program and its arguments.
        kernel: the kernel's version.
        seed: determines all random numbers in the machine, 0 to 2**63 - 1.
        memory_bytes: the machine's memory.
        folder: the working directory, as the command sees it.
        folders: folders of the host that it sees in addition to the default ones.
        environment: additional environment variables.
        is_typed: type the lines of our input at its prompts.
        open_vswitch: start Open vSwitch before it.
        separate_kernels: a packet's charge to its socket ends where it leaves its namespace, as
            between separate computers. Not by default: namespaces are to behave as on any Linux.
        factor: virtual seconds in a second of wall time; as fast as the machine can, if None.
        timeout_s: its time limit, in seconds of virtual time.
        stall_cpu_s: CPU seconds without a tick of virtual time that count as a stall.
    """

    argv: tuple[str, ...]
    kernel: str = NEWEST
    seed: int = 1
    memory_bytes: int = DEFAULT_MEMORY_BYTES
    folder: str = "/"
    folders: tuple[SharedFolder, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    is_typed: bool = False
    open_vswitch: bool = False
    separate_kernels: bool = False
    factor: float | None = None
    timeout_s: float | None = None
    stall_cpu_s: float = STALL_CPU_S

    def whole_environment(self, *, term: str | None = None) -> dict[str, str]:
        """Return the command's environment.

        Args:
            term: the kind of its terminal, if it has one.
        """
        # A user may type non-ASCII characters.
        own = {} if term is None else {"TERM": term, "LC_ALL": "C.UTF-8"}
        return {**LIVE_ENVIRONMENT, **own, **self.environment}
