import dataclasses
import io
import re
import shutil
from pathlib import Path

import pytest
from rich.console import Console

from longfat.analysis.verdict import Verdict, evaluate
from longfat.cli.render.verdict import _blocks, print_files, print_verdict
from longfat.execution.runs import Run
from longfat.output.report.files import ReportFiles
from longfat.output.report.values import Grid, Row, number_ranges


def printed(
    verdict: Verdict, *, width: int = 80, files: ReportFiles | None = None, colour: bool = False
) -> str:
    stream = io.StringIO()
    console = Console(file=stream, width=width, highlight=False, force_terminal=colour)
    print_verdict(verdict, console=console)
    print_files(verdict, console=console, files=files)
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
def test_fits_the_terminal(lab08: Verdict, many: Verdict, seeded: Verdict, width: int) -> None:
    for verdict in (lab08, many, seeded):
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
    for name, run in lab08.first_runs.items():
        shutil.copytree(run.folder, deep / name)
        runs[name] = (dataclasses.replace(run, folder=deep / name),)
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
    verdict = evaluate(lab08.study, {"default": lab08.runs["default"]})
    text = printed(verdict)
    assert "not judged" in text
    tuned = text[text.index("\ntuned") :]
    assert row(tuned, "bulk sender")[1:] == ["9.38 Gbit/s", "-", "-"]
    assert "1 of 3 cases" in text


def test_nothing_was_run(lab08: Verdict) -> None:
    assert "no case was run" in printed(evaluate(lab08.study, {}))


def test_missing_metric(lab08: Verdict) -> None:
    def without(run: Run) -> Run:
        metrics = {k: v for k, v in run.metrics.items() if k != "bulk.sender_bps"}
        return dataclasses.replace(run, metrics=metrics)

    runs = {name: [without(run)] for name, run in lab08.first_runs.items()}
    text = printed(evaluate(lab08.study, runs))
    default = text[text.index("\ndefault") : text.index("\ntuned")]
    assert row(default, "bulk sender")[1:] == ["3.16 Gbit/s", "-", "-"]


def test_several_seeds(seeded: Verdict) -> None:
    text = printed(seeded)
    assert "2 of 2 cases, Linux 6.1.192, 6 runs with the seeds 1-5" in text
    assert row(text, "metric")[1:] == ["published", "median", "5-95 %", "ratio", "inside"]
    lossy = text[text.index("\nlossy") : text.index("\nclean")]
    assert row(lossy, "bulk sender")[1:] == [
        "24.0 Mbit/s",
        "29.3 Mbit/s",
        "20.3-36.1",
        "1.22",
        "yes",
    ]
    assert row(lossy, "bulk retransmissions")[1:] == ["60", "65", "38.6-161", "1.08", "yes"]
    assert row(lossy, "bulk receiver")[1:] == [
        "60.0 Mbit/s",
        "26.2 Mbit/s",
        "19.7-30.5",
        "0.44",
        "no",
    ]
    clean = text[text.index("\nclean") : text.index("inside: the")]
    assert row(clean, "bulk receiver")[1:] == ["47.0 Mbit/s", "47.4 Mbit/s", "-", "1.01", "-"]
    assert "in Mbit/s, with seed 1" in text
    assert "What was measured is the median over 5 seeds." in text
    # One line for the folders of a case, which a shell takes apart.
    assert "lossy-seed{1..5}\n" in text
    assert "clean-seed1\n" in text


def test_claims_tell_their_seeds(seeded: Verdict) -> None:
    text = printed(seeded)
    assert re.search(r"^ +holds in\n", text, re.MULTILINE)
    assert "holds  3 of 5 seeds  and retransmissions\n" in text
    assert re.search(r"retransmits > 60\n +not in the seeds 3-4\n", text)
    # This one is about a case with one run.
    assert "holds  -             loss costs throughput\n" in text


def test_a_failed_claim_shows_its_band(seeded: Verdict) -> None:
    runs = {"lossy": seeded.runs["lossy"][1:4]}
    text = printed(evaluate(seeded.study, runs))
    assert re.search(r"FAILS +1 of 3 seeds +and retransmissions\n", text)
    assert "lossy.bulk.retransmits = 45 (5-95 %: 37.8-63)\n" in text


def test_several_seeds_without_published(seeded: Verdict) -> None:
    study = dataclasses.replace(seeded.study, published=None)
    lines = printed(evaluate(study, seeded.runs)).splitlines()
    measured = "\n".join(lines[lines.index("Measured") + 1 :])
    block = measured[: measured.index("\n\n")]
    assert re.split(r"\s{2,}", block.splitlines()[0].strip()) == [
        *("lossy", "5-95 %", "clean", "5-95 %"),
    ]
    assert row(block, "bulk receiver")[1:] == ["26.2 Mbit/s", "19.7-30.5", "47.4 Mbit/s", "-"]


def test_blocks_keep_together_what_belongs_together() -> None:
    grid = Grid(
        columns=("one", "5-95 %", "two", "5-95 %"),
        rows=(Row("label", ("1", "0-2", "3", "2-4")),),
        together=2,
    )
    blocks = list(_blocks(grid, 20))
    assert [block.columns for block in blocks] == [("one", "5-95 %"), ("two", "5-95 %")]


def test_ranges() -> None:
    assert number_ranges([]) == ""
    assert number_ranges([1, 2, 3, 5, 7, 8]) == "1-3, 5, 7-8"


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
