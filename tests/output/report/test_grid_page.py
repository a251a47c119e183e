"""The report of a grid: its files, its page, and the page's table and charts in a browser."""

from __future__ import annotations

import base64
import dataclasses
import gzip
import hashlib
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import FloatRect, Locator, Page
from rich.console import Console

from longfat.analysis.verdict import Verdict, evaluate
from longfat.cli.render.verdict import print_files, print_verdict
from longfat.execution.runs import load_run
from longfat.output.report import rendering
from longfat.output.report.case_table import _text, case_table
from longfat.output.report.files import write_report
from longfat.output.report.values import report_scope
from longfat.study import read_study
from tests.browser import open_browser
from tests.output.report.pages import parsed, references_of
from tests.paths import TESTS

DATA = TESTS / "data" / "runs" / "lab08" / "default-seed1"

STUDY = """\
title: A grid <b>of</b> buffers
grid: {cc: [reno, cubic, bbr], buffer: [1MB, 64KB, 256KB, 2KB, 4KB], rtt: [10ms, 1ms, 100ms]}
network: {hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8}, links: [[h1, h2]]}
setup: [{h1: "echo $<cc> $<buffer> $<rtt>"}]
flows: {bulk: {iperf3: h1 -> h2}, rtt: {ping: h1 -> h2}}
probes: {queue: {of: h1-eth0}}
claims:
  - none is slow: all(bulk.receiver > 15mbit)
figures:
  - Rate: {lines: bulk.receiver, over: buffer, by: cc, each: rtt, log: x}
  - Trade: {points: rtt.avg, against: bulk.receiver, by: cc}
  - Heat: {heat: rtt.avg, over: rtt, up: buffer, each: cc}
"""


def grid_of(folder: Path, text: str = STUDY) -> Verdict:
    """Return a grid whose case number k has a rate of 10 + k Mbit/s."""
    (folder / "study.yaml").write_text(text, encoding="utf-8")
    study = read_study(folder)
    like = load_run(DATA)
    runs = {}
    for k, (name, planned) in enumerate(study.cases.items()):
        metrics = {
            "bulk.receiver_bps": 10e6 + 1e6 * k,
            "bulk.retransmits": float(1000 - k),
            "rtt.avg_s": 0.001 * (k + 1),
        }
        if k == 7:
            del metrics["rtt.avg_s"]  # no reply came back
        runs[name] = [
            dataclasses.replace(
                like,
                name=name,
                case=planned.case,
                parameters=planned.parameters,
                metrics=metrics,
                digest=f"{k:064x}",
            )
        ]
    return evaluate(study, runs)


@pytest.fixture(scope="module")
def grid(tmp_path_factory: pytest.TempPathFactory) -> Verdict:
    return grid_of(tmp_path_factory.mktemp("grid"))


@pytest.fixture(scope="module")
def out(grid: Verdict, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("out")
    write_report(grid, folder)
    return folder


@pytest.fixture(scope="module")
def text(out: Path) -> str:
    return (out / "report.html").read_text(encoding="utf-8")


def unpacked(text: str, name: str) -> Any:
    found = re.search(rf'<script id="{name}" type="text/plain">([^<]+)</script>', text)
    assert found is not None
    return json.loads(gzip.decompress(base64.b64decode(found[1])))


def test_small_studies_are_shown_case_by_case_and_grids_together(
    lab08: Verdict, grid: Verdict
) -> None:
    assert not report_scope(lab08).grid
    whole = report_scope(grid)
    assert (whole.grid, whole.over_time) == (True, False)
    assert "45 cases" in whole.notes[0]
    few = dict(list(grid.runs.items())[:5])
    assert report_scope(dataclasses.replace(grid, runs=few)).over_time
    plain = dataclasses.replace(grid, study=dataclasses.replace(grid.study, grid=None))
    assert report_scope(plain).grid


@pytest.mark.parametrize("width", [80, 120])
def test_the_terminal_has_a_line_a_case_and_one_folder(grid: Verdict, width: int) -> None:
    console = Console(file=io.StringIO(), width=width, highlight=False)
    with console.capture() as captured:
        print_verdict(grid, console=console)
        print_files(grid, console=console, files=None)
    text = captured.get()
    lines = text.splitlines()
    for name in list(grid.runs)[:24]:
        assert sum(line.startswith(f"{name} ") for line in lines) == 1
    assert "Window arithmetic" not in text
    assert sum(line.startswith("runs ") for line in lines) == 1
    assert max(len(line.rstrip()) for line in lines[: lines.index("Files")]) <= width


@pytest.mark.slow
def test_every_chart_is_written_in_every_form(out: Path) -> None:
    files = sorted(path.name for path in (out / "figures").iterdir())
    names = [f"{name}.{form}" for name in ("heat", "rate", "trade") for form in FORMS]
    assert files == sorted(names)
    assert not (out / "plots").exists()
    assert (out / "report.pdf").read_bytes().startswith(b"%PDF-")
    assert (out / "figures" / "rate.png").read_bytes().startswith(b"\x89PNG")
    assert (out / "figures" / "rate.svg").read_bytes().startswith(b"<?xml")


FORMS = ("pdf", "png", "svg")


@pytest.mark.slow
def test_equal_runs_give_equal_bytes(grid: Verdict, out: Path, tmp_path: Path) -> None:
    write_report(grid, tmp_path)
    for path in out.rglob("*"):
        if path.is_file():
            assert path.read_bytes() == (tmp_path / path.relative_to(out)).read_bytes()


def test_figures_of_an_earlier_report_go_and_a_persons_own_stay(
    grid: Verdict, lab08: Verdict, own_report: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Only which files there are is looked at.
    monkeypatch.setattr(rendering, "saved", lambda *_, **__: b"<svg></svg>")
    monkeypatch.setattr(rendering, "pdf_bytes", lambda html: html.encode())
    assert (own_report / "plots" / "traffic.png").exists()
    write_report(grid, own_report)
    assert list((own_report / "plots").iterdir()) == []
    own = own_report / "figures" / "mine.png"
    own.write_bytes(b"mine")
    (own_report / "secret").write_bytes(b"not ours")
    write_report(lab08, own_report)
    assert [path.name for path in (own_report / "figures").iterdir()] == ["mine.png"]
    assert (own_report / "secret").exists()


def test_the_page_tells_of_parameters_claims_and_what_was_run(text: str) -> None:
    page = parsed(text)
    assert "<b>of</b>" not in text
    for words in (
        "45 of 45 cases",
        "45 combinations.",
        "1MB, 64KB, 256KB, 2KB, 4KB",
        "none is slow",
        "holds in 39 of 45 cases",
        "reno-1MB-10ms: bulk.receiver_bps = 10.0 Mbit/s",
        "and 1 more",
        "longfat run",
        "6.1.192",
    ):
        assert words in text, words
    assert re.findall(r'data-chart="([^"]+)"', text) == ["chart-rate", "chart-trade", "chart-heat"]
    assert {link.removeprefix("#") for link in page.links} <= set(page.ids)
    assert {r for r in references_of(page) if not r.startswith(("#", "data:"))} == set()
    assert len(page.ids) == len(set(page.ids))
    assert page.handlers == []


def test_only_scripts_that_the_policy_names_may_run(text: str) -> None:
    scripts = parsed(text).scripts
    hashes = re.findall(r"&#39;(sha256-[^&]+)&#39;", text)
    assert len(scripts) == 3  # the cases, the charts, and our own
    ours = base64.b64encode(hashlib.sha256(scripts[-1].encode()).digest()).decode()
    assert hashes == [f"sha256-{ours}"]


def test_the_table_has_all_cases_with_one_unit_a_column(grid: Verdict, text: str) -> None:
    data = unpacked(text, "case-data")
    columns = {column["key"]: column for column in data["columns"]}
    assert data["rows"] == 45
    assert columns["bulk.receiver_bps"]["unit"] == "Mbit/s"
    assert columns["bulk.receiver_bps"]["numbers"] == [10.0 + k for k in range(45)]
    assert columns["bulk.retransmits"]["digits"] == 0
    assert columns["rtt.avg_s"]["numbers"][6:9] == [7.0, None, 9.0]
    # Numbers are in their order, texts as the study has them.
    assert columns["buffer"]["choices"] == ["2KB", "4KB", "64KB", "256KB", "1MB"]
    assert columns["rtt"]["choices"] == ["1ms", "10ms", "100ms"]
    assert columns["cc"]["choices"] == ["reno", "cubic", "bbr"]
    assert not columns["digest"]["shown"]
    table = case_table(grid)
    assert [column.cell(7) for column in table.plain][:5] == [
        *("reno-256KB-1ms", "reno", "256KB", "1ms", "17.0"),
    ]
    assert {c.key: c.cell(7) for c in table.columns}["rtt.avg_s"] == "-"
    assert table.narrowed(3).plain == table.plain[:3]


def test_the_charts_have_their_cases_and_gaps(text: str) -> None:
    data = unpacked(text, "chart-data")
    rate, trade, heat = (data["charts"][f"chart-{name}"] for name in ("rate", "trade", "heat"))
    assert [facet["title"] for facet in rate["facets"]] == ["rtt: 10ms", "rtt: 1ms", "rtt: 100ms"]
    first = rate["facets"][0]["series"][0]
    assert data["names"][first["names"][0]] == "reno-2KB-10ms"
    assert rate["x"]["log"]
    points = trade["facets"][0]["series"]
    assert sum(len(one["x"]) for one in points) == 44  # one case had no reply
    assert heat["colour"]["unit"] == "ms"
    assert heat["facets"][0]["z"][2][1] is None


def test_many_plain_cases_have_the_table_and_no_parameters(grid: Verdict, tmp_path: Path) -> None:
    cases = {n: dataclasses.replace(p, parameters={}) for n, p in grid.study.cases.items()}
    study = dataclasses.replace(grid.study, grid=None, cases=cases, figures=(), claims=())
    files = write_report(evaluate(study, grid.runs), tmp_path)
    text = files.page.read_text(encoding="utf-8")
    assert files.figures == ()
    assert "Parameters" not in text
    assert unpacked(text, "case-data")["rows"] == 45
    assert len(parsed(text).scripts) == 2


# ---- in a browser -------------------------------------------------------------------------


@pytest.fixture(scope="module")
def page(out: Path) -> Iterator[Page]:
    with open_browser() as browser:
        page = browser.new_page(viewport={"width": 1100, "height": 800}, locale="en-US")
        page.set_default_timeout(60_000)
        errors: list[str] = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda said: errors.append(said.text) if said.type == "error" else None)
        page.goto(f"file://{out / 'report.html'}")
        page.wait_for_selector(".cases-built")
        yield page
        assert errors == []


def column(page: Page, place: int) -> list[str]:
    return page.locator(f"#case-table tbody tr > :nth-child({place})").all_inner_texts()


def test_a_click_on_a_head_sorts_and_another_turns(page: Page) -> None:
    page.get_by_role("button", name="show all cases").click()
    head = page.get_by_role("button", name="rtt mean RTT (ms)")
    head.click()
    place = 7
    told = column(page, place)
    assert told[-1] == "-"
    numbers = [float(text) for text in told[:-1]]
    assert len(numbers) == 44
    assert numbers == sorted(numbers)
    head.click()
    assert page.locator("#case-table th[aria-sort]").get_attribute("aria-sort") == "descending"
    turned = column(page, place)
    assert turned[-1] == "-"
    assert [float(text) for text in turned[:-1]] == numbers[::-1]
    page.get_by_role("button", name="buffer", exact=True).click()
    sizes = column(page, 3)
    assert list(dict.fromkeys(sizes)) == ["2KB", "4KB", "64KB", "256KB", "1MB"]


def test_filters_leave_what_fits(page: Page) -> None:
    page.get_by_role("button", name="show all cases").click()
    assert page.get_by_role("status").inner_text() == "45 cases"
    page.get_by_label("Filter by cc").select_option("bbr")
    assert page.get_by_role("status").inner_text() == "15 of 45 cases"
    assert set(column(page, 2)) == {"bbr"}
    field = page.get_by_label("Filter by bulk receiver (Mbit/s)")
    field.fill(">= 50")
    assert {float(text) >= 50 for text in column(page, 5)} == {True}
    field.fill("42 - 44")
    assert column(page, 5) == ["42.0", "43.0", "44.0"]
    field.fill("much")
    assert field.get_attribute("aria-invalid") == "true"
    page.get_by_role("button", name="show all cases").click()
    page.get_by_label("Filter by case").fill("cubic-1mb")
    assert len(column(page, 1)) == 3
    page.get_by_role("button", name="show all cases").click()


def test_columns_are_chosen_and_what_is_shown_is_saved(page: Page) -> None:
    page.get_by_role("button", name="show all cases").click()
    page.get_by_text("columns", exact=True).click()
    page.get_by_role("checkbox", name="digest").check()
    assert column(page, 8)[3] == f"{3:064x}"[:12]
    page.get_by_role("checkbox", name="digest").uncheck()
    page.get_by_label("Filter by cc").select_option("reno")
    with page.expect_download() as saving:
        page.get_by_role("button", name="save as CSV").click()
    lines = Path(saving.value.path()).read_text().splitlines()
    assert len(lines) == 16
    assert lines[0].startswith("case,cc,buffer,rtt,bulk receiver (Mbit/s)")
    assert lines[8].endswith(",17,993,")
    page.get_by_role("button", name="show all cases").click()


def chart(page: Page, name: str) -> Locator:
    """Return a chart, when its plots are drawn."""
    found = page.locator(f"[data-chart=chart-{name}]")
    found.scroll_into_view_if_needed()
    found.locator("canvas").first.wait_for()
    return found


def over(plot: Locator) -> FloatRect:
    plot.scroll_into_view_if_needed()
    box = plot.locator(".u-over").bounding_box()
    assert box is not None
    return box


def place(page: Page, plot: Locator, x: float, y: float) -> list[str]:
    """Point at a place, in parts of a plot from the left and from below; return what it reads."""
    box = over(plot)
    page.mouse.move(box["x"] + x * box["width"], box["y"] + (1 - y) * box["height"])
    page.wait_for_timeout(50)
    return plot.locator(".readout:visible p").all_inner_texts()


def test_a_point_tells_its_case_and_names_hide_series(page: Page) -> None:
    trade = chart(page, "trade")
    plot = trade.locator(".plot")
    # From 10 to 54 Mbit/s and from 1 to 45 ms, on axes from 0 with 8 % of room above.
    x, y = 25 / (54 * 1.08), 16 / (45 * 1.08)
    told = place(page, plot, x, y)
    assert told == [
        *("cubic-1MB-10ms", "cubic"),
        *("bulk receiver: 25 Mbit/s", "rtt mean RTT: 16 ms"),
    ]
    trade.get_by_role("button", name="cubic").click()
    assert "cubic" not in place(page, plot, x, y)
    trade.get_by_role("button", name="cubic").click()
    assert "cubic" in place(page, plot, x, y)


def test_what_is_zoomed_in_one_part_is_zoomed_in_all(page: Page) -> None:
    rate = chart(page, "rate")
    plots = rate.locator(".plot")
    assert plots.count() == 3
    every = rate.get_by_role("button", name="Show all")
    assert every.is_disabled()
    before = [plot.locator("canvas").evaluate("(one) => one.toDataURL()") for plot in plots.all()]
    box = over(plots.first)
    page.mouse.move(box["x"] + 0.3 * box["width"], box["y"] + 0.3 * box["height"])
    page.mouse.down()
    page.mouse.move(box["x"] + 0.6 * box["width"], box["y"] + 0.6 * box["height"], steps=4)
    page.mouse.up()
    page.wait_for_timeout(100)
    after = [plot.locator("canvas").evaluate("(one) => one.toDataURL()") for plot in plots.all()]
    assert all(one != other for one, other in zip(before, after, strict=True))
    plots.nth(1).locator(".u-over").dblclick()
    assert every.is_disabled()
    again = [plot.locator("canvas").evaluate("(one) => one.toDataURL()") for plot in plots.all()]
    assert again == before


def test_a_cell_of_a_heat_map_tells_its_value_and_an_empty_one_that_it_has_none(
    page: Page,
) -> None:
    heat = chart(page, "heat")
    plots = heat.locator(".plot")
    assert plots.count() == 3
    rows = ["1MB", "64KB", "256KB", "2KB", "4KB"]
    told = place(page, plots.first, 1 / 6, (rows.index("64KB") + 0.5) / 5)
    assert told == ["rtt mean RTT: 4.0 ms", "rtt: 10ms", "buffer: 64KB"]
    told = place(page, plots.first, 0.5, (rows.index("256KB") + 0.5) / 5)
    assert told[0] == "rtt mean RTT: no value"


def test_a_small_number_among_large_ones_is_a_decimal() -> None:
    assert _text(0.4712, 0) == "0.47"
    assert _text(191.2, 0) == "191"
    assert _text(0.0, 0) == "0"
