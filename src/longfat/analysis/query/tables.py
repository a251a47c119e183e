"""The tables of the catalog and their columns: what a query can read.

Those of `entries_views` are views of one table, `entries`, with a row a run;
the others (`claims`, rows of tools, series) are read only when a query names
them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from longfat.common.checksum import FileSum
from longfat.errors import InputError
from longfat.execution.runs.run import SERIES
from longfat.model.metric import Unit
from longfat.model.probes import PROBES

if TYPE_CHECKING:
    from longfat.model.probes.columns import Column as SeriesColumn

METRIC = "metric"
"""The description of columns of metrics."""

_BARE = (Unit.FRACTION.value, Unit.COUNT.value)


@dataclass(frozen=True, slots=True)
class Column:
    """A column.

    Attributes:
        name: its name.
        text: its description.
        unit: its unit; empty for none.
        sql: what it is made from, of the entries; empty where it is made otherwise.
    """

    name: str
    text: str
    unit: str = ""
    sql: str = ""


def quoted(name: str) -> str:
    """Return a name as SQL takes any name."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """Return a text as SQL writes it."""
    return "'" + text.replace("'", "''") + "'"


def number_name(parameter: str, unit: str) -> str:
    """Return the column's name of a parameter's numbers: `rtt_s`; bare for counts and shares."""
    return parameter if unit in _BARE else f"{parameter}_{unit}"


def parameter_columns(entries: pa.Table) -> list[Column]:
    """Return the columns of all parameters, by name.

    Of a number there are two, in its base unit and as it was written; of a text one.

    Args:
        entries: what is known of the runs.
    """
    maps = entries["parameters"].combine_chunks()
    units = pc.fill_null(pc.struct_field(maps.items, "unit"), "")
    pairs = set(zip(maps.keys.to_pylist(), units.to_pylist(), strict=True))
    found = []
    for name, unit in sorted(pairs):
        one = f"parameters[{literal(name)}]"
        if unit:
            number = f"case when {one}.unit = {literal(unit)} then {one}.number end"
            text = f"case when {one}.unit is not null then {one}.text end"
            found += [
                Column(number_name(name, unit), f"parameter {name}", unit, number),
                Column(f"{name}_text", f"parameter {name}, as it was written", "", text),
            ]
        else:
            text = f"case when {one}.unit is null then {one}.text end"
            found.append(Column(name, f"parameter {name}", "", text))
    return list({(one.name, one.sql): one for one in found}.values())


def metric_columns(entries: pa.Table) -> list[Column]:
    """Return the columns of all metrics, in the order of the flows and probes of the runs.

    Args:
        entries: what is known of the runs.
    """
    maps = entries["metrics"].combine_chunks()
    units = pc.fill_null(pc.struct_field(maps.items, "unit"), "")
    found = dict(zip(maps.keys.to_pylist(), units.to_pylist(), strict=True))
    return [
        Column(name, METRIC, unit, f"metrics[{literal(name)}].value")
        for name, unit in found.items()
    ]


def unique_names(columns: Iterable[Column], *, taken: Iterable[str] = ()) -> list[Column]:
    """Return columns with names that all differ, as SQL compares them.

    Args:
        columns: the columns; a later one gives way.
        taken: names that are there already.
    """
    names = {name.casefold() for name in taken}
    found = []
    for column in columns:
        wanted = column.name.replace("\0", "\ufffd")  # a name ends where DuckDB finds a zero
        name, count = wanted, 1
        while name.casefold() in names:
            count += 1
            name = f"{wanted}_{count}"
        names.add(name.casefold())
        found.append(Column(name, column.text, column.unit, column.sql))
    return found


OWN_SCHEMA = "longfat"
"""The schema of what a query has no business with."""

ENTRIES_TABLE = f"{OWN_SCHEMA}.entries"
"""The name of the table that the views are made of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table.

    Attributes:
        name: its name.
        text: what a row of it is.
        columns: its columns.
        source: what it is made from, of the entries; empty where it is made otherwise.
    """

    name: str
    text: str
    columns: Sequence[Column]
    source: str = ""

    @property
    def view(self) -> str:
        """Return the SQL that makes it a view of the entries."""
        chosen = ", ".join(
            f"{one.sql or quoted(one.name)} as {quoted(one.name)}" for one in self.columns
        )
        return f"create view {quoted(self.name)} as select {chosen} from {self.source}"


OF_RUN = (
    Column("run", "the run directory"),
    Column("study", "the study's name"),
    Column("case_name", "the case's name"),
    Column("seed", "the seed"),
)
"""The columns that every table of runs begins with: `natural join` joins by them."""

_RUN_NAMES = ", ".join(one.name for one in OF_RUN)


def _unnested(field: str) -> str:
    return f"(select {_RUN_NAMES}, unnest({field}) as one from {ENTRIES_TABLE})"


RUNS = Table(
    name="runs",
    text="a run: a case with one seed",
    source=ENTRIES_TABLE,
    columns=(
        *OF_RUN,
        Column("kernel", "the kernel that the case requests, such as 6.1"),
        Column("kernel_release", "the kernel that it ran on, such as 6.1.192"),
        Column("kernel_digest", "the digest of that kernel"),
        Column("key", "the name of the result: a hash of all that decides it"),
        Column("digest", "a hash of all that was measured"),
        Column("case_digest", "the digest of the case"),
        Column("virtual_s", "virtual time from boot to end", "s"),
        Column("wall_s", "wall time of the same", "s"),
        Column("peak_bytes", "the most memory that the machine held", "bytes"),
    ),
)

METRICS = Table(
    name="metrics",
    text="a metric of a run",
    source=_unnested("map_entries(metrics)"),
    columns=(
        *OF_RUN,
        Column("source", "the flow or probe", sql="split_part(one.key, '.', 1)"),
        Column(
            "metric",
            "its name, such as receiver_bps",
            sql="substr(one.key, strpos(one.key, '.') + 1)",
        ),
        Column("value", "in its base unit", sql="one.value.value"),
        Column("unit", "bps (bit/s), bytes, s, fraction or count", sql="one.value.unit"),
    ),
)

PARAMETERS = Table(
    name="parameters",
    text="a parameter of a run of a grid",
    source=_unnested("map_entries(parameters)"),
    columns=(
        *OF_RUN,
        Column("name", "the parameter", sql="one.key"),
        Column("text", "its value as it was written", sql="one.value.text"),
        Column("number", "in its base unit; null for a text", sql="one.value.number"),
        Column("unit", "as of metrics; null for a text", sql="one.value.unit"),
    ),
)

FLOWS = Table(
    name="flows",
    text="a flow of a run",
    source=_unnested("flows"),
    columns=(
        *OF_RUN,
        Column("flow", "the flow", sql="one.flow"),
        Column("tool", "iperf3, transfer, ping", sql="one.tool"),
        Column("source", "the host that it starts from", sql="one.source"),
        Column("target", "the host that it goes to", sql="one.target"),
        Column("start_s", "after the traffic's start", "s", sql="one.start_s"),
        Column("end_s", "after the traffic's start", "s", sql="one.end_s"),
        Column("status", "0, or the exit status of what failed", sql="one.status"),
        Column("failure", "what failed; null if nothing did", sql="one.failure"),
    ),
)

TOOLS = Table(
    name="tools",
    text="a program of the host that a run depends on",
    source=_unnested("tools"),
    columns=(
        *OF_RUN,
        Column("tool", "the program", sql="one.tool"),
        Column("version", "as it reports it", sql="one.version"),
        Column("digest", "of its bytes and its libraries'", sql="one.digest"),
    ),
)

CLAIMS = Table(
    name="claims",
    text="a claim of a study, as `longfat run` last evaluated it",
    columns=(
        Column("study", "the study's name"),
        Column("folder", "where the study's runs lie"),
        Column("text", "its text"),
        Column("expression", "what was checked"),
        Column("holds", "whether it holds for the medians; null if cases are missing"),
        Column("seeds_holding", "in how many seeds it holds"),
        Column("seeds", "of how many"),
        Column("cases_holding", "of a claim over cases: in how many of them it holds"),
        Column("cases", "of how many"),
    ),
)

INTERVALS = Table(
    name="intervals",
    text="an interval of a stream of bulk traffic, as the sending end reports it",
    columns=(
        *OF_RUN,
        Column("flow", "the flow"),
        Column("stream", "the stream, from 0"),
        Column("start_s", "after the traffic's start", "s"),
        Column("end_s", "after the traffic's start", "s"),
        Column("bps", "throughput", "bps"),
        Column("bytes", "moved in it", "bytes"),
        Column("retransmits", "segments sent again in it"),
        Column("cwnd_bytes", "congestion window at its end", "bytes"),
        Column("rtt_s", "smoothed RTT at its end", "s"),
        Column("rttvar_s", "its mean deviation", "s"),
        Column("jitter_s", "of UDP", "s"),
        Column("lost_packets", "of UDP"),
        Column("omitted", "whether it is left out of the totals"),
    ),
)

REPLIES = Table(
    name="replies",
    text="a request of a ping flow",
    columns=(
        *OF_RUN,
        Column("flow", "the flow"),
        Column("sequence", "the request, from 1"),
        Column("time_s", "when it was sent, after the traffic's start", "s"),
        Column("rtt_s", "null if no reply came", "s"),
    ),
)


def results_table(entries: pa.Table) -> Table:
    """Return the table with a column for each parameter and each metric of the runs.

    Args:
        entries: what is known of the runs.
    """
    own = [
        *OF_RUN,
        Column("kernel_release", "the kernel that it ran on"),
    ]
    more = [*parameter_columns(entries), *metric_columns(entries)]
    return Table(
        name="results",
        text="a run, with its parameters and metrics",
        source=ENTRIES_TABLE,
        columns=(*own, *unique_names(more, taken=[one.name for one in own])),
    )


def entries_views(entries: pa.Table) -> tuple[Table, ...]:
    """Return the tables that are views of the entries."""
    return (RUNS, results_table(entries), METRICS, PARAMETERS, FLOWS, TOOLS)


COLUMNS: Mapping[str, Sequence[SeriesColumn]] = {
    kind: probe.columns for kind, probe in PROBES.items()
}
"""The columns of each kind of probe's series."""

_PROBE = Column("probe", "the probe")
_WHAT = {
    "queue": "a qdisc at a moment",
    "tcp": "an end of a stream at a moment",
    "rate": "an interface at a moment",
    "capture": "a packet",
}


def series_table(kind: str) -> Table:
    """Return the table of a kind of probe's series."""
    own = (
        Column(one.name, "after the traffic's start" if one.name == "time_s" else "", one.unit)
        for one in COLUMNS[kind]
    )
    text = f"{_WHAT[kind]}, as a {kind} probe saw it"
    return Table(name=f"series_{kind}", text=text, columns=(*OF_RUN, _PROBE, *own))


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesFile:
    """A Parquet file of a table.

    Attributes:
        path: the file.
        known: the values of columns that are the same in all of its rows.
        sum: what it held when it was written.
    """

    path: str
    known: Mapping[str, str | int]
    sum: FileSum


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesFiles:
    """A table that consists of Parquet files.

    Attributes:
        schema: its columns.
        files: its files.
    """

    schema: pa.Schema
    files: Sequence[SeriesFile]


def series_files(kind: str, entries: pa.Table, *, paths: Sequence[Path]) -> SeriesFiles:
    """Return the series of a kind of probe of all runs.

    Args:
        kind: the kind.
        entries: what is known of the runs.
        paths: where the run directories are, in the entries' order.

    Raises:
        InputError: a run has no file of a probe of its.
    """
    schema = pa.schema(
        [
            *(
                pa.field(one.name, pa.int64() if one.name == "seed" else pa.string())
                for one in OF_RUN
            ),
            pa.field(_PROBE.name, pa.string()),
            *(pa.field(one.name, _plain(one.type)) for one in COLUMNS[kind]),
        ]
    )
    names = [one.name for one in OF_RUN]
    columns = [entries[name].to_pylist() for name in (*names, "probes")]
    files = [
        _series_file(path, one, known=dict(zip(names, values, strict=True)))
        for path, *values, probes in zip(paths, *columns, strict=True)
        for one in probes
        if one["kind"] == kind
    ]
    return SeriesFiles(schema=schema, files=files)


def _series_file(run: Path, probe: Mapping[str, Any], *, known: Mapping[str, Any]) -> SeriesFile:
    path = f"{run}/{SERIES}/{probe['probe']}.parquet"
    if probe["sha256"] is None:
        raise InputError(f"{path}: the run has no such file")
    return SeriesFile(
        path=path,
        known={**known, _PROBE.name: probe["probe"]},
        sum=FileSum(size_bytes=probe["size_bytes"], sha256=probe["sha256"]),
    )


def _plain(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pa.types.is_dictionary(kind) else kind
