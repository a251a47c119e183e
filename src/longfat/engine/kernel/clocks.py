"""Whether a kernel can give hosts clocks that are wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longfat.engine.kernel.cache import manifest_of
from longfat.errors import InputError
from longfat.model.network.clock import CLOCK_PATCH, CLOCK_VERSION

if TYPE_CHECKING:
    from collections.abc import Collection

    from longfat.engine.kernel.manifest import Kernel


def check_clocks(hosts: Collection[str], kernel: Kernel) -> None:
    """Check that a kernel can give these hosts clocks of their own.

    Args:
        hosts: the names of hosts with wrong clocks.
        kernel: the kernel of their machine.

    Raises:
        InputError: it cannot.
        HostError: the kernel has been removed meanwhile.
    """
    if not hosts:
        return
    # A variant of somebody's own may have the patch as well, with a digest behind its name.
    patches = {name.partition(" ")[0] for name in manifest_of(kernel).patches}
    if CLOCK_PATCH not in patches:
        raise InputError(
            f"the clock of {', '.join(sorted(hosts))} is to be wrong, and in kernel "
            f"{kernel.release} all hosts have one clock: write `kernel: {CLOCK_VERSION}`, which "
            f"`longfat kernel build {CLOCK_VERSION}` builds"
        )
