from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from longfat.common.resources import folder
from longfat.engine.kernel import patch
from longfat.errors import HostError

_CLOCK = """\
What it is for.

--- a/arch/um/kernel/time.c
+++ b/arch/um/kernel/time.c
@@ -1,2 +1,2 @@
 int first;
-int second;
+int third;
"""


def test_a_patch_is_applied(tmp_path: Path) -> None:
    clock = tmp_path / "arch/um/kernel/time.c"
    clock.parent.mkdir(parents=True)
    clock.write_text("int first;\nint second;\n")
    file = tmp_path / "10-clock.patch"
    file.write_text(_CLOCK)
    patch.check([file])
    subprocess.run(patch.patch_command(file), cwd=tmp_path, check=True)
    assert clock.read_text() == "int first;\nint third;\n"


@pytest.mark.parametrize(
    "name", ["net/ipv4/tcp.c", "arch/um/../../net/core/dev.c", "arch/x86/um/a.c"]
)
def test_a_patch_beyond_arch_um_is_refused(tmp_path: Path, name: str) -> None:
    file = tmp_path / "bad.patch"
    file.write_text(_CLOCK.replace("arch/um/kernel/time.c", name))
    with pytest.raises(HostError, match="arch/um only"):
        patch.check([file])


def test_a_new_file_may_be_added_under_arch_um(tmp_path: Path) -> None:
    file = tmp_path / "new.patch"
    file.write_text("--- /dev/null\n+++ b/arch/um/kernel/new.c\n@@ -0,0 +1 @@\n+int new;\n")
    patch.check([file])


def test_our_own_patches_stay_in_arch_um() -> None:
    patch.check(folder("kernel").glob("patches/*/*.patch"))
