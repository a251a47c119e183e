"""The compiler of a toolset reads no library of the host."""

from __future__ import annotations

from longfat.engine.toolset import Toolset
from longfat.engine.toolset.compiling import _with_needed


def test_libraries_that_a_library_needs_are_given_to_the_compiler(toolset: Toolset) -> None:
    folder = toolset.folder / "lib"
    libraries = {f"lib/{path.name}": path.read_bytes() for path in folder.glob("*.so*")}
    taken = _with_needed(["lib/libiperf.so.0"], libraries)
    assert {"lib/libiperf.so.0", "lib/libsctp.so.1", "lib/libcrypto.so.3"} <= set(taken)
