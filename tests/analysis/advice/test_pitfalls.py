"""The pitfalls: their claims hold, and a diagnosis names the right cause first.

`pitfalls.yaml` beside this module declares the right cause of each.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from longfat.analysis.advice.diagnosis import diagnose
from longfat.analysis.advice.root_cause import RootCause
from longfat.analysis.loss_causes import Cause
from longfat.analysis.losses import losses
from longfat.execution.runs import Run, load_run
from longfat.study.labs import all_pitfalls
from tests.command import longfat
from tests.paths import REPOSITORY

# TCP sends again what is not lost, or losses have no flow.
UNBALANCED = {
    "acks-over-slow-radio": "what was lost in the last second is not all sent again before the end",
    "corrupted-frames": "an address or port may be the part of a frame that is corrupted",
    "netem-jitter-reorders": "what is late is sent again",
    "outage-by-event": "what was lost before the end of the outage is not all sent again",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """What a diagnosis of a pitfall has to say.

    Attributes:
        cause: the right first cause.
        also: causes that may be first as well.
        flow: the flow; `slowest` for the one that ends last.
    """

    cause: str
    also: tuple[str, ...] = ()
    flow: str = "bulk"


def _expected() -> dict[str, Expected]:
    entries: dict[str, dict[str, Any]] = yaml.safe_load(
        Path(__file__).with_name("pitfalls.yaml").read_text(encoding="utf-8")
    )
    return {
        name: Expected(**{**entry, "also": tuple(entry.get("also", ()))})
        for name, entry in entries.items()
    }


EXPECTED = _expected()
PITFALLS = all_pitfalls()


def test_each_pitfall_has_a_right_cause() -> None:
    assert list(EXPECTED) == list(PITFALLS)


def test_the_guide_has_each_cause() -> None:
    guide = (REPOSITORY / "docs/advice.md").read_text(encoding="utf-8")
    assert [cause for cause in RootCause if cause not in guide] == []


@pytest.fixture(scope="module", params=EXPECTED)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def typed(name: str, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Run a pitfall, whose claims have to hold, and return the run of its mistake."""
    out = tmp_path_factory.mktemp(name)
    done = longfat("run", f"pitfalls/{name}", "--no-report", "--out", str(out), cwd=out)
    assert done.returncode == 0, done.stdout + done.stderr
    return load_run(out / "typed-seed1")


def flow_of(name: str, run: Run) -> str:
    flow = EXPECTED[name].flow
    if flow != "slowest":
        return flow
    times = {each.name: run.metrics.get(f"{each.name}.completion_s", 0) for each in run.case.flows}
    return max(times, key=times.__getitem__)


@pytest.mark.slow
def test_retransmissions_are_losses_of_the_ledger(name: str, typed: Run) -> None:
    flow = flow_of(name, typed)
    retransmits = typed.metrics.get(f"{flow}.retransmits")
    if retransmits is None or name in UNBALANCED:
        return
    lost = [loss for loss in losses(typed, flow) if loss.cause.is_loss and not loss.is_backward]
    # What waits in a queue at the end is dropped, too, and so not sent again.
    at_end = (Cause.OTHER, Cause.INTERFACE_DOWN)
    at_least = sum(loss.packets for loss in lost if loss.cause not in at_end)
    at_most = sum(loss.packets for loss in lost)
    tolerance = max(2, 0.03 * retransmits)
    assert at_least - tolerance <= retransmits <= at_most + tolerance


@pytest.mark.slow
def test_the_right_cause_is_first(name: str, typed: Run) -> None:
    (diagnosis,) = diagnose(typed, flow_of(name, typed))
    assert diagnosis.causes[0].cause in {EXPECTED[name].cause, *EXPECTED[name].also}
