"""Whoever has the port of a studio that was ended gets nothing of the pages that are open."""

from __future__ import annotations

import urllib.parse
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.studio.browser.acts import add, node, panel, turn_to
from tests.studio.browser.conftest import Studio, watched_page
from tests.studio.browser.thief import Thief, thief_at


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
    studio = Studio(tmp_path)
    port = urllib.parse.urlsplit(studio.url).port
    assert port is not None
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
            for name in ("Runs", "Labs", "packetdrill", "packetdrill"):
                turn_to(page, name)
            for modifier in ("", "Control", "Shift"):
                click_link(page, "/api/document?path=unmistakable.yaml", modifier=modifier)
            page.wait_for_timeout(4000)
            assert thief.received
            check_nothing_was_sent(thief, secrets)
            expect(page.get_by_role("alert")).to_contain_text("another program")
        # The studio is back: the page goes on by itself, and all that was drawn is there.
        studio = Studio(tmp_path)
        assert urllib.parse.urlsplit(studio.url).port == port
        expect(page.get_by_role("alert")).to_have_count(0)
        page.wait_for_timeout(600)
        other = page.context.new_page()
        other.goto(page.url)
        expect(node(other, "s1")).to_be_visible()
        panel(other, "YAML")
        expect(other.locator(".cm-content")).to_contain_text("unmistakable")
    studio.end()
