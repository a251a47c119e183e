"""The study beside this file runs, and its claims hold.

pytest examples/page
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent


def test_claims_hold(tmp_path: Path) -> None:
    program = Path(sys.executable).with_name("longfat")
    done = subprocess.run(
        [program, "run", HERE, "--json", "--no-report", "--no-cache"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    cases = json.loads(done.stdout)["cases"]
    metrics = cases["slow"]["metrics"]
    # Two transfers of 500 KB in all, less than a line of 20 Mbit/s and 40 ms could in slow start.
    assert metrics["page.load_s"] == pytest.approx(0.483397, rel=0.01)
    assert metrics["tcp.peak_rtt_s"] > 0.04
