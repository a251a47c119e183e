"""A source lab, typed word by word into the studio's terminals at a person's speed."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from playwright.sync_api import Page, WebSocket, expect

from tests.labs.typed import Student, mismatches, read_lab, shortened
from tests.studio.browser.acts import dock
from tests.studio.browser.test_labs import open_lab

_TITLES = {"lab16": "Random early detection"}


class PageTerminal:
    """A terminal of the page.

    Args:
        page: the page.
        label: the name of its tab.
        shown: the frames that its shell sends, which grow.
    """

    def __init__(self, page: Page, label: str, shown: list[bytes]) -> None:
        self._page = page
        self._label = label
        self._shown = shown

    def type(self, keys: str) -> None:
        """Type keys as a person does: at the tab that is shown."""
        tabs = self._page.get_by_role("group", name="Terminals")
        tabs.get_by_role("button", name=self._label, exact=True).click()
        if keys == "\x03":
            self._page.keyboard.press("Control+c")
            return
        self._page.keyboard.type(keys.removesuffix("\r"))
        if keys.endswith("\r"):
            self._page.keyboard.press("Enter")

    def take(self) -> str:
        """Return what it has shown since the last call."""
        data = b"".join(self._shown)
        self._shown.clear()
        return data.decode(errors="replace")


def open_terminals(page: Page, labels: list[str]) -> dict[str, PageTerminal]:
    """Open a terminal for each label of a lab, by the page's button."""
    frames: list[list[bytes]] = []

    def listen(socket: WebSocket) -> None:
        if re.search(r"/terminals/\d+$", socket.url.partition("?")[0]):
            shown: list[bytes] = []
            frames.append(shown)
            socket.on(
                "framereceived",
                lambda data: shown.append(data if isinstance(data, bytes) else data.encode()),
            )

    page.on("websocket", listen)
    dock(page, "Terminals")
    tabs = page.get_by_role("group", name="Terminals")
    terminals = {}
    counts: Counter[str] = Counter()
    for label in labels:
        node = "root" if label.startswith("admin") else label
        page.locator("summary", has_text="+ Terminal").click()
        page.locator(".terminal-nodes").get_by_role("button", name=node, exact=True).click()
        expect(page.get_by_label(f"Terminal of {node}").last).to_contain_text(f"{node} ")
        counts[node] += 1
        name = node if counts[node] == 1 else f"{node} ({counts[node]})"
        expect(tabs.get_by_role("button", name=name, exact=True)).to_be_visible()
        terminals[label] = PageTerminal(page, name, frames[-1])
    return terminals


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_figures_are_those_of_the_source(page: Page) -> None:
    lab = shortened(read_lab("lab16"))
    # A session of the studio has no folder of the user's, and says so.
    for step in lab["steps"]:
        if isinstance(step[1], str) and step[1].startswith("xdg-open "):
            step[2] = {"prints": "is in the machine's memory"}
    open_lab(page, _TITLES["lab16"])
    student = Student(
        open_terminals(page, lab["terminals"]), pause=lambda s: page.wait_for_timeout(1000 * s)
    )
    assert mismatches(student.do(lab["steps"])) == []
