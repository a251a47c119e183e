from __future__ import annotations

from pathlib import Path

import pytest

from longfat.engine.kernel import recipe, steps
from longfat.errors import HostError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "answers.config").write_text("# a comment\nCONFIG_NET=y\n")
    (tmp_path / "shims").mkdir()
    (tmp_path / "shims/entropy.c").write_text("int x;\n")
    (tmp_path / "launcher").mkdir()
    (tmp_path / "launcher/confine.c").write_text("int x;\n")
    (tmp_path / "patches/6.1").mkdir(parents=True)
    return tmp_path


def test_the_projects_own_recipe_is_whole() -> None:
    ours = recipe.load("6.1")
    answers = recipe.parse_answers(ours.answers.read_text())
    assert answers["CONFIG_UML_TIME_TRAVEL_SUPPORT"] == "y"
    assert answers["CONFIG_HW_RANDOM"] == "n"
    assert "entropy.c" in [path.name for path in ours.shims]


def test_no_question_is_answered_twice() -> None:
    lines = recipe.load("6.1").answers.read_text().splitlines()
    names = [line.partition("=")[0] for line in lines if line.startswith("CONFIG_")]
    assert len(names) == len(set(names))


def test_an_answer_changes_both_digests(folder: Path) -> None:
    before = recipe.load("6.1", folder=folder)
    (folder / "answers.config").write_text("CONFIG_NET=n\n")
    after = recipe.load("6.1", folder=folder)
    assert after.digest != before.digest
    assert after.binary_digest != before.binary_digest


@pytest.mark.parametrize("name", ["shims/entropy.c", "launcher/confine.c"])
def test_a_shim_or_the_launcher_leaves_the_binary_as_it_is(folder: Path, name: str) -> None:
    before = recipe.load("6.1", folder=folder)
    (folder / name).write_text("int y;\n")
    after = recipe.load("6.1", folder=folder)
    assert after.digest != before.digest
    assert after.binary_digest == before.binary_digest


def test_a_patch_changes_its_series_alone(folder: Path) -> None:
    before = {series: recipe.load(series, folder=folder).digest for series in ("6.1", "6.12")}
    (folder / "patches/6.1/10-clock.patch").write_text("--- a\n")
    after = {series: recipe.load(series, folder=folder).digest for series in ("6.1", "6.12")}
    assert after["6.1"] != before["6.1"]
    assert after["6.12"] == before["6.12"]


def test_a_patch_may_be_for_several_series(folder: Path) -> None:
    (folder / "patches/6.1+6.12").mkdir()
    (folder / "patches/6.1+6.12/10-both.patch").write_text("")
    names = {
        series: [path.name for path in recipe.load(series, folder=folder).patches]
        for series in ("6.1", "6.12", "6.11", "7.1")
    }
    assert names == {"6.1": ["10-both.patch"], "6.12": ["10-both.patch"], "6.11": [], "7.1": []}


def test_patches_come_in_the_order_of_their_names(folder: Path) -> None:
    for name in ("20-b.patch", "10-a.patch", "README"):
        (folder / "patches/6.1" / name).write_text("")
    patches = recipe.load("6.1", folder=folder).patches
    assert [path.name for path in patches] == ["10-a.patch", "20-b.patch"]


def test_an_incomplete_installation_is_said_to_be_one(tmp_path: Path) -> None:
    with pytest.raises(HostError, match=r"answers\.config"):
        recipe.load("6.1", folder=tmp_path)


def test_source_and_tools_are_in_the_digest() -> None:
    digests = {
        recipe.build_digest("a", source_digest="s", tools=("gcc 12",)),
        recipe.build_digest("a", source_digest="s", tools=("gcc 13",)),
        recipe.build_digest("a", source_digest="t", tools=("gcc 12",)),
        recipe.build_digest("b", source_digest="s", tools=("gcc 12",)),
    }
    assert len(digests) == 4


def test_a_variant_has_more_patches_and_answers_for_its_series(folder: Path) -> None:
    (folder / "patches/6.1/10-a.patch").write_text("")
    before = recipe.load("6.1", folder=folder)
    for group in ("all", "6.1+6.12"):
        (folder / "variants/mine" / group).mkdir(parents=True)
    (folder / "variants/mine/all/20-b.patch").write_text("")
    (folder / "variants/mine/6.1+6.12/10-c.patch").write_text("")
    variant = recipe.load("6.1", variant="mine", folder=folder)
    assert [path.name for path in variant.patches] == ["10-a.patch", "20-b.patch", "10-c.patch"]
    assert variant.binary_digest != before.binary_digest
    assert recipe.load("6.1", folder=folder) == before
    assert recipe.load("6.1", variant="other", folder=folder) == before
    # Of a series that it is not for, it is somebody's own.
    assert [path.name for path in recipe.load("7.2", variant="mine", folder=folder).patches] == []
    assert recipe.variant_series("mine", folder=folder) == ["6.1", "6.12"]
    assert recipe.variant_series("other", folder=folder) == []
    (folder / "variants/mine/answers.config").write_text("CONFIG_MINE=y\n")
    answered = recipe.load("6.1", variant="mine", folder=folder)
    assert answered.variant_answers == folder / "variants/mine/answers.config"
    assert answered.binary_digest != variant.binary_digest


def test_patches_of_variants_change_arch_um_only() -> None:
    for series in recipe.variant_series("clock"):
        patches = recipe.load(series, variant="clock").patches
        assert "10-host-clock.patch" in [path.name for path in patches]
        steps.check_patches(patches)
