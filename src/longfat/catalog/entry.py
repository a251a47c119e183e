"""What the catalog knows of a run: what its manifest says, as one row.

The manifest is read as plain data and not as a `Run`: a catalog reads
thousands of them, and needs nothing of a case but the names in it.
"""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from longfat.catalog.kept import Reading
from longfat.metric import Unit
from longfat.probe import PROBES
from longfat.runs.run import MANIFEST, RUN_FORMAT, Tool, result_key
from longfat.traffic import FLOWS

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from longfat.probe import Probe
    from longfat.traffic import Flow

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
    pa.field("probes", pa.list_(_struct(probe=_TEXT, kind=_TEXT))),
    pa.field("tools", pa.list_(_struct(tool=_TEXT, version=_TEXT, digest=_TEXT))),
)


def read_entry(folder: Path) -> dict[str, Any]:
    """Read what the catalog knows of a run.

    Args:
        folder: the run directory.

    Returns:
        As `Reading.read`.

    Raises:
        FileNotFoundError: the run was removed meanwhile.
    """
    try:
        data = json.loads((folder / MANIFEST).read_bytes())
        if not isinstance(data, dict) or data.get("format") != RUN_FORMAT:
            found = data.get("format") if isinstance(data, dict) else None
            return {"problem": f"its format is {found!r}; this longfat reads {RUN_FORMAT}"}
        return _entry(data)
    except (FileNotFoundError, NotADirectoryError):
        raise
    except OSError as error:
        return {"problem": f"cannot be read: {error.strerror}"}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        return {"problem": f"its manifest is not whole: {type(error).__name__} {error}"}


def _entry(data: Mapping[str, Any]) -> dict[str, Any]:
    case, kernel = data["case"], data["kernel"]
    tools = {name: Tool(**tool) for name, tool in data["tools"].items()}
    times = data["flow_times"]
    return {
        "study": str(data["study"]),
        "case_name": str(data["name"]),
        "seed": int(data["seed"]),
        "kernel": str(case["kernel"]),
        "kernel_release": str(kernel["release"]),
        "kernel_digest": str(kernel["digest"]),
        "key": result_key(data["case_digest"], kernel_digest=kernel["digest"], tools=tools),
        "digest": str(data["digest"]),
        "case_digest": str(data["case_digest"]),
        "virtual_s": float(data["virtual_s"]),
        "wall_s": float(data["wall_s"]),
        "peak_bytes": int(data["peak_bytes"]),
        "parameters": [
            (name, {"text": one["text"], "number": one["number"], "unit": one["unit"]})
            for name, one in data["parameters"].items()
        ],
        "metrics": _metrics(data["metrics"], case),
        "flows": [
            {
                "flow": flow["name"],
                "tool": flow["tool"],
                "source": flow["source"],
                "target": flow["target"],
                **times.get(flow["name"], {}),
            }
            for flow in case["flows"]
        ],
        "probes": [{"probe": probe["name"], "kind": probe["kind"]} for probe in case["probes"]],
        "tools": [
            {"tool": name, "version": tool.version, "digest": tool.digest}
            for name, tool in tools.items()
        ],
    }


def _metrics(
    metrics: Mapping[str, float], case: Mapping[str, Any]
) -> list[tuple[str, dict[str, Any]]]:
    """Return the metrics with their units, flow by flow and probe by probe."""
    kinds = {one["name"]: one["tool"] for one in case["flows"]}
    kinds |= {one["name"]: one["kind"] for one in case["probes"]}
    order = {name: place for place, name in enumerate(kinds)}
    units = _units()
    found = []
    for name in sorted(metrics, key=lambda name: order.get(name.partition(".")[0], len(order))):
        source, _, metric = name.partition(".")
        unit = units.get((kinds.get(source, ""), metric)) or _unit_of(metric)
        found.append((name, {"value": metrics[name], "unit": unit}))
    return found


@cache
def _units() -> dict[tuple[str, str], str]:
    """Return the units of all metrics, by the kind of flow or probe and the metric's name."""
    kinds: dict[str, type[Flow | Probe]] = {**FLOWS, **PROBES}
    return {
        (kind, metric.name): metric.unit.value
        for kind, of_kind in kinds.items()
        for metric in of_kind.metrics
    }


def _unit_of(metric: str) -> str | None:
    """Return the unit that a name ends in; of a kind that this longfat does not know."""
    endings = (Unit.BPS, Unit.BYTES, Unit.SECONDS)
    return next((one.value for one in endings if metric.endswith(f"_{one.value}")), None)


ENTRIES = Reading(name="runs", version=f"1-{RUN_FORMAT}", fields=_FIELDS, read=read_entry)
"""The reading of manifests."""
