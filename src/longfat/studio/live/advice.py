"""What limited a live flow: `longfat diagnose`, on the flow's own output."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from longfat.analysis.advice.diagnosis import diagnose
from longfat.engine import kernel as kernels
from longfat.errors import LongfatError
from longfat.execution.runs import FlowTime, Run
from longfat.execution.runs.run import RAW, sums_of
from longfat.studio.advice import Advice, advice_of

if TYPE_CHECKING:
    from longfat.live.flows import Measured
    from longfat.model.case import Case


def advise(measured: Measured, case: Case, *, folder: Path) -> Advice | None:
    """Diagnose a live flow.

    Args:
        measured: its measurements.
        case: the network and its set-up, with this flow only.
        folder: a folder for temporary files; nothing else writes there at the same time.

    Returns:
        What limited it; None if that cannot be determined.
    """
    if not case.bulk_flows:
        return None
    try:
        return _advise(measured, case, folder=folder)
    except (LongfatError, OSError):  # no diagnosis is possible
        return None


def _advise(measured: Measured, case: Case, *, folder: Path) -> Advice:
    name = measured.flow.name
    with tempfile.TemporaryDirectory(dir=folder) as place:
        raw = Path(place, RAW)
        raw.mkdir()
        for file, text in measured.raw.items():
            (raw / file).write_text(text, encoding="utf-8")
        run = Run(
            folder=Path(place),
            name=name,
            case=case,
            case_digest="",
            digest="",
            kernel={
                "digest": "",
                "release": kernels.find(case.kernel).release,
                "binary_sha256": "",
            },
            tools={},
            seed=case.seed,
            flow_times={name: FlowTime(start_s=0.0, end_s=measured.flow.duration_s())},
            epoch_s=0.0,
            virtual_s=0.0,
            wall_s=0.0,
            peak_bytes=0,
            sandbox="",
            metrics={f"{name}.{metric}": value for metric, value in measured.metrics.items()},
            files=sums_of(Path(place)),
        )
        (found,) = diagnose(run, name)
    return advice_of(found)
