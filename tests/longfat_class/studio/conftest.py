"""The fixtures of the studio's tests."""

from tests.studio.conftest import _own_state, certificate, static, workspace

__all__ = ["_own_state", "certificate", "static", "workspace"]
