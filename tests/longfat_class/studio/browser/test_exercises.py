"""Exercises below a lab's text: filled in, checked, with hints, and kept for all tabs."""

from __future__ import annotations

import re
import secrets
import shutil
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.paths import REPOSITORY
from tests.studio.browser.acts import panel, turn_to
from tests.studio.browser.conftest import Studio, watched_page
from tests.studio.browser.test_accessibility import violations
from tests.studio.browser.test_narrow import fits

TEMPLATE = REPOSITORY / "labs" / "templates" / "bdp"
TITLE = "Filling a long, fat pipe"


@pytest.fixture
def alice(tmp_path: Path) -> Iterator[Studio]:
    shutil.copytree(TEMPLATE, tmp_path / "given" / "my-lab")
    # Checks are counted by the folder's path, which pytest gives several times.
    workspace = tmp_path / secrets.token_hex(4) / "alice"
    workspace.mkdir(parents=True)
    lab = str(tmp_path / "given" / "my-lab")
    studio = Studio(workspace, "--exercises", lab)
    yield studio
    studio.end()


def open_exercises(page: Page) -> Locator:
    turn_to(page, "Labs")
    labs = page.get_by_role("region", name="Labs")
    expect(labs.get_by_role("heading", level=2).first).to_have_text("Exercises of your class")
    labs.get_by_text(TITLE).click()
    panel(page, "Lab")
    page.get_by_role("button", name="Full width").click()
    exercises = page.get_by_role("region", name="Exercises")
    expect(exercises).to_contain_text("0 of 20 points")
    expect(exercises).to_contain_text("2 points of these can be earned only when it is graded")
    return exercises


@pytest.mark.timeout(600)
def test_a_student_fills_in_checks_and_hands_in(alice: Studio, browser: Browser) -> None:
    with watched_page(browser, alice.url) as page:
        exercises = open_exercises(page)
        other = page.context.new_page()
        other.goto(page.url)
        elsewhere = other.get_by_role("region", name="Exercises")
        path = exercises.get_by_role("listitem", name="A path of 500 Mbit/s and 100 ms")
        lines = exercises.get_by_label("path.yaml", exact=True)
        solution = (TEMPLATE / "instructor" / "solution" / "path.yaml").read_text()

        lines.fill(solution.replace("500mbit burst", "5gbit burst"))
        expect(elsewhere.get_by_label("path.yaml", exact=True)).to_have_value(lines.input_value())
        path.get_by_role("button", name="Check").click()
        expect(path.get_by_role("status")).to_have_text("✗ 0 of 3 points", timeout=300_000)
        expect(path).to_contain_text("the shaper is not on the path")
        hint = path.get_by_role("button", name="Hint")
        expect(hint).to_have_text("Hint 1 of 2")
        hint.click()
        expect(path).to_contain_text("Through which interface")
        expect(hint).to_have_text("Hint 2 of 2")
        hint.click()
        expect(hint).to_have_count(0)

        lines.fill(solution)
        expect(path).to_contain_text("changed since the check")
        answer = exercises.get_by_label("Answer: The bandwidth-delay product")
        answer.fill("6.25 MB")
        exercises.get_by_role("button", name="Check all").click()
        expect(exercises.get_by_role("button", name="Cancel")).to_be_visible()
        expect(path.get_by_role("status")).to_have_text("✓ 3 of 3 points", timeout=300_000)
        for region in (exercises, elsewhere):
            expect(region).to_contain_text("5 of 20 points")
        page.reload()
        expect(exercises).to_contain_text("5 of 20 points")
        expect(lines).to_have_value(solution)
        expect(answer).to_have_value("6.25 MB")
        with page.expect_download() as download:
            exercises.get_by_role("link", name="Download submission").click()
        with zipfile.ZipFile(download.value.path()) as packed:
            assert packed.read("alice/path.yaml").decode() == solution
    assert (alice.workspace / "my-lab" / "path.yaml").read_text() == solution


def test_what_is_drawn_is_saved_before_a_check(alice: Studio, browser: Browser) -> None:
    with watched_page(browser, alice.url) as page:
        exercises = open_exercises(page)
        part = exercises.get_by_role("group", name="Part buffers")
        expect(part).to_contain_text("It is saved.")
        panel(page, "YAML")
        page.locator(".cm-content").click()
        page.keyboard.press("Control+End")
        page.keyboard.type("# mine")
        panel(page, "Lab")
        expect(part).to_contain_text("unsaved changes")
        part.get_by_role("button", name="Check").first.click()
        result = re.compile(r"[✓✗] \d+ of \d+ points?")
        expect(part.get_by_role("status").first).to_have_text(result, timeout=300_000)
        expect(part).to_contain_text("It is saved.")
    assert (alice.workspace / "my-lab" / "study.yaml").read_text().endswith("# mine")


def test_what_an_editor_writes_and_what_is_typed_are_both_kept(
    alice: Studio, browser: Browser
) -> None:
    with watched_page(browser, alice.url) as page:
        exercises = open_exercises(page)
        file = alice.workspace / "my-lab" / "path.yaml"
        part = exercises.get_by_role("group", name="Part path")
        lines = exercises.get_by_label("path.yaml", exact=True)
        file.write_text("- h1: echo by an editor\n")
        lines.fill("- h1: echo typed\n")
        expect(part.get_by_role("alert")).to_contain_text(
            "path.yaml was changed by another program"
        )
        lines.fill("- h1: echo typed again\n")
        page.wait_for_timeout(1000)
        assert file.read_text() == "- h1: echo by an editor\n"
        part.get_by_role("button", name="Show what is saved").click()
        expect(lines).to_have_value("- h1: echo by an editor\n")
        expect(part.get_by_role("alert")).to_have_count(0)
        file.write_text("- h1: echo by an editor again\n")
        lines.fill("- h1: echo typed\n")
        part.get_by_role("button", name="Overwrite").click()
        expect(part.get_by_role("alert")).to_have_count(0)
        assert file.read_text() == "- h1: echo typed\n"
        # From then on each save is based on the one before.
        for number in range(5):
            lines.fill(f"- h1: echo {number}\n")
            page.wait_for_timeout(600)
        expect(part.get_by_role("alert")).to_have_count(0)
        assert file.read_text() == "- h1: echo 4\n"


@pytest.mark.timeout(300)
@pytest.mark.parametrize("width", [1440, 390])
def test_after_wrong_answers_a_check_has_to_wait(
    alice: Studio, browser: Browser, width: int
) -> None:
    with watched_page(browser, alice.url) as page:
        exercises = open_exercises(page)
        question = exercises.get_by_role("listitem", name="The bandwidth-delay product")
        check = question.get_by_role("button", name="Check")
        for number in range(3):
            exercises.get_by_label("Answer: The bandwidth-delay product").fill(f"{number + 1} KB")
            check.click()
            expect(question).to_contain_text(f"'{number + 1} KB' is not within", timeout=60_000)
        expect(question).to_contain_text("Next check in")
        expect(check).to_be_disabled()
        page.reload()
        expect(check).to_be_disabled()
        assert violations(page) == []
        page.set_viewport_size({"width": width, "height": 800})
        question.scroll_into_view_if_needed()
        assert fits(page)
        expect(check).to_be_enabled(timeout=40_000)
        expect(question).not_to_contain_text("Next check in")


@pytest.mark.parametrize("width", [1440, 390])
def test_it_fits_the_page_and_is_accessible(alice: Studio, browser: Browser, width: int) -> None:
    with watched_page(browser, alice.url) as page:
        exercises = open_exercises(page)
        answer = exercises.get_by_role("listitem", name="The bandwidth-delay product")
        answer.get_by_role("button", name="Check").click()
        expect(answer).to_contain_text("not answered")
        answer.get_by_role("button", name="Hint").click()
        expect(answer).to_contain_text("Rate times round-trip time")
        assert violations(page) == []
        page.set_viewport_size({"width": width, "height": 800})
        page.get_by_role("region", name="Exercises").scroll_into_view_if_needed()
        assert fits(page)
