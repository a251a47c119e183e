"""The studies of the repository: they are read whole, and their lines work in a machine."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from longfat.common import resources
from longfat.execution import run_case
from longfat.model.traffic import Iperf3, Ping
from longfat.study import Planned, Study, read_study

FOLDER = resources.folder("labs").parent / "studies"
NAMES = sorted(path.parent.name for path in FOLDER.glob("*/study.yaml"))
WITHOUT_GRID = ("changing-path", "wires")


@pytest.mark.parametrize("name", NAMES)
def test_each_has_claims_and_each_grid_figures_and_a_text(name: str) -> None:
    study = read_study(FOLDER / name)
    assert study.claims
    if study.grid is None:
        assert name in WITHOUT_GRID
        return
    assert len(study.cases) > 20
    assert study.figures
    assert study.text


def shortened(planned: Planned) -> Planned:
    """Return a case that ends soon: its lines are what is tried."""
    flows = tuple(
        replace(flow, time_s=2.0, omit_s=0.0, start_s=0.0)
        if isinstance(flow, Iperf3)
        else replace(flow, count=3, start_s=0.0)
        if isinstance(flow, Ping)
        else flow
        for flow in planned.case.flows
    )
    return replace(planned, case=replace(planned.case, flows=flows))


def one_of_each_set_up(study: Study) -> Iterator[tuple[str, Planned]]:
    """Yield a case of a study, or one for each queue that queues are compared by."""
    seen = set()
    for case, planned in study.cases.items():
        kind = planned.parameters["aqm"].text if "aqm" in planned.parameters else ""
        if kind not in seen:
            seen.add(kind)
            yield case, planned


# Not a test for each case: to collect these would read all the studies.
@pytest.mark.parametrize("name", [name for name in NAMES if name != "wires"])  # it has none
def test_lines_work(name: str, tmp_path: Path) -> None:
    for case, planned in one_of_each_set_up(read_study(FOLDER / name)):
        short = shortened(planned)
        run = run_case(short.case, name=case, out=tmp_path, places=short.places)
        assert run.metrics["bulk.receiver_bps"] > 0, case
