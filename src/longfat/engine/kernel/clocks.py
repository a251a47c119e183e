"""Whether a kernel supports clocks with an error."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longfat.engine.kernel.cache import manifest_of
from longfat.errors import InputError
from longfat.model.network.clock import CLOCK_PATCH, CLOCK_VERSION

if TYPE_CHECKING:
    from collections.abc import Collection

    from longfat.engine.kernel.manifest import Kernel


def check_clocks(hosts: Collection[str], kernel: Kernel) -> None:
    """Check that a kernel supports separate clocks for these hosts.

    Args:
        hosts: the names of hosts with clock errors.
        kernel: the kernel of their machine.

    Raises:
        InputError: it does not.
        HostError: the kernel has been removed meanwhile.
    """
    if not hosts:
        return
    # A user's own variant may have the patch as well, with a digest in its name.
    patches = {name.partition(" ")[0] for name in manifest_of(kernel).patches}
    if CLOCK_PATCH not in patches:
        raise InputError(
            f"the clock of {', '.join(sorted(hosts))} has an error, but in kernel "
            f"{kernel.release} all hosts have one clock: write `kernel: {CLOCK_VERSION}`, which "
            f"`longfat kernel build {CLOCK_VERSION}` builds"
        )
