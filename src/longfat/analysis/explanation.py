"""Where a metric of a run comes from: its file, the path in it, and what was computed.

`longfat explain` shows it. The sources are declared with the metrics (`longfat.model.metric`).
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from longfat.common.checksum import file_damage
from longfat.common.decoding import MAX_RAW_BYTES, read_bytes
from longfat.common.suggest import listed, nearest
from longfat.errors import InputError
from longfat.guest.extract import ExtractionError, extract
from longfat.study.metrics import find_metric, known_metrics

if TYPE_CHECKING:
    from longfat.execution.runs import Run
    from longfat.model.metric import Metric, MetricSource, Unit


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """Where a value comes from.

    Attributes:
        metric: its full name, `FLOW.METRIC` or `PROBE.METRIC`.
        title: what a table calls it.
        unit: its base unit.
        value: its value in this run, in the base unit; None if the run does not have it.
        file: the file, below the run directory; None if a plug-in does not declare it, as the
            next three.
        path: the path in it: of JSON, a regular expression of text, or columns of a series.
        formula: what is computed from the numbers there.
        over: what it summarises, such as `streams`; empty, if it is of one thing.
        read: the value as the file has it now, where the formula is a plain conversion.
    """

    metric: str
    title: str
    unit: Unit
    value: float | None
    file: str | None = None
    path: str | None = None
    formula: str | None = None
    over: str = ""
    read: float | None = None

    def to_json(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {**asdict(self), "unit": self.unit.value}


def explain(run: Run, name: str) -> Explanation:
    """Return where a metric of a run comes from.

    Args:
        run: the run.
        name: `FLOW.METRIC` or `PROBE.METRIC`, with the unit's ending or without.

    Raises:
        InputError: there is no such metric, or its file is missing or damaged.
    """
    known = known_metrics(run.case)
    key = find_metric(*name.partition(".")[::2], known)
    if key is None:
        hint = nearest(name, known)
        raise InputError(
            f"{run.folder}: no metric {name!r} in this run{hint} (its metrics: {listed(known)})"
        )
    metric, value = known[key], run.metrics.get(key)
    if metric.source is None:
        return Explanation(metric=key, title=metric.title, unit=metric.unit, value=value)
    of = key.partition(".")[0]
    reverse = any(flow.name == of and flow.reverse for flow in run.case.flows)
    file = metric.source.file_of(of, reverse=reverse)
    return Explanation(
        metric=key,
        title=metric.title,
        unit=metric.unit,
        value=value,
        file=file,
        path=metric.source.path,
        formula=metric.source.describe(),
        over=metric.source.over,
        read=None if value is None else _read(run, file, metric),
    )


def _read(run: Run, file: str, metric: Metric) -> float | None:
    """Return a metric's value as its file has it; None if the formula is more than a conversion."""
    source = metric.source
    if source is None or not source.is_direct or source.format == "series":
        return None
    if file not in run.files:
        raise InputError(f"{run.folder / file}: the run has no such file")
    if problem := file_damage(run.folder / file, run.files[file]):
        raise InputError(f"{run.folder / file}: {problem}")
    try:
        content = read_bytes(run.folder / file, most_bytes=MAX_RAW_BYTES)
    except OSError as error:
        raise InputError(f"{run.folder / file}: cannot be read: {error.strerror}") from None
    try:
        return read_source(content, source)
    except ExtractionError as error:
        raise InputError(f"{run.folder / file}: {error}") from None


def read_source(content: bytes, source: MetricSource) -> float:
    """Return what a file's content has at a source's path, converted into the base unit.

    Args:
        content: the file's content.
        source: a source whose formula is a plain conversion.

    Raises:
        ExtractionError: the number is not there.
    """
    order = {
        "name": "value",
        "format": "json" if source.format == "json" else "regex",
        "what": source.path,
        "of": source.file,
        "take": source.take or "last",
        "factor": 1.0,
    }
    return extract([order], lambda _: content)["value"] / source.divisor
