"""The core works without the products: a copy of the source without their folders."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.paths import REPOSITORY

SOURCE = REPOSITORY / "src"
PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
NAMES = tuple(PROJECT["entry-points"]["longfat.products"])
# Python finds the copy only: neither this source nor what is installed of it.
PROGRAM = """
import sys
source, copy = sys.argv.pop(1), sys.argv.pop(1)
sys.path[:] = [copy, *(path for path in sys.path if path != source)]
sys.argv[0] = "longfat"
from longfat.cli.main import main
main()
"""
STUDY = """\
title: A small study
memory: 512MB
network:
  hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8}
  links: [[h1, h2, {rate: 10mbit, delay: 5ms}]]
flows:
  rtt: {ping: h1 -> h2, count: 2}
claims:
  - default.rtt.received == 2
"""


@pytest.fixture(scope="module")
def core(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a source folder without products, whose entry points name them."""
    copy = tmp_path_factory.mktemp("core") / "src"
    ignored = shutil.ignore_patterns("__pycache__", *(f"longfat_{name}" for name in NAMES))
    shutil.copytree(SOURCE, copy, ignore=ignored)
    for folder in ("kernel", "labs", "studies", "examples", "toolset"):
        (copy.parent / folder).symlink_to(REPOSITORY / folder)
    about = copy / "longfat-0.dist-info"
    about.mkdir()
    lines = [f"{name} = longfat_{name}.product:PRODUCT" for name in NAMES]
    (about / "entry_points.txt").write_text("\n".join(["[longfat.products]", *lines, ""]))
    return copy


def longfat(core: Path, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    environment = {name: text for name, text in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(
        [sys.executable, "-c", PROGRAM, str(SOURCE), str(core), *arguments],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def test_the_help_lists_the_core_s_commands(core: Path, tmp_path: Path) -> None:
    done = longfat(core, "--help", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    commands = {line.split()[0] for line in done.stdout.splitlines() if line.startswith("  ")}
    assert {"run", "studio", "schema"} <= commands
    assert not commands & {"packetdrill", "grade"}


@pytest.mark.parametrize(
    ("command", "of_a_product"),
    [
        ("run", "--cluster"),
        ("studio", "--class"),
        ("studio", "--exercises"),
        ("labs", "class"),
        ("schema", "grading"),
    ],
)
def test_a_command_has_no_part_of_a_product(
    core: Path, tmp_path: Path, command: str, of_a_product: str
) -> None:
    done = longfat(core, command, "--help", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert of_a_product not in done.stdout


@pytest.mark.parametrize("arguments", [("packetdrill", "x.pkt"), ("grade", "x")])
def test_a_product_s_command_is_unknown(
    core: Path, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    done = longfat(core, *arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert f"Error: No such command '{arguments[0]}'." in done.stderr
    assert "Traceback" not in done.stderr


def test_a_lab_is_checked(core: Path, tmp_path: Path) -> None:
    done = longfat(core, "check", str(REPOSITORY / "labs" / "lab08"), cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_study_runs(core: Path, tmp_path: Path) -> None:
    (tmp_path / "small.yaml").write_text(STUDY)
    done = longfat(core, "run", "small.yaml", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Claims  1 of 1 hold" in done.stdout
    assert (tmp_path / "runs" / "small" / "report.html").is_file()
