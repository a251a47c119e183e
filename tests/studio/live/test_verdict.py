"""What limited the flows of a live run: the diagnosis of the run that was saved of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from longfat.analysis.advice.diagnosis import diagnose
from longfat.execution.runs import load_run
from longfat.studio.views import advice_of
from tests.studio.live.conftest import MakePage, Page

TWO = """\
title: Two flows on one link
kernel: "6.1"
memory: 512MB
network:
  hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8, h3: 10.0.0.3/8}
  switches: [s1]
  links: [[h1, s1], [h2, s1], [s1, h3, {rate: 5mbit, delay: 25ms, queue: 90KB}]]
flows:
  one: {iperf3: h1 -> h3, time: 12s}
  two: {iperf3: h2 -> h3, time: 12s}
"""


def saved(page: Page) -> dict[str, Any]:
    page.do("run")
    found: dict[str, Any] = page.wait(lambda: (one := page.ended(1)) and one["kept"] and one)
    return found


def test_the_live_answer_is_the_diagnosis_of_the_saved_run(
    make_page: MakePage, tmp_path: Path
) -> None:
    recording = saved(make_page(TWO))
    run = load_run(tmp_path / recording["kept"])
    for flow, found in zip(recording["flows"], diagnose(run), strict=True):
        advice = flow["advice"]
        assert advice == advice_of(found)
        assert "s1-eth3 with 5.00 Mbit/s, was full" in advice["verdict"]
        assert "its queue adds" in advice["verdict"]
        assert "(idle path 50.0 ms)" in advice["answer"]
        # Nothing that takes from the other is recommended where each has its share.
        assert not any(fix["takes_from"] for fix in advice["fixes"])


LOSSY = "{rate: 20mbit, delay: 25ms, loss: 1%}"


@pytest.mark.parametrize(
    ("links", "others"),
    [
        (f"[h1, s1], [h2, s1], [s1, h3, {LOSSY}]", ["two"]),
        (f"[h1, s1, {LOSSY}], [h2, s1, {LOSSY}], [s1, h3]", []),
    ],
    ids=["shared", "alone"],
)
def test_a_fix_names_the_flows_that_it_takes_from(
    make_page: MakePage, links: str, others: list[str]
) -> None:
    lossy = TWO.replace(TWO.split("links: [")[1].split("]\nflows", maxsplit=1)[0], links)
    recording = saved(make_page(lossy))
    (one, _) = recording["flows"]
    assert "at random" in one["advice"]["verdict"]
    fix, *_ = one["advice"]["fixes"]
    assert "bbr" in fix["lines"][0]["line"]
    assert fix["takes_from"] == others
