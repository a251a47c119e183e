"""Queries that want too much, or something else than an answer: each ends soon, with one line."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from longfat.analysis.query import Catalog, Limits
from longfat.errors import InputError
from tests.analysis.query.conftest import SEEDED

LIMITS = Limits(time_s=0.4, memory_bytes=128 * 2**20)
ENDLESS = "select count(*) from range(1000000) a, range(1000000) b where a.range > b.range"
ENDS_WITHIN_S = 30.0  # a query has less than a second; a busy machine takes some to begin
REACH = "uses more than the catalog's tables"
MANY = "run one at a time"
NOTHING = "is not a query"

# What reaches for something else than the tables, with what is said of it.
REACHING = {
    "select * from read_csv('/etc/passwd')": REACH,
    "select * from '/etc/passwd'": "there is no table|" + REACH,
    "select * from read_text('/etc/passwd')": REACH,
    "select * from read_blob('/proc/self/environ')": REACH,
    "select * from read_json('/etc/hostname')": REACH,
    "select * from read_parquet('{out}')": REACH,
    "select * from parquet_metadata('{out}')": REACH,
    "select * from parquet_schema('{out}')": REACH,
    "select * from glob('/etc/*')": REACH,
    "select * from sniff_csv('/etc/passwd')": REACH,
    "select * from read_csv('https://example.com/x.csv')": REACH,
    "select * from query('select * from read_text(''/etc/passwd'')')": REACH,
    "select * from query_table('/etc/passwd')": "",
    "with x as (select * from read_text('/etc/passwd')) select * from x": REACH,
    "explain analyze copy runs to '{out}'": REACH,
    "copy runs to '{out}'": NOTHING,
    "copy (pivot runs on seed using count(*)) to '{out}'": NOTHING,
    "create table t as pivot runs on seed using count(*)": NOTHING,
    "export database '{out}'": NOTHING,
    "import database '{out}'": NOTHING,
    "attach '{out}' as db": NOTHING,
    "attach ':memory:' as db": NOTHING,
    "install httpfs": NOTHING,
    "load httpfs": NOTHING,
    "load '{out}'": NOTHING,
    "set enable_external_access = true": NOTHING,
    "set memory_limit = '100GB'": NOTHING,
    "reset lock_configuration": NOTHING,
    "pragma enable_profiling": NOTHING,
    "pragma database_list": NOTHING,
    "call pragma_version()": NOTHING,
    "checkpoint": NOTHING,
    "create secret s (type s3)": NOTHING,
    "create table t (a int)": NOTHING,
    "drop view runs": NOTHING,
    "insert into longfat.entries select * from longfat.entries": NOTHING,
    "update longfat.entries set seed = 1": NOTHING,
    "begin": NOTHING,
    "prepare p as select 1": NOTHING,
    "-- a comment\n/* another */ delete from longfat.entries": NOTHING,
    "with x as (select 1) insert into longfat.entries select * from longfat.entries": NOTHING,
    "select getenv('HOME')": "",
    "select * from longfat_given": "there is no table",
    "select * from _database": "there is no table",
    "select * from arrow_scan(1, 2, 3)": "",
    "select * from arrow_scan(0::pointer, 0::pointer, 0::pointer)": "",
    "select * from pandas_scan(0)": "",
    "select * from python_map_function(1)": "",
    "select error('made\nup' || chr(27) || '[31m')": "",
    "select load_extension('httpfs')": "",
    "select write_log('x')": None,
    "select current_setting('temp_directory')": None,
    "select 1; select 2": MANY,
    "select 1; copy runs to '{out}'": MANY,
    "pivot runs on seed using count(*); select 1": MANY,
    "pivot runs on seed using count(*); pivot runs on seed using count(*)": MANY,
    "": "the query is empty",
    " ;; ": "the query is empty",
    "-- nothing": "the query is empty",
    "select 1 /*": "unterminated",
    "select '\0'": None,
    "select \ud800": "",
}


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return Catalog([SEEDED])


def ask(catalog: Catalog, sql: str, limits: Limits = LIMITS) -> str:
    """Return what is said of a query that has no answer; empty if it has one."""
    start_s = time.monotonic()
    try:
        catalog.query(sql, limits=limits)
        return ""
    except InputError as error:
        return error.message
    finally:
        assert time.monotonic() - start_s < ENDS_WITHIN_S


def is_one_line(said: str) -> bool:
    """Tell whether a message is one line; a line of the query with a mark below may follow."""
    first, *more = said.split("\n")
    pointed = len(more) == 2 and re.fullmatch(r"  +\^+", more[1]) is not None
    return len(first) < 600 and first.isprintable() and (not more or pointed)


@pytest.mark.parametrize("sql", REACHING)
def test_a_query_that_wants_something_else_is_reported(
    catalog: Catalog, sql: str, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    said = ask(catalog, sql.replace("{out}", str(out)))
    assert is_one_line(said), said
    expected = REACHING[sql]
    if expected is not None:
        assert re.search(expected, said), said
        assert said
    assert not out.exists()


PATIENT = Limits(time_s=60, memory_bytes=LIMITS.memory_bytes)
KINDS = {
    ENDLESS: (
        Limits(time_s=0.5, memory_bytes=10**9),
        "the query: not done within 0.5 s, its limit of time; --time-limit sets another",
    ),
    "select histogram(hash(range)) from range(100000000)": (
        PATIENT,
        "the query: it needs more memory than 128 MB; --memory-limit allows more",
    ),
    "select * from range(100000000)": (PATIENT, "the query: its answer is larger than 32.0 MB, "),
    "select [" + ", ".join(["[" * 2000 + "]" * 2000]) + "]": (
        PATIENT,
        "the query: Max expression depth limit of 1000 exceeded",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("sql", KINDS)
def test_it_is_reported_which_limit_was_met(catalog: Catalog, sql: str) -> None:
    limits, message = KINDS[sql]
    with pytest.raises(InputError) as told:
        catalog.query(sql, limits=limits)
    assert told.value.message.startswith(message)
    assert "SET" not in told.value.message


def test_an_answer_that_fits_is_whole(catalog: Catalog) -> None:
    found = catalog.query("select range as n from range(1000000)", limits=PATIENT)
    assert found["n"].to_pylist() == list(range(1000000))
    # A sort that is larger than its memory goes by way of files.
    sql = (
        "select sum(place) as sum from (select row_number() over (order by hash(range)) as place "
        "from range(4000000))"
    )
    assert catalog.query(sql, limits=PATIENT)["sum"].to_pylist() == [4000000 * 4000001 // 2]


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_nothing_is_left_when_it_is_interrupted(how: signal.Signals, tmp_path: Path) -> None:
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    start = "from longfat.cli.main import main; main()"
    words = (sys.executable, "-c", start, "query", "--runs", SEEDED, ENDLESS)
    with subprocess.Popen(words, env=environment, stderr=subprocess.PIPE) as process:
        wait_until(lambda: any(tmp_path.iterdir()))
        time.sleep(0.5)  # until it computes, as a rule
        process.send_signal(how)
        start_s = time.monotonic()
        _, errors = process.communicate(timeout=60)
        took_s = time.monotonic() - start_s
    assert took_s < ENDS_WITHIN_S / 2
    assert b"Traceback" not in errors
    wait_until(lambda: not any(tmp_path.iterdir()))


def test_a_query_of_another_thread_can_be_asked(catalog: Catalog) -> None:
    found: list[int] = []
    query = "select count(*) as n from runs"
    threads = [
        threading.Thread(target=lambda: found.append(catalog.query(query)["n"][0].as_py()))
        for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [6, 6]


def wait_until(is_so: Callable[[], bool]) -> None:
    end_s = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < end_s
        time.sleep(0.05)
