"""The guest's modules, imported from one file, are what Python's own imports give."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from longfat.engine import guest_modules
from longfat.engine import toolset as toolsets
from longfat.engine.init import guest_folder
from longfat.engine.toolset import Toolset
from longfat.guest import boot

ROOTS = ("longfat.guest.main", "longfat.guest.job", "longfat.guest.agent", "longfat.guest.transfer")
# Of each module, its names; and what found it.
REPORT = """
import sys, marshal
known = set(sys.modules)
sys.path.insert(0, sys.argv[1])
import longfat.guest.boot
loaded = longfat.guest.boot.Modules(sys.argv[1]) if sys.argv[2] == "file" else None
for name in sys.argv[3:]:
    __import__(name)
if loaded:
    loaded.close()
from json import dumps
print(dumps({name: [type(getattr(module.__spec__, "loader", None)).__name__,
                    [str(list(getattr(module, "__path__", []))),
                     *sorted(set(vars(module)) - {"__cached__", "__builtins__"})]]
             for name, module in sys.modules.items()
             if name not in known and getattr(module, "__spec__", None)}))
"""


def run(*arguments: str) -> str:
    done = toolsets.find().run_python(*arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def place(toolset: Toolset, tmp_path: Path) -> Path:
    """Return a copy whose libraries are where the host has them, and not a machine."""
    with guest_folder(toolset=toolset) as folder:
        shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    names = [f"longfat.guest.{path.stem}" for path in (tmp_path / "longfat/guest").glob("[!_]*.py")]
    run(guest_modules.__file__, str(tmp_path), str(tmp_path), "", "", *sorted(names))
    return tmp_path


def test_they_are_those_of_pythons_own_imports(place: Path) -> None:
    found = json.loads(run("-c", REPORT, str(place), "file", *ROOTS))
    expected = json.loads(run("-c", REPORT, str(place), "path", *ROOTS))
    assert {name: names for name, (_, names) in found.items()} == {
        name: names for name, (_, names) in expected.items()
    }
    looked_for = {name for name, (loader, _) in found.items() if loader == "SourceFileLoader"}
    assert looked_for <= {"longfat.guest", "longfat.guest.boot"}  # the test's own
    assert {"json", "subprocess", "longfat.guest.netlink"} <= found.keys()


@pytest.fixture
def packages(tmp_path: Path) -> Path:
    """Write the file with modules that import each other in all ways; they themselves are gone."""
    files = {
        "longfat/guest/boot.py": Path(boot.__file__).read_text(encoding="utf-8"),
        "round/__init__.py": "from . import first\nfrom .second import NAME\n",
        "round/first.py": "import round.second as second\nA = 1\n",
        "round/second.py": "from round import first\nfrom . import third\nNAME = 'b'\n",
        "round/third.py": "import os.path, xml.dom\nfrom . import inner\n",
        "round/inner/__init__.py": "from .deep import *\nfrom ..first import __name__ as above\n",
        "round/inner/deep.py": "__all__ = ['C']\nC = 3\n",
        "broken.py": "import sys\nif 'fail' in sys.argv: 1 / 0\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    run(guest_modules.__file__, str(tmp_path), str(tmp_path), "", "", "round", "broken")
    for name in ("round", "longfat", "broken.py"):
        (tmp_path / name).rename(tmp_path / f"{name}-gone")
    return tmp_path


def run_with(folder: Path, lines: str) -> list[str]:
    """Run lines with `modules`, and return what they print."""
    start = f"""
import sys
space = {{"__name__": "boot"}}
exec(open({boot.__file__!r}).read(), space)
modules = space["Modules"]({str(folder)!r})
"""
    return run("-c", start + lines, "fail").splitlines()


def test_modules_that_import_each_other(packages: Path) -> None:
    lines = """
round = modules.load("round")
print(round.first.A, round.NAME, round.first.second.NAME, round.third.inner.C)
print(round.third.__spec__.parent, round.inner.deep.__file__, round.inner.above)
print(sys.modules["xml.dom"].__name__, hasattr(sys.modules["xml"], "dom"))
"""
    assert run_with(packages, lines) == [
        "1 b b 3",
        f"round {packages}/round/inner/deep.py round.first",
        "xml.dom True",
    ]


def test_what_is_not_in_the_file_is_looked_for(packages: Path) -> None:
    lines = """
import colorsys, xml.dom.minidom
try:
    import nowhere
except ModuleNotFoundError as error:
    print(error.name)
modules.close()
import csv, xml.sax.handler
try:
    import round
except ModuleNotFoundError as error:
    print(error.name, colorsys.__name__, csv.__name__)
"""
    assert run_with(packages, lines) == ["nowhere", "round colorsys csv"]


def test_a_module_that_fails_is_not_there(packages: Path) -> None:
    lines = """
try:
    import broken
except ZeroDivisionError:
    print("broken" in sys.modules)
"""
    assert run_with(packages, lines) == ["False"]
