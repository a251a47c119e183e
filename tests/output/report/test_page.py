"""The page of a study with seeds, probes and a text, from a real run; and what cannot get in."""

import dataclasses
import re
import shutil
import time
from html import unescape
from itertools import pairwise
from pathlib import Path

import pytest

from longfat.analysis.verdict import Verdict, evaluate
from longfat.execution import Batch, run_batches
from longfat.execution.runs import load_run
from longfat.output.report.figures import figure_groups, visible_groups
from longfat.output.report.files import ReportFiles, report_page, write_report
from longfat.output.report.page import Page as ReportPage
from longfat.output.report.pdf import pdf_bytes
from longfat.study import read_study
from tests.browser import open_browser
from tests.output.report.conftest import RUNS
from tests.output.report.pages import parsed
from tests.resealed import reseal

STUDY = """
title: A queue <script>alert(1)</script>
memory: 512MB
seeds: 2
network:
  hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8}
  switches: [s1]
  links: [[h1, s1], [h2, s1]]
setup:
  - root: "tc qdisc add dev s1-eth2 root handle 1: netem delay 10ms"
  - root: "tc qdisc add dev s1-eth2 parent 1: handle 2: tbf rate 20mbit burst 20000 limit 100000"
flows:
  bulk: {iperf3: h1 -> h2, time: 2s}
probes:
  queue: {of: s1-eth2, every: 50ms}
  tcp: {of: bulk, every: 50ms}
claims:
  - it is full: default.bulk.receiver > 15mbit
"""
TEXT = """
# A queue

## What to see

[network]

<script>alert(2)</script>

<details><summary>Why?</summary>

Because.

</details>
"""


@pytest.fixture(scope="module")
def probed(tmp_path_factory: pytest.TempPathFactory) -> Verdict:
    folder = tmp_path_factory.mktemp("probed")
    (folder / "study.yaml").write_text(STUDY)
    (folder / "text.md").write_text(TEXT)
    study = read_study(folder)
    (runs,) = run_batches([Batch(cases=study.cases, out=folder / "runs")]).runs
    return evaluate(study, runs)


@pytest.fixture(scope="module")
def files(probed: Verdict, tmp_path_factory: pytest.TempPathFactory) -> ReportFiles:
    return write_report(probed, tmp_path_factory.mktemp("page"))


@pytest.fixture(scope="module")
def page(files: ReportFiles) -> str:
    return files.page.read_text(encoding="utf-8")


def test_page_with_seeds_and_probes(page: str) -> None:
    html = parsed(page)
    for words in (
        "2 runs with the seeds 1-2",
        "line: median of 2 seeds; band: 5-95 %",
        "Queue of s1-eth2",
        "Queue against congestion window",
        "What limited each flow",
        "holds in 2 of 2 seeds",
    ):
        assert words in page
    assert re.findall(r'data-chart="([^"]+)"', page) == ["traffic", "phase"]
    # One of the first level, and never a level left out on the way down.
    assert html.headings.count(1) == 1
    assert all(b - a <= 1 for a, b in pairwise(html.headings))
    assert {link.removeprefix("#") for link in html.links if link.startswith("#")} <= set(html.ids)


def test_text_stands_before_the_results_and_places_the_network(page: str) -> None:
    order = ["What to see</h2>", '<svg class="network"', "Because.", "What was run</h2>"]
    places = [page.index(words) for words in order]
    assert places == sorted(places)
    assert 'id="network"' not in page
    assert page.count('<svg class="network"') == 1


def test_no_script_of_a_study_gets_in(page: str) -> None:
    html = parsed(page)
    assert len(html.scripts) == 2  # the data, and our own
    assert html.handlers == []
    assert "<script>alert" not in page
    assert "A queue &lt;script&gt;alert(1)&lt;/script&gt;" in page


def test_page_without_probes(seeded: Verdict) -> None:
    text = report_page(seeded)
    parsed(text)
    assert "Throughput" in text
    assert "Queue against congestion window" not in text
    assert "that host | had a path of its own" in text
    assert "median" in text


@pytest.mark.slow
def test_pdf_made_twice_is_equal(probed: Verdict, files: ReportFiles, tmp_path: Path) -> None:
    one, other = files, write_report(probed, tmp_path)
    assert one.paper is not None
    assert other.paper is not None
    assert one.paper.read_bytes() == other.paper.read_bytes()
    assert one.page.read_bytes() == other.page.read_bytes()
    assert b"CreationDate" not in one.paper.read_bytes()


def test_pdf_knows_no_date() -> None:
    html = "<p>The fonts that it carries have a date of their own.</p>"
    one = pdf_bytes(html)
    time.sleep(1.1)  # dates are whole seconds
    assert pdf_bytes(html) == one


def test_pdf_fetches_nothing(tmp_path: Path) -> None:
    secret = tmp_path / "secret.css"
    secret.write_text("p { page-break-before: always }")
    plain = "<p>a</p><p>b</p>"
    linked = f'<link rel="stylesheet" href="file://{secret}">{plain}'
    assert pdf_bytes(linked) == pdf_bytes(plain)


def test_many_cases_are_thumbnails_and_have_a_zoomable_figure_each(many: Verdict) -> None:
    def traffic(verdict: Verdict, *, zoomable: bool) -> list[tuple[str, bool]]:
        groups = visible_groups(figure_groups(verdict), zoomable=zoomable)
        (found,) = [group for group in groups if group.anchor == "traffic"]
        return [(figure.case, figure.chart is not None) for figure in found.figures]

    names = list(many.runs)
    assert traffic(many, zoomable=True) == [("", False), *((name, True) for name in names)]
    assert traffic(many, zoomable=False) == [("", False)]
    few = {name: many.study.cases[name] for name in names if name != "parallel"}
    few = dict(list(few.items())[:2])
    study = dataclasses.replace(many.study, cases=few, claims=())
    verdict = evaluate(study, {name: many.runs[name] for name in few})
    assert traffic(verdict, zoomable=True) == [("", True)]


def test_paper_of_many_cases_is_compact(many: Verdict) -> None:
    def sections(verdict: Verdict) -> set[str]:
        page = ReportPage(verdict, figure_groups=(), svgs={})
        return set(parsed(page.for_paper()).ids)

    whole = {"commands", "iperf3"}
    assert whole <= sections(many)
    names = [f"{name}{copy}" for name in many.runs for copy in range(6)]
    study = dataclasses.replace(
        many.study, cases={name: many.study.cases[name[:-1]] for name in names}, claims=()
    )
    more = evaluate(study, {name: many.runs[name[:-1]] for name in names})
    assert not whole & sections(more)
    assert {"runs", "measured", "limiting-factors"} <= sections(more)
    page = ReportPage(more, figure_groups=(), svgs={})
    assert "are in report.html" in page.for_paper()
    assert whole <= set(parsed(page.for_screen(None)).ids)


def test_long_tables_are_made_when_they_are_unfolded(many: Verdict, tmp_path: Path) -> None:
    report = tmp_path / "report.html"
    report.write_text(report_page(many), encoding="utf-8")
    with open_browser() as browser:
        page = browser.new_page(viewport={"width": 1000, "height": 800})
        page.goto(f"file://{report}")
        streams = page.locator("details", has_text="each of the 4 streams").first
        assert streams.locator("table").count() == 0
        streams.locator("summary").click()
        table = streams.locator("table")
        table.wait_for()
        assert table.locator("thead th").all_inner_texts()[:3] == ["ID", "Interval", "Transfer"]
        assert table.locator("tbody").count() == 4
        rows = table.locator("tbody").first.locator("tr").all_inner_texts()
        assert all(re.match(r"1\s+[\d.]+-[\d.]+ sec\s+[\d.]+ .?Bytes", row) for row in rows)
        streams.locator("summary").click()
        streams.locator("summary").click()
        assert streams.locator("table").count() == 1


def test_of_a_large_file_of_a_case_the_page_shows_the_beginning(tmp_path: Path) -> None:
    folder = tmp_path / "lossy"
    shutil.copytree(RUNS / "seeded", folder)
    script = "cat > /opt/empty << 'EOF'\nEOF\ncat > /opt/small << 'EOF'\nsmall\nEOF\n"
    script += f"base64 -d > /opt/large << 'EOF'\n{'QUJD' * 5000}\nEOF\nchmod 644 /opt/large\n"
    run = folder / "lossy-seed1"
    (run / "commands.sh").write_text(script)
    reseal(run)
    study = read_study(folder)
    verdict = evaluate(study, {"lossy": [load_run(run)]})
    page = unescape(report_page(verdict))
    assert script[: script.index("QUJD")] in page
    assert page.count("QUJD") == 500
    assert "\n[18,001 more characters in commands.sh]\nEOF\nchmod 644 /opt/large\n" in page
