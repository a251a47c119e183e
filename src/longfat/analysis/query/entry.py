"""The catalog's row of a run, from its manifest.

A run that cannot be read is a row, too, with the reason.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from longfat.analysis.query.kept import Reading
from longfat.errors import InputError
from longfat.execution.runs.run import MANIFEST, RUN_FORMAT, SERIES, load_run
from longfat.model.metric import Unit
from longfat.study.metrics import known_metrics

if TYPE_CHECKING:
    from pathlib import Path

    from longfat.execution.runs import Run

_TEXT, _WHOLE, _REAL = pa.string(), pa.int64(), pa.float64()


def _struct(**fields: pa.DataType) -> pa.StructType:
    return pa.struct(list(fields.items()))


PARAMETERS = pa.map_(_TEXT, _struct(text=_TEXT, number=_REAL, unit=_TEXT))
METRICS = pa.map_(_TEXT, _struct(value=_REAL, unit=_TEXT))

_FIELDS = (
    pa.field("study", _TEXT),
    pa.field("case_name", _TEXT),
    pa.field("seed", _WHOLE),
    pa.field("kernel", _TEXT),
    pa.field("kernel_release", _TEXT),
    pa.field("kernel_digest", _TEXT),
    pa.field("key", _TEXT),
    pa.field("digest", _TEXT),
    pa.field("case_digest", _TEXT),
    pa.field("virtual_s", _REAL),
    pa.field("wall_s", _REAL),
    pa.field("peak_bytes", _WHOLE),
    pa.field("parameters", PARAMETERS),
    pa.field("metrics", METRICS),
    pa.field(
        "flows",
        pa.list_(
            _struct(flow=_TEXT, tool=_TEXT, source=_TEXT, target=_TEXT, start_s=_REAL, end_s=_REAL)
        ),
    ),
    pa.field("probes", pa.list_(_struct(probe=_TEXT, kind=_TEXT, size_bytes=_WHOLE, sha256=_TEXT))),
    pa.field("tools", pa.list_(_struct(tool=_TEXT, version=_TEXT, digest=_TEXT))),
)


def read_entry(folder: Path) -> dict[str, Any]:
    """Read the catalog's row of a run.

    Args:
        folder: the run directory.

    Returns:
        As `Reading.read`.

    Raises:
        FileNotFoundError: the run was removed meanwhile.
    """
    try:
        return _entry(load_run(folder))
    except InputError as error:
        (folder / MANIFEST).stat()
        return {"problem": error.message.removeprefix(f"{folder / MANIFEST}: ")}


def _entry(run: Run) -> dict[str, Any]:
    return {
        "study": run.study,
        "case_name": run.name,
        "seed": run.seed,
        "kernel": run.case.kernel,
        "kernel_release": run.kernel["release"],
        "kernel_digest": run.kernel["digest"],
        "key": run.key,
        "digest": run.digest,
        "case_digest": run.case_digest,
        "virtual_s": run.virtual_s,
        "wall_s": run.wall_s,
        "peak_bytes": run.peak_bytes,
        "parameters": [(name, one.to_json()) for name, one in run.parameters.items()],
        "metrics": _metrics(run),
        "flows": [
            {
                "flow": flow.name,
                "tool": flow.tool,
                "source": flow.source,
                "target": flow.target,
                **asdict(run.flow_times[flow.name]),
            }
            for flow in run.case.flows
        ],
        "probes": [
            {"probe": probe.name, "kind": probe.kind, **_series(run, probe.name)}
            for probe in run.case.probes
        ],
        "tools": [
            {"tool": name, "version": tool.version, "digest": tool.digest}
            for name, tool in run.tools.items()
        ],
    }


def _series(run: Run, probe: str) -> dict[str, Any]:
    """Return what the file of a probe's series held when it was written."""
    file = run.files.get(f"{SERIES}/{probe}.parquet")
    return {} if file is None else asdict(file)


def _metrics(run: Run) -> list[tuple[str, dict[str, Any]]]:
    """Return the metrics with their units, flow by flow and probe by probe."""
    known = known_metrics(run.case)
    names = [*(flow.name for flow in run.case.flows), *(probe.name for probe in run.case.probes)]
    order = {name: place for place, name in enumerate(names)}
    found = []
    for name in sorted(run.metrics, key=lambda name: order.get(name.partition(".")[0], len(order))):
        metric = known.get(name)
        unit = metric.unit.value if metric else _unit_of(name)
        found.append((name, {"value": run.metrics[name], "unit": unit}))
    return found


def _unit_of(metric: str) -> str | None:
    """Return the unit that a name ends in; of a kind unknown to this version."""
    endings = (Unit.BPS, Unit.BYTES, Unit.SECONDS)
    return next((one.value for one in endings if metric.endswith(f"_{one.value}")), None)


ENTRIES = Reading(name="runs", version=f"2-{RUN_FORMAT}", fields=_FIELDS, read=read_entry)
"""The reading of manifests."""
