from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from longfat.engine.kernel import Kernel
from longfat.errors import InputError
from longfat.execution.runs import GuestReport, Run, Tool, load_run, staged_run
from longfat.execution.runs.run import damage
from longfat.model.case import Case

MakeCase = Callable[..., Case]


def keep(out: Path, case: Case, kernel: Kernel, *, wall_s: float = 1, text: str = "x") -> Run:
    with staged_run(out, name="case", case=case) as staged:
        (staged.folder / "raw").mkdir()
        (staged.folder / "raw" / "a.txt").write_text(text)
        (staged.folder / "raw" / "a.txt.err").write_text("")
        (staged.folder / "outcome.json").write_text("{}")
        report = GuestReport(
            virtual_s=2.5,
            epoch_s=1700000002.0,
            flow_times={},
        )
        return staged.publish(
            kernel=kernel,
            tools={"tc": Tool(version="1", digest="ab")},
            report=report,
            wall_s=wall_s,
            peak_bytes=1 << 20,
            sandbox="namespaces",
        )


def test_a_run_is_written_and_read(tmp_path: Path, make_case: MakeCase, kernel: Kernel) -> None:
    run = keep(tmp_path, make_case(), kernel)
    assert run.folder == tmp_path / "case-seed1"
    assert sorted(os.listdir(run.folder)) == ["manifest.json", "raw"]
    assert os.listdir(run.raw) == ["a.txt"]
    read = load_run(run.folder)
    assert (read.digest, read.virtual_s, read.case_digest) == (
        run.digest,
        2.5,
        make_case().digest,
    )
    assert read == run


def test_the_digest_is_over_what_was_measured(
    tmp_path: Path, make_case: MakeCase, kernel: Kernel
) -> None:
    first = keep(tmp_path / "a", make_case(), kernel)
    assert keep(tmp_path / "b", make_case(), kernel, wall_s=9).digest == first.digest
    assert keep(tmp_path / "c", make_case(), kernel, text="y").digest != first.digest
    (first.raw / "a.txt").rename(first.raw / "b.txt")
    assert damage(first) == "raw/a.txt: it is missing"


def test_a_new_run_takes_the_place_of_the_old(
    tmp_path: Path, make_case: MakeCase, kernel: Kernel
) -> None:
    keep(tmp_path, make_case(), kernel)
    run = keep(tmp_path, make_case(), kernel, text="new")
    assert (run.raw / "a.txt").read_text() == "new"
    assert os.listdir(tmp_path) == ["case-seed1"]


def test_a_run_that_fails_leaves_nothing(tmp_path: Path, make_case: MakeCase) -> None:
    def fail() -> None:
        with staged_run(tmp_path, name="case", case=make_case()) as staged:
            (staged.folder / "x").write_text("x")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert os.listdir(tmp_path) == []


def test_leftovers_are_swept_and_others_work_is_not(tmp_path: Path, make_case: MakeCase) -> None:
    with staged_run(tmp_path, name="other", case=make_case()) as staged:
        # However old it is: it may be a long case.
        os.utime(staged.folder, (time.time() - 3600,) * 2)
        left = tmp_path / ".case-xyz.partial"
        left.mkdir()
        with staged_run(tmp_path, name="third", case=make_case()):
            assert not left.exists()
            assert staged.folder.exists()


def test_a_folder_that_cannot_be_made(tmp_path: Path, make_case: MakeCase) -> None:
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(InputError, match="cannot be written to"),
        staged_run(tmp_path / "file", name="case", case=make_case()),
    ):
        pass


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"format": 99}', '{"format": 1}'])
def test_no_run_directory(tmp_path: Path, text: str) -> None:
    (tmp_path / "manifest.json").write_text(text)
    with pytest.raises(InputError):
        load_run(tmp_path)
