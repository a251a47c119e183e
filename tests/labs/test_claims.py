"""Labs run, what they claim of some of their cases holds, and their texts quote these results.

Of each lab the cases that cost least; those that are not run leave claims unjudged, and figures
uncompared. `longfat run` of all labs judges all of them, and takes some minutes;
`tests/test_text_figures.py` compares all figures in `make test-long`.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from longfat.study.labs import find_lab
from tests.command import longfat
from tests.figures import different_from_record

# The cases of each lab, and how many claims speak of no others.
CASES = {
    "lab01": (("no-forwarding", "outage"), 3),
    "lab02": (("default", "window"), 3),
    "lab03": (("one-side", "uniform", "two-jitters"), 5),
    "lab04": (("loss", "loss-both", "reorder"), 3),
    "lab05": (("short", "burst", "long", "tiny"), 5),
    "lab06": (("reno",), 1),
    "lab07": (("cubic-lossy",), 1),
    "lab10": (("bbr-shallow",), 1),
    "lab11": (("router-output", "router-fabric", "router-hol", "router-voq"), 4),
    "lab12": (("unpaced",), 1),
    "lab13": (("black-hole",), 2),
    "lab14": (("idle",), 1),
    "lab15": (("gso-off", "small"), 2),
    "lab16": (("red-100",), 2),
    "lab17": (("sfq",), 3),
    "lab18": (("codel",), 1),
    "lab19": (("pie-10mbit",), 1),
    "lab20": (("ceil",), 1),
    "lab21": (("refused",), 1),
    "lab22": (("dual-l4s",), 1),
    "lab23": (("handshake",), 5),
    "lab24": (("small", "leo-idle"), 5),
    "lab25": (("fifo",), 1),
    "lab26": (("receiver",), 2),
}


@pytest.mark.slow
@pytest.mark.parametrize("lab", CASES)
def test_claims_hold(lab: str, tmp_path: Path) -> None:
    names, judged = CASES[lab]
    argv = ["run", lab, "--json", "--jobs", "1", "--out", str(tmp_path / "runs")]
    for name in names:
        argv += ["--case", name]
    done = longfat(*argv, cwd=tmp_path)
    assert done.returncode == 0, done.stderr + done.stdout
    verdict = json.loads(done.stdout)
    claims = verdict["claims"]
    assert not [claim["text"] for claim in claims if claim["holds"] is False]
    assert sum(claim["holds"] is True for claim in claims) == judged
    assert different_from_record(find_lab(lab).folder, verdict) == []
