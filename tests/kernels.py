"""The kernels that the tests run on: `tools/setup.sh test` builds them."""

from __future__ import annotations

from tests.paths import REPOSITORY

RELEASES = (REPOSITORY / "kernel" / "tested").read_text().split()
"""The releases that are built, where they can be had."""

KERNELS = [release.rpartition(".")[0] for release in RELEASES]
"""Their series, from old to new."""

MAIN_KERNEL = KERNELS[0]
"""The labs' kernel. The quick tests need no other."""

OTHER_KERNELS = frozenset(KERNELS[1:])

(CLOCK_KERNEL,) = (REPOSITORY / "kernel/variants/tested").read_text().split()
"""The kernel whose hosts have clocks of their own."""
