"""The data of charts, and that a browser draws them."""

from __future__ import annotations

import base64
import dataclasses
import gzip
import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect

from longfat.analysis.verdict import Verdict
from longfat.model.metric import Unit
from longfat.output.plot import DARK, Line, Panel, PhaseTrace, Reference, Trace
from longfat.output.plot.style import line_style
from longfat.output.report import files, record, rendering
from longfat.output.report.charts import ChartData, PhaseSpec
from longfat.output.report.embedded import BUNDLE, embed
from longfat.output.report.files import write_report
from tests.browser import open_browser
from tests.output.report.pages import parsed
from tests.paths import REPOSITORY

TIMES_S = np.arange(0, 2, 0.5)
WEB = REPOSITORY / "web" / "src"
MAX_BYTES = 700_000  # of a page of a lab


def line(values: list[float], **more: object) -> Line:
    whole = Line(label="a", times_s=TIMES_S, values=np.array(values), unit=Unit.BPS)
    return dataclasses.replace(whole, **more)  # type: ignore[arg-type]


def chart_of(*lines: Line, **more: object) -> dict[str, object]:
    panel = Panel(name="throughput", title="Throughput", lines=lines)
    panel = dataclasses.replace(panel, **more)  # type: ignore[arg-type]
    data = ChartData()
    data.add_panels("x", [panel], time_label="time (s)", span_s=(0.0, 2.0))
    found: dict[str, object] = json.loads(json.dumps(data.to_json(), allow_nan=False))
    return found


def test_values_are_in_base_units_and_gaps_stay() -> None:
    low, high = np.array([0.0, 1e9, 1e9, 2e9]), np.array([0.0, 3e9, 3e9, 4e9])
    found = chart_of(line([0.0, 2.345678e9, np.nan, 3e9], low=low, high=high))
    (panel,) = found["charts"]["x"]["panels"]  # type: ignore[index]
    (shown,) = panel["lines"]
    assert (panel["unit"], panel["counted"]) == ("bit/s", "")
    assert shown["values"] == [0, 2_350_000_000, None, 3_000_000_000]
    assert (shown["low"][1], shown["high"][1]) == (1e9, 3e9)


def test_times_stand_there_once() -> None:
    part = Trace(TIMES_S, np.ones(4))
    found = chart_of(line([1.0] * 4, parts=(part, part)), line([2.0] * 4, style_index=1))
    first, second = found["charts"]["x"]["panels"][0]["lines"]  # type: ignore[index]
    assert found["times"][first["times_s"]] == [0, 50_000, 50_000, 50_000]  # type: ignore[index]
    assert second["times_s"] == first["times_s"] == first["parts"][1]["times_s"]
    assert len(found["times"]) == 2  # type: ignore[arg-type]  # no reply is missing


def test_references_are_values_with_their_names() -> None:
    found = chart_of(line([1e9] * 4), references=(Reference(value=2e9, label="limit"),))
    (panel,) = found["charts"]["x"]["panels"]  # type: ignore[index]
    assert panel["references"] == [{"label": "limit", "value": 2e9}]


def test_long_lines_are_thinned_and_keep_their_peak() -> None:
    times_s = np.arange(50_000) / 1000
    values = np.ones(50_000)
    values[33_333] = 7.0
    long = Line(label="a", times_s=times_s, values=values, unit=Unit.COUNT)
    found = chart_of(long)
    (shown,) = found["charts"]["x"]["panels"][0]["lines"]  # type: ignore[index]
    assert len(shown["values"]) <= 3000
    assert max(shown["values"]) == 7
    assert shown["dense"]


def test_orbits_leave_out_what_is_not_known() -> None:
    across = np.array([np.nan, 1.0, 2.0, 3.0]) * 1024**2
    trace = PhaseTrace(
        label="a", times_s=TIMES_S, across=across, up=np.arange(4.0), across_mark=2.0 * 1024**2
    )
    data = ChartData()
    data.add_phase("x", [trace], across="window", up="queue")
    chart = cast("PhaseSpec", data.to_json()["charts"]["x"])
    assert chart["across"] == ("window", "MB")
    assert chart["traces"][0]["x"] == [1.0, 2.0, 3.0]
    assert chart["traces"][0]["marks"] == (2.0, None)


def test_the_script_has_the_colours_and_dashes_of_the_static_figures() -> None:
    style = (WEB / "charts" / "series.css").read_text(encoding="utf-8")
    pairs = re.findall(r"--series-(\d): light-dark\((#\w+), (#\w+)\)", style)
    wanted = [line_style(style_index).colour for style_index in range(7)]
    assert pairs == [(str(style_index), one, DARK[one]) for style_index, one in enumerate(wanted)]
    source = (WEB / "charts" / "lineStyles.ts").read_text(encoding="utf-8")
    found = re.search(r"FIGURE_DASHES: number\[\]\[\] = (.*);", source)
    assert found is not None
    dashes = [line_style(style_index).dash for style_index in range(4)]
    assert json.loads(found[1]) == [
        [] if dash == "-" else pytest.approx([1.8 * part for part in dash[1]], abs=0.05)
        for dash in dashes
    ]


def test_policy_names_the_script_that_is_there(lab08_report: Path) -> None:
    text = (lab08_report / "report.html").read_text(encoding="utf-8")
    data, script = parsed(text).scripts
    hashes = re.findall(r"&#39;(sha256-[^&]+)&#39;", text)
    wanted = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert hashes == [f"sha256-{wanted}"]
    charts = json.loads(gzip.decompress(base64.b64decode(data)))["charts"]
    assert list(charts) == ["traffic", "ping"]
    assert "default-src &#39;none&#39;" in text
    assert "unsafe-eval" not in text
    assert len(text) < MAX_BYTES


def test_embedding_twice_gives_equal_text() -> None:
    assert embed({"a": 1}) == embed({"a": 1})
    assert embed(None) is None


def test_where_the_script_is_not_built_the_page_is_static_and_says_how_to_build_it(
    lab08: Verdict, own_report: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert embed({"a": 1}, bundle=tmp_path) is None
    monkeypatch.setattr(rendering, "embed", lambda *_, **__: None)
    monkeypatch.setattr(files, "is_built", lambda: False)
    (own_report / "report.html").unlink()  # the page alone is made again
    report = write_report(lab08, own_report)
    assert [note for note in report.notes if "make report-script" in note] == [report.notes[-1]]
    text = report.page.read_text(encoding="utf-8")
    assert parsed(text).scripts == []
    assert "<svg " in text
    assert "data-chart" not in text


def test_a_report_is_made_again_when_the_script_is_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bundle = tmp_path / "output" / "report" / BUNDLE.name
    bundle.mkdir(parents=True)
    monkeypatch.setattr(record, "_OWN", tmp_path)
    digests = []
    for script in (None, "one", "two"):
        if script is not None:
            (bundle / "report.js").write_text(script)
        record._environment_digest.cache_clear()
        digests.append(record.drawing_digest())
    record._environment_digest.cache_clear()
    assert len(set(digests)) == 3


@pytest.fixture(scope="module")
def page(lab08_report: Path) -> Iterator[Page]:
    with open_browser() as browser:
        page = browser.new_page(viewport={"width": 1000, "height": 8000}, locale="en-US")
        page.set_default_timeout(60_000)
        errors: list[str] = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda said: errors.append(said.text) if said.type == "error" else None)
        page.goto(f"file://{lab08_report / 'report.html'}#from=2&to=4")
        expect(page.locator(".plot canvas")).to_have_count(4)  # ping, and three of traffic
        yield page
        assert errors == []


def test_a_browser_draws_what_stands_in_the_page(page: Page) -> None:
    expect(page.locator("html.charts")).to_have_count(1)
    expect(page.locator(".panel-title")).to_have_count(4)
    expect(page.locator("[aria-pressed=true]").first).to_be_visible()
    expect(page.locator(".static").first).to_be_hidden()
    expect(page.get_by_role("img", name="Throughput", exact=False).first).to_be_visible()
    for plot in page.locator(".plot").all():
        assert len(colours(plot)) > 3


def test_the_address_zooms_all_panels_and_a_double_click_shows_all(page: Page) -> None:
    plots = page.locator(".traffic .plot")
    page.get_by_role("button", name="Show all of the time").first.click()
    whole = [times_at_the_edges(page, plot) for plot in plots.all()]
    assert all(first < 0.2 and last > 9 for first, last in whole)
    drag(page, plots.nth(1), 0.2, 0.4)
    zoomed = [times_at_the_edges(page, plot) for plot in plots.all()]
    first, last = whole[0]
    wanted = pytest.approx((first + 0.2 * (last - first), first + 0.4 * (last - first)), abs=0.1)
    assert zoomed == [wanted] * len(zoomed)
    page.get_by_role("button", name="Later").first.click()
    assert times_at_the_edges(page, plots.first)[0] > zoomed[0][0] + 0.5
    plots.nth(2).locator(".u-over").dblclick()
    assert times_at_the_edges(page, plots.first) == whole[0]
    page.goto(f"{page.url.partition('#')[0]}#from=2&to=4")
    page.reload()
    expect(page.locator(".plot canvas")).to_have_count(4)
    assert times_at_the_edges(page, plots.first) == pytest.approx((2, 4), abs=0.05)


def test_the_cursor_reads_all_panels_at_one_time(page: Page) -> None:
    hover(page, page.locator(".traffic .plot").first, 0.5)
    boxes = page.locator(".traffic .readout:visible")
    expect(boxes).to_have_count(3)
    texts = boxes.all_inner_texts()
    assert len({text.splitlines()[0] for text in texts}) == 1
    assert re.search(r"tuned: [\d.]+ Gbit/s", texts[0])
    assert re.search(r"tuned: [\d.]+ ms", texts[1])
    page.mouse.move(1, 1)
    expect(boxes).to_have_count(0)


def test_a_name_hides_its_line_in_all_panels_and_twice_shows_it_alone(page: Page) -> None:
    plot = page.locator(".traffic .plot").first
    names = page.locator(".traffic .legend button")
    name = names.filter(has_text="tuned")
    shown = colours(plot)
    name.press("Enter")  # by the keyboard, as by a click
    expect(name).to_have_attribute("aria-pressed", "false")
    hidden = colours(plot)
    assert shown - hidden
    hover(page, plot, 0.5)
    assert "tuned" not in page.locator(".traffic .readout:visible").first.inner_text()
    name.press("Enter")
    assert colours(plot) >= shown
    name.dblclick()
    expect(page.locator(".traffic .legend [aria-pressed=true]")).to_have_count(1)
    name.dblclick()
    expect(page.locator(".traffic .legend [aria-pressed=false]")).to_have_count(0)


def test_charts_follow_the_colour_scheme(page: Page) -> None:
    plot = page.locator(".traffic .plot").first
    light = colours(plot)
    page.emulate_media(color_scheme="dark")
    page.wait_for_timeout(200)
    dark = colours(plot)
    page.emulate_media(color_scheme="light")
    assert (0, 0x7A, 0x5A) in light - dark
    assert (0x2F, 0xBF, 0x94) in dark - light


def test_on_paper_the_page_has_its_static_figures(page: Page) -> None:
    page.emulate_media(media="print")
    expect(page.locator(".static").first).to_be_visible()
    expect(page.locator(".chart").first).to_be_hidden()
    page.emulate_media(media="screen")


def colours(plot: Locator) -> set[tuple[int, ...]]:
    """Return the opaque colours on a plot's canvas."""
    pixels = plot.locator("canvas").evaluate(
        """(canvas) => {
            const {data} = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
            const found = new Set();
            for (let at = 0; at < data.length; at += 4)
                if (data[at + 3] === 255)
                    found.add(data[at] * 65536 + data[at + 1] * 256 + data[at + 2]);
            return [...found];
        }"""
    )
    return {(one >> 16, one >> 8 & 255, one & 255) for one in pixels}


def hover(page: Page, plot: Locator, share: float) -> None:
    box = plot.locator(".u-over").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + share * box["width"], box["y"] + box["height"] / 2)
    page.wait_for_timeout(50)


def drag(page: Page, plot: Locator, start: float, end: float) -> None:
    hover(page, plot, start)
    page.mouse.down()
    hover(page, plot, (start + end) / 2)
    hover(page, plot, end)
    page.mouse.up()


def times_at_the_edges(page: Page, plot: Locator) -> tuple[float, float]:
    """Return the times that a plot reads at its left and at its right edge."""
    found = []
    for share in (0.002, 0.998):
        hover(page, plot, share)
        heading = plot.locator(".readout p").first.inner_text()
        found.append(float(heading.removesuffix(" s")))
    return found[0], found[1]
