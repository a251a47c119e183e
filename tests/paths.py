"""Where the tests' data, the repository and the installed script are, for tests at any depth."""

from __future__ import annotations

import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parent
REPOSITORY = TESTS.parent
LONGFAT = str(Path(sys.executable).with_name("longfat"))
"""The installed script. Tests begin it where its start matters; `tests.command` is faster."""
