"""Runs are deleted in the page: those that were chosen, and after a question."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.command import longfat
from tests.studio.browser.acts import turn_to
from tests.studio.browser.conftest import Studio
from tests.studio.browser.test_accessibility import violations
from tests.studio.browser.test_narrow import fits

STUDY = """\
title: Two hosts
memory: 256MB
network:
  hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8}
  links: [[h1, h2, {delay: 1ms}]]
flows: {rtt: {ping: h1 -> h2, count: 1}}
cases: {one: {}, two: {}}
"""


def test_a_file_is_deleted_after_a_question(studio: Studio, page: Page) -> None:
    for name in ("mine.yaml", "other.yaml"):
        (studio.workspace / name).write_text(STUDY)
    page.keyboard.press("Control+o")
    files = page.get_by_role("list", name="Files of the workspace")
    files.get_by_role("button", name="Delete mine.yaml").click()
    page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    expect(files.get_by_text("mine.yaml")).to_be_visible()
    assert (studio.workspace / "mine.yaml").exists()
    assert violations(page) == []
    files.get_by_role("button", name="Delete mine.yaml").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete", exact=True).click()
    expect(files.get_by_text("other.yaml")).to_be_visible()
    expect(files.get_by_text("mine.yaml")).to_have_count(0)
    assert not (studio.workspace / "mine.yaml").exists()
    page.set_viewport_size({"width": 390, "height": 800})
    assert fits(page)


def test_a_run_that_was_chosen_is_deleted(studio: Studio, page: Page) -> None:
    (studio.workspace / "pings.yaml").write_text(STUDY)
    done = longfat("run", "pings.yaml", "--no-report", cwd=studio.workspace)
    assert done.returncode == 0, done.stderr
    turn_to(page, "Runs")
    page.get_by_label("Choose pings, one, seed 1").check()
    page.get_by_role("button", name="Delete", exact=True).click()
    page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    assert (studio.workspace / "runs" / "pings" / "one-seed1").is_dir()
    page.get_by_role("button", name="Delete", exact=True).click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page.get_by_label("Choose pings, one, seed 1")).to_have_count(0)
    expect(page.get_by_label("Choose pings, two, seed 1")).to_be_visible()
    assert not (studio.workspace / "runs" / "pings" / "one-seed1").exists()
    assert (studio.workspace / "runs" / "pings" / "two-seed1").is_dir()
