"""A lab's text across the page: contents, steps that are ticked by what came of them, Run all."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.studio.browser.conftest import Studio
from tests.studio.browser.test_labs import open_lab

TITLE = "Packet loss, duplication"
SIZES = [(1440, 900), (1024, 700), (390, 844)]


def read_wide(page: Page) -> Locator:
    open_lab(page, TITLE)
    page.get_by_role("button", name="Full width").click()
    return page.get_by_role("article", name="Lab")


def type_step(lab: Locator, node: str, number: int) -> Locator:
    """Press the button of a node's step; return what stands beside it."""
    name = f"Type at {node}"
    bar = lab.locator(".step-bar").filter(has=lab.page.get_by_role("button", name=name, exact=True))
    bar.nth(number).get_by_role("button").click()
    return bar.nth(number).get_by_role("status")


def test_steps_are_ticked_by_the_exit_status_and_kept(studio: Studio, page: Page) -> None:
    lab = read_wide(page)
    contents = page.get_by_role("navigation", name="Contents")
    loss = contents.get_by_role("listitem").filter(has_text="1. Loss")
    expect(loss).to_contain_text("0/3")
    # The second step at h2 removes what the first one adds, and fails before it was there.
    removal = type_step(lab, "h2", 1)
    expect(removal).to_contain_text("✗ the last command exited with status 2")
    expect(type_step(lab, "h2", 0)).to_have_text("✓ done")
    expect(type_step(lab, "h2", 1)).to_have_text("✓ done")
    expect(loss).to_contain_text("1/3")
    head = page.get_by_role("group", name="Progress of the lab")
    expect(head).to_contain_text(re.compile(r"2 of \d+ steps"))
    page.reload()
    expect(head).to_contain_text(re.compile(r"2 of \d+ steps"))
    expect(loss).to_contain_text("1/3")
    kept = json.loads((studio.workspace / "progress" / "lab04.json").read_text())
    assert sum(step["done"] for step in kept["steps"].values()) == 2
    head.get_by_role("button", name="Reset progress").click()
    expect(head).to_contain_text(re.compile(r"0 of \d+ steps"))


def test_what_is_done_in_one_tab_is_ticked_in_the_other(page: Page) -> None:
    other = page.context.new_page()
    other.goto(page.url)
    for tab in (page, other):
        open_lab(tab, TITLE)
    heads = [tab.get_by_role("group", name="Progress of the lab") for tab in (page, other)]
    answers = [tab.get_by_label("Your answer to question 1") for tab in (page, other)]
    for head in heads:
        expect(head).to_contain_text(re.compile(r"0 of \d+ steps"))
    assert type_step(page.get_by_role("article", name="Lab"), "h2", 0)
    expect(heads[1]).to_contain_text(re.compile(r"1 of \d+ steps"))
    answers[1].fill("because")
    answers[1].blur()
    expect(answers[0]).to_have_value("because")
    heads[0].get_by_role("button", name="Reset progress").click()
    expect(heads[1]).to_contain_text(re.compile(r"0 of \d+ steps"))
    expect(answers[1]).to_have_value("")


def test_a_line_that_a_person_types_is_ticked_too(page: Page) -> None:
    lab = read_wide(page)
    expect(type_step(lab, "h2", 0)).to_have_text("✓ done")
    terminal = page.get_by_label("Terminal of h2").last
    terminal.click()
    page.keyboard.type("tc qdisc del dev h2-eth0 root\n")
    bar = lab.locator(".step-bar").filter(
        has=page.get_by_role("button", name="Type at h2", exact=True)
    )
    expect(bar.nth(1).get_by_role("status")).to_have_text("✓ done")


@pytest.mark.timeout(600)
def test_run_all_is_in_sight_with_its_progress_and_ticks_claims(page: Page) -> None:
    open_lab(page, "Introduction to Mininet")
    page.get_by_role("button", name="Full width").click()
    head = page.get_by_role("group", name="Progress of the lab")
    lab = page.get_by_role("article", name="Lab")
    lab.locator("h2").last.scroll_into_view_if_needed()
    expect(head.get_by_role("button", name="Run all")).to_be_in_viewport(ratio=1)
    head.get_by_role("button", name="Run all").click()
    expect(head).to_contain_text("Done", timeout=300_000)
    expect(head).to_contain_text("9 of 9 claims hold")
    page.reload()
    expect(head).to_contain_text("9 of 9 claims hold")


def test_contents_lead_to_their_parts(page: Page) -> None:
    lab = read_wide(page)
    contents = page.get_by_role("navigation", name="Contents")
    contents.get_by_role("link", name="Questions").click()
    heading = lab.get_by_role("heading", name="Questions")
    expect(heading).to_be_in_viewport()
    expect(contents.get_by_role("link", name="Questions")).to_have_attribute(
        "aria-current", "location"
    )


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("size", SIZES, ids=[f"{width}x{height}" for width, height in SIZES])
def test_wide_parts_scroll_and_nothing_else_does(
    studio: Studio, browser: Browser, size: tuple[int, int], theme: str
) -> None:
    context = browser.new_context(
        viewport={"width": size[0], "height": size[1]},
        locale="en-US",
        color_scheme="dark" if theme == "dark" else "light",
    )
    page = context.new_page()
    page.set_default_timeout(60_000)
    page.goto(studio.url)
    lab = read_wide(page)
    expect(lab.locator(".step-bar").first).to_be_visible()
    assert page.evaluate("document.scrollingElement.scrollWidth <= innerWidth")
    body = page.locator("#right-body")
    assert body.evaluate("body => body.scrollWidth <= body.clientWidth")
    # What is wider than its box can be scrolled by the keyboard.
    cut = lab.evaluate(
        """lab => [...lab.querySelectorAll("pre, .wide")]
            .filter(one => one.scrollWidth > one.clientWidth && one.tabIndex !== 0)
            .map(one => one.textContent)"""
    )
    assert cut == []
    context.close()


def test_questions_are_answered_checked_and_shown(page: Page) -> None:
    open_lab(page, "Latency and jitter")
    page.get_by_role("button", name="Full width").click()
    head = page.get_by_role("group", name="Progress of the lab")
    lab = page.get_by_role("article", name="Lab")
    field = page.get_by_label("Your answer to question 1", exact=True)
    bar = lab.locator(".question-bar").filter(has=field)
    field.fill("30 s")
    field.press("Enter")
    expect(bar.get_by_role("status")).to_contain_text("different number")
    field.fill("60 ms")
    bar.get_by_role("button", name="Check").click()
    expect(bar.get_by_role("status")).to_have_text("✓ right")
    expect(head).to_contain_text("1 of 7 questions")
    # What has no figure is for a person to compare: the answer is shown.
    field = page.get_by_label("Your answer to question 4", exact=True)
    bar = lab.locator(".question-bar").filter(has=field)
    field.fill("because of ARP")
    field.press("Enter")
    expect(lab.get_by_text("h1 has to ask for h2's hardware address before")).to_be_visible()
    bar.get_by_role("button", name="Yes").click()
    expect(head).to_contain_text("2 of 7 questions")
    page.reload()
    expect(head).to_contain_text("2 of 7 questions")
    expect(page.get_by_label("Your answer to question 4", exact=True)).to_have_value(
        "because of ARP"
    )
