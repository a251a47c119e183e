"""What the catalog reads: of a run, its manifest and the rows of its tools; of a study, its claims.

A run that cannot be read is a row, too, with the reason. Claims are read from the file that
`longfat run` writes beside the runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from longfat.analysis.query.row_cache import VERDICT, Reading
from longfat.common.decoding import Decoder, read_json
from longfat.errors import InputError, LongfatError
from longfat.execution.runs import RUN_FORMAT, load_run
from longfat.execution.runs.run import MANIFEST, SERIES
from longfat.model.metric import Unit
from longfat.study.metrics import known_metrics

if TYPE_CHECKING:
    from collections.abc import Iterator

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
            _struct(
                flow=_TEXT,
                tool=_TEXT,
                source=_TEXT,
                target=_TEXT,
                start_s=_REAL,
                end_s=_REAL,
                status=_WHOLE,
                failure=_TEXT,
            )
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
                **_ending(run, flow.name),
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


def _ending(run: Run, flow: str) -> dict[str, Any]:
    failure = run.flow_failures.get(flow)
    if failure is None:
        return {"status": 0, "failure": None}
    return {"status": failure.status, "failure": str(failure)}


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


ENTRIES = Reading(name="runs", version=f"3-{RUN_FORMAT}", fields=_FIELDS, read=read_entry)
"""The reading of manifests."""


_TEXT, _WHOLE, _REAL = pa.string(), pa.int64(), pa.float64()

_INTERVAL = (
    pa.field("flow", _TEXT),
    pa.field("stream", _WHOLE),
    pa.field("start_s", _REAL),
    pa.field("end_s", _REAL),
    pa.field("bps", _REAL),
    pa.field("bytes", _WHOLE),
    pa.field("retransmits", _WHOLE),
    pa.field("cwnd_bytes", _WHOLE),
    pa.field("rtt_s", _REAL),
    pa.field("rttvar_s", _REAL),
    pa.field("jitter_s", _REAL),
    pa.field("lost_packets", _WHOLE),
    pa.field("omitted", pa.bool_()),
)
_REPLY = (
    pa.field("flow", _TEXT),
    pa.field("sequence", _WHOLE),
    pa.field("time_s", _REAL),
    pa.field("rtt_s", _REAL),
)


def read_intervals(folder: Path) -> dict[str, Any]:
    """Read the rows of all flows of bulk traffic of a run, as `Reading.read`."""
    try:
        return {"rows": list(_intervals(load_run(folder)))}
    except LongfatError as error:
        return _failed(folder, error)


def read_replies(folder: Path) -> dict[str, Any]:
    """Read what became of each request of all ping flows of a run, as `Reading.read`."""
    try:
        return {"rows": list(_replies(load_run(folder)))}
    except LongfatError as error:
        return _failed(folder, error)


def _failed(folder: Path, error: LongfatError) -> dict[str, Any]:
    if not folder.exists():
        raise FileNotFoundError(folder) from error
    return {"problem": error.message}


def _intervals(run: Run) -> Iterator[dict[str, Any]]:
    for flow in run.measured_case.bulk_flows:
        start_s = run.flow_times[flow.name].start_s
        for stream, rows in enumerate(flow.rows(run.checked_raw)):
            for row in rows:
                # The clock of a report starts again when the omitted time is over.
                offset_s = start_s if row.omitted else start_s + flow.omit_s
                yield {
                    "flow": flow.name,
                    "stream": stream,
                    "start_s": row.start_s + offset_s,
                    "end_s": row.end_s + offset_s,
                    "bps": row.bps,
                    "bytes": row.bytes,
                    "retransmits": row.retransmits,
                    "cwnd_bytes": row.cwnd_bytes,
                    "rtt_s": row.rtt_s,
                    "rttvar_s": row.rttvar_s,
                    "jitter_s": row.jitter_s,
                    "lost_packets": row.lost_packets,
                    "omitted": row.omitted,
                }


def _replies(run: Run) -> Iterator[dict[str, Any]]:
    for flow in run.measured_case.pings:
        start_s = run.flow_times[flow.name].start_s
        # Of two answers to one request the first counts.
        answers = {reply.sequence: reply.rtt_s for reply in reversed(flow.replies(run.checked_raw))}
        sent = int(run.metrics.get(f"{flow.name}.sent", flow.count))
        for sequence in range(1, sent + 1):
            yield {
                "flow": flow.name,
                "sequence": sequence,
                "time_s": start_s + (sequence - 1) * flow.interval_s,
                "rtt_s": answers.get(sequence),
            }


def _reading(name: str, fields: tuple[pa.Field, ...], read: Any) -> Reading:
    rows = pa.field("rows", pa.list_(pa.struct(fields)))
    return Reading(name=name, version=f"1-{RUN_FORMAT}", fields=(rows,), read=read)


INTERVALS = _reading("intervals", _INTERVAL, read_intervals)
"""The rows of reports of bulk traffic: of each stream, what it moved in each interval."""

REPLIES = _reading("replies", _REPLY, read_replies)
"""Ping's requests, each with its RTT where a reply came."""


SCHEMA = pa.schema(
    [
        ("study", pa.string()),
        ("folder", pa.string()),
        ("text", pa.string()),
        ("expression", pa.string()),
        ("holds", pa.bool_()),
        ("seeds_holding", pa.int64()),
        ("seeds", pa.int64()),
        ("cases_holding", pa.int64()),
        ("cases", pa.int64()),
    ]
)


def read_claims(folders: Sequence[Path]) -> tuple[pa.Table, list[str]]:
    """Read the claims of studies.

    Args:
        folders: where their verdicts lie.

    Returns:
        A row for each claim, and what could not be read.
    """
    rows: list[dict[str, Any]] = []
    problems = []
    for folder in folders:
        where = str(folder / VERDICT)
        try:
            data = read_json(folder / VERDICT)
            verdict = _VERDICT.decode(data, where=f"{where}: not a verdict")
            rows += [_row(verdict.study, claim, str(folder)) for claim in verdict.claims]
        except OSError as error:
            problems.append(f"{where}: cannot be read: {error.strerror}")
        except InputError as error:
            problems.append(error.message)
    return pa.Table.from_pylist(rows, schema=SCHEMA), problems


@dataclass(frozen=True, slots=True, kw_only=True)
class _Seeds:
    holding: int
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Over:
    holding: int
    cases: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Claim:
    text: str
    expression: str
    holds: bool | None
    seeds: _Seeds | None = None
    over_cases: list[_Over] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Verdict:
    """The fields of a verdict that are read; it has more."""

    study: str
    claims: list[_Claim]


_VERDICT = Decoder(_Verdict, ignore_unknown=True)


def _row(study: str, claim: _Claim, folder: str) -> dict[str, Any]:
    # Of a claim with several terms over cases no one number speaks.
    over = claim.over_cases or []
    cases = over[0] if len(over) == 1 else None
    return {
        "study": study,
        "folder": folder,
        "text": claim.text,
        "expression": claim.expression,
        "holds": claim.holds,
        "seeds_holding": claim.seeds and claim.seeds.holding,
        "seeds": claim.seeds and claim.seeds.count,
        "cases_holding": cases and cases.holding,
        "cases": cases and cases.cases,
    }
