"""What is drawn belongs to the server: tabs agree, and reloads and restarts lose nothing."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.paths import TESTS
from tests.studio.browser.acts import add, node, open_file
from tests.studio.browser.conftest import Studio, watched_page

# Each goes on where the one before has ended.
pytestmark = pytest.mark.xdist_group("drafts")


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("drafts")


@pytest.fixture(scope="module")
def page(browser: Browser, workspace: Path) -> Iterator[Page]:
    studio = Studio(workspace)
    with watched_page(browser, studio.url) as page:
        page.studio = studio  # type: ignore[attr-defined]
        yield page
    page.studio.end()  # type: ignore[attr-defined]


def studio_of(page: Page) -> Studio:
    found = page.studio  # type: ignore[attr-defined]
    assert isinstance(found, Studio)
    return found


def saved(page: Page) -> None:
    """Wait until the server has what was drawn."""
    page.wait_for_timeout(600)


def test_undo_survives_a_reload(page: Page) -> None:
    add(page, "Host", 200, 150)
    add(page, "Host", 400, 150)
    expect(node(page, "h2")).to_be_visible()
    saved(page)
    page.reload()
    expect(node(page, "h2")).to_be_visible()
    page.get_by_role("button", name="Undo").click()
    expect(node(page, "h2")).to_have_count(0)
    page.get_by_role("button", name="Redo").click()
    expect(node(page, "h2")).to_be_visible()


def test_two_tabs_show_the_same_and_lose_nothing(page: Page) -> None:
    other = page.context.new_page()
    other.goto(page.url)
    expect(node(other, "h2")).to_be_visible()
    # What one draws the other shows.
    add(page, "Switch", 300, 250)
    expect(node(other, "s1")).to_be_visible()
    # Both at once: one text wins, and the other one is a step of undo away.
    add(page, "Host", 150, 250)
    add(other, "Router", 450, 250)
    saved(page)
    names = [page.locator(".react-flow__node").count(), other.locator(".react-flow__node").count()]
    assert names[0] == names[1]
    found = set()
    for _ in range(3):
        found |= {one for one in ("h3", "r1") if node(other, one).count()}
        if found == {"h3", "r1"}:
            break
        other.get_by_role("button", name="Undo").click()
        other.wait_for_timeout(100)
    assert found == {"h3", "r1"}
    other.close()


def test_a_restart_of_the_server_loses_nothing(page: Page, workspace: Path) -> None:
    before = page.locator(".react-flow__node").count()
    studio_of(page).end()
    expect(page.get_by_role("alert")).to_contain_text("The studio does not respond")
    add(page, "Switch", 250, 320)  # drawn while nobody answers
    page.studio = Studio(workspace)  # type: ignore[attr-defined]
    expect(page.get_by_role("alert")).to_have_count(0)
    expect(page.get_by_text("The studio was restarted")).to_be_visible()
    saved(page)
    # Its token and its port are those of the time before.
    other = page.context.new_page()
    other.goto(page.url)
    expect(other.locator(".react-flow__node")).to_have_count(before + 1)
    other.get_by_role("button", name="Undo").click()
    expect(page.locator(".react-flow__node")).to_have_count(before)
    other.close()


def test_messages_of_an_import_can_be_read_again(page: Page, workspace: Path) -> None:
    shutil.copy(TESTS / "data" / "miniedit" / "dumbbell.mn", workspace / "odd.mn")
    open_file(page, "odd.mn")
    saved(page)
    page.reload()
    page.get_by_role("button", name="File", exact=True).click()
    page.get_by_role("menuitem", name="Import report").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("odd.mn was imported")
    expect(dialog.get_by_role("listitem").first).to_contain_text("controller")
    dialog.get_by_role("button", name="Close", exact=True).last.click()


def test_what_was_closed_can_be_opened_again(page: Page) -> None:
    page.get_by_role("button", name="Close odd").click()
    page.get_by_role("button", name="Close without saving").click()
    expect(page.get_by_role("button", name="Close odd")).to_have_count(0)
    page.get_by_role("button", name="File", exact=True).click()
    page.get_by_role("menuitem", name="Closed networks").click()
    page.get_by_role("list", name="Closed networks").get_by_text("odd").click()
    expect(page.get_by_role("button", name="Close odd")).to_be_visible()


def test_another_workspace_on_the_same_port_sees_nothing(
    page: Page, workspace: Path, tmp_path: Path
) -> None:
    port = page.url.split(":")[2].split("/")[0]
    studio_of(page).end()
    another = Studio(tmp_path, port=port)
    try:
        expect(page.get_by_role("alert")).to_contain_text("serves another workspace")
        fresh = page.context.new_page()
        fresh.goto(another.url)
        expect(fresh.get_by_role("button", name="Close network-1")).to_be_visible()
        expect(fresh.locator(".react-flow__node")).to_have_count(0)
        add(page, "Host", 350, 120)
        saved(page)
        fresh.reload()
        expect(fresh.get_by_role("button", name="Close network-1")).to_be_visible()
        expect(fresh.locator(".tab")).to_have_count(1)
        fresh.close()
        count = page.locator(".react-flow__node").count()
    finally:
        another.end()
    # Back again, all is there, also what was drawn meanwhile.
    page.studio = Studio(workspace, port=port)  # type: ignore[attr-defined]
    page.reload()
    expect(page.locator(".react-flow__node")).to_have_count(count)


def test_two_tabs_that_open_at_once_have_one_network(studio: Studio, browser: Browser) -> None:
    context = browser.new_context()
    pages = [context.new_page() for _ in range(2)]
    # Both begin before either has made anything.
    for page in pages:
        page.goto(studio.url, wait_until="commit")
    for page in pages:
        tabs = page.get_by_role("group", name="Open networks").locator(".tab-name")
        expect(tabs).to_have_text(["network-1"])
    pages[0].get_by_role("button", name="New network").click()
    pages[1].get_by_role("button", name="New network").click()
    for page in pages:
        tabs = page.get_by_role("group", name="Open networks").locator(".tab-name")
        expect(tabs).to_have_count(3)
        assert sorted(tabs.all_inner_texts()) == ["network-1", "network-2", "network-3"]
    context.close()


def test_a_file_opened_while_the_page_starts_stays_in_front(
    studio: Studio, browser: Browser
) -> None:
    text = "title: Mine\nnetwork: {hosts: {h7: 10.0.0.7/8}}\n"
    (studio.workspace / "mine.yaml").write_text(text)
    context = browser.new_context()
    page = context.new_page()
    held: list[Route] = []

    def hold_the_first_network(route: Route) -> None:
        if route.request.method == "POST":
            held.append(route)
        else:
            route.continue_()

    page.route("**/api/drafts", hold_the_first_network)
    with page.expect_request(lambda request: request.method == "POST"):
        page.goto(studio.url)
        page.keyboard.press("Control+o")
    page.get_by_role("list", name="Files of the workspace").get_by_text("mine.yaml").click()
    expect(node(page, "h7")).to_be_visible()
    with page.expect_response(lambda response: response.request.method == "POST"):
        held[0].continue_()
    page.wait_for_timeout(600)
    tabs = page.get_by_role("group", name="Open networks").locator(".tab-name")
    # The server makes no first network where it knows of an open one already.
    assert tabs.all_inner_texts() in (["mine"], ["mine", "network-1"])
    expect(node(page, "h7")).to_be_visible()
    context.close()
