"""Labs: the text beside the canvas, its steps and its cases, each one press away."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.studio.browser.acts import panel, turn_to
from tests.studio.browser.conftest import Studio


def open_lab(page: Page, title: str) -> None:
    turn_to(page, "Labs")
    page.get_by_role("region", name="Labs").get_by_text(title).click()
    panel(page, "Lab")
    expect(page.get_by_role("article", name="Lab")).to_contain_text(title)


@pytest.mark.timeout(600)
def test_a_lab_runs_all_and_shows_its_curves(page: Page) -> None:
    open_lab(page, "Bandwidth-delay product")
    page.get_by_role("button", name="Run all").click()
    lab = page.get_by_role("article", name="Lab")
    expect(lab.get_by_role("region", name="Claims").last).to_contain_text(
        "no ping is lost", timeout=300_000
    )
    expect(lab.get_by_role("link", name="report")).to_be_visible(timeout=300_000)
    lab.get_by_role("button", name="curves").click()
    rtt = lab.get_by_role("figure", name=re.compile("RTT|round-trip", re.IGNORECASE))
    expect(rtt.first.locator("canvas")).to_be_visible()
    with page.expect_popup() as opened:
        lab.get_by_role("link", name="report").click()
    expect(opened.value.locator("h1")).to_contain_text("Bandwidth-delay product")


def test_a_labs_steps_are_typed_at_its_hosts(page: Page) -> None:
    open_lab(page, "Bandwidth-delay product")
    lab = page.get_by_role("article", name="Lab")
    lab.get_by_role("button", name="Type at root").first.click()
    expect(lab.get_by_text("✓ done").first).to_be_visible()
    lab.get_by_role("button", name="Type at h1", exact=True).first.click()
    terminal = page.get_by_label("Terminal of h1")
    expect(terminal.last).to_contain_text("min/avg/max/mdev = 20")


def test_a_text_is_in_the_browsers_language_or_in_the_one_that_was_chosen(
    studio: Studio, browser: Browser
) -> None:
    context = browser.new_context(viewport={"width": 1280, "height": 800}, locale="ru-RU")
    page = context.new_page()
    page.set_default_timeout(60_000)
    page.goto(studio.url)
    open_lab(page, "Произведение полосы пропускания")
    lab = page.get_by_role("article", name="Lab")
    progress = page.get_by_role("group", name="Progress of the lab")
    expect(lab.get_by_role("heading", level=1)).to_have_attribute("lang", "ru")
    expect(progress.get_by_label("Language")).to_have_value("ru")
    expect(lab.get_by_role("button", name="Type at root").first).to_be_visible()
    progress.get_by_label("Language").select_option("en")
    expect(lab).to_contain_text("Learning objectives")
    page.reload()
    expect(progress.get_by_label("Language")).to_have_value("en")
    expect(lab).to_contain_text("Learning objectives")
    turn_to(page, "Labs")
    labs = page.get_by_role("region", name="Labs")
    expect(labs).to_contain_text("Bandwidth-delay product")
    labs.get_by_label("Language").select_option("ru")
    expect(labs).to_contain_text("Произведение полосы пропускания")
    expect(labs).to_contain_text("TCP fairness")  # which nobody has translated yet
    context.close()
