"""Where the tests' data and the repository are, for tests at any depth."""

from __future__ import annotations

from pathlib import Path

TESTS = Path(__file__).resolve().parent
REPOSITORY = TESTS.parent
