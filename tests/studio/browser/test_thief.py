"""Whoever has the port of a studio that was ended gets nothing of the pages that are open."""

from __future__ import annotations

import contextlib
import urllib.parse
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.longfat_class.studio.browser.test_class import Class, page_of
from tests.studio.browser.acts import add, node, panel, turn_to
from tests.studio.browser.conftest import Studio, watched_page
from tests.studio.browser.thief import Thief, free_port, thief_at

pytestmark = pytest.mark.slow


def port_of(url: str) -> int:
    port = urllib.parse.urlsplit(url).port
    assert port is not None
    return port


def secrets_of(page: Page, url: str) -> list[str]:
    """Return what must not leave the page: the link's token, and the values of its cookies."""
    token = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(url).query))["token"]
    return [token, *(cookie.get("value", "") for cookie in page.context.cookies())]


def click_link(page: Page, path: str, *, modifier: str = "", button: str = "left") -> None:
    """Click on a link to the server, as the page has some for downloads and reports."""
    page.evaluate(
        """path => {
            const link = Object.assign(document.createElement("a"), {href: path, download: "x"});
            link.append("A link of the test");
            link.style = "position: fixed; top: 0; left: 40%; z-index: 9999;";
            document.body.append(link);
        }""",
        path,
    )
    link = page.get_by_text("A link of the test")
    link.click(modifiers=[modifier] if modifier else [], button=button)  # type: ignore[list-item, arg-type]
    link.evaluate("link => link.remove()")


def check_nothing_was_sent(thief: Thief, secrets: list[str]) -> None:
    sent = b"\n".join(thief.received)
    for secret in secrets:
        assert secret.encode() not in sent
    assert b"cookie:" not in sent.lower()
    for request in thief.received:
        assert request.startswith(b"GET /api/proof?"), request


@pytest.mark.parametrize("answer", [b"{}", b'{"proof": "00"}', b"<!doctype html>", b""])
def test_nothing_of_an_open_page_is_sent_to_another_server(
    browser: Browser, tmp_path: Path, answer: bytes
) -> None:
    port = free_port()
    studio = Studio(tmp_path, port=str(port))
    with watched_page(browser, studio.url) as page:
        secrets = [*secrets_of(page, studio.url), "unmistakable", "hosts:"]
        add(page, "Host", 200, 150)
        page.wait_for_timeout(600)
        studio.kill()
        with thief_at(port, answer=answer) as thief:
            add(page, "Switch", 350, 250)
            panel(page, "YAML")
            page.locator(".cm-content").click()
            page.keyboard.press("Control+Home")
            page.keyboard.type("# unmistakable\n")
            for name in ("Runs", "Labs", "Runs", "Labs"):
                turn_to(page, name)
            for modifier in ("", "Control", "Shift"):
                click_link(page, "/api/document?path=unmistakable.yaml", modifier=modifier)
            page.wait_for_timeout(4000)
            assert thief.received
            check_nothing_was_sent(thief, secrets)
            expect(page.locator(".server-banner")).to_contain_text("another program")
        # The studio is back: the page goes on by itself, and all that was drawn is there.
        studio = Studio(tmp_path)
        assert port_of(studio.url) == port  # that of the last time
        expect(page.locator(".server-banner")).to_have_count(0)
        page.wait_for_timeout(600)
        other = page.context.new_page()
        other.goto(page.url)
        expect(node(other, "s1")).to_be_visible()
        panel(other, "YAML")
        expect(other.locator(".cm-content")).to_contain_text("unmistakable")
    studio.end()


def test_a_proof_that_is_passed_on_from_the_studio_s_new_port_is_none(
    browser: Browser, tmp_path: Path
) -> None:
    port = free_port()
    studio = Studio(tmp_path, port=str(port))
    with watched_page(browser, studio.url) as page:
        secrets = secrets_of(page, studio.url)
        studio.kill()
        with contextlib.ExitStack() as stack:
            with thief_at(port):  # the studio finds its port taken
                studio = Studio(tmp_path)
                assert port_of(studio.url) != port
            relay = f"http://127.0.0.1:{port_of(studio.url)}"
            thief = stack.enter_context(thief_at(port, relay=relay))
            add(page, "Host", 200, 150)
            expect(page.locator(".server-banner")).to_contain_text("another program")
            page.wait_for_timeout(2000)
            assert thief.received
            check_nothing_was_sent(thief, secrets)
    studio.end()


def test_nothing_of_the_teachers_page_is_sent_to_another_server(
    browser: Browser, tmp_path: Path
) -> None:
    port = free_port()
    group = Class(tmp_path, port=str(port))
    page = page_of(browser, "about:blank")
    page.clock.install()
    page.goto(group.teacher)
    secrets = [*secrets_of(page, group.teacher), group.links["alice"].rpartition("=")[2]]
    row = page.get_by_role("row").filter(has_text="Alice Adams")
    group.kill()
    problem = page.get_by_role("alert")
    page.clock.fast_forward(16_000)
    expect(problem).to_contain_text("The server does not respond")
    with thief_at(port) as thief:
        page.clock.fast_forward(16_000)
        expect(problem).to_contain_text("Another program has this address now")
        row.get_by_role("link", name="alice's link").click()
        row.get_by_role("link", name="New link… for Alice Adams").click(modifiers=["Control"])
        page.get_by_role("button", name="Log out", exact=True).click()
        page.wait_for_timeout(1000)
        page.clock.fast_forward(16_000)
        page.wait_for_timeout(1000)
        assert len(thief.received) >= 5
        check_nothing_was_sent(thief, secrets)
    # The server is back: the page reloads by itself.
    group = Class(tmp_path)
    assert port_of(group.teacher) == port
    page.clock.fast_forward(16_000)
    expect(problem).to_have_count(0)
    row.get_by_role("link", name="New link… for Alice Adams").click()
    page.get_by_role("button", name="Make a new link").click()
    expect(page.get_by_role("status")).to_contain_text("Alice Adams has a new link.")
    page.get_by_role("button", name="Log out others").click()
    expect(page.get_by_role("status")).to_contain_text("All other browsers are logged out")
    page.get_by_role("button", name="Log out", exact=True).click()
    expect(page.get_by_role("heading", name="You are logged out")).to_be_visible()
    page.context.close()
    group.end()
