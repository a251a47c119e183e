import dataclasses
import io
import re
import shutil
from pathlib import Path

import pytest
from rich.console import Console

from longfat.report import ReportFiles, print_verdict
from longfat.report.terminal import _blocks
from longfat.report.values import Grid, Row
from longfat.runs import Run
from longfat.verdict import Verdict, judge


def printed(
    verdict: Verdict, *, width: int = 80, files: ReportFiles | None = None, colour: bool = False
) -> str:
    stream = io.StringIO()
    console = Console(file=stream, width=width, highlight=False, force_terminal=colour)
    print_verdict(verdict, console=console, files=files)
    return stream.getvalue()


def row(text: str, label: str) -> list[str]:
    (line,) = [line for line in text.splitlines() if line.strip().startswith(label)]
    return re.split(r"\s{2,}", line.strip())


def test_lab08_table(lab08: Verdict) -> None:
    text = printed(lab08)
    default = text[text.index("\ndefault") : text.index("\ntuned")]
    assert row(default, "bulk sender") == ["bulk sender", "3.16 Gbit/s", "3.28 Gbit/s", "1.04"]
    assert row(default, "ping least RTT") == ["ping least RTT", "20.1 ms", "20.0 ms", "1.00"]
    assert row(default, "bulk retransmissions")[1:] == ["315", "0", "0.00"]
    assert row(default, "ping loss")[1:] == ["0 %", "0 %", "equal"]
    assert "11 of 11 hold" in text
    assert "Lab 8 (University of South Carolina)" in text


@pytest.mark.parametrize("width", [80, 120])
def test_fits_the_terminal(lab08: Verdict, many: Verdict, width: int) -> None:
    for verdict in (lab08, many):
        lines = printed(verdict, width=width).splitlines()
        results = lines[: lines.index("Files")]
        assert max(map(len, results)) <= width
        assert not any("…" in line for line in lines)


def test_piped_output_has_no_escapes(lab08: Verdict) -> None:
    assert "\x1b" not in printed(lab08)
    assert "\x1b" in printed(lab08, colour=True)
    assert not any(line.endswith(" ") for line in printed(lab08).splitlines())


def test_paths_are_not_broken(lab08: Verdict, tmp_path: Path) -> None:
    deep = tmp_path.joinpath(*["deep"] * 30)
    runs = {}
    for name, run in lab08.runs.items():
        shutil.copytree(run.folder, deep / name)
        runs[name] = dataclasses.replace(run, folder=deep / name)
    files = ReportFiles(page=deep / "report.html", figures=(deep / "a.png", deep / "a.pdf"))
    lines = printed(dataclasses.replace(lab08, runs=runs), files=files).splitlines()
    assert lines[lines.index("Files") + 1 :] == [
        f"runs    {deep}/unshaped",
        f"        {deep}/default",
        f"        {deep}/tuned",
        f"plots   {deep}/a.png",
        f"report  {deep}/report.html",
    ]


def test_failed_claim_shows_its_numbers(many: Verdict) -> None:
    text = printed(many)
    assert "FAILS  this [bold]fails[/bold] <b>" in text
    assert "c5.bulk.receiver = 50.7 Mbit/s" in text
    assert "parallel.lost.avg = nothing measured" in text
    assert "1 of 3 hold, 2 FAIL" in text


def test_plain_metrics_without_published(many: Verdict) -> None:
    text = printed(many)
    assert "Published" not in text
    assert row(text, "lost loss")[:3] == ["lost loss", "100 %", "0 %"]
    assert row(text, "lost mean RTT")[1] == "-"


def test_cases_that_were_not_run(lab08: Verdict) -> None:
    verdict = judge(lab08.study, {"default": lab08.runs["default"]})
    text = printed(verdict)
    assert "not judged" in text
    tuned = text[text.index("\ntuned") :]
    assert row(tuned, "bulk sender")[1:] == ["9.38 Gbit/s", "-", "-"]
    assert "1 of 3 cases" in text


def test_nothing_was_run(lab08: Verdict) -> None:
    assert "no case was run" in printed(judge(lab08.study, {}))


def test_missing_metric(lab08: Verdict) -> None:
    def without(run: Run) -> Run:
        metrics = {k: v for k, v in run.metrics.items() if k != "bulk.sender_bps"}
        return dataclasses.replace(run, metrics=metrics)

    runs = {name: without(run) for name, run in lab08.runs.items()}
    text = printed(judge(lab08.study, runs))
    default = text[text.index("\ndefault") : text.index("\ntuned")]
    assert row(default, "bulk sender")[1:] == ["3.16 Gbit/s", "-", "-"]


def test_blocks() -> None:
    grid = Grid(
        columns=("one", "two", "three"),
        rows=(Row("label", ("1", "-", "3")), Row("gone", ("-", "2", "-"))),
    )
    blocks = list(_blocks(grid, 18))
    assert [block.columns for block in blocks] == [("one", "two"), ("three",)]
    assert [row.label for row in blocks[1].rows] == ["label"]
    # What is wider than any terminal stands alone.
    assert len(list(_blocks(grid, 1))) == 3
