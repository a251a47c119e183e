"""Readers of the pieces of results: manifests, notes, raw files, samples, tables, packed runs."""

from __future__ import annotations

import io
import json
import tempfile
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa

from longfat.analysis.query import Catalog
from longfat.analysis.verdict import evaluate
from longfat.common.decoding import parse_json
from longfat.errors import LongfatError, MachineError
from longfat.execution.cache.entry import NOTE, entry_of, read_entry
from longfat.execution.guest_outcome import read_outcome
from longfat.execution.runs import Run, load_run
from longfat.execution.runs.run import MANIFEST, OUTCOME, parse_series, read_manifest
from longfat.execution.runs.staging import decode_probes, measure_flows
from longfat.model.traffic import Iperf3, Ping, Requests, Transfer
from longfat.model.traffic.iperf3_any import read_any_report
from longfat.studio.live.sample_log import SampleLog
from longfat.study import read_study
from longfat_cluster import transfer
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
    evaluate(study, {name: (runs[name],) for name in runs} | {"default": (run,)})
    assert Catalog([folder]).runs == 1


def check_note(folder: Path, content: bytes) -> None:
    write(folder, NOTE, content)
    read_entry(folder)


def note() -> list[bytes]:
    with tempfile.TemporaryDirectory() as name:
        run = load_run(RUN)
        entry_of(run, folder=Path(name) / run.key).write(Path(name))
        return [Path(name, NOTE).read_bytes()]


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
        assert float(found.report(CASE).virtual_s) >= 0


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


@cache
def packages() -> list[bytes]:
    return [transfer.packed(RUN)]


def check_package(folder: Path, content: bytes) -> None:
    place = folder / "inside"
    place.mkdir()
    try:
        transfer.unpack(io.BytesIO(content), place)
    except transfer.UnpackError as error:
        raise MachineError(str(error)) from None
    if sorted(path.name for path in folder.iterdir()) != ["inside"]:
        raise WrongError("it wrote elsewhere")
