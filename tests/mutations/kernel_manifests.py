"""The manifests of built kernels."""

from __future__ import annotations

import os
import tempfile
from functools import cache
from pathlib import Path

from longfat.common.checksum import write_sums
from longfat.engine.kernel import manifest as kernel_manifest
from longfat.errors import MachineError
from tests.mutations.kind import write


@cache
def kernel() -> dict[str, bytes]:
    """The files of a kernel that was never built."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(folder, "linux", os.urandom(5000))
        write(folder, "config", b"CONFIG_A=y\n" * 100)
        about = kernel_manifest.Manifest(
            digest="ab",
            release="6.1.9",
            series="6.1",
            binary_sha256="ab",
            binary_key="ab",
            recipe_digest="ab",
            source_name="linux",
            source_digest="ab",
            tools=("gcc", "ld"),
            patches=("a.patch",),
            shims=(),
            unknown_answers=(),
            refused_answers=("CONFIG_A",),
            lines=3,
        )
        kernel_manifest.write(about, folder)
        write_sums(folder)
        return {path.name: path.read_bytes() for path in folder.iterdir()}


def check_kernel_manifest(folder: Path, content: bytes) -> None:
    write(folder, kernel_manifest.FILE, content)
    if kernel_manifest.read(folder) is None:
        raise MachineError("refused")
