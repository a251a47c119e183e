"""Login and logout in browsers, and links to the server."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.studio.browser.acts import add, node
from tests.studio.browser.conftest import Studio, watched_page
from tests.studio.browser.test_thief import click_link
from tests.studio.browser.thief import free_port


def log_out(page: Page, choice: str = "Log out") -> None:
    page.get_by_role("button", name="Log out", exact=True).click()
    page.get_by_role("dialog").get_by_role("button", name=choice, exact=True).click()


def test_a_logout_ends_the_session_of_all_tabs_and_keeps_what_was_drawn(
    studio: Studio, page: Page
) -> None:
    add(page, "Host", 200, 150)
    other = page.context.new_page()
    other.goto(page.url)
    expect(node(other, "h1")).to_be_visible()
    add(page, "Host", 400, 150)  # what was drawn just now, too
    log_out(page)
    expect(page.get_by_role("heading", name="You are logged out")).to_be_visible()
    assert page.context.cookies() == []
    expect(other.get_by_role("alert")).to_contain_text("This browser is not logged in any more")
    page.goto(studio.url.partition("?")[0])
    expect(page.get_by_role("heading", name="This browser is not logged in")).to_be_visible()
    page.goto(studio.url)
    expect(node(page, "h2")).to_be_visible()
    # The other tab goes on by itself.
    expect(other.get_by_role("alert")).to_have_count(0)
    expect(node(other, "h2")).to_be_visible()


def test_a_logout_of_all_other_browsers(studio: Studio, page: Page, browser: Browser) -> None:
    with watched_page(browser, studio.url) as other:
        log_out(page, "Log out all other browsers")
        expect(page.get_by_text("Logged out: 1 browser.")).to_be_visible()
        expect(other.get_by_role("alert")).to_contain_text("not logged in any more")
        add(page, "Host", 200, 150)
        page.wait_for_timeout(600)
        page.reload()
        expect(node(page, "h1")).to_be_visible()


@pytest.mark.parametrize(
    ("modifier", "button"), [("", "left"), ("Control", "left"), ("", "middle")]
)
def test_a_link_to_the_server_is_followed(
    studio: Studio, page: Page, modifier: str, button: str
) -> None:
    (studio.workspace / "mine.yaml").write_text("title: mine\n")
    path = "/api/document?path=mine.yaml"
    if modifier == "" and button == "left":
        with page.expect_download() as download:
            click_link(page, path)
        assert "title: mine" in Path(download.value.path()).read_text()
        return
    with page.context.expect_page() as opened:
        click_link(page, path, modifier=modifier, button=button)
    expect(opened.value.locator("body")).to_contain_text("title: mine")
    assert opened.value.evaluate("window.opener") is None


def test_what_was_drawn_just_before_a_reload_is_there(page: Page) -> None:
    for count in range(1, 4):
        add(page, "Host", 150 * count, 100 * count)
        expect(page.locator(".react-flow__node")).to_have_count(count)
        page.reload()
        expect(page.locator(".react-flow__node")).to_have_count(count)
    for count in range(3, 0, -1):
        page.get_by_role("button", name="Undo", exact=True).click()
        expect(page.locator(".react-flow__node")).to_have_count(count - 1)


def test_over_tls_a_page_verifies_at_first_and_after_a_loss(
    browser: Browser, tmp_path: Path, certificate: tuple[Path, Path]
) -> None:
    cert, key = (str(path) for path in certificate)
    port = str(free_port())
    studio = Studio(tmp_path, "--tls-cert", cert, "--tls-key", key, port=port)
    with watched_page(browser, studio.url) as page:
        paths: list[str] = []
        page.on("request", lambda request: paths.append(request.url.split("/", 3)[3]))
        page.reload()
        for count in range(1, 4):
            add(page, "Host", 150 * count, 100 * count)
            page.wait_for_timeout(600)
        assert sum(path.startswith("api/drafts/") for path in paths) >= 3
        assert sum(path.startswith("api/proof?") for path in paths) == 1
        studio.kill()
        expect(page.get_by_role("alert")).to_contain_text("The studio does not respond")
        studio = Studio(tmp_path, "--tls-cert", cert, "--tls-key", key, port=port)
        expect(page.get_by_role("alert")).to_have_count(0)
        assert sum(path.startswith("api/proof?") for path in paths) > 1
    studio.end()
