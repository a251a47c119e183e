"""Labs, runs and reports on a telephone's screen, and how large the page is to load."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.studio.browser.acts import dock, open_file, run, turn_to
from tests.studio.browser.conftest import Studio

STUDY = """\
title: A bottleneck
memory: 512MB
network:
  hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8}
  links: [[h1, h2, {rate: 100mbit, delay: 5ms, queue: 500KB}]]
flows:
  bulk: {iperf3: h1 -> h2, time: 2s}
"""


@pytest.fixture
def narrow(studio: Studio, browser: Browser) -> Page:
    context = browser.new_context(viewport={"width": 390, "height": 844}, locale="en-US")
    page = context.new_page()
    page.set_default_timeout(60_000)
    page.goto(studio.url)
    return page


def fits(page: Page) -> bool:
    """Tell whether nothing has to be scrolled sideways to be reached."""
    return bool(page.evaluate("document.scrollingElement.scrollWidth <= innerWidth"))


def test_labs_and_their_texts(narrow: Page) -> None:
    turn_to(narrow, "Labs")
    expect(narrow.get_by_role("heading", name="Labs")).to_be_in_viewport()
    assert fits(narrow)
    labs = narrow.get_by_role("region", name="Labs")
    labs.get_by_text("Bandwidth-delay product").click()
    lab = narrow.get_by_role("article", name="Lab")
    expect(lab).to_contain_text("Bandwidth-delay product")
    box = lab.bounding_box()
    assert box is not None
    assert box["x"] == pytest.approx(0, abs=1)
    assert box["width"] == pytest.approx(390, abs=2)
    assert fits(narrow)
    parts = narrow.get_by_role("navigation", name="Parts of the page")
    parts.get_by_role("button", name="Network", exact=True).click()
    expect(narrow.get_by_role("button", name="Run", exact=True)).to_be_in_viewport(ratio=1)
    assert fits(narrow)


def test_runs_and_reports(studio: Studio, narrow: Page) -> None:
    (studio.workspace / "study.yaml").write_text(STUDY)
    open_file(narrow, "study.yaml")
    narrow.get_by_role("button", name="Properties and text").click()
    narrow.get_by_role("tab", name="Results").click()
    results = narrow.get_by_role("tabpanel", name="Results")
    results.get_by_role("button", name="Run all").click()
    report = narrow.get_by_role("link", name=re.compile("report"))
    expect(report).to_be_visible(timeout=120_000)
    with narrow.expect_popup() as opened:
        report.click()
    expect(opened.value.locator("h1")).to_be_in_viewport()
    assert fits(opened.value)
    turn_to(narrow, "Runs")
    narrow.get_by_role("checkbox").first.check()
    curves = narrow.locator(".run-details canvas").first
    curves.scroll_into_view_if_needed()
    expect(curves).to_be_in_viewport(ratio=0.9)
    assert fits(narrow)


def test_charts_are_as_wide_as_the_screen(studio: Studio, narrow: Page) -> None:
    (studio.workspace / "study.yaml").write_text(STUDY)
    open_file(narrow, "study.yaml")
    run(narrow)
    chart = narrow.get_by_role("region", name="Throughput", exact=True)
    expect(chart).to_contain_text("average")
    box = chart.bounding_box()
    assert box is not None
    assert box["x"] + box["width"] <= 390


def test_the_theme_s_button_follows_the_system(page: Page) -> None:
    page.emulate_media(color_scheme="dark")
    expect(page.get_by_role("button", name="Switch to light theme")).to_be_visible()
    page.emulate_media(color_scheme="light")
    expect(page.get_by_role("button", name="Switch to dark theme")).to_be_visible()


def test_the_dock_keeps_its_share_of_the_window(studio: Studio, page: Page) -> None:
    (studio.workspace / "study.yaml").write_text(STUDY)
    open_file(page, "study.yaml")
    dock(page, "Messages")
    shares = []
    for height in (600, 800, 1200):
        page.set_viewport_size({"width": 1280, "height": height})
        box = page.get_by_role("region", name="Dock").bounding_box()
        assert box is not None
        shares.append(box["height"] / height)
    assert shares == [pytest.approx(0.42, abs=0.01)] * 3


def test_the_page_is_sent_compressed(studio: Studio, browser: Browser) -> None:
    context = browser.new_context()
    page = context.new_page()
    sent: dict[str, int] = {}
    page.on(
        "requestfinished",
        lambda request: sent.update({request.url: request.sizes()["responseBodySize"]}),
    )
    page.goto(studio.url)
    expect(page.get_by_role("button", name="Run", exact=True)).to_be_visible()
    (script,) = [url for url in sent if url.endswith(".js")]
    static = Path(__file__).parents[3] / "src/longfat/studio/static"
    whole = (static / "assets" / script.rsplit("/", 1)[1]).stat().st_size
    assert sent[script] < 0.4 * whole
    context.close()
