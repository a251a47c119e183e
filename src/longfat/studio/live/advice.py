"""What limited a live flow: `longfat diagnose`, on the flow's own output."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longfat.analysis.advice.diagnosis import diagnose
from longfat.common.guard import scratch_folder
from longfat.engine import kernel as kernels
from longfat.errors import LongfatError
from longfat.execution.runs import FlowTime, Run
from longfat.execution.runs.run import RAW, sums_of
from longfat.studio.advice import Advice, advice_of

if TYPE_CHECKING:
    from longfat.live.flows import Measured
    from longfat.model.case import Case


def advise(measured: Measured, case: Case) -> Advice | None:
    """Diagnose a live flow.

    Args:
        measured: its measurements.
        case: the network and its set-up, with this flow only.

    Returns:
        What limited it; None if that cannot be determined.
    """
    if not case.bulk_flows:
        return None
    try:
        return _advise(measured, case)
    except (LongfatError, OSError):  # no diagnosis is possible
        return None


def _advise(measured: Measured, case: Case) -> Advice:
    name = measured.flow.name
    with scratch_folder() as folder:
        raw = folder / RAW
        raw.mkdir()
        for file, text in measured.raw.items():
            (raw / file).write_text(text, encoding="utf-8")
        run = Run(
            folder=folder,
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
            files=sums_of(folder),
        )
        (found,) = diagnose(run, name)
    return advice_of(found)
