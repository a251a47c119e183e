"""Readers of single pieces of data: manifests, messages, raw files, studies, packages."""

from __future__ import annotations

import io
import json
import logging
import os
import tempfile
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from longfat.analysis.query import Catalog
from longfat.analysis.verdict import judge
from longfat.common.checksum import write_sums
from longfat.common.decoding import parse_json
from longfat.engine.kernel import manifest as kernel_manifest
from longfat.engine.machine.host_channel import Frame
from longfat.errors import InputError, LongfatError, MachineError
from longfat.execution.cache.entry import NOTE, entry_of, read_entry
from longfat.execution.cluster import packing
from longfat.execution.guest_outcome import OUTCOME, read_outcome
from longfat.execution.runs import Run, load_run
from longfat.execution.runs.run import MANIFEST, read_manifest
from longfat.execution.runs.series import parse_series
from longfat.execution.runs.staging import decode_probes, measure_flows
from longfat.live.build import Done
from longfat.live.rpc import read_request
from longfat.live.shell.protocol import WireError, fields_of, size_of
from longfat.model.case import Case
from longfat.model.trace import parse_trace
from longfat.model.traffic import Iperf3, Ping, Requests, Transfer
from longfat.model.traffic.iperf3_any import read_any_report
from longfat.packetdrill import Settings, parse_script
from longfat.packetdrill.run import explain
from longfat.packetdrill.run import read_outcome as read_packets_outcome
from longfat.studio.drafts import Drafts
from longfat.studio.live.messages import read_order
from longfat.studio.live.sample_log import SampleLog
from longfat.studio.state import VARIABLE, WorkspaceState
from longfat.study import read_study
from longfat.study.formats.miniedit import read_miniedit
from longfat.study.formats.mininet import network_of, read_mininet
from longfat.study.formats.mininet.machine import run_script
from longfat.study.formats.write import study_text
from longfat.study.grading import read_answers, read_grading
from longfat.study.grading.roster import read_metadata, read_roster
from longfat.study.grading.traffic import script_traffic
from tests.mutations.kind import (
    CASE,
    DATA,
    EPOCH_S,
    FLOWS,
    LAB,
    PROBES,
    RUN,
    Kind,
    Mutate,
    Read,
    WrongError,
    write,
)
from tests.paths import REPOSITORY


def check_manifest(folder: Path, content: bytes) -> None:
    write(folder, MANIFEST, content)
    run = load_run(folder)
    if replace(run, folder=RUN) not in known_runs():
        raise WrongError("another run came as a good one")


@cache
def known_runs() -> list[Run]:
    return [
        replace(load_run(path.parent), folder=RUN) for path in DATA.glob(f"runs/*/*/{MANIFEST}")
    ]


@cache
def _lab() -> tuple[Any, dict[str, Run]]:
    study = read_study(LAB)
    return study, {name: load_run(LAB / f"{name}-seed1") for name in study.cases}


def check_forged(folder: Path, content: bytes) -> None:
    """Read a manifest that is formally good, and use it."""
    run = read_manifest(parse_json(content, where="x"), folder=folder)
    write(folder, f"{run.folder.name}-seed1/{MANIFEST}", content)
    study, runs = _lab()
    judge(study, {name: (runs[name],) for name in runs} | {"default": (run,)})
    assert Catalog([folder]).runs == 1


def check_note(folder: Path, content: bytes) -> None:
    write(folder, NOTE, content)
    read_entry(folder)


def note() -> list[bytes]:
    with tempfile.TemporaryDirectory() as name:
        run = load_run(RUN)
        entry_of(run, folder=Path(name) / run.key).write(Path(name))
        return [Path(name, NOTE).read_bytes()]


@cache
def kernel() -> dict[str, bytes]:
    """The files of a kernel that was never built."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(folder, "linux", os.urandom(5000))
        write(folder, "config", b"CONFIG_A=y\n" * 100)
        about = kernel_manifest.Manifest(
            digest="ab",
            release="6.1.9",
            series="6.1",
            binary_sha256="ab",
            binary_key="ab",
            recipe_digest="ab",
            source_name="linux",
            source_digest="ab",
            tools=("gcc", "ld"),
            patches=("a.patch",),
            shims=(),
            unknown_answers=(),
            refused_answers=("CONFIG_A",),
            lines=3,
        )
        kernel_manifest.write(about, folder)
        write_sums(folder)
        return {path.name: path.read_bytes() for path in folder.iterdir()}


def check_kernel_manifest(folder: Path, content: bytes) -> None:
    write(folder, kernel_manifest.FILE, content)
    if kernel_manifest.read(folder) is None:
        raise MachineError("refused")


def outcomes() -> list[bytes]:
    failed = {"line": "tc", "words": "no", "status": 2}
    times = {flow.name: [0.0, 2.5] for flow in FLOWS}
    return [
        json.dumps(one).encode()
        for one in (
            {"failed": None, "virtual_s": 5.5, "epoch_s": EPOCH_S, "flow_times": times},
            {"failed": {"step": "setup", "index": 0, **failed}, "virtual_s": 0.0},
            {"failed": {"step": "flow", "flow": "bulk", **failed}, "virtual_s": 0.0},
            {"failed": {"step": "probe", "probe": "tcp", **failed}, "virtual_s": 0.0},
        )
    ]


def check_outcome(folder: Path, content: bytes) -> None:
    write(folder, OUTCOME, content)
    found = read_outcome(folder, CASE)
    if found is not None:
        assert float(found.played(CASE).virtual_s) >= 0


def check_frame(folder: Path, content: bytes) -> None:
    del folder
    message = Frame(b"a", 1, content).message()
    for name in ("now_ns", "status", "pid"):
        if name in message:
            message.number(name)
    if "times_ns" in message:
        message.all(Done, besides=("now_ns",))
    if "processes" in message:
        message.get("processes", list[int])


FRAMES = (
    {"now_ns": 5, "status": 0},
    {"now_ns": 5, "times_ns": [1, 2], "failed": {"line": "a", "words": "b", "status": None}},
    {"now_ns": 5, "processes": [1, 2], "pid": 7, "x": {"y": None}},
)


def check_wire(folder: Path, content: bytes) -> None:
    del folder
    try:
        size_of(fields_of(content))
    except WireError as error:
        raise MachineError(str(error)) from None


def check_order(folder: Path, content: bytes) -> None:
    del folder
    order = read_order(content.decode(errors="replace"))
    order.real("factor", least=0, most=10)
    order.texts("names")


def check_request(folder: Path, content: bytes) -> None:
    del folder
    request = read_request(content)
    assert set(request.params) <= set(request.call.parameters) or request.call.takes_more


def session_requests() -> list[bytes]:
    """Return requests of a session, one for each kind of parameters."""
    section = {
        "hosts": {"h1": "10.0.0.1/8", "h2": {"address": "10.0.0.2/8", "nat": None}},
        "switches": ["s1"],
        "links": [["h1", "s1", {"rate": "10mbit"}], ["h2", "s1"]],
    }
    calls: list[tuple[str, dict[str, Any]]] = [
        ("network.add", {"network": section}),
        ("network.link", {"a": "h1", "b": "h2", "rate": 1e6, "reverse": {"loss": "1%"}}),
        ("network.partition", {"groups": [["h1"], ["h2", "s1"]]}),
        ("node.run", {"node": "h1", "command": ["ls"], "env": {"A": "b"}, "timeout": "5s"}),
        ("node.write_file", {"node": "h1", "path": "/a", "data": {"base64": "AA=="}, "mode": 1}),
        ("host.iperf3", {"host": "h1", "target": "h2", "time": 5, "parallel": 2}),
        ("host.start", {"host": "h1", "target": "h2", "tool": "ping", "count": 3}),
        ("clock.now", {}),
    ]
    return [
        json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
        for method, params in calls
    ]


@cache
def _raw() -> dict[str, bytes]:
    """The raw files of the case, as a guest leaves them."""
    traffic = DATA / "traffic"
    probe = DATA / "probe"
    files = {path.name: path for path in probe.iterdir() if path.suffix != ".py"}
    files["back.client.json"] = traffic / "iperf3-3.12-reverse-client.json"
    files["back.server.json"] = traffic / "iperf3-3.12-reverse-server.json"
    files["moved.client.json"] = traffic / "transfer-parallel-client.json"
    files["moved.server.json"] = traffic / "transfer-parallel-server.json"
    files["ping.txt"] = traffic / "ping-20221126.txt"
    files["web.client.json"] = traffic / "requests-client.json"
    files["call.server.json"] = traffic / "cbr-server.json"
    files["film.client.json"] = traffic / "video-client.json"
    files["page.client.txt.err"] = traffic / "program-curl-7.88.client.txt.err"
    return {name: path.read_bytes() for name, path in files.items()}


def _raw_reader(*names: str) -> Read:
    """Return what reads the raw files of a case of which one of these was changed."""

    def read(folder: Path, content: bytes) -> None:
        raw = folder / "raw"
        name = names[len(content) % len(names)]
        for other, whole in _raw().items():
            write(raw, other, content if other == name else whole)
        flows = tuple(one for one in FLOWS if any(each.startswith(one.name) for each in names))
        chosen = tuple(one for one in PROBES if any(each.startswith(one.name) for each in names))
        case = replace(CASE, flows=flows or FLOWS[:1], probes=chosen)
        measure_flows(case, raw)
        decode_probes(case, raw, series=folder / "series", epoch_s=EPOCH_S)
        for flow in case.flows:
            if isinstance(flow, Ping):
                flow.replies(raw)
            elif isinstance(flow, Iperf3 | Transfer):
                flow.rows(raw), flow.received_rows(raw), flow.connections(raw)
            elif isinstance(flow, Requests):
                flow.connections(raw), flow.compare(raw, rate_bps=1e6, rtt_s=0.01)

    return read


def queue_samples() -> bytes:
    return _raw()["queue.samples"]


def check_sample_log(folder: Path, content: bytes) -> None:
    """Take what a guest's sampler left into a live run."""
    log = SampleLog(start_ns=0)
    try:
        sampler = log.sampler("queue", start_ns=0)
        for start in range(0, len(content), 1000):
            sampler.feed(content[start : start + 1000])
        if log.has("queue"):
            log.write("queue", folder / "kept.samples")
    finally:
        log.close()


def drafts() -> list[bytes]:
    """The file of a draft, with its steps of undo."""
    with tempfile.TemporaryDirectory() as name:
        report = {"source": "x.mn", "at_s": 1.0, "messages": ["c0: left out"]}
        Drafts(Path(name, "drafts")).change(
            "0123456789abcdef",
            page="a",
            base=None,
            steps=[{"set": "title: a\n"}, {"set": "title: b\n"}, {"undo": True}],
            fields={"name": "x", "imported": report},
            is_closed=None,
        )
        (file,) = Path(name, "drafts").glob("*.json")
        return [file.read_bytes()]


def check_draft(folder: Path, content: bytes) -> None:
    """Start with a draft that is not as it was written; the studio begins all the same."""
    write(folder / "drafts", "0123456789abcdef.json", content)
    logging.disable()
    try:
        found = Drafts(folder / "drafts")
        json.dumps([one.to_json() for one in found.all()])
        if not found.all():
            raise InputError("it is left alone")
    finally:
        logging.disable(logging.NOTSET)


def check_state(folder: Path, content: bytes) -> None:
    """Start where the note of the last studio is not as it was written."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, str(folder))
        with WorkspaceState(folder) as state:
            (state.folder / "running.json").write_bytes(content)
            (state.folder / "running.json").chmod(0o600)
            if state.last_port is None:
                raise InputError("it is taken for none")
            assert 0 < state.last_port < 2**16


def raw_kind(*names: str, mutate: Mutate) -> Kind:
    return Kind(
        samples=lambda: [_raw()[name] for name in names], mutate=mutate, read=_raw_reader(*names)
    )


@cache
def tables() -> list[bytes]:
    with tempfile.TemporaryDirectory() as name:
        for file, content in _raw().items():
            write(Path(name, "raw"), file, content)
        decode_probes(CASE, Path(name, "raw"), series=Path(name, "series"), epoch_s=EPOCH_S)
        return [Path(name, "series", f"{one.name}.parquet").read_bytes() for one in PROBES]


def check_table(folder: Path, content: bytes) -> None:
    del folder
    # Of the probe whose columns it has, by its size or its schema.
    last: LongfatError | None = None
    for probe in PROBES:
        try:
            table = parse_series(content, where="x.parquet", columns=probe.columns)
        except LongfatError as error:
            last = error
        else:
            try:
                probe.measure(table)
            except (pa.ArrowException, ValueError, LookupError, TypeError) as error:
                # Without its checksum nothing finds values that are null or swapped.
                raise MachineError(str(error)) from None
            return
    if last is not None:
        raise last


def check_any(folder: Path, content: bytes) -> None:
    read_any_report(write(folder, "x.json", content))


def check_study(folder: Path, content: bytes) -> None:
    read_study(write(folder, "study.yaml", content))


def check_drawing(folder: Path, content: bytes) -> None:
    read_miniedit(write(folder, "x.mn", content))


@cache
def traces() -> list[bytes]:
    """Return a trace in each form: opportunities, CSV, and Parquet of the same rows."""
    columns = {"time_s": [0.0, 1.5, 3.0], "rate_mbps": [5.0, 0.0, 2.5], "loss": [0.0, 0.01, 0.0]}
    rows = [
        ",".join(columns),
        *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True)),
    ]
    table = io.BytesIO()
    pq.write_table(pa.table(columns), table)
    return [b"0\n3\n3\n7\n10\n", "\n".join(rows).encode(), table.getvalue()]


def check_trace(folder: Path, content: bytes) -> None:
    del folder
    trace = parse_trace(content)
    times = [row.at_ns for row in trace.rows]
    if times != sorted(times) or not 0 <= times[-1] <= trace.end_ns:
        raise WrongError("its rows are not in their order")
    if any(row.value < 0 or row.delay_ns < 0 or not 0 <= row.loss <= 2**32 for row in trace.rows):
        raise WrongError("the kernel would refuse it")


def check_script(folder: Path, content: bytes) -> None:
    read_mininet(write(folder, "x.py", content))


@cache
def records() -> list[bytes]:
    """Return what a machine says of a script, whole and of one that fails."""
    path = DATA / "mininet" / "from_miniedit.py"
    content = path.read_bytes()
    return [run_script(path, one) for one in (content, content + b"\n1 / 0\n")]


def check_packets_script(folder: Path, content: bytes) -> None:
    """Read a packetdrill script as the command does, with its plan and its texts."""
    del folder
    text = content.decode("utf-8", "surrogateescape")
    script = parse_script(text, file="x.pkt", settings=Settings())
    json.dumps(script.plan())
    for event in script.events:
        event.text()


def check_packets_outcome(folder: Path, content: bytes) -> None:
    """Read what a guest says of a script, and explain why it failed."""
    result = read_packets_outcome(write(folder, "outcome.json", content), wall_s=1.0)
    script = parse_script(_SCRIPT, file="x.pkt", settings=Settings())
    for failure in filter(None, (result.failure, *result.warnings)):
        assert explain(script, failure)


_SCRIPT = "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n* > S 0:0(0)\n"


def check_record(folder: Path, content: bytes) -> None:
    """Read what a machine says of a script, and write the network as a study."""
    del folder
    found, _ = network_of(content, file="x.py")
    study_text(title="x", case=Case(kernel="6.1", network=found.network, setup=found.setup))
    script_traffic(found.typed, found.network.host_addresses())


@cache
def _key() -> bytes:
    return (REPOSITORY / "labs/templates/bdp/instructor/study.yaml").read_bytes()


def check_grading(folder: Path, content: bytes) -> None:
    write(folder, "study.yaml", _key())
    found = read_grading(write(folder, "grading.yaml", content))
    if not 0 <= found.points <= 1000 * len(found.exercises):
        raise WrongError("points that nobody can earn")


def check_answers(folder: Path, content: bytes) -> None:
    read_answers(write(folder, "answers.yaml", content))


def rosters() -> list[bytes]:
    return [
        b"folder,name,seed,submitted\nalice,Alice A,7,2026-11-30T17:55+01:00\n"
        b'"b, b","B ""B"" B",,\n',
        b"folder\na\nb\n",
    ]


def check_roster(folder: Path, content: bytes) -> None:
    read_roster(write(folder, "roster.csv", content))


def metadata() -> list[bytes]:
    """Return what Gradescope documents of submission_metadata.json."""
    assignment = {"due_date": "2018-07-31T23:00:00.000000-07:00", "id": 25828, "group_size": 4}
    users = [{"email": "student@example.com", "id": 1234, "name": "Student User"}]
    data = {"created_at": "2018-07-01T14:22:32.365935-07:00", "id": 123456, "users": users}
    return [json.dumps({**data, "assignment": assignment}).encode()]


def check_metadata(folder: Path, content: bytes) -> None:
    read_metadata(write(folder, "submission_metadata.json", content))


@cache
def packages() -> list[bytes]:
    return [packing.packed(RUN)]


def check_package(folder: Path, content: bytes) -> None:
    place = folder / "inside"
    place.mkdir()
    try:
        packing.unpack(io.BytesIO(content), place)
    except packing.UnpackError as error:
        raise MachineError(str(error)) from None
    if sorted(path.name for path in folder.iterdir()) != ["inside"]:
        raise WrongError("it wrote elsewhere")
