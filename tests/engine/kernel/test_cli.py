from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from longfat.cli.kernel import kernel as command
from longfat.engine.kernel import Kernel, cache
from longfat.errors import InputError

Plant = Callable[..., Kernel]


@pytest.fixture
def run() -> Callable[..., str]:
    """Run a command and return its standard output; errors are raised as main sees them."""

    def run(*arguments: str) -> str:
        answer = CliRunner().invoke(command, arguments, catch_exceptions=False)
        assert answer.exit_code == 0, answer.stderr
        return answer.stdout

    return run


def test_list_tells_what_is_ready(plant: Plant, run: Callable[..., str]) -> None:
    plant("6.1.9", digest="a" * 64)
    plant("6.12.1", digest="b" * 64, old=True)
    lines = run("list").splitlines()
    assert lines[1].split() == ["6.1.9", "a" * 12, "ready", "the", "cache"]
    assert "of an older recipe" in lines[2]


def test_list_as_json(plant: Plant, run: Callable[..., str]) -> None:
    made = plant("6.1.9", digest="a" * 64)
    (document,) = json.loads(run("list", "--json"))
    assert document == {
        "release": "6.1.9",
        "series": "6.1",
        "digest": made.digest,
        "binary_sha256": made.binary_sha256,
        "ready": True,
        "folder": str(made.folder),
        "wheel": "",
    }


@pytest.mark.usefixtures("empty_cache")
def test_an_empty_list_is_said_on_standard_error(run: Callable[..., str]) -> None:
    assert run("list") == ""
    assert run("list", "--json") == "[]\n"


def test_remove(plant: Plant, run: Callable[..., str]) -> None:
    for number, release in enumerate(["6.1.9", "6.1.10", "6.12.1"]):
        plant(release, digest=f"{number}" * 64)
    assert "removed 6.12.1" in run("remove", "2" * 6)
    assert len(json.loads(run("remove", "6.1", "--json"))) == 2
    assert cache.kernels() == []
    with pytest.raises(InputError, match="built: none"):
        run("remove", "6.1")


@pytest.mark.usefixtures("empty_cache")
def test_build_says_what_is_wrong(run: Callable[..., str], tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not a kernel version"):
        run("build", "newest")
    with pytest.raises(InputError, match="no kernel source at"):
        run("build", "6.1", "--source", str(tmp_path / "none"))
    with pytest.raises(InputError, match="name one version"):
        run("build", "6.1", "6.12", "--source", str(tmp_path))
    with pytest.raises(InputError, match="name one version"):
        run("build", "6.1", "6.12", "--sha256", "0" * 64)
    with pytest.raises(InputError, match="not a SHA-256"):
        run("build", "6.1", "--sha256", "0" * 63)
