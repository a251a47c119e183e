"""A run as a value: its manifest, its digest, and reading the samples of its probes."""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

from longfat import shown_in_notebook
from longfat.common.checksum import FILE_NAME, FileSum, file_damage, file_sum, sealed, unsealed
from longfat.common.decoding import Decoder, decode, describe, read_bytes, read_json
from longfat.common.extras import lazy
from longfat.errors import InputError
from longfat.execution.runs.packet_drops import DropSection, NodeCount, PacketDrop, QdiscDrops
from longfat.model.case import Case, digest_of
from longfat.model.flow_path.installed import InstalledNode, PackedInstalled, pack
from longfat.model.parameter import ParameterValue
from longfat.model.probes.columns import MAX_CELLS, TIME
from longfat.model.traffic.flow import FAILS, SUCCEEDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from longfat.model.probes.columns import Column
    from longfat.model.traffic import Flow
else:
    pa = lazy("pyarrow")

pc = lazy("pyarrow.compute")
pq = lazy("pyarrow.parquet")

NOT_ENDED = 124
"""The exit status of a flow that did not end in time, as of timeout(1)."""

RUN_FORMAT = 5
"""The version of the manifest; it changes when the meaning of a field does."""

MANIFEST = "manifest.json"
RAW = "raw"
SERIES = "series"
COMMANDS = "commands.sh"
OUTCOME = "outcome.json"
"""The guest's report; it is in the folder until it was read."""
INSTALLED = "installed.json"
DROPS = "drops.json"
"""What the guest's kernel had installed; likewise."""

MAX_FILE_BYTES = 256 << 20
"""The maximum size of a Parquet file."""

_MAX_DISTANCE_S = 1e9
"""The maximum distance of a sample from the start of the traffic, in seconds."""

_UNREADABLE = (OSError, ValueError, OverflowError, MemoryError)


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowTime:
    """When a flow began and ended, in seconds of virtual time after the traffic's start."""

    start_s: float
    end_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowFailure:
    """How a flow failed.

    Attributes:
        line: the command that failed; empty, if only the tool's report says so.
        status: its exit status as a shell has it, also for a signal; 124, as of timeout(1), if it
            did not end in time.
        reason: what its tool reported.
        port: the port of its server; 0, if its tool reported its connections.
    """

    line: str
    status: int
    reason: str
    port: int = 0

    def __str__(self) -> str:
        """Return what failed, how and why."""
        if not self.line:
            return self.reason
        ending = "was stopped" if self.status == NOT_ENDED else f"exited with status {self.status}"
        return f"`{self.line}` {ending}: {self.reason}"


@dataclass(frozen=True, slots=True, kw_only=True)
class EventTime:
    """A time at which an event happened.

    Attributes:
        event: the event's index in the case.
        at_s: when it began, in seconds of virtual time after the traffic's start.
        words: what happened, in a few words.
    """

    event: int
    at_s: float
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A program that a result depends on.

    Attributes:
        version: what it says of itself.
        digest: the SHA-256 of its bytes, and of those of the libraries that it loads.
    """

    version: str
    digest: str


def format_tools(runs: Iterable[Run]) -> list[str]:
    """Return the tools of runs as shown to a reader; those of no version are left out."""
    tools = {(name, tool.version) for run in runs for name, tool in run.tools.items()}
    return sorted(f"{name}: {version}" for name, version in tools if version)


def result_key(case_digest: str, *, kernel_digest: str, tools: Mapping[str, Tool]) -> str:
    """Return the name of a result: the hash of all that decides it.

    Args:
        case_digest: the case's digest.
        kernel_digest: the kernel's digest.
        tools: the host's tools that the case uses, and longfat itself, by name.
    """
    decides = [case_digest, kernel_digest, sorted((name, t.digest) for name, t in tools.items())]
    return hashlib.sha256(json.dumps(decides).encode()).hexdigest()


class RanOn(TypedDict):
    """The kernel of a run: the `digest` that names it, its `release`, and its binary's digest."""

    digest: str
    release: str
    binary_sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """The result of one case.

    Attributes:
        folder: the run directory.
        name: the case's name.
        case: the case.
        case_digest: the case's digest.
        digest: a hash over all raw files, independent of wall time and
            paths: equal digests mean equal bytes.
        kernel: the kernel that ran it.
        tools: the host's tools, and longfat itself, by name.
        seed: the case's seed.
        flow_times: when each flow began and ended, by its name.
        flow_failures: how flows failed, by their names.
        event_times: when the case's events happened, in the order of their times.
        epoch_s: the time of the guest's clock at the traffic's start, in seconds since 1970.
        virtual_s: virtual time from boot to end, in seconds.
        wall_s: wall time of the same, in seconds.
        peak_bytes: the peak memory of the machine's processes.
        sandbox: the sandbox of its machine, see `longfat.engine.sandbox.sandbox`.
        metrics: numbers by `FLOW.METRIC` and `PROBE.METRIC`, in base units.
        files: the size and checksum of each file except for the manifest, by its path.
        study: the name of the study whose case it is; empty if it is of none.
        parameters: of a case of a grid, the values of its parameters.
        drops: what the kernel dropped while traffic played; None if it does not count that.
        drop_sections: of a run with events, what of this was dropped before each of them.
        qdiscs: those of the interfaces at which a qdisc dropped packets.
        counts: counters of nodes that grew while traffic played.
        installed: the qdiscs, classes, filters and sysctls that the kernel had at the traffic's
            start, and what differed later; None if they were not read.
    """

    folder: Path
    name: str
    case: Case
    case_digest: str
    digest: str
    kernel: RanOn
    tools: dict[str, Tool]
    seed: int
    flow_times: Mapping[str, FlowTime]
    epoch_s: float
    virtual_s: float
    wall_s: float
    peak_bytes: int
    sandbox: str
    metrics: dict[str, float]
    files: Mapping[str, FileSum]
    study: str = ""
    parameters: Mapping[str, ParameterValue] = field(default_factory=dict)
    event_times: tuple[EventTime, ...] = ()
    flow_failures: Mapping[str, FlowFailure] = field(default_factory=dict)
    drops: tuple[PacketDrop, ...] | None = None
    drop_sections: tuple[DropSection, ...] = ()
    qdiscs: tuple[QdiscDrops, ...] = ()
    counts: tuple[NodeCount, ...] = ()
    installed: tuple[InstalledNode, ...] | None = None

    def _repr_html_(self) -> str:
        """Return its network and what it measured, for a notebook."""
        return shown_in_notebook("run", self)

    @property
    def key(self) -> str:
        """Return the key of the result in the cache: see `result_key`."""
        digest = self.kernel["digest"]
        return result_key(self.case_digest, kernel_digest=digest, tools=self.tools)

    @property
    def measured_case(self) -> Case:
        """Return the case without the flows that failed, whose reports are not whole."""
        if not self.flow_failures:
            return self.case
        flows = tuple(flow for flow in self.case.flows if flow.name not in self.flow_failures)
        return replace(self.case, flows=flows)

    @property
    def unexpected(self) -> dict[str, str]:
        """Return what is wrong with flows that did not end as their `expect` says, by name."""
        return {
            flow.name: problem
            for flow in self.case.flows
            if (problem := _unexpected(flow, self.flow_failures.get(flow.name)))
        }

    @property
    def raw(self) -> Path:
        """Return the folder with the output of the tools."""
        return self.folder / RAW

    @property
    def checked_raw(self) -> Path:
        """Return the folder with the output of the tools, after checking its files.

        Raises:
            InputError: a file was changed after the run was made.
        """
        if problem := damage(self, only=RAW):
            raise InputError(f"{self.folder}: damaged: {problem}")
        return self.raw

    def metrics_of(self, name: str) -> dict[str, float]:
        """Return the metrics of a flow or probe, by their names without its own."""
        start = f"{name}."
        return {
            key.removeprefix(start): value
            for key, value in self.metrics.items()
            if key.startswith(start)
        }

    def series(self, probe: str) -> pa.Table:
        """Return the samples of a probe.

        Args:
            probe: the probe's name.

        Returns:
            A table as documented in `longfat.model.probes`; the schema contains the units.

        Raises:
            InputError: the case has no such probe, or the file is missing or broken.
        """
        found = {one.name: one for one in self.case.probes}
        if probe not in found:
            there = f"its probes: {', '.join(found)}" if found else "it has none"
            raise InputError(f"{self.folder}: no probe {probe!r} in this run; {there}")
        name = f"{SERIES}/{probe}.parquet"
        if name not in self.files:
            raise InputError(f"{self.folder / name}: the run has no such file")
        return read_series(self.folder / name, self.files[name], columns=found[probe].columns)

    def to_manifest(self) -> dict[str, Any]:
        """Return the run without its location as plain data."""
        fields = {name: getattr(self, name) for name in self.__dataclass_fields__}
        del fields["folder"]
        fields["case"] = self.case.to_json()
        fields["flow_times"] = {name: asdict(time) for name, time in self.flow_times.items()}
        del fields["event_times"], fields["flow_failures"]
        if self.flow_failures:
            fields["flow_failures"] = {
                name: asdict(failure) for name, failure in self.flow_failures.items()
            }
        drops, qdiscs = fields.pop("drops"), fields.pop("qdiscs")
        if not self.drop_sections:
            del fields["drop_sections"]
        else:
            fields["drop_sections"] = [asdict(section) for section in self.drop_sections]
        counts = fields.pop("counts")
        if counts:
            fields["counts"] = [asdict(count) for count in counts]
        installed = fields.pop("installed")
        if installed is not None:
            fields["installed"] = pack(installed)
        if drops is not None:
            fields["drops"] = [asdict(drop) for drop in drops]
            fields["qdiscs"] = [asdict(qdisc) for qdisc in qdiscs]
        if self.event_times:
            fields["event_times"] = [asdict(time) for time in self.event_times]
        fields["tools"] = {name: asdict(tool) for name, tool in self.tools.items()}
        fields["files"] = {name: asdict(file) for name, file in self.files.items()}
        fields["parameters"] = {name: one.to_json() for name, one in self.parameters.items()}
        return sealed({"format": RUN_FORMAT, **fields})

    def manifest_text(self) -> str:
        """Return the text of the run's manifest."""
        return json.dumps(self.to_manifest(), indent=2, sort_keys=True) + "\n"


def _unexpected(flow: Flow, failure: FlowFailure | None) -> str:
    if failure is None:
        return "it was expected to fail, and did not" if flow.expect == FAILS else ""
    if flow.expect != SUCCEEDS:
        return ""
    return str(failure)


def load_run(folder: Path) -> Run:
    """Read a run directory.

    The manifest is checked whole: by its checksum, field by field, and for the case being
    the one of its digest. The files are checked when they are read, or by `damage`.

    Raises:
        InputError: it is not a run directory, is damaged, or is one of another format.
    """
    path = folder / MANIFEST
    try:
        data = read_json(path)
    except (FileNotFoundError, NotADirectoryError):
        raise InputError(f"{folder}: not a run directory: no {MANIFEST} in it") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    return read_manifest(data, folder=folder)


def read_manifest(data: Any, *, folder: Path) -> Run:
    """Return the run that a manifest's JSON describes; see `load_run`.

    Args:
        data: what `Run.to_manifest` returned.
        folder: the run directory.

    Raises:
        InputError: the data is not that of a run.
    """
    where = str(folder / MANIFEST)
    if not isinstance(data, dict):
        raise InputError(f"{where}: found {describe(data)}, expected an object")
    found = data.get("format")
    if found != RUN_FORMAT or isinstance(found, bool):
        raise InputError(
            f"{where}: its format is {describe(found)}; this longfat reads {RUN_FORMAT}"
        )
    fields = unsealed(data, where=where)
    del fields["format"]
    written = fields.pop("case", None)
    case = Case.from_json(written, where=f"{where}: case")
    installed = None
    if (packed := fields.pop("installed", None)) is not None:
        installed = decode(PackedInstalled, packed, where=f"{where}: installed").unpack()
    given = {"folder": folder, "case": case, "installed": installed}
    run = _DECODER.decode(fields, where=where, given=given)
    # The data as it was written, and not as it was read: making JSON again takes twice the time.
    if digest_of(written) != run.case_digest:
        raise InputError(f"{where}: case_digest: it belongs to another case")
    if problem := _contradiction(run):
        raise InputError(f"{where}: {problem}")
    return run


def _contradiction(run: Run) -> str:
    """Return a contradiction in a manifest; empty if there is none."""
    if run.case.seed != run.seed:
        return f"seed: it is {run.seed}, and that of the case {run.case.seed}"
    if raw_digest(run.files) != run.digest:
        return "digest: it is not that of the raw files"
    for name in run.files:
        if not FILE_NAME.fullmatch(name):
            return f"files: {describe(name)} is not a path of a run's file"
    if problem := _foreign_part(run):
        return problem
    for name in run.metrics:
        source, _, metric = name.partition(".")
        if not source or not metric:
            return f"metrics: {describe(name)} is not of the form FLOW.METRIC"
    if "" in run.parameters:
        return "parameters: one has no name"
    return ""


def _foreign_part(run: Run) -> str:
    """Return what a manifest has of flows or events that its case does not have."""
    if run.flow_times.keys() != {flow.name for flow in run.case.flows}:
        return "flow_times: they are not those of the case's flows"
    if not run.flow_failures.keys() <= run.flow_times.keys():
        return "flow_failures: they are not of the case's flows"
    if not all(0 <= time.event < len(run.case.events) for time in run.event_times):
        return "event_times: they are not those of the case's events"
    return ""


def damage(run: Run, *, only: str = "") -> str:
    """Return how the files of a run differ from those when it was made.

    Args:
        run: the run.
        only: the subfolder to check, such as `raw`; all files, if empty.

    Returns:
        The first file that differs, and how; empty if none does.
    """
    for name, wanted in run.files.items():
        if name.startswith(only) and (problem := file_damage(run.folder / name, wanted)):
            return f"{name}: {problem}"
    for folder in (RAW, SERIES):
        if folder.startswith(only):
            with contextlib.suppress(FileNotFoundError, NotADirectoryError):
                for entry in sorted((run.folder / folder).rglob("*")):
                    name = entry.relative_to(run.folder).as_posix()
                    if name not in run.files and not entry.is_dir():
                        return f"{name}: it does not belong to the run"
    return ""


def sums_of(folder: Path) -> dict[str, FileSum]:
    """Return the checksums of the files of a run directory except for the manifest, by path.

    Raises:
        OSError: a file cannot be read.
    """
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    names = {path.relative_to(folder).as_posix(): path for path in paths}
    return {name: file_sum(path) for name, path in names.items() if name != MANIFEST}


def raw_digest(files: Mapping[str, FileSum]) -> str:
    """Return the hash over the names and bytes of all raw files."""
    digest = hashlib.sha256()
    for path, file in sorted(files.items()):
        folder, _, name = path.partition("/")
        if folder == RAW:
            digest.update(f"{name}\0{file.sha256}\n".encode())
    return digest.hexdigest()


_DECODER = Decoder(Run, given=("folder", "case", "installed"))


def read_series(path: Path, wanted: FileSum, *, columns: Sequence[Column]) -> pa.Table:
    """Read a probe's samples.

    Args:
        path: the Parquet file.
        wanted: its expected size and checksum.
        columns: the expected columns.

    Raises:
        InputError: it is missing, damaged, too large, or has other columns.
    """
    if problem := file_damage(path, wanted):
        raise InputError(f"{path}: damaged: {problem}")
    try:
        content = read_bytes(path, most_bytes=MAX_FILE_BYTES)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    return parse_series(content, where=str(path), columns=columns)


def parse_series(content: bytes, *, where: str, columns: Sequence[Column]) -> pa.Table:
    """Read the content of a series' Parquet file; see `read_series`.

    Args:
        content: its bytes.
        where: its name in messages.
        columns: the expected columns.

    Raises:
        InputError: it is not such a file.
    """
    try:
        file = pq.ParquetFile(pa.BufferReader(content))
        found = file.schema_arrow
        missing = [one for one in columns if one.later and one.name not in found.names]
        wanted = [(one.name, one.type) for one in columns if one not in missing]
        if [(field.name, field.type) for field in found] != wanted:
            raise InputError(
                f"{where}: its columns are {', '.join(found.names)}; expected are"
                f" {', '.join(one.name for one in columns)}, of their types"
            )
        # A few bytes of it can encode millions of values.
        cells = file.metadata.num_rows * len(wanted)
        if not 0 <= cells <= MAX_CELLS:
            raise InputError(f"{where}: it has {cells:,} values; at most {MAX_CELLS:,} are read")
        table = file.read()
        table.validate(full=True)
        near = pc.less(pc.abs(table[TIME.name]), _MAX_DISTANCE_S)
        if not pc.all(near, skip_nulls=False, min_count=0).as_py():
            raise InputError(f"{where}: a sample has no time, or one beyond {_MAX_DISTANCE_S:g} s")
    except (*_UNREADABLE, pa.ArrowException) as error:
        raise InputError(f"{where}: not a whole Parquet file: {error}") from None
    for column in missing:
        field = pa.field(column.name, column.type, metadata={"unit": column.unit})
        table = table.append_column(field, pa.nulls(table.num_rows, column.type))
    return table
