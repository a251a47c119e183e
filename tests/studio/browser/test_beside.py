"""Two runs at the same moment: one line of time, two networks with links, queues and charts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from longfat.execution import run_case
from longfat.study import read_study
from tests.studio.browser.acts import turn_to
from tests.studio.browser.conftest import Studio, watched_page
from tests.studio.browser.test_accessibility import violations

STUDY = """\
title: Two rates
memory: 256MB
network:
  hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8}
  switches: [s1]
  links: [[h1, s1], [s1, h2, {rate: 20mbit, delay: 10ms, queue: 60KB}]]
flows:
  bulk: {iperf3: h1 -> h2, time: 4s}
probes:
  queue: {of: s1-eth2, every: 20ms}
  tcp: {of: bulk, every: 20ms}
  rate: {of: [h1-eth0, s1-eth2], every: 20ms}
cases:
  wide: {title: early, events: [{at: 2s, link: [s1, h2], rate: 5mbit}]}
  narrow: {title: late, events: [{at: 3s, link: [s1, h2], rate: 2mbit}]}
layout: {h1: [100, 100], s1: [300, 100], h2: [500, 100]}
"""

pytestmark = pytest.mark.xdist_group("beside")


@pytest.fixture(scope="module")
def page(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    workspace = tmp_path_factory.mktemp("beside")
    runs(workspace)
    studio = Studio(workspace)
    with watched_page(browser, studio.url) as page:
        turn_to(page, "Runs")
        for name in ("narrow", "wide"):
            page.get_by_role("checkbox", name=re.compile(name)).check()
        page.get_by_role("button", name="Side by side").click()
        expect(page.get_by_role("region", name="Timeline of both runs")).to_be_visible()
        yield page
    studio.end()


def runs(workspace: Path) -> None:
    (workspace / "study.yaml").write_text(STUDY)
    for name, planned in read_study(workspace / "study.yaml").cases.items():
        run_case(planned.case, name=name, out=workspace / "runs" / "two")


def at(page: Page, time_s: float) -> None:
    page.get_by_role("slider", name="Time shown of both runs").evaluate(
        """(input, value) => {
            const set = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set;
            set.call(input, value);
            input.dispatchEvent(new Event("input", { bubbles: true }));
        }""",
        str(time_s),
    )


def moment_s(page: Page) -> float:
    slider = page.get_by_role("slider", name="Time shown of both runs")
    return float(slider.input_value())


def rates(page: Page) -> dict[str, float]:
    """Return what each column's card says of the flow, in Mbit/s."""
    found = {}
    for name in ("narrow", "wide"):
        column = page.get_by_role("region", name=re.compile(f"{name}-seed1$"))
        card = column.get_by_role("region", name="Flows at the displayed time")
        told = re.search(r"bulk[^\t]*\t\s*([\d.]+) Mbit/s", card.inner_text())
        assert told, card.inner_text()
        found[name] = float(told[1])
    return found


def test_both_show_the_same_moment(page: Page) -> None:
    at(page, 2.8)
    then = rates(page)
    assert then["wide"] < 7
    assert then["narrow"] > 12
    at(page, 1.8)
    assert min(rates(page).values()) > 12
    # Each canvas shows what its own links carried.
    at(page, 2.8)
    for name, words in (("narrow", r"s1-eth2 sends (1\d|2\d)"), ("wide", r"s1-eth2 sends [45]")):
        column = page.get_by_role("region", name=re.compile(f"{name}-seed1$"))
        lane = column.locator(".lane title").filter(has_text="s1-eth2 sends")
        expect(lane).to_contain_text(re.compile(words))
    # And its own charts, at that time.
    legends = page.get_by_role("group", name="Throughput: values")
    expect(legends).to_have_count(2)
    for index in range(2):
        expect(legends.nth(index)).to_contain_text("at 2.800 s")


def test_it_jumps_to_what_happened_in_either(page: Page) -> None:
    at(page, 0)
    line = page.get_by_role("region", name="Timeline of both runs")
    line.get_by_label("What to jump to").select_option("event")
    line.get_by_role("button", name="Next event of either run").click()
    assert moment_s(page) == pytest.approx(2.0, abs=0.01)
    line.get_by_role("button", name="Next event of either run").click()
    assert moment_s(page) == pytest.approx(3.0, abs=0.01)
    expect(page.locator(".timeline-words")).to_contain_text("2 Mbit/s")
    line.get_by_role("button", name="Previous event of either run").click()
    assert moment_s(page) == pytest.approx(2.0, abs=0.01)
    line.get_by_label("What to jump to").select_option("drop")
    line.get_by_role("button", name="Previous event of either run").click()
    assert 0 < moment_s(page) < 2


def test_it_plays_both(page: Page) -> None:
    at(page, 1)
    line = page.get_by_role("region", name="Timeline of both runs")
    line.get_by_label("Playback speed").select_option("max")
    line.get_by_role("button", name="Play").click()
    slider = page.get_by_role("slider", name="Time shown of both runs")
    expect(slider).to_have_js_property("value", slider.get_attribute("max"))
    assert moment_s(page) > 3.9
    expect(line.get_by_role("button", name="Play")).to_be_visible()


def test_no_barriers(page: Page) -> None:
    at(page, 2.5)
    assert violations(page) == []


def test_the_cursor_of_one_is_that_of_the_other(page: Page) -> None:
    plots = page.locator(".beside-charts .chart-place").filter(has=page.locator(".u-over"))
    half = plots.count() // 2
    left, right = plots.nth(0), plots.nth(half)
    left.locator(".u-over").hover()
    shown = []
    for plot in (left, right):
        line = plot.locator(".u-cursor-x")
        expect(line).not_to_have_class(re.compile("u-off"))
        shown.append(line.evaluate("line => new DOMMatrix(getComputedStyle(line).transform).e"))
    assert shown[0] > 10
    assert shown[1] == pytest.approx(shown[0], abs=3)
    page.mouse.move(5, 5)


def test_it_goes_back_to_the_list(page: Page) -> None:
    page.get_by_role("button", name="Back to the runs").click()
    expect(page.get_by_role("searchbox", name="Search runs")).to_be_visible()
