"""Damaged and forged data through every reader: what comes is an error of ours, or right.

    python -m tests.mutations --count 100000             # of each kind; --jobs, --seed
    python -m tests.mutations --kind manifest --kind pcap --count 1000

A kind has samples, which are real, and a reader. Samples are changed at random:
bits flipped, bytes cut, put in, doubled and overwritten; in JSON also values of
another type, swapped, doubled, renamed and nested deep. The reader may refuse with
an error of ours (`LongfatError`), or read. Anything else that is raised is a
finding, and so is what takes more than `SLOW_S`, and, where checksums must find
every change, a result that is another one. A finding is told with its seed, which
`--seed SEED --count 1` repeats.
"""

from __future__ import annotations

import argparse
import copy
import io
import json
import os
import random
import resource
import shutil
import struct
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa

from longfat.case import Case, Command
from longfat.catalog import Catalog
from longfat.checked import parse_json
from longfat.errors import LongfatError, MachineError
from longfat.kernel import manifest as kernel_manifest
from longfat.live.building import Done
from longfat.live.shell.wire import WireError, fields_of, size_of
from longfat.machine.line import Frame
from longfat.memory import Memory
from longfat.memory.entry import NOTE, entry_of, read_entry
from longfat.network import ROOT, Host, Link, Network, Switch
from longfat.probe import Capture, Queue, Rate, Tcp
from longfat.runner.cluster import packing
from longfat.runner.guest_outcome import OUTCOME, read_outcome
from longfat.runs import Run, load_run
from longfat.runs.run import MANIFEST, read_manifest
from longfat.runs.series import parse_series
from longfat.runs.staging import decode_probes, measure_flows
from longfat.studio.live.orders import read_order
from longfat.study import read_study
from longfat.study.miniedit import read_miniedit
from longfat.study.mininet_read import read_mininet
from longfat.traffic import Iperf3, Ping, Transfer
from longfat.traffic.iperf3_any import read_any_report
from longfat.verdict import judge
from tests.resealed import fitting

SLOW_S = 10.0
MOST_MEMORY_BYTES = 1 << 30

TESTS = Path(__file__).resolve().parent
DATA = TESTS / "data"
LAB = DATA / "runs" / "lab08"
RUN = DATA / "runs" / "seeded" / "lossy-seed1"
EPOCH_S = 1700000002.0

Mutate = Callable[[random.Random, bytes], bytes]
Read = Callable[[Path, bytes], None]


class WrongError(Exception):
    """A change was not found out: the result is another one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A kind of data.

    Attributes:
        samples: returns real ones.
        mutate: changes one.
        read: reads one, with a folder to write it to.
    """

    samples: Callable[[], list[bytes]]
    mutate: Mutate
    read: Read


@dataclass(slots=True)
class Counted:
    """What came of a kind.

    Attributes:
        read: how many were read.
        refused: how many were refused.
        findings: the last line of each traceback and where it was raised, with how many there
            were, and the first seed.
        slowest_s: the longest that one took, in seconds of CPU time.
    """

    read: int = 0
    refused: int = 0
    findings: Counter[str] = field(default_factory=Counter)
    seeds: dict[str, int] = field(default_factory=dict)
    slowest_s: float = 0.0

    def add(self, other: Counted) -> None:
        """Add the counts of others."""
        self.read += other.read
        self.refused += other.refused
        self.findings.update(other.findings)
        self.seeds = {**other.seeds, **self.seeds}
        self.slowest_s = max(self.slowest_s, other.slowest_s)


def flip_bytes(chance: random.Random, content: bytes) -> bytes:
    """Flip, cut, put in, double or overwrite some bytes."""
    data = bytearray(content)
    for _ in range(chance.choice((1, 1, 1, 2, 5))):
        at = chance.randrange(len(data) + 1)
        length = chance.choice((1, 1, 4, 40, 400))
        match chance.randrange(7):
            case 0 | 1 if at < len(data):
                data[at] ^= 1 << chance.randrange(8)
            case 2:
                del data[at : at + length]
            case 3:
                del data[at:]
            case 4:
                data[at:at] = chance.randbytes(length)
            case 5:
                data[at:at] = data[at : at + length]
            case _:
                end = min(at + length, len(data))
                fill = chance.choice((b"\0", b"\xff", b"\x7f", b"0", b"9"))
                data[at:end] = fill * (end - at)
    return bytes(data)


JUNK: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 0.5, -0.0, 1e308, 2**31, 2**63, 2**64, -(2**70), 10**400),
    *("", "x", "1", "\0", "\ud800", "é" * 50, "../../x", "/etc/passwd", "NaN", "h1", "9" * 5000),
    *([], {}, [[]], [1, "a", None], {"a": {}}, {"": 0}, [0] * 1000),
)


def change_json(chance: random.Random, content: bytes) -> bytes:
    """Change JSON's bytes or values."""
    try:
        data = json.loads(content)
    except ValueError:  # a report that another follows
        return flip_bytes(chance, content)
    if chance.random() < 0.3:
        return flip_bytes(chance, content)
    for _ in range(chance.choice((1, 1, 2))):
        data = _changed(chance, data)
    try:
        text = json.dumps(data)
    except ValueError:  # it holds itself by now
        return b"[]"
    if chance.random() < 0.05:
        return text.replace("0.0", chance.choice(("NaN", "Infinity", "1e999", "-0")), 1).encode()
    if chance.random() < 0.03:
        deep = chance.choice((50, 900, 20_000))
        return text.replace("null", "[" * deep + "]" * deep, 1).encode()
    return text.encode()


def _changed(chance: random.Random, data: Any) -> Any:
    holders = [one for one in _holders(data) if one]
    if not holders:
        return copy.deepcopy(chance.choice(JUNK))
    holder = chance.choice(holders)
    keys = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
    key = chance.choice(keys)
    match chance.randrange(6):
        case 0 | 1:
            holder[key] = copy.deepcopy(chance.choice(JUNK))
        case 2:
            del holder[key]
        case 3:
            other = chance.choice(keys)
            holder[key], holder[other] = holder[other], holder[key]
        case 4 if isinstance(holder, dict):
            holder[chance.choice(("x", "", f"{key}x", "format", "sha256"))] = holder.pop(key)
        case _:
            another = chance.choice(holders)
            values = list(another.values()) if isinstance(another, dict) else another
            # A copy, or it might come to hold itself.
            holder[key] = json.loads(json.dumps(chance.choice(values)))
    return data


def _holders(data: Any) -> Iterator[Any]:
    if isinstance(data, dict | list):
        yield data
        for value in data.values() if isinstance(data, dict) else data:
            yield from _holders(value)


def change_sealed(chance: random.Random, content: bytes) -> bytes:
    """Change values of a manifest, and make digest and checksum fit again: a forged one."""
    data = _changed(chance, json.loads(content))
    try:
        return json.dumps(fitting(data)).encode()
    except (LongfatError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return json.dumps(data).encode()


def change_words(chance: random.Random, content: bytes) -> bytes:
    """Change words of a text: numbers, mostly."""
    if chance.random() < 0.4:
        return flip_bytes(chance, content)
    words = content.split(b" ")
    for _ in range(chance.choice((1, 2, 4))):
        words[chance.randrange(len(words))] = chance.choice(
            (b"0", b"-1", b"1e999", b"9" * 400, b"1.2.3", b"nan", b"", b"\n", b"bw=0", b"'0ms'")
        )
    return b" ".join(words)


FLOWS = (
    Iperf3(name="bulk", source="h1", target="h2", time_s=2.0),
    Iperf3(name="back", source="h1", target="h2", time_s=2.0, reverse=True),
    Transfer(name="moved", source="h1", target="h2"),
    Ping(name="ping", source="h1", target="h2"),
)
PROBES = (
    Queue(name="queue", of=("s1-eth2", "h1-eth0")),
    Tcp(name="tcp", of=("bulk",)),
    Rate(name="rate", of=("s1-eth2",)),
    Capture(name="window", of="h1-eth0"),
)
CASE = Case(
    kernel="6.1",
    network=Network(
        hosts=(Host(name="h1", address="10.0.0.1/8"), Host(name="h2", address="10.0.0.2/8")),
        switches=(Switch(name="s1"),),
        links=(Link(a="h1", b="s1"), Link(a="h2", b="s1")),
    ),
    setup=(Command(node=ROOT, line="tc qdisc add dev s1-eth2 root netem delay 1ms"),),
    flows=FLOWS,
    probes=PROBES,
)


def _write(folder: Path, name: str, content: bytes) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def _files(*names: str) -> Callable[[], list[bytes]]:
    return lambda: [path.read_bytes() for name in names for path in sorted(TESTS.parent.glob(name))]


def _read_manifest(folder: Path, content: bytes) -> None:
    _write(folder, MANIFEST, content)
    run = load_run(folder)
    if replace(run, folder=RUN) not in _known_runs():
        raise WrongError("another run came as a good one")


@cache
def _known_runs() -> list[Run]:
    return [
        replace(load_run(path.parent), folder=RUN) for path in DATA.glob(f"runs/*/*/{MANIFEST}")
    ]


@cache
def _lab() -> tuple[Any, dict[str, Run]]:
    study = read_study(LAB)
    return study, {name: load_run(LAB / f"{name}-seed1") for name in study.cases}


def _read_forged(folder: Path, content: bytes) -> None:
    """Read a manifest that is formally good, and use it."""
    run = read_manifest(parse_json(content, where="x"), folder=folder)
    _write(folder, f"{run.folder.name}-seed1/{MANIFEST}", content)
    study, runs = _lab()
    judge(study, {name: (runs[name],) for name in runs} | {"default": (run,)})
    assert Catalog([folder]).runs == 1


def _read_note(folder: Path, content: bytes) -> None:
    _write(folder, NOTE, content)
    read_entry(folder)


def _note() -> list[bytes]:
    with tempfile.TemporaryDirectory() as name:
        run = load_run(RUN)
        entry_of(run, folder=Path(name) / run.key).write(Path(name))
        return [Path(name, NOTE).read_bytes()]


@cache
def _kernel() -> dict[str, bytes]:
    """The files of a kernel that was never built."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _write(folder, "linux", os.urandom(5000))
        _write(folder, "config", b"CONFIG_A=y\n" * 100)
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
        kernel_manifest.write_sums(folder)
        return {path.name: path.read_bytes() for path in folder.iterdir()}


def _read_kernel_manifest(folder: Path, content: bytes) -> None:
    _write(folder, kernel_manifest.FILE, content)
    if kernel_manifest.read(folder) is None:
        raise MachineError("refused")


def _outcomes() -> list[bytes]:
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


def _read_outcome(folder: Path, content: bytes) -> None:
    _write(folder, OUTCOME, content)
    found = read_outcome(folder, CASE)
    if found is not None:
        assert float(found.played.virtual_s) >= 0


def _read_frame(folder: Path, content: bytes) -> None:
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


def _read_wire(folder: Path, content: bytes) -> None:
    del folder
    try:
        size_of(fields_of(content))
    except WireError as error:
        raise MachineError(str(error)) from None


def _read_order(folder: Path, content: bytes) -> None:
    del folder
    order = read_order(content.decode(errors="replace"))
    order.real("factor", least=0, most=10)
    order.texts("names")


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
    return {name: path.read_bytes() for name, path in files.items()}


def _raw_reader(*names: str) -> Read:
    """Return what reads the raw files of a case of which one of these was changed."""

    def read(folder: Path, content: bytes) -> None:
        raw = folder / "raw"
        name = names[len(content) % len(names)]
        for other, whole in _raw().items():
            _write(raw, other, content if other == name else whole)
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

    return read


def _raw_kind(*names: str, mutate: Mutate) -> Kind:
    return Kind(
        samples=lambda: [_raw()[name] for name in names], mutate=mutate, read=_raw_reader(*names)
    )


def change_samples(chance: random.Random, content: bytes) -> bytes:
    """Change a sampler's file: its header as JSON, or its records as bytes."""
    head, _, rest = content.partition(b"\n")
    if chance.random() < 0.3:
        return change_json(chance, head) + b"\n" + rest
    return (
        head + b"\n" + flip_bytes(chance, rest)
        if chance.random() < 0.9
        else flip_bytes(chance, content)
    )


def change_capture(chance: random.Random, content: bytes) -> bytes:
    """Change a capture: bytes anywhere, or the length of a packet."""
    if chance.random() < 0.5:
        return flip_bytes(chance, content)
    data = bytearray(content)
    at = 24
    for _ in range(chance.randrange(20)):
        at += 16 + int(struct.unpack_from("<I", data, at + 8)[0])
    length = chance.choice((0, 1, 13, 40, 2**16, 2**28, 2**32 - 1))
    struct.pack_into("<I", data, at + 8, length)
    return bytes(data)


@cache
def _tables() -> list[bytes]:
    with tempfile.TemporaryDirectory() as name:
        for file, content in _raw().items():
            _write(Path(name, "raw"), file, content)
        decode_probes(CASE, Path(name, "raw"), series=Path(name, "series"), epoch_s=EPOCH_S)
        return [Path(name, "series", f"{one.name}.parquet").read_bytes() for one in PROBES]


def _read_table(folder: Path, content: bytes) -> None:
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


def _read_any(folder: Path, content: bytes) -> None:
    read_any_report(_write(folder, "x.json", content))


def _read_study(folder: Path, content: bytes) -> None:
    read_study(_write(folder, "study.yaml", content))


def _read_drawing(folder: Path, content: bytes) -> None:
    read_miniedit(_write(folder, "x.mn", content))


def _read_script(folder: Path, content: bytes) -> None:
    read_mininet(_write(folder, "x.py", content))


@cache
def _packages() -> list[bytes]:
    return [packing.packed(RUN)]


def change_package(chance: random.Random, content: bytes) -> bytes:
    """Change a package: its bytes, or what it holds and is packed again."""
    import gzip

    if chance.random() < 0.3:
        return flip_bytes(chance, content)
    inside = bytearray(gzip.decompress(content))
    if chance.random() < 0.5:
        return gzip.compress(flip_bytes(chance, bytes(inside)), compresslevel=1)
    # A head of a member: its kind, size or name, with a checksum that fits again.
    at = 512 * chance.randrange(min(40, len(inside) // 512))
    where, what = chance.choice(
        (
            (156, bytes([chance.choice(b"0123456789xgLKSAV")])),
            (124, chance.choice((b"77777777777\0", b"\x80" + b"\xff" * 11, b"-1         \0"))),
            (0, b"../../x\0"),
        )
    )
    inside[at + where : at + where + len(what)] = what
    head = bytes(inside[at : at + 148]) + b" " * 8 + bytes(inside[at + 156 : at + 512])
    inside[at + 148 : at + 156] = f"{sum(head):06o}\0 ".encode()
    return gzip.compress(bytes(inside), compresslevel=1)


def _read_package(folder: Path, content: bytes) -> None:
    place = folder / "inside"
    place.mkdir()
    try:
        packing.unpack(io.BytesIO(content), place)
    except packing.UnpackError as error:
        raise MachineError(str(error)) from None
    if sorted(path.name for path in folder.iterdir()) != ["inside"]:
        raise WrongError("it wrote elsewhere")


def _tree(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def _packed_tree(files: dict[str, bytes]) -> bytes:
    head = json.dumps([[name, len(content)] for name, content in files.items()]).encode()
    return head + b"\n" + b"".join(files.values())


def _unpacked_tree(content: bytes) -> dict[str, bytes]:
    head, _, rest = content.partition(b"\n")
    found = {}
    for name, size in json.loads(head):
        found[name], rest = rest[:size], rest[size:]
    return found


def change_file(chance: random.Random, content: bytes) -> bytes:
    """Change one file of a folder, remove it, or swap it with another."""
    files = _unpacked_tree(content)
    name = chance.choice(list(files))
    match chance.randrange(12):
        case 0:
            del files[name]
        case 1:
            other = chance.choice(list(files))
            files[name], files[other] = files[other], files[name]
        case _:
            files[name] = flip_bytes(chance, files[name])
    return _packed_tree(files)


@cache
def _remembered() -> dict[str, bytes]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copytree(LAB / "default-seed1", folder / "run")
        run = load_run(folder / "run")
        memory = Memory(folder / "memory")
        memory.remember(run)
        return _tree(memory.place(run.key))


def _recall(folder: Path, content: bytes) -> None:
    """Recall a result of which a file was changed; its key is the name of its folder."""
    files = _remembered()
    key = json.loads(files[NOTE])["key"]
    told: list[str] = []
    memory = Memory(folder / "memory", tell=told.append)
    for name, one in _unpacked_tree(content).items():
        _write(memory.place(key), name, one)
    run = memory.recall(key, out=folder / "out", name="again", study="s", parameters={})
    if run is None:
        if not told:
            raise WrongError("nothing was told")
        if memory.knows(key):
            raise WrongError("it is still there")
        raise MachineError(told[0])
    whole = _known_run(key)
    found = {name: data for name, data in _tree(run.folder).items() if name != MANIFEST}
    expected = {name: data for name, data in files.items() if name not in (MANIFEST, NOTE)}
    if (run.metrics, run.case, run.tools) != (whole.metrics, whole.case, whole.tools):
        raise WrongError("its metrics or its case are others")
    if found != expected:
        raise WrongError("its files are others")


@cache
def _known_run(key: str) -> Run:
    return next(run for run in _known_runs() if run.key == key)


@cache
def _run_folder() -> dict[str, bytes]:
    return _tree(LAB / "default-seed1")


def _read_run(folder: Path, content: bytes) -> None:
    """Read a run directory of which a file was changed."""
    for name, one in _unpacked_tree(content).items():
        _write(folder, name, one)
    run = load_run(folder)
    raw = run.checked_raw
    found = {flow.name: flow.measure(raw) for flow in run.case.flows}
    measured = {f"{flow}.{name}": value for flow, of in found.items() for name, value in of.items()}
    whole = load_run(LAB / "default-seed1")
    found = {flow.name: flow.measure(whole.raw) for flow in whole.case.flows}
    expected = {f"{flow}.{name}": value for flow, of in found.items() for name, value in of.items()}
    if (run.metrics, measured) != (whole.metrics, expected):
        raise WrongError("its metrics are others")
    for probe in run.case.probes:
        if not run.series(probe.name).equals(whole.series(probe.name)):
            raise WrongError("a series is another")


def _read_kernel(folder: Path, content: bytes) -> None:
    for name, one in _unpacked_tree(content).items():
        _write(folder, name, one)
    if problem := kernel_manifest.damage(folder):
        raise MachineError(problem)
    if kernel_manifest.read(folder) is None:
        raise MachineError("no manifest")
    kept = {**_kernel()}
    if {**_tree(folder), kernel_manifest.SUMS: b""} != {**kept, kernel_manifest.SUMS: b""}:
        raise WrongError("a kernel with other bytes came as good")


KINDS: dict[str, Kind] = {
    "manifest": Kind(
        samples=_files(f"tests/data/runs/*/*/{MANIFEST}"), mutate=change_json, read=_read_manifest
    ),
    "forged manifest": Kind(
        samples=_files(f"tests/data/runs/lab08/*/{MANIFEST}"),
        mutate=change_sealed,
        read=_read_forged,
    ),
    "cached result": Kind(
        samples=lambda: [_packed_tree(_remembered())], mutate=change_file, read=_recall
    ),
    "run": Kind(samples=lambda: [_packed_tree(_run_folder())], mutate=change_file, read=_read_run),
    "note": Kind(samples=_note, mutate=change_json, read=_read_note),
    "kernel": Kind(
        samples=lambda: [_packed_tree(_kernel())], mutate=change_file, read=_read_kernel
    ),
    "kernel manifest": Kind(
        samples=lambda: [_kernel()[kernel_manifest.FILE]],
        mutate=change_json,
        read=_read_kernel_manifest,
    ),
    "outcome": Kind(samples=_outcomes, mutate=change_json, read=_read_outcome),
    "frame": Kind(
        samples=lambda: [json.dumps(one).encode() for one in FRAMES],
        mutate=change_json,
        read=_read_frame,
    ),
    "wire": Kind(
        samples=lambda: [b'{"rows": 24, "columns": 80}'], mutate=change_json, read=_read_wire
    ),
    "order": Kind(
        samples=lambda: [b'{"do": "a", "factor": 1, "names": ["a"], "x": null}'],
        mutate=change_json,
        read=_read_order,
    ),
    "queue samples": _raw_kind("queue.samples", mutate=change_samples),
    "tcp samples": _raw_kind("tcp.samples", mutate=change_samples),
    "rate samples": _raw_kind("rate.samples", mutate=change_samples),
    "capture": _raw_kind("window.pcap", mutate=change_capture),
    "parquet": Kind(samples=_tables, mutate=flip_bytes, read=_read_table),
    "iperf3": _raw_kind("bulk.client.json", mutate=change_json),
    "iperf3 reversed": _raw_kind("back.server.json", mutate=change_json),
    "any iperf3": Kind(
        samples=_files("tests/data/iperf3/*.json"), mutate=change_json, read=_read_any
    ),
    "transfer": _raw_kind("moved.client.json", mutate=change_json),
    "ping": _raw_kind("ping.txt", mutate=change_words),
    "study": Kind(
        samples=_files("labs/*/study.yaml", "tests/study/data/*.yaml"),
        mutate=change_words,
        read=_read_study,
    ),
    "drawing": Kind(
        samples=_files("tests/data/miniedit/*.mn"), mutate=change_json, read=_read_drawing
    ),
    "script": Kind(
        samples=_files("tests/data/mininet/*.py"), mutate=change_words, read=_read_script
    ),
    "package": Kind(samples=_packages, mutate=change_package, read=_read_package),
}


@contextmanager
def _scratch() -> Iterator[Path]:
    place = "/dev/shm" if Path("/dev/shm").is_dir() else None
    with tempfile.TemporaryDirectory(dir=place) as name:
        yield Path(name)


def run_kind(name: str, *, count: int, seed: int) -> Counted:
    """Read changed samples of a kind.

    Args:
        name: the kind.
        count: how many.
        seed: of the first; each has the next one.
    """
    kind = KINDS[name]
    samples = kind.samples()
    counted = Counted()
    with _scratch() as scratch:
        for one in range(seed, seed + count):
            chance = random.Random(f"{name} {one}")
            sample = chance.choice(samples)
            content = kind.mutate(chance, sample)
            folder = scratch / "x"
            folder.mkdir()
            start_s = time.process_time()
            try:
                kind.read(folder, content)
                counted.read += 1
            except LongfatError:
                counted.refused += 1
            except Exception as error:
                *_, last = traceback.extract_tb(error.__traceback__)
                where = (
                    f"{type(error).__name__} {str(error)[:80]!r} in {last.filename}:{last.lineno}"
                )
                counted.findings[where] += 1
                counted.seeds.setdefault(where, one)
            took_s = time.process_time() - start_s
            counted.slowest_s = max(counted.slowest_s, took_s)
            if took_s > SLOW_S:
                counted.findings[f"took {took_s:.0f} s"] += 1
                counted.seeds.setdefault(f"took {took_s:.0f} s", one)
            shutil.rmtree(folder)
    return counted


def _part(arguments: tuple[str, int, int]) -> tuple[str, Counted, int]:
    name, count, seed = arguments
    counted = run_kind(name, count=count, seed=seed)
    return name, counted, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _print(name: str, counted: Counted) -> None:
    findings = sum(counted.findings.values())
    print(
        f"{name:16} {counted.read:7} read {counted.refused:7} refused {findings:5} findings"
        f"  slowest {counted.slowest_s:6.3f} s of CPU time",
        flush=True,
    )
    for finding, times in counted.findings.most_common(20):
        print(f"    {times} x {finding}, seed {counted.seeds[finding]}", flush=True)


def main() -> int:
    """Run what the command line says; return 1 if there is any finding."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--count", type=int, default=1000, help="how many of each kind")
    parser.add_argument(
        "--kind", action="append", choices=list(KINDS), help="all, if none is named"
    )
    parser.add_argument("--seed", type=int, default=0, help="of the first")
    parser.add_argument("--jobs", type=int, default=1, help="how many processes")
    given = parser.parse_args()
    step = max(1, min(2000, given.count // given.jobs or 1))
    parts = [
        (name, min(step, given.count - first), given.seed + first)
        for name in given.kind or KINDS
        for first in range(0, given.count, step)
    ]
    total: dict[str, Counted] = {}
    parts_of = Counter(name for name, _, _ in parts)
    peak_bytes = 0
    with ProcessPoolExecutor(max_workers=given.jobs) as pool:
        for name, counted, used_bytes in pool.map(_part, parts):
            total.setdefault(name, Counted()).add(counted)
            peak_bytes = max(peak_bytes, used_bytes)
            parts_of[name] -= 1
            if parts_of[name] == 0:
                _print(name, total[name])
    print(f"most memory of a process: {peak_bytes / 1e6:.0f} MB")
    return int(peak_bytes > MOST_MEMORY_BYTES or any(one.findings for one in total.values()))


if __name__ == "__main__":
    raise SystemExit(main())
