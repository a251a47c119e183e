"""The kernels that the tests run on: `tools/setup.sh test` builds them."""

from __future__ import annotations

from pathlib import Path

KERNELS = (Path(__file__).parents[1] / "kernel" / "tested").read_text().split()
"""Their series, from old to new."""
