from __future__ import annotations

import dataclasses
import json
import os
from pathlib import Path

import pytest

from longfat.common.extras import EXTRAS
from longfat.execution import doctor
from tests.command import longfat


def test_this_host_is_good(tmp_path: Path) -> None:
    done = longfat("doctor", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    data = json.loads(done.stdout)
    subjects = {finding["subject"]: finding for finding in data["findings"]}
    assert {
        "host",
        "pinned tools",
        "sandbox",
        "landlock",
        "seccomp",
        "ptrace",
        "memory",
        "compilers",
    } <= set(subjects)
    assert all(finding["good"] is not False for finding in data["findings"])
    assert any(name.startswith("kernel 6.1") for name in subjects)


def test_what_is_missing_is_reported_with_its_remedy(tmp_path: Path) -> None:
    empty = tmp_path / "bin"
    empty.mkdir()
    done = longfat("doctor", cwd=tmp_path, PATH=str(empty), LONGFAT_CACHE=str(tmp_path / "cache"))
    assert done.returncode == 3, done.stderr
    assert "Traceback" not in done.stderr
    words = " ".join(done.stdout.split())
    assert "sudo apt-get install bubblewrap" in words
    assert "longfat kernel build 6.1" in words
    assert "longfat tools build" in words


def test_missing_library_of_reports_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    report = dataclasses.replace(EXTRAS["report"], libraries=("libnone.so.9",))
    monkeypatch.setattr(doctor, "all_extras", lambda: {"report": report})
    (finding,) = (finding for finding in doctor.examine() if finding.subject == "extra report")
    assert finding.good is None
    assert "libnone.so.9 is not installed, needed for report.pdf" in finding.words
    assert "libpango-1.0-0" in finding.hint


def test_it_ends_well_where_nothing_is_found_but_a_kernel(tmp_path: Path) -> None:
    done = longfat("doctor", cwd=tmp_path, PATH=str(tmp_path))
    assert "Traceback" not in done.stderr
    assert "boots and ends in" in done.stdout


def test_it_needs_no_colour_and_no_terminal(tmp_path: Path) -> None:
    done = longfat("doctor", cwd=tmp_path, TERM=os.environ.get("TERM", "dumb"))
    assert "\x1b" not in done.stdout
