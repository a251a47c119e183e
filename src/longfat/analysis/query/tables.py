"""The tables of the catalog: what a query can read.

Those of `entries_views` are views of one table, `entries`, with a row a run;
the others (`claims`, rows of tools, series) are read only when a query names
them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from longfat.analysis.query.columns import (
    Column,
    metric_columns,
    parameter_columns,
    quoted,
    unique_names,
)

if TYPE_CHECKING:
    import pyarrow as pa

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
