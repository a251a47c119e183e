"""The browser of the studio's tests."""

from tests.studio.browser.conftest import browser

__all__ = ["browser"]
