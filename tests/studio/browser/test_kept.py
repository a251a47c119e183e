"""What was run live is kept: it stands in Runs, opens as a study and can be played once more."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.studio.browser.acts import fill, open_file, panel, start, turn_to, write_yaml
from tests.studio.browser.conftest import Studio, watched_page

STUDY = """\
title: A bottleneck
memory: 512MB
network:
  hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8}
  switches: [s1]
  links: [[h1, s1], [s1, h2, {rate: 20mbit, delay: 10ms, queue: 100KB}]]
flows:
  bulk: {iperf3: h1 -> h2, time: 600s}
layout: {h1: [100, 100], s1: [300, 100], h2: [500, 100]}
"""


# The tests share a page, which takes longer to come up than they do.
pytestmark = pytest.mark.xdist_group("kept")


@pytest.fixture(scope="module")
def page(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """A page whose network ran, was changed by hand, and ended by ✕."""
    workspace: Path = tmp_path_factory.mktemp("kept")
    (workspace / "study.yaml").write_text(STUDY)
    studio = Studio(workspace)
    with watched_page(browser, studio.url) as page:
        open_file(page, "study.yaml")
        start(page)
        expect(page.get_by_role("group", name="Throughput: values")).to_contain_text("Mbit/s")
        page.get_by_label("Link from s1 to h2").click(force=True)
        panel(page, "Properties")
        fill(page, "Rate", "5mbit")
        expect(page.get_by_text(re.compile(r"Events \(1\)"))).to_be_visible()
        page.get_by_role("button", name="End the session").click()
        expect(page.get_by_role("dialog")).to_contain_text("kept in Runs")
        page.get_by_role("dialog").get_by_role("button", name="End the session").click()
        yield page
    studio.end()


def test_the_end_of_a_session_leaves_charts_and_results_in_sight(page: Page) -> None:
    expect(page.get_by_text("The session has ended.")).to_be_visible()
    expect(page.get_by_role("group", name="Throughput: values")).to_contain_text("Mbit/s")
    expect(page.get_by_text(re.compile(r"Events \(1\)"))).to_be_visible()


def test_its_run_stands_in_runs_and_opens_as_a_study(page: Page) -> None:
    turn_to(page, "Runs")
    page.get_by_role("checkbox", name=re.compile("live-1")).check()
    details = page.get_by_role("complementary", name="Chosen runs")
    expect(details.locator("canvas").first).to_be_visible()
    details.get_by_role("button", name="Open as study").click()
    panel(page, "YAML")
    text = page.locator(".cm-content")
    expect(text).to_contain_text("link: [s1, h2]")
    expect(text).to_contain_text("rate: 5mbit")
    expect(text).to_contain_text("rate: 20mbit")


def test_a_replay_changes_the_link_at_the_same_time(page: Page) -> None:
    turn_to(page, "Runs")
    page.get_by_role("checkbox", name=re.compile("live-1")).check()
    page.get_by_role("button", name="Replay").click()
    expect(page.get_by_role("region", name="Clock bar")).to_contain_text("running")
    happened = page.get_by_text(re.compile(r"Events \(\d\)"))
    happened.click()
    expect(page.get_by_role("list", name="Events, in order of time")).to_contain_text("5 Mbit/s")
    page.get_by_role("button", name="Stop flows").click()
    write_yaml(page, STUDY)  # the page is usable
