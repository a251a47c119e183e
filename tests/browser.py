"""A browser for tests of pages: Chromium without a window, of the distribution or of Playwright."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, sync_playwright


@contextmanager
def open_browser() -> Iterator[Browser]:
    """Open one for as long as the context lasts; `tools/setup.sh test` installs it."""
    program = shutil.which("chromium-headless-shell")  # without it, Playwright's own
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=program, args=["--no-sandbox", "--disable-gpu"]
        )
        yield browser
        browser.close()
