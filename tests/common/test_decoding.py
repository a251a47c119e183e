"""Plain data becomes our values or a located error; what a guest leaves is read within limits."""

from __future__ import annotations

import gzip
import io
import json
import math
import os
import re
import subprocess
import sys
import tarfile
import time
from dataclasses import dataclass, field
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, NotRequired, TypedDict

import dpkt
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longfat.common.checksum import FileSum, file_damage, file_sum, sealed, unsealed
from longfat.common.decoding import Decoder, Length, Range, decode, parse_json, read_json
from longfat.errors import InputError, LongfatError, MachineError
from longfat.execution.runs.run import parse_series
from longfat.model.probes import Capture, Queue, Tcp
from longfat.model.probes.columns import MAX_CELLS
from longfat.model.traffic import Iperf3, Ping
from longfat.model.traffic.iperf3_any import read_any_report
from longfat_cluster import transfer


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Facts(TypedDict):
    a: str
    b: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Inner:
    name: str
    share: float = 0.5
    limits: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if self.share > 1:
            raise ValueError("share is more than 1")


@dataclass(frozen=True, slots=True, kw_only=True)
class Outer:
    inner: Inner
    all: dict[str, Inner] = field(default_factory=dict)
    pair: tuple[float, str] | None = None
    colour: Colour = Colour.RED
    word: Literal["x", "y"] = "x"
    facts: Facts | None = None
    flag: bool = False


def test_what_fits_becomes_a_value() -> None:
    data = {
        "inner": {"name": "a", "limits": [1, 2]},
        "all": {"b": {"name": "b", "share": 1}},
        "pair": [1, "z"],
        "colour": "blue",
        "word": "y",
        "facts": {"a": "1", "b": 2},
        "flag": True,
    }
    found = decode(Outer, data, where="f")
    assert found == Outer(
        inner=Inner(name="a", limits=(1, 2)),
        all={"b": Inner(name="b", share=1)},
        pair=(1, "z"),
        colour=Colour.BLUE,
        word="y",
        facts={"a": "1", "b": 2},
        flag=True,
    )
    # A whole number stays one, or a case's digest would change on its way.
    assert type(found.all["b"].share) is int


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"inner": None}, "f: inner: found null, expected an object"),
        ({"inner": {}}, "f: inner.name: is missing"),
        ({"inner": {"name": 3}}, "f: inner.name: found 3, expected a text"),
        ({"inner": {"name": "a", "x": 1}}, "f: inner.x: unknown field"),
        ({"inner": {"name": "a", "share": 2}}, "f: inner: share is more than 1"),
        ({"inner": {"name": "a", "limits": [1, True]}}, "f: inner.limits[1]: found true"),
        ({"all": {"b": {"name": []}}}, "f: all.b.name: found an empty list, expected a text"),
        ({"all": [1, 2]}, "f: all: found a list of 2, expected an object"),
        ({"pair": [1]}, "f: pair: found a list of 1, expected a list of 2"),
        ({"pair": [math.nan, "a"]}, "f: pair[0]: found nan, expected a finite number"),
        ({"pair": [2**70, "a"]}, "f: pair[0]: found a number of more than 64 bits"),
        ({"colour": "green"}, "f: colour: found the text 'green', expected one of red, blue"),
        ({"colour": {}}, "f: colour: found an empty object"),
        ({"word": 1}, "f: word: found 1, expected one of x, y"),
        ({"facts": {"a": "1"}}, "f: facts.b: is missing"),
        ({"flag": 1}, "f: flag: found 1, expected true or false"),
        ({"inner": {"name": "a" * 99, "share": "x" * 99}}, "found the text 'xxx"),
    ],
)
def test_what_does_not_fit_is_reported_with_its_place(
    change: dict[str, Any], expected: str
) -> None:
    with pytest.raises(InputError) as caught:
        decode(Outer, {"inner": {"name": "a"}, **change}, where="f")
    assert expected in str(caught.value)
    assert len(str(caught.value)) < 200


def test_fields_of_other_programs_may_be_passed_over() -> None:
    foreign = Decoder(Outer, ignore_unknown=True)
    data = {"inner": {"name": "a", "x": 1}, "y": 2}
    assert foreign.decode(data, where="f") == Outer(inner=Inner(name="a"))


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", "not JSON"),
        (b"\xff", "not JSON"),
        (b"[NaN]", "NaN is not a number"),
        (b"[-Infinity]", "-Infinity is not a number"),
        (b"9" * 5000, "not JSON"),
        (b'{"a": 1, "a": 2}', "the field 'a' is repeated"),
        (b"[" * 100_000, "nested too deep"),
        (b'{"a":' * 100_000, "nested too deep"),
        (rb'["\ud800"]', "half of a surrogate pair"),
        (b"[" + b"[]," * 8_000_000 + b"1]", "which is too many"),
    ],
)
def test_what_is_no_json_is_reported(content: bytes, expected: str) -> None:
    with pytest.raises(MachineError, match=rf"^f: .*{expected}"):
        parse_json(content, where="f", error=MachineError)


def test_what_json_may_hold() -> None:
    assert parse_json(rb'["\ud83d\ude00", 1e5, -1, null]', where="f") == ["😀", 1e5, -1, None]
    assert parse_json(b'{"a": 1, "a": 2}', where="f", allow_repeated=True) == {"a": 2}


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(VALUES)
def test_any_data_is_read_or_refused(data: Any) -> None:
    for kind in (Outer, Inner, dict[str, float], list[int]):
        try:
            decode(kind, data, where="f")
        except InputError as error:
            assert str(error).startswith("f: ")


@given(st.dictionaries(st.text(), VALUES.filter(lambda one: one != math.inf)))
def test_a_seal_is_of_the_values(data: dict[str, Any]) -> None:
    data.pop("sha256", None)
    try:
        whole = sealed(data)
    except ValueError:  # Infinity
        return
    except UnicodeEncodeError:
        return
    again = json.loads(json.dumps(whole, indent=3))
    assert unsealed(again, where="f") == data
    with pytest.raises(InputError, match="f: damaged: its checksum"):
        unsealed({**again, "another": 1}, where="f")


def test_a_file_that_differs_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"abc")
    wanted = file_sum(path)
    assert file_damage(path, wanted) == ""
    about = path.stat()
    path.write_bytes(b"abd")
    os.utime(path, ns=(about.st_atime_ns, about.st_mtime_ns))
    assert file_damage(path, wanted) == "its bytes have changed"
    path.write_bytes(b"abcd")
    assert file_damage(path, wanted) == "it has 4 bytes instead of 3"
    path.unlink()
    assert file_damage(path, wanted) == "it is missing"
    os.mkfifo(path)
    assert "cannot be read" in file_damage(path, FileSum(size_bytes=0, sha256=""))


def sparse(path: Path, size: int, head: bytes = b"") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        file.write(head)
        file.truncate(size)
    return path


BULK = Iperf3(name="bulk", source="h1", target="h2")
PING = Ping(name="ping", source="h1", target="h2")
QUEUE = Queue(name="queue", of=("s1-eth1",))
WINDOW = Capture(name="window", of="s1-eth1")
TERABYTE = 1 << 40
HEADER = b'{"every_ns": 1000000, "sources": [{"node": "root", "interfaces": {"1": "s1-eth1"}}]}\n'
PCAP = bytes.fromhex("4d3cb2a1020004000000000000000000ffffffff01000000")


@pytest.mark.parametrize(
    ("name", "size", "head", "read"),
    [
        ("bulk.client.json", TERABYTE, b"{", BULK.measure),
        ("bulk.client.json", 2 << 30, b"{", BULK.rows),
        ("ping.txt", TERABYTE, b"PING", PING.measure),
        ("ping.txt", TERABYTE, b"PING", PING.replies),
        ("queue.samples", TERABYTE, HEADER, lambda raw: QUEUE.table(raw, flows=(), epoch_s=0)),
        ("queue.samples", 64 << 20, HEADER, lambda raw: QUEUE.table(raw, flows=(), epoch_s=0)),
        ("queue.samples", 900 << 20, b"", lambda raw: QUEUE.table(raw, flows=(), epoch_s=0)),
        ("window.pcap", TERABYTE, PCAP, lambda raw: WINDOW.table(raw, flows=(), epoch_s=0)),
        ("window.pcap", 900 << 20, PCAP, lambda raw: WINDOW.table(raw, flows=(), epoch_s=0)),
        ("manifest.json", TERABYTE, b"{", lambda raw: read_json(raw / "manifest.json")),
        ("x.json", TERABYTE, b"{", lambda raw: read_any_report(raw / "x.json")),
    ],
)
def test_what_is_too_large_is_reported_soon(
    tmp_path: Path, name: str, size: int, head: bytes, read: Any
) -> None:
    sparse(tmp_path / name, size, head)
    start_s = time.process_time()
    with pytest.raises(LongfatError):
        read(tmp_path)
    assert time.process_time() - start_s < 10


def test_a_packet_longer_than_any_is_reported(tmp_path: Path) -> None:
    head = bytes.fromhex("00000000000000000000001000000010")
    (tmp_path / "window.pcap").write_bytes(PCAP + head + bytes(1000))
    with pytest.raises(MachineError, match="a packet of 268435456 bytes"):
        WINDOW.table(tmp_path, flows=(), epoch_s=0)


def test_a_syn_whose_options_are_cut_offers_no_shift(tmp_path: Path) -> None:
    segment = dpkt.tcp.TCP(sport=1, dport=2, flags=dpkt.tcp.TH_SYN, opts=b"\x01\x01\x01\x03")
    segment.off = 6
    packet = dpkt.ip.IP(src=b"\x0a\0\0\x01", dst=b"\x0a\0\0\x02", p=6, data=segment)
    packet.len = len(packet)
    content = bytes(dpkt.ethernet.Ethernet(data=packet))
    length = len(content).to_bytes(4, "little")
    (tmp_path / "window.pcap").write_bytes(PCAP + bytes(8) + length + length + content)
    (row,) = WINDOW.table(tmp_path, flows=(), epoch_s=0).to_pylist()
    assert (row["flags"], row["window_shift"]) == ("S", 0)


def test_a_parquet_file_of_millions_of_equal_values_is_refused() -> None:
    part = 1 << 20
    schema = pa.schema([pa.field(one.name, one.type) for one in Queue.columns])
    table = pa.Table.from_arrays([pa.nulls(part, one.type) for one in Queue.columns], schema=schema)
    stream = pa.BufferOutputStream()
    with pq.ParquetWriter(stream, schema) as writer:
        for _ in range(MAX_CELLS // len(Queue.columns) // part + 1):
            writer.write_table(table)
    content = stream.getvalue().to_pybytes()
    assert len(content) < 1 << 20
    with pytest.raises(InputError, match=r"f: it has \d\d,\d{3},\d{3} values"):
        parse_series(content, where="f", columns=Queue.columns)
    with pytest.raises(InputError, match="f: its columns are "):
        parse_series(content, where="f", columns=Capture.columns)


def test_a_series_of_an_earlier_version_has_nulls_for_later_columns() -> None:
    first = [one for one in Tcp.columns if not one.later]
    assert len(first) < len(Tcp.columns)
    for columns in (first, Tcp.columns[: len(first) + 1], Tcp.columns):
        schema = pa.schema([pa.field(one.name, one.type) for one in columns])
        stream = pa.BufferOutputStream()
        pq.write_table(pa.Table.from_pylist([{"time_s": 0.5}], schema=schema), stream)
        table = parse_series(stream.getvalue().to_pybytes(), where="f", columns=Tcp.columns)
        assert table.column_names == [one.name for one in Tcp.columns]
        assert table["timeouts"].to_pylist() == table["ecn"].to_pylist() == [None]


@pytest.mark.parametrize("time_s", [None, float("nan"), float("inf"), -1e300])
def test_a_sample_without_a_time_is_refused(time_s: float | None) -> None:
    schema = pa.schema([pa.field(one.name, one.type) for one in Queue.columns])
    rows = [{"time_s": 0.5}, {"time_s": time_s}]
    stream = pa.BufferOutputStream()
    pq.write_table(pa.Table.from_pylist(rows, schema=schema), stream)
    with pytest.raises(InputError, match="f: a sample has no time, or one beyond 1e"):
        parse_series(stream.getvalue().to_pybytes(), where="f", columns=Queue.columns)


@cache
def zeros() -> bytes:
    """Half a gigabyte, compressed."""
    content = io.BytesIO()
    with gzip.GzipFile(fileobj=content, mode="wb", compresslevel=1) as packed:
        for _ in range(512):
            packed.write(bytes(1 << 20))
    return content.getvalue()


@pytest.mark.parametrize("kind", [b"x", b"g", b"L", b"K", b"S"])
def test_a_package_that_is_a_bomb_is_refused(tmp_path: Path, kind: bytes) -> None:
    """A member's head tells of a long name, or the like, which would be read into memory."""
    item = {"name": "a", "size_bytes": 1 << 29, "sha256": "", "executable": False}
    contents = json.dumps([item]).encode()
    first = tarfile.TarInfo("contents.json")
    first.size = len(contents)
    member = tarfile.TarInfo("a")
    member.type, member.size = kind, 1 << 29
    head = first.tobuf(format=tarfile.GNU_FORMAT) + contents.ljust(512, b"\0")
    head += member.tobuf(format=tarfile.GNU_FORMAT)
    with pytest.raises(transfer.UnpackError):
        transfer.unpack(io.BytesIO(gzip.compress(head) + zeros()), tmp_path)


def test_memory_stays_below_half_a_gigabyte() -> None:
    """What is large here, in a process of its own."""
    if os.environ.get("LONGFAT_TEST_INSIDE"):
        pytest.skip("this is that process")
    arguments = ["-q", "-p", "no:cacheprovider", "-k", "large or parquet or package or json"]
    # What wait4(2) says counts the memory of the process that started this one, too.
    script = f"""
import os, sys, pytest
from longfat.common.process import peak_bytes
status = pytest.main({[*arguments, __file__]!r})
sys.exit(status or peak_bytes(os.getpid()) > 1 << 29)
"""
    environment = {**os.environ, "LONGFAT_TEST_INSIDE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stdout.decode()


class Partial(TypedDict, total=False):
    share: Annotated[float, Range(minimum=0, maximum=1)]


class Described(TypedDict):
    name: str
    about: NotRequired[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limited:
    names: Annotated[tuple[Annotated[str, Length(maximum=3)], ...], Length(maximum=2)] = ()
    shares: dict[Annotated[str, Length(minimum=1, maximum=3)], Partial] = field(
        default_factory=dict
    )
    described: Described | None = None


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"names": ["abcd"]}, "names[0]: found 4 characters, expected at most 3"),
        ({"names": ["a"] * 3}, "names: found 3 entries, expected at most 2"),
        ({"shares": {"": {}}}, "found 0 characters, expected 1 to 3"),
        ({"shares": {"a": {"share": 2}}}, "shares.a.share: found 2, expected 0 to 1"),
        ({"described": {"about": ""}}, "described.name: is missing"),
    ],
)
def test_limits_of_annotations_are_checked(data: Any, message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        decode(Limited, data, where="x")


def test_fields_of_a_typed_dict_may_be_absent() -> None:
    data = {"names": ["abc"], "shares": {"a": {}, "b": {"share": 1}}, "described": {"name": ""}}
    assert decode(Limited, data, where="x") == Limited(
        names=("abc",), shares={"a": {}, "b": {"share": 1}}, described={"name": ""}
    )
