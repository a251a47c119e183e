"""Why a script fails: without its line, where that is not known yet, and with all that is told."""

from typing import Any


class ScriptFailedError(Exception):
    """Something in a script cannot be done, or has not come about."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class FailureError(Exception):
    """The script has failed: what is told of it."""

    def __init__(self, line: int, message: str, **more: Any) -> None:
        super().__init__(message)
        self.failure = {
            "line": line,
            "message": message,
            "expected": None,
            "actual": None,
            "expected_ns": None,
            "actual_ns": None,
            "differences": [],
            "sent": None,
            **more,
        }
