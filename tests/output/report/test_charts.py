"""The data of charts, and that a browser draws them."""

import base64
import dataclasses
import gzip
import hashlib
import json
import re
from pathlib import Path

import numpy as np
from playwright.sync_api import expect

from longfat.analysis.verdict import Verdict
from longfat.model.metric import Unit
from longfat.output.plot import Line, Panel, PhaseTrace, Reference, Trace
from longfat.output.report import write_report
from longfat.output.report.charts import ChartData
from longfat.output.report.embedded import embed
from tests.browser import open_browser
from tests.output.report.pages import parsed

TIMES_S = np.arange(0, 2, 0.5)


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


def test_values_are_in_the_unit_of_the_axis_and_gaps_stay() -> None:
    low, high = np.array([0.0, 1e9, 1e9, 2e9]), np.array([0.0, 3e9, 3e9, 4e9])
    found = chart_of(line([0.0, 2.345678e9, np.nan, 3e9], low=low, high=high))
    (panel,) = found["charts"]["x"]["panels"]  # type: ignore[index]
    (shown,) = panel["lines"]
    assert panel["unit"] == "Gbit/s"
    assert shown["y"] == [0.0, 2.3457, None, 3.0]
    assert (shown["low"][1], shown["high"][1]) == (1.0, 3.0)
    assert panel["top"] > 4.0


def test_times_stand_there_once() -> None:
    part = Trace(TIMES_S, np.ones(4))
    found = chart_of(line([1.0] * 4, parts=(part, part)), line([2.0] * 4, look=1))
    assert found["times"] == [TIMES_S.tolist()]


def test_a_far_reference_is_told_and_not_drawn() -> None:
    marks = (Reference(value=2e9, label="near"), Reference(value=9e9, label="bottleneck"))
    found = chart_of(line([1e9] * 4), references=marks)
    (panel,) = found["charts"]["x"]["panels"]  # type: ignore[index]
    near, far = panel["references"]
    assert near == {"text": "near 2.00 Gbit/s", "at": 2.0}
    assert far == {"text": "bottleneck 9.00 Gbit/s, far above", "at": None}
    assert panel["top"] < 3.0


def test_long_lines_are_thinned_and_keep_their_peak() -> None:
    times_s = np.arange(50_000) / 1000
    values = np.ones(50_000)
    values[33_333] = 7.0
    long = Line(label="a", times_s=times_s, values=values, unit=Unit.COUNT)
    found = chart_of(long)
    (shown,) = found["charts"]["x"]["panels"][0]["lines"]  # type: ignore[index]
    assert len(shown["y"]) <= 3000
    assert max(shown["y"]) == 7.0


def test_orbits_leave_out_what_is_not_known() -> None:
    across = np.array([np.nan, 1.0, 2.0, 3.0]) * 1024**2
    orbit = PhaseTrace(
        label="a", times_s=TIMES_S, across=across, up=np.arange(4.0), across_mark=2.0 * 1024**2
    )
    data = ChartData()
    data.add_orbits("x", [orbit], across="window", up="queue")
    chart = data.to_json()["charts"]["x"]
    assert chart["across"] == ["window", "MB"]
    assert chart["orbits"][0]["x"] == [1.0, 2.0, 3.0]
    assert chart["orbits"][0]["marks"] == [2.0, None]


def test_policy_names_the_scripts_that_are_there(lab08: Verdict, tmp_path: Path) -> None:
    text = write_report(lab08, tmp_path).page.read_text(encoding="utf-8")
    library, data, script = parsed(text).scripts
    hashes = re.findall(r"&#39;(sha256-[^&]+)&#39;", text)
    code = gzip.decompress(base64.b64decode(library))
    wanted = [base64.b64encode(hashlib.sha256(c).digest()) for c in (script.encode(), code)]
    assert hashes == [f"sha256-{one.decode()}" for one in wanted]
    charts = json.loads(gzip.decompress(base64.b64decode(data)))["charts"]
    assert list(charts) == ["traffic", "ping"]
    assert "default-src &#39;none&#39;" in text


def test_embedding_twice_gives_equal_text() -> None:
    assert embed({"a": 1}) == embed({"a": 1})


def test_a_browser_draws_what_stands_in_the_page(lab08: Verdict, tmp_path: Path) -> None:
    report = write_report(lab08, tmp_path).page
    with open_browser() as browser:
        page = browser.new_page(viewport={"width": 1000, "height": 8000}, locale="en-US")
        page.set_default_timeout(60_000)
        page.goto(f"file://{report}#from=2&to=4")
        expect(page.locator(".plot.js-plotly-plot")).to_have_count(4)  # ping, and three of traffic
        expect(page.locator(".panel-title")).to_have_count(4)
        expect(page.locator("[aria-pressed=true]").first).to_be_visible()
        expect(page.locator("g.xtick").first).to_be_visible()
        text = page.content()
    assert '<html lang="en" class="charts">' in text
    # The axis of all of them is zoomed: the least tick that is shown is 2.
    ticks = re.findall(r'<g class="xtick"><text[^>]*>([^<]*)</text>', text)
    assert ticks
    assert {float(tick) >= 2 for tick in ticks} == {True}
