"""What tests of the sandboxes share."""

from __future__ import annotations

import pytest

from longfat.engine.machine import current_sandbox
from longfat.engine.sandbox.sandbox import SANDBOXES, VARIABLE, Sandbox


@pytest.fixture(params=SANDBOXES, ids=lambda sandbox: sandbox.name)
def sandbox(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Sandbox:
    """Each of the sandboxes in turn, as the one that machines get."""
    found: Sandbox = request.param
    monkeypatch.setenv(VARIABLE, found.name)
    assert current_sandbox() is found
    return found
