"""The studio as a person has it: `longfat studio`, the built page, and a browser."""

from __future__ import annotations

import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser import open_browser
from tests.command import Command

# A machine that is busy with other tests is slow, and a wait costs nothing when all is well.
expect.set_options(timeout=60_000)


class Studio:
    """A studio that runs.

    Attributes:
        url: where it is, with its token.
        workspace: its folder.
    """

    def __init__(self, workspace: Path, *arguments: str, port: str = "0") -> None:
        self.workspace = workspace
        self._process = Command(
            *("longfat", "studio", "--no-browser", "--port", port, *arguments),
            cwd=workspace,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self._process.stderr is not None
        line = self._process.stderr.readline()
        found = re.search(r"https?://\S+", line)
        assert found, line
        self.url = found[0]

    def end(self) -> None:
        self._end(signal.SIGTERM, status=0)

    def kill(self) -> None:
        self._end(signal.SIGKILL, status=-signal.SIGKILL)

    def _end(self, number: signal.Signals, *, status: int) -> None:
        self._process.send_signal(number)
        assert self._process.wait(30) == status
        assert self._process.stderr is not None
        self._process.stderr.close()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with open_browser() as browser:
        yield browser


@pytest.fixture
def studio(tmp_path: Path) -> Iterator[Studio]:
    studio = Studio(tmp_path)
    yield studio
    studio.end()


@contextmanager
def watched_page(browser: Browser, url: str, *, is_animated: bool = False) -> Iterator[Page]:
    """Open the studio in a browser profile of its own, with a first network.

    An error in the page's scripts fails the test. Links that carry traffic are not animated
    unless asked for, since that takes a tenth of the tests' CPU time.
    """
    context = browser.new_context(
        viewport={"width": 1280, "height": 800},
        locale="en-US",
        reduced_motion="no-preference" if is_animated else "reduce",
        ignore_https_errors=True,
    )
    page = context.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.set_default_timeout(60_000)
    page.goto(url)
    page.get_by_role("toolbar", name="Tools").wait_for()
    yield page
    context.close()
    assert errors == []


@pytest.fixture
def page(studio: Studio, browser: Browser) -> Iterator[Page]:
    """A page of the studio."""
    with watched_page(browser, studio.url) as page:
        yield page
