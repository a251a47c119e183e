from __future__ import annotations

import subprocess
import tarfile
from pathlib import Path

import pytest

from longfat.common.resources import folder
from longfat.engine.kernel import recipe, steps
from longfat.engine.kernel.steps import compare, questions, rejected_answers
from longfat.engine.kernel.version import series
from longfat.errors import HostError
from tests.kernels import KERNELS
from tests.paths import TESTS

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
    steps.check_patches([file])
    subprocess.run(steps.patch_command(file), cwd=tmp_path, check=True)
    assert clock.read_text() == "int first;\nint third;\n"


@pytest.mark.parametrize(
    "name", ["net/ipv4/tcp.c", "arch/um/../../net/core/dev.c", "arch/x86/um/a.c"]
)
def test_a_patch_beyond_arch_um_is_refused(tmp_path: Path, name: str) -> None:
    file = tmp_path / "bad.patch"
    file.write_text(_CLOCK.replace("arch/um/kernel/time.c", name))
    with pytest.raises(HostError, match="arch/um only"):
        steps.check_patches([file])


def test_a_new_file_may_be_added_under_arch_um(tmp_path: Path) -> None:
    file = tmp_path / "new.patch"
    file.write_text("--- /dev/null\n+++ b/arch/um/kernel/new.c\n@@ -0,0 +1 @@\n+int new;\n")
    steps.check_patches([file])


def test_our_own_patches_stay_in_arch_um() -> None:
    steps.check_patches(folder("kernel").glob("patches/*/*.patch"))


_ARCH_UM = TESTS / "data/um/arch-um.tar.xz"
with tarfile.open(_ARCH_UM) as _tar:
    _RELEASES = sorted({name.split("/")[1] for name in _tar.getnames() if "/" in name})


def _apply_all(variant: str, release: str, tree: Path) -> None:
    """Apply the patches of a recipe as a build does, to files of a release."""
    subprocess.run(
        ["tar", "-xf", _ARCH_UM, "-C", tree, "--wildcards", f"./{release}/*"], check=True
    )
    top = tree / release
    patches = recipe.load(series(release), variant=variant).patches
    assert patches
    for path in patches:
        done = subprocess.run(
            steps.patch_command(path), cwd=top, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{path.name} on {release}:\n{done.stdout}"


@pytest.mark.parametrize("variant", ["", "clock"])
@pytest.mark.parametrize("release", _RELEASES)
def test_our_own_patches_apply_to_releases(release: str, variant: str, tmp_path: Path) -> None:
    _apply_all(variant, release, tmp_path)


def test_there_are_two_releases_of_each_series_to_apply_them_to() -> None:
    counts = {one: sum(series(release) == one for release in _RELEASES) for one in KERNELS}
    assert all(count >= 2 for count in counts.values()), counts


def test_system_calls_are_served_alike_in_all_releases(tmp_path: Path) -> None:
    """Of 6.1.170 and 6.1.192, the kernel's own file differs: it is not compiled."""
    texts = []
    for release in ("6.1.170", "6.1.192"):
        _apply_all("", release, tmp_path)
        skas = tmp_path / release / "arch/um/kernel/skas"
        assert "obj-y := $(obj-y:syscall.o=system_call.o)" in (skas / "Makefile").read_text()
        texts.append([(skas / name).read_text() for name in ("syscall.c", "system_call.c")])
    (own, ours), (own_later, ours_later) = texts
    assert own != own_later
    assert ours == ours_later


def test_answers_that_were_accepted_are_not_mentioned() -> None:
    found = compare({"CONFIG_NET": "y"}, {"CONFIG_NET": "y"}, {"CONFIG_NET"})
    assert (found.unknown, found.refused) == ((), ())


def test_a_no_is_accepted_by_being_absent() -> None:
    found = compare({"CONFIG_SWAP": "n"}, {}, {"CONFIG_SWAP"})
    assert (found.unknown, found.refused) == ((), ())


def test_an_answer_without_a_question_is_unknown() -> None:
    found = compare({"CONFIG_DUALPI2": "y"}, {}, {"CONFIG_NET"})
    assert (found.unknown, found.refused) == (("CONFIG_DUALPI2=y",), ())


def test_an_answer_that_did_not_hold_is_refused() -> None:
    config = {"CONFIG_SWAP": "y", "CONFIG_HZ": "100"}
    wanted = {"CONFIG_NET": "y", "CONFIG_SWAP": "n", "CONFIG_HZ": "250"}
    found = compare(wanted, config, set(wanted))
    assert found.refused == ("CONFIG_NET=y", "CONFIG_SWAP=n", "CONFIG_HZ=250")
    assert found.unknown == ()


def test_questions_of_other_processors_are_not_asked(tmp_path: Path) -> None:
    files = {
        "Kconfig": 'source "arch/$(SRCARCH)/Kconfig"\n',
        "arch/Kconfig": "config JUMP_LABEL\n",
        "arch/um/Kconfig": "config UML_TIME_TRAVEL_SUPPORT\n",
        "arch/x86/Kconfig": "config SMP\n",
        "arch/x86/um/Kconfig": "config 64BIT\n",
        "net/Kconfig": "menuconfig NET\n\tbool\nconfig  INET\n",
        "lib/Kconfig.debug": "\tconfig DEBUG_INFO\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert questions(tmp_path) == {
        "CONFIG_JUMP_LABEL",
        "CONFIG_UML_TIME_TRAVEL_SUPPORT",
        "CONFIG_64BIT",
        "CONFIG_NET",
        "CONFIG_INET",
        "CONFIG_DEBUG_INFO",
    }


def test_a_tree_is_judged_by_its_config(tmp_path: Path) -> None:
    (tmp_path / "Kconfig").write_text("config NET\nconfig SWAP\n")
    (tmp_path / ".config").write_text("# CONFIG_NET is not set\n")
    answers = tmp_path / "answers"
    answers.write_text("# why\nCONFIG_NET=y\nCONFIG_SWAP=n\nCONFIG_OLD=y\n")
    found = rejected_answers(tmp_path, answers=answers)
    assert found.refused == ("CONFIG_NET=y",)
    assert found.unknown == ("CONFIG_OLD=y",)
