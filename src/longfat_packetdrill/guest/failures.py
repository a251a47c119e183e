"""Why a script fails: first without its line, then with all that is reported."""

from typing import Any


class ScriptFailedError(Exception):
    """Something in a script cannot be done, or has not come about."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class FailureError(Exception):
    """The script has failed: what is reported of it."""

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
