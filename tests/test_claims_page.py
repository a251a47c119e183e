"""The page of claims over seeds has the labs' claims, and its rows are as the labs run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from longfat.analysis.verdict import evaluate
from longfat.execution import run_cases
from longfat.study import read_study
from longfat.study.choose import choose_cases
from tools import claims

STUDY = """\
title: Loss | seeds
kernel: "6.1"
seeds: 3
network: {hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8}, links: [[h1, h2]]}
setup: [{h1: tc qdisc add dev h1-eth0 root netem loss 50%}]
flows: {rtt: {ping: h1 -> h2, count: 4, interval: 100ms}}
cases: {lossy: , other: }
claims:
  - some are lost | none: lossy.rtt.loss >= 0
  - never so: lossy.rtt.loss > 2 over seeds
  - lossy.rtt.loss > 2
  - other.rtt.loss >= 0
"""


def test_the_page_has_the_claims_of_the_labs() -> None:
    text = claims.PAGE.read_text(encoding="utf-8")
    rows = claims.read_rows(text)
    whole = claims.page(claims.all_studies(), former=rows, measured={})
    assert text == whole, "run `python -m tools.claims`, with the labs whose claims were changed"


def test_rows_are_renewed_and_kept(tmp_path: Path) -> None:
    file = tmp_path / "lab" / "study.yaml"
    file.parent.mkdir()
    file.write_text(STUDY)
    study = read_study(file)
    chosen = choose_cases(study, names=("lossy",), seed=None, seeds=3, kernel=None)
    verdict = evaluate(study, run_cases(chosen, out=tmp_path / "runs"))
    measured = {"lab": claims.measure(verdict)}
    page = claims.page([study], former={}, measured=measured)
    assert "\n## lab: Loss \\| seeds\n" in page
    kernel = verdict.runs["lossy"][0].kernel["release"]
    rows = claims.read_rows(page)["lab"]
    assert [row[1:] for row in rows.values()] == [
        ("each seed", "3 of 3", "hold", "1-3", kernel),
        ("over seeds", "0 of 3", "**fail**", "1-3", kernel),
        ("each seed", "**0 of 3**", "**fail**", "1-3", kernel),
        ("each seed", "-", "-", "-", "-"),
    ]
    assert claims.page([study], former={"lab": rows}, measured={}) == page


@pytest.mark.slow
def test_the_rows_of_a_lab_are_as_it_runs() -> None:
    (study,) = (one for one in claims.all_studies() if one.name == "lab01")
    rows = claims.read_rows(claims.PAGE.read_text(encoding="utf-8"))[study.name]
    (seeds,) = {row[4] for row in rows.values()}
    first, last = map(int, re.findall(r"\d+", seeds))
    assert first == 1
    verdict = claims.run(study, cases=(), seeds=last, jobs=None)
    page = claims.page([study], former={}, measured={study.name: claims.measure(verdict)})
    assert claims.read_rows(page)[study.name] == rows
