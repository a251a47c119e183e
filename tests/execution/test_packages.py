"""Compiled Python packages in real machines: programs import them, and nothing can change them."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from longfat.engine.sandbox.sandbox import SANDBOXES, VARIABLE
from longfat.errors import InputError
from longfat.execution import run_case, run_cases
from longfat.execution.cache import ResultCache
from longfat.live import Network
from longfat.model.packages import PACKAGES_PLACE
from longfat.study import read_study
from tests.packages import WheelFolder

STUDY = """\
title: x
kernel: "6.1"
memory: 256MB
packages: lock
network: {hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8}, links: [[h1, h2]]}
setup:
  - h1: test "$(python3 -c 'import fast; print(fast.answer())')" = 42
  - h1: test "$PYTHONPATH" = /run/longfat/packages
  - h1: "! touch /run/longfat/packages/fast/more.py"
flows:
  p:
    program: h1 -> h2
    run: python3 -c "import fast; print(fast.answer(), fast.__file__)"
"""


@pytest.fixture
def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> WheelFolder:
    return WheelFolder(tmp_path / "wheels", monkeypatch)


@pytest.fixture
def study(tmp_path: Path, wheels: WheelFolder) -> Path:
    folder = tmp_path / "study"
    folder.mkdir()
    (folder / "study.yaml").write_text(STUDY)
    (folder / "lock").write_text(wheels.add_compiled())
    return folder


@pytest.mark.parametrize("sandbox", [one.name for one in SANDBOXES])
def test_programs_import_a_compiled_package(
    study: Path, sandbox: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, sandbox)
    case = read_study(study).cases["default"].case
    run = run_case(case, name="x", out=tmp_path)
    words = [path.read_text() for path in run.raw.rglob("*") if path.is_file()]
    assert f"42 {PACKAGES_PLACE}/fast/__init__.py\n" in words
    assert run.tools["packages"].version == "fast 1.0"
    assert len(run.tools["packages"].digest) == 64
    bare = dataclasses.replace(case, packages=(), setup=())
    (failure,) = run_case(bare, name="bare", out=tmp_path).flow_failures.values()
    assert "No module named 'fast'" in failure.reason


def test_other_wheels_are_another_result(study: Path, wheels: WheelFolder, tmp_path: Path) -> None:
    cache = ResultCache()
    first = run_cases(read_study(study).cases, out=tmp_path / "a", cache=cache)["default"][0]
    again = run_cases(read_study(study).cases, out=tmp_path / "a", cache=cache)["default"][0]
    assert again.wall_s == first.wall_s  # from the cache
    more = wheels.add("more", {"more.py": ""})
    (study / "lock").write_text(f"{(study / 'lock').read_text()}\n{more}\n")
    other = run_cases(read_study(study).cases, out=tmp_path / "a", cache=cache)["default"][0]
    assert other.digest == first.digest
    assert other.key != first.key
    assert other.tools["packages"].digest != first.tools["packages"].digest


def test_what_cannot_be_installed_is_told_of_at_its_place(study: Path, tmp_path: Path) -> None:
    (study / "lock").write_text(f"fast==1.0 --hash=sha256:{'0' * 64}\n")
    with pytest.raises(InputError, match="has none of the specified hashes") as caught:
        run_cases(read_study(study).cases, out=tmp_path)
    place = caught.value.place
    assert place is not None
    assert (place.line, place.field) == (4, "packages")


def test_live_networks_have_them_too(study: Path) -> None:
    code = "python3 -c 'import fast; print(fast.answer())'"
    with Network.open(study) as net:
        assert net["h1"].run(code, check=True).stdout == "42\n"
        assert net.case().packages == read_study(study).cases["default"].case.packages
    with Network(kernel="6.1", packages=[study / "lock", "pysyncobj"]) as net:
        found = net.run(f"{code}; python3 -c 'import pysyncobj'; echo $PYTHONPATH", check=True)
        assert found.stdout == f"42\n/opt/python:{PACKAGES_PLACE}\n"
    with pytest.raises(InputError, match="has no hash"):
        Network(packages=["fast==1.0"])
