"""The pytest plugin, in a pytest of its own."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

FAILING = """\
import pytest

@pytest.mark.longfat(kernel="6.1", seeds=2, capture=True)
def test_fails(network):
    h1, h2 = network.host("h1"), network.host("h2")
    network.link(h1, h2, delay="10ms", loss="5%")
    found = h1.run("ping -c 5 -i 0.2 10.0.0.2").stdout
    assert "no such words" in found
"""


def run(folder: Path, text: str, *arguments: str) -> str:
    """Run pytest in a folder; return what it printed."""
    (folder / "test_it.py").write_text(text)
    return pytest_in(folder, "test_it.py", *arguments)


def pytest_in(folder: Path, *arguments: str) -> str:
    # Not the options and the cache of the pytest that runs us.
    environment = {name: value for name, value in os.environ.items() if "PYTEST" not in name}
    argv = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:xdist", *arguments]
    done = subprocess.run(
        argv, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    return done.stdout + done.stderr


def test_a_failure_leaves_all_and_can_be_reproduced_exactly(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    printed = run(tmp_path, FAILING)
    assert "2 failed" in printed
    assert re.search(r"network: Linux 6\.1\.\d+, seed 2, at ", printed)
    kept = tmp_path / ".longfat" / "test_it.py-test_fails-seed2"
    names = {"commands.sh", "outputs.jsonl", "console.log", "h1-eth0.pcap", "h2-eth0.pcap"}
    assert {path.name for path in kept.iterdir()} == names
    before = {path.name: path.read_bytes() for path in kept.iterdir()}
    assert b"ping -c 5" in before["commands.sh"]
    assert b'"returncode": 0' in before["outputs.jsonl"]
    assert len(before["h1-eth0.pcap"]) > 500
    (line,) = re.findall(r"^reproduce: pytest (.*seed2.*)$", printed, re.MULTILINE)
    again = pytest_in(tmp_path, *shlex.split(line))
    assert "1 failed" in again
    assert {path.name: path.read_bytes() for path in kept.iterdir()} == before


def test_one_seed_takes_the_place_of_all(tmp_path: Path) -> None:
    text = """\
import pytest
@pytest.mark.longfat(kernel="6.1", seeds=3, seed=5)
def test_many(network): print(f"ran {network.case().seed}")
@pytest.mark.longfat(kernel="6.1")
def test_one(network): print(f"ran {network.case().seed}")
"""
    assert re.findall(r"ran (\d+)", run(tmp_path, text, "-s")) == ["5", "6", "7", "1"]
    assert re.findall(r"ran (\d+)", run(tmp_path, text, "-s", "--longfat-seed=9")) == ["9", "9"]


def test_a_test_that_passes_leaves_nothing(tmp_path: Path) -> None:
    text = """\
def test_it(network):
    assert network.run("uname -r").stdout.startswith("6.1")
"""
    assert "1 passed" in run(tmp_path, text, "--longfat-kernel=6.1", "--longfat-keep=kept")
    assert not (tmp_path / "kept").exists()


@pytest.mark.parametrize(
    ("marker", "words"),
    [
        ("longfat(sed=1)", "the marker longfat does not know 'sed': it takes kernel, seed,"),
        ("longfat('6.1')", "the marker longfat does not know an argument without a name"),
        ("longfat(seeds=0)", "seeds is a whole number from 1, and here is 0"),
    ],
)
def test_a_wrong_marker_is_reported_without_a_traceback(
    tmp_path: Path, marker: str, words: str
) -> None:
    text = f"import pytest\n@pytest.mark.{marker}\ndef test_it(network): pass\n"
    printed = run(tmp_path, text)
    assert words in printed
    assert "Traceback" not in printed
    assert "_pytest" not in printed


def test_a_kernel_that_is_not_there_is_reported(tmp_path: Path) -> None:
    printed = run(tmp_path, "def test_it(network): pass\n", "--longfat-kernel=5.4")
    assert "no network: " in printed
    assert "longfat kernel build 5.4" in printed
    assert "1 error" in printed


def test_a_pytest_without_networks_loads_nothing_of_them(tmp_path: Path) -> None:
    text = """\
import sys
def test_it():
    assert not [name for name in sys.modules if name.startswith("longfat.live")]
    assert "pyarrow" not in sys.modules
"""
    assert "1 passed" in run(tmp_path, text)


def test_a_number_of_seeds_takes_the_place_of_the_markers(tmp_path: Path) -> None:
    text = """\
import pytest

@pytest.mark.longfat(seeds=2, packages=["pysyncobj"])
def test_several(network): pass

def test_one(network): pass
"""
    printed = run(tmp_path, text, "--collect-only", "-q", "--longfat-seeds", "200")
    assert "test_several[seed200]" in printed
    assert "201 tests collected" in printed
    assert "from 1" in run(tmp_path, text, "--longfat-seeds", "0")


def test_a_package_that_is_not_there_fails_the_test_with_a_word(tmp_path: Path) -> None:
    text = """\
import pytest

@pytest.mark.longfat(packages=["porridge"])
def test_it(network): pass
"""
    printed = run(tmp_path, text)
    assert "no network: there is no Python package 'porridge'" in printed
    assert "Traceback" not in printed
