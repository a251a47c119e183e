"""Checks of arguments that the formulas share; each raises ValueError in the caller's words."""

from __future__ import annotations

import math


def positive(**values: float) -> None:
    """Check that every value is a finite number above 0."""
    for name, value in values.items():
        if not (math.isfinite(value) and value > 0):
            raise ValueError(f"{name} must be more than 0, not {value}")


def not_negative(**values: float) -> None:
    """Check that every value is a finite number, 0 or above."""
    for name, value in values.items():
        if not (math.isfinite(value) and value >= 0):
            raise ValueError(f"{name} must be 0 or more, not {value}")


def between_0_and_1(**values: float) -> None:
    """Check that every value lies between 0 and 1, neither of them included."""
    for name, value in values.items():
        if not 0 < value < 1:
            raise ValueError(f"{name} must be more than 0 and less than 1, not {value}")


def at_least_1(**values: float) -> None:
    """Check that every value is a finite number, 1 or above."""
    for name, value in values.items():
        if not (math.isfinite(value) and value >= 1):
            raise ValueError(f"{name} must be 1 or more, not {value}")
