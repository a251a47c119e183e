"""The base works without any extra, and each lack is told in one line at the moment it matters."""

from __future__ import annotations

import importlib
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from longfat.cli.main import command_modules
from longfat.common.extras import MissingExtraError, all_extras, lazy, need
from tests.output.report.pages import parsed
from tests.paths import LONGFAT, REPOSITORY

EXTRAS = all_extras()
ALL = {module for extra in EXTRAS.values() for module in extra.modules}
# Loaded by nothing that only says what is known already.
DRAWING = {"matplotlib", "numpy", "pyarrow", "dpkt", "nh3", "markdown_it"}

PLAIN = """\
title: A small study
memory: 512MB
network:
  hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8}
  links: [[h1, h2, {rate: 10mbit, delay: 5ms}]]
flows:
  rtt: {ping: h1 -> h2, count: 2}
  bulk: {iperf3: h1 -> h2, time: 1s, after: rtt}
claims:
  - default.bulk.receiver > 5mbit
"""
PROBED = PLAIN + "probes:\n  tcp: {of: bulk}\n"


def without(modules: set[str], *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run longfat where some modules cannot be imported, as if they were not installed."""
    site = cwd / "site"
    site.mkdir(exist_ok=True)
    (site / "sitecustomize.py").write_text(
        f"import sys\nsys.modules.update(dict.fromkeys({sorted(modules)}))\n"
    )
    return subprocess.run(
        [LONGFAT, *arguments],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(site)},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def test_the_modules_are_really_kept_away(tmp_path: Path) -> None:
    done = without(ALL, "--version", cwd=tmp_path)
    assert done.returncode == 0
    script = f"import importlib\nfor name in {sorted(ALL)}:\n    importlib.import_module(name)\n"
    env = {**os.environ, "PYTHONPATH": str(tmp_path / "site")}
    tried = subprocess.run(
        [sys.executable, "-c", script], env=env, capture_output=True, text=True, check=False
    )
    assert "ModuleNotFoundError" in tried.stderr


def test_every_command_explains_itself_without_extras(tmp_path: Path) -> None:
    done = without(ALL, "--help", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    for name in command_modules():
        assert f"  {name} " in done.stdout
    for name in ("run", "query", "studio", "compare"):
        assert without(ALL, name, "--help", cwd=tmp_path).returncode == 0


def test_a_study_without_probes_is_run_shown_plotted_and_diagnosed(tmp_path: Path) -> None:
    (tmp_path / "plain.yaml").write_text(PLAIN)
    done = without(ALL, "run", "plain.yaml", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Claims  1 of 1 hold" in done.stdout
    told = [line for line in done.stderr.splitlines() if "longfat[" in line]
    assert told == [
        "weasyprint is not installed, needed for report.pdf; hint: pip install 'longfat[report]'"
    ]
    out = tmp_path / "runs" / "plain"
    assert not (out / "report.pdf").exists()
    assert (out / "plots" / "traffic.png").read_bytes().startswith(b"\x89PNG")
    page = (out / "report.html").read_text(encoding="utf-8")
    assert len(parsed(page).scripts) == 2  # the charts need no extra
    assert "<svg " in page
    run = "runs/plain/default-seed1"
    for command in ("plot", "diagnose"):
        done = without(ALL, command, run, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    done = without(ALL, "compare", run, run, cwd=tmp_path)
    assert done.stdout.splitlines()[-1] == "byte-identical"


def test_a_cached_study_is_shown_again_without_loading_what_draws(tmp_path: Path) -> None:
    (tmp_path / "probed.yaml").write_text(PROBED)
    first = without(set(), "run", "probed.yaml", cwd=tmp_path)
    assert first.returncode == 0, first.stderr
    again = without(DRAWING, "run", "probed.yaml", cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    assert again.stdout == first.stdout
    assert "1 cached" in again.stderr
    # What is to be drawn again does need them.
    (tmp_path / "runs" / "probed" / "report.html").unlink()
    assert without(DRAWING, "run", "probed.yaml", cwd=tmp_path).returncode != 0


@pytest.mark.parametrize(
    ("extra", "arguments"),
    [
        ("series", ("run", "probed.yaml")),
        ("series", ("watch", "probed.yaml")),
        ("sql", ("query", "select 1")),
        ("sql", ("query", "--tables")),
        ("studio", ("studio", "--no-browser")),
        ("cluster", ("run", "probed.yaml", "--cluster", "tcp://127.0.0.1:1")),
    ],
)
def test_what_is_missing_is_reported_in_one_line_with_its_remedy(
    tmp_path: Path, extra: str, arguments: tuple[str, ...]
) -> None:
    (tmp_path / "probed.yaml").write_text(PROBED)
    done = without(ALL, *arguments, cwd=tmp_path)
    assert done.returncode == 3, done.stderr
    assert "Traceback" not in done.stderr
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("longfat: ")]
    assert line == f"longfat: {MissingExtraError(extra, EXTRAS[extra].modules)}"
    assert line.endswith(f"; hint: pip install 'longfat[{extra}]'")
    assert not list(tmp_path.glob("runs/*/*-seed*"))


def test_the_doctor_lists_the_extras(tmp_path: Path) -> None:
    done = without(ALL, "doctor", cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    for name in EXTRAS:
        assert f"note extra {name}: " in done.stdout
        assert f"hint: pip install 'longfat[{name}]'" in done.stdout


def test_data_frames_are_an_extra(tmp_path: Path) -> None:
    (tmp_path / "plain.yaml").write_text(PLAIN)
    script = (
        "import longfat\n"
        "study = longfat.open_study('plain.yaml')\n"
        "try:\n    study.frame()\n"
        "except longfat.errors.HostError as error:\n    print(error)\n"
    )
    without(ALL, "--version", cwd=tmp_path)
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path / "site")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.endswith("hint: pip install 'longfat[frames]'\n"), done.stderr


def test_a_lazy_module_is_loaded_when_it_is_used() -> None:
    json = lazy("json")
    assert json.loads("[1]") == [1]
    with pytest.raises(AttributeError):
        _ = json.no_such_thing
    with pytest.raises(ModuleNotFoundError):
        _ = lazy("no_such_module").thing


@pytest.mark.parametrize("name", EXTRAS)
def test_a_missing_extra_is_an_error_of_the_host(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    need(name)
    *_, last = EXTRAS[name].modules
    monkeypatch.setitem(sys.modules, last, None)
    with pytest.raises(MissingExtraError, match=f"^{last} is not installed, needed "):
        need(name)
    with pytest.raises(MissingExtraError):
        _ = lazy(last).thing


def declared(extra: str, extras: dict[str, list[str]]) -> set[str]:
    """Return the packages of an extra, those of the extras in it included."""
    found = set()
    for requirement in extras[extra]:
        if inner := re.fullmatch(r"longfat\[(.*)\]", requirement):
            for name in inner[1].split(","):
                found |= declared(name, extras)
        else:
            found.add(re.split(r"[<>=\[]", requirement)[0])
    return found


def test_the_table_says_what_the_package_declares() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    assert extras.keys() - EXTRAS.keys() == {"lab", "all", "dev", "class", "packetdrill"}
    for name, extra in EXTRAS.items():
        assert declared(name, extras) == set(extra.modules)
    assert declared("all", extras) == ALL
    base = {re.split(r"[<>=]", one)[0] for one in project["dependencies"]}
    assert not base & ALL
    for module in ALL:
        importlib.import_module(module)
