"""The report on paper: what its library does beside drawing."""

from __future__ import annotations

import subprocess
import sys

_SCRIPT = """
import sys
started = []
sys.addaudithook(lambda event, about: event == "subprocess.Popen" and started.append(about[1]))
from longfat.output.report.pdf import pdf_bytes
assert pdf_bytes("<p>text</p>").startswith(b"%PDF")
print(started)
"""


def test_no_compiler_is_started_to_find_libraries() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _SCRIPT], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"
