"""Any moment of what was recorded can be shown again: on the canvas, in the charts, by keys."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.studio.browser.acts import dock, open_file, run, turn_to
from tests.studio.browser.conftest import Studio, watched_page

STUDY = """\
title: A bottleneck that becomes narrower
memory: 512MB
network:
  hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8}
  switches: [s1]
  links: [[h1, s1], [s1, h2, {rate: 20mbit, delay: 10ms, queue: 60KB}]]
flows:
  bulk: {iperf3: h1 -> h2, time: 6s}
events:
  - {at: 4s, link: [s1, h2], rate: 5mbit}
layout: {h1: [100, 100], s1: [300, 100], h2: [500, 100]}
"""


# The tests share a page, which takes longer to come up than they do.
pytestmark = pytest.mark.xdist_group("timeline")


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("timeline")


@pytest.fixture(scope="module")
def page(browser: Browser, workspace: Path) -> Iterator[Page]:
    (workspace / "study.yaml").write_text(STUDY)
    studio = Studio(workspace)
    with watched_page(browser, studio.url) as page:
        open_file(page, "study.yaml")
        run(page)
        yield page
    studio.end()


def slider(page: Page) -> Locator:
    return page.get_by_role("slider", name="Displayed time")


def moment_s(page: Page) -> float:
    """Return the moment that is shown, in seconds after Run."""
    return float(slider(page).input_value())


def show(page: Page, at_s: float) -> None:
    slider(page).evaluate(
        """(input, value) => {
            const set = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set;
            set.call(input, value);
            input.dispatchEvent(new Event("input", { bubbles: true }));
        }""",
        str(at_s),
    )


def rate_mbps(page: Page) -> float:
    """Return what the card on the canvas says of the flow."""
    card = page.get_by_role("region", name="Flows at the displayed time")
    found = re.search(r"bulk[^\t]*\t\s*([\d.]+) Mbit/s", card.inner_text())
    assert found, card.inner_text()
    return float(found[1])


def test_a_moment_is_shown_on_the_canvas_and_in_all_charts(page: Page) -> None:
    show(page, 3.5)
    before = rate_mbps(page)
    lane = page.locator(".lane title").filter(has_text="s1-eth2 sends")
    expect(lane).to_contain_text(re.compile(r"(1[5-9]|2[0-2])(\.\d)? Mbit/s, (80|90|100) % of"))
    legend = page.get_by_role("group", name="Throughput: values")
    time_s = re.search(r"at ([\d.]+) s", legend.inner_text())
    assert time_s
    expect(page.get_by_label("Time", exact=True)).to_contain_text(f"{float(time_s[1]):.3f} s")
    expect(page.get_by_role("group", name="Queue: values")).to_contain_text(f"at {time_s[1]} s")
    # Backwards and forwards, in any order: what is shown is of that moment.
    show(page, 5.5)
    after = rate_mbps(page)
    assert (after < 7, before > 12) == (True, True)
    # The same share of another rate: it is measured by the one that was installed then.
    expect(lane).to_contain_text(re.compile(r"(4|5)(\.\d+)? Mbit/s, (80|90|100) % of"))
    show(page, 3.5)
    assert rate_mbps(page) == before


def test_keys_move_it(page: Page) -> None:
    show(page, 3.0)
    slider(page).focus()
    page.keyboard.press("ArrowRight")
    one = moment_s(page)
    assert 3.0 < one < 3.1
    page.keyboard.press("Shift+ArrowLeft")
    assert 3.0 < moment_s(page) < one
    page.keyboard.press("PageUp")
    assert moment_s(page) > one + 0.2
    page.keyboard.press("Home")
    assert moment_s(page) == 0
    page.keyboard.press("End")
    assert moment_s(page) > 5.9


def test_it_jumps_to_drops_and_events_both_ways(page: Page) -> None:
    line = page.get_by_role("region", name="Timeline")
    show(page, 0)
    kinds = line.get_by_label("What to jump to")
    kinds.select_option("event")
    line.get_by_role("button", name="Next mark").click()
    assert moment_s(page) == pytest.approx(4.0, abs=0.001)
    expect(slider(page)).to_have_attribute("aria-valuetext", re.compile("5 Mbit/s"))
    kinds.select_option("drop")
    line.get_by_role("button", name="Previous mark").click()
    first = moment_s(page)
    assert 0 < first < 4
    expect(page.locator(".queue-lost")).to_have_count(1)
    line.get_by_role("button", name="Next mark").click()
    assert moment_s(page) > first
    assert page.locator(".timeline-drop").count() >= 2
    assert page.locator(".timeline-event").count() == 1


def test_it_plays_at_a_pace_and_stops_at_the_end(page: Page) -> None:
    line = page.get_by_role("region", name="Timeline")
    show(page, 1)
    line.get_by_label("Playback speed").select_option("0.5x")
    began = time.monotonic()
    line.get_by_role("button", name="Play").click()
    page.wait_for_timeout(600)
    line.get_by_role("button", name="Pause").click()
    # However long a busy computer takes between the two presses.
    assert 1.1 < moment_s(page) < 1.1 + 0.5 * (time.monotonic() - began)
    line.get_by_label("Playback speed").select_option("max")
    line.get_by_role("button", name="Play").click()
    # The browser rounds a slider's value.
    at_end = "one => Number(one.max) - Number(one.value) < 1e-6"
    page.wait_for_function(at_end, arg=slider(page).element_handle())
    expect(line.get_by_role("button", name="Play")).to_be_visible()
    assert moment_s(page) > 5.9
    line.get_by_role("button", name="End", exact=True).click()
    expect(page.get_by_role("region", name="Flows at the displayed time")).to_have_count(0)


def test_a_run_from_runs_has_the_same_line_of_time(page: Page) -> None:
    turn_to(page, "Runs")
    page.get_by_role("checkbox", name=re.compile("live-1")).check()
    page.get_by_role("button", name="Timeline").click()
    show(page, 3.5)
    before = rate_mbps(page)
    show(page, 5.5)
    assert (rate_mbps(page) < 7, before > 12) == (True, True)
    dock(page, "Flows")
    expect(page.get_by_role("row", name=re.compile("iperf3 done"))).to_be_visible()
    dock(page, "Charts")


def test_two_runs_are_shown_at_the_same_moment(page: Page, workspace: Path) -> None:
    page.get_by_role("button", name="study", exact=True).click()
    page.get_by_role("button", name="Run", exact=True).click()
    page.get_by_role("button", name="Restart and run").click()
    # On a quiet computer it is over before a page could show that it runs.
    for _ in range(240):
        if any(workspace.glob("runs/*-live/live-2-*")):
            break
        page.wait_for_timeout(250)
    turn_to(page, "Runs")
    for name in ("live-1", "live-2"):
        page.get_by_role("checkbox", name=re.compile(name)).check()
    page.get_by_role("button", name="Timeline").click()
    dock(page, "Charts")
    show(page, 5.5)
    card = page.get_by_role("region", name="Flows at the displayed time")
    rows = card.get_by_role("row").filter(has_text="bulk")
    expect(rows).to_have_count(2)
    for number in (1, 2):
        expect(rows.filter(has_text=f"live-{number}")).to_contain_text(
            re.compile(r"[45](\.\d+)? Mbit/s")
        )
    legend = page.get_by_role("group", name="Throughput: values")
    expect(legend.get_by_role("row").filter(has_text="bulk")).to_have_count(2)


def test_after_a_reload_it_is_still_there(page: Page) -> None:
    page.wait_for_timeout(500)
    page.reload()
    expect(slider(page)).to_be_visible()
    show(page, 5.5)
    assert rate_mbps(page) < 7
