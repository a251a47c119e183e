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
# Of what takes all the time that it gets.
GREEDY_LIMITS = Limits(time_s=0.15, memory_bytes=LIMITS.memory_bytes)
ENDS_WITHIN_S = 30.0  # a query has less than a second; a busy machine takes some to begin
REACH = "uses more than the catalog's tables"
MANY = "run one at a time"
NOTHING = "is not a query"

# What takes time or memory: any of the limits may be the first to be met.
GREEDY = {
    "cross join": "select count(*) from range(1000000) a, range(1000000) b where a.range > b.range",
    "endless recursion": "with recursive t(n) as (select 1 union all select n + 1 from t) "
    "select max(n) from t",
    "doubling recursion": "with recursive t(n) as (select 1 union all "
    "select n + x from t, range(2) r(x)) select count(*) from t",
    "one call that takes long": "select levenshtein(repeat('a', 100000), repeat('b', 100000))",
    "another": "select jaro_winkler_similarity(repeat('ab', 200000), repeat('ba', 200000))",
    "long regular expression": "select regexp_matches(repeat('a', 50000000), '(a*)*(b|a*c){50}$')",
    "long text": "select length(repeat('x', 1000000000))",
    "long text of long texts": "select length(repeat(repeat('x', 100000), 100000))",
    "texts together": "select length(string_agg(repeat('x', 1000), '')) from range(10000000)",
    "lists together": "select length(list(repeat('y', 1000) || range)) from range(10000000)",
    "a list": "select length(range(1000000000))",
    "a longer list": "select length(range(1000000000000))",
    "list of lists": "select list_transform(range(100000), lambda x: range(x))",
    "sorted list": "select list_sort(list_transform(range(100000000), lambda x: hash(x)))[1]",
    "histogram": "select histogram(range) from range(100000000)",
    "distinct": "select count(distinct hash(range)) from range(1000000000)",
    "sort": "select range, hash(range) as h from range(1000000000) order by h "
    "limit 1 offset 99999999",
    "window": "select sum(range) over (order by hash(range) rows between 100000 preceding and "
    "current row) from range(100000000)",
    "group": "select hash(range) as h, count(*) from range(300000000) group by h "
    "having count(*) > 1",
    "map": "select map_from_entries(list_transform(range(30000000), lambda x: (x, x)))",
    "format": "select format('{:>1000000000}', 'x')",
    "printf": "select printf('%1000000000d', 1)",
    "padding": "select length(lpad('x', 2000000000, 'y'))",
    "bits": "select bit_length(bitstring('0', 2000000000))",
    "json": "select json_array_length(to_json(range(50000000)))",
    "big numbers": "select product(range + 1) from range(1000000000)",
    "generated dates": "select count(*) from generate_series(timestamp '0001-01-01', "
    "timestamp '9999-01-01', interval 1 millisecond)",
    "unnested": "select count(*) from (select unnest(range(100000)) from range(100000))",
    "cube": "select " + ", ".join(f"range % {n}" for n in range(2, 14))
    + ", count(*) from range(1000000) group by cube ("
    + ", ".join(str(n) for n in range(1, 13)) + ")",
    "many tables": "select count(*) from " + ", ".join(f"runs r{n}" for n in range(30))
    + " where " + " and ".join(f"r{n}.seed = r{n + 1}.seed" for n in range(29)),
    "large pivot": "pivot (select range as a, range % 3 as b from range(100000)) on a "
    "using count(*)",
    "a thousand aggregates": "select "
    + ", ".join(f"median(hash(range + {n}))" for n in range(1000))
    + " from range(1000000)",
    "deep brackets": "select " + "(" * 100000 + "1" + ")" * 100000,
    "deep lists": "select " + "[" * 50000 + "1" + "]" * 50000,
    "deep queries": "select * from (" * 3000 + "select 1" + ")" * 3000,
    "long sum": "select " + " + ".join(["1"] * 200000),
    "long list": "select 1 where 1 in (" + ", ".join(map(str, range(500000))) + ")",
    "many unions": " union all ".join(["select 1"] * 20000),
    "answer of a hundred million rows": "select * from range(100000000)",
    "answer of long rows": "select repeat('x', 1000000) from range(100000)",
    "answer of one row": "select range(20000000)",
    "explain analyze": "explain analyze select count(*) from range(1000000) a, range(1000000) b "
    "where a.range > b.range",
}  # fmt: skip

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


@pytest.mark.parametrize("sql", GREEDY.values(), ids=GREEDY)
def test_a_query_that_wants_too_much_ends(catalog: Catalog, sql: str) -> None:
    if said := ask(catalog, sql, GREEDY_LIMITS):
        assert is_one_line(said), said
        assert "Traceback" not in said


@pytest.mark.parametrize("sql", REACHING)
def test_a_query_that_wants_something_else_is_told(
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
    "select count(*) from range(1000000) a, range(1000000) b where a.range > b.range": (
        Limits(time_s=0.5, memory_bytes=10**9),
        "the query: not done within 0.5 s, its limit of time; --time-limit sets another",
    ),
    "select length(string_agg(repeat('x', 1000), '')) from range(10000000)": (
        PATIENT,
        "the query: it needs more memory than 128 MB; --memory-limit allows more",
    ),
    "select * from range(100000000)": (PATIENT, "the query: its answer is larger than 32.0 MB, "),
    "select [" + ", ".join(["[" * 2000 + "]" * 2000]) + "]": (
        PATIENT,
        "the query: Max expression depth limit of 1000 exceeded",
    ),
}


@pytest.mark.parametrize("sql", KINDS)
def test_it_is_told_which_limit_was_met(catalog: Catalog, sql: str) -> None:
    limits, message = KINDS[sql]
    with pytest.raises(InputError) as told:
        catalog.query(sql, limits=limits)
    assert told.value.message.startswith(message)
    assert "SET" not in told.value.message


def test_a_query_gets_its_memory_and_no_more(tmp_path: Path) -> None:
    # Its own process, so that the peak of all its children is known.
    script = tmp_path / "ask.py"
    script.write_text(
        "import resource, sys\n"
        "from pathlib import Path\n"
        "from longfat.analysis.query import Catalog, Limits\n"
        "from longfat.errors import InputError\n"
        "catalog = Catalog([Path(sys.argv[1])])\n"
        "for sql in sys.argv[2:]:\n"
        "    try:\n"
        "        catalog.query(sql, limits=Limits(time_s=5, memory_bytes=200_000_000))\n"
        "    except InputError as error:\n"
        "        pass\n"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024)\n"
        # Not getrusage: that begins with the peak of whoever started it (fs/exec.c).
        "status = Path('/proc/self/status').read_text()\n"
        "print(int(status.partition('VmHWM:')[2].split()[0]) * 1024)\n"
    )
    names = ["long text", "texts together", "lists together", "a list", "sorted list"]
    names += ["answer of long rows", "answer of a hundred million rows"]
    queries = [GREEDY[name] for name in names]
    done = subprocess.run(
        [sys.executable, script, SEEDED, *queries], capture_output=True, text=True, check=True
    )
    peak_bytes, own_bytes = map(int, done.stdout.split())
    loaded_bytes = 150_000_000  # Python, DuckDB and pyarrow
    # It is looked at every 20 ms: what is taken meanwhile, beside busy neighbours, is over it.
    assert peak_bytes < 200_000_000 + loaded_bytes + 150_000_000
    assert own_bytes < 50_000_000 + 2 * loaded_bytes


def test_an_answer_that_fits_is_whole(catalog: Catalog) -> None:
    found = catalog.query("select range as n from range(1000000)", limits=PATIENT)
    assert found["n"].to_pylist() == list(range(1000000))
    # A sort that is larger than its memory goes by way of files.
    sql = (
        "select sum(place) as sum from (select row_number() over (order by hash(range)) as place "
        "from range(4000000))"
    )
    assert catalog.query(sql, limits=PATIENT)["sum"].to_pylist() == [4000000 * 4000001 // 2]


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL, signal.SIGTERM])
def test_nothing_is_left_when_it_is_interrupted(how: signal.Signals, tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from longfat.analysis.query import Catalog\n"
        "Catalog([Path(sys.argv[1])]).query(sys.argv[2])\n"
    )
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen(
        [sys.executable, "-c", script, SEEDED, GREEDY["one call that takes long"]],
        env=environment,
        stderr=subprocess.PIPE,
    ) as process:
        wait_until(lambda: bool(query_processes(tmp_path)))
        time.sleep(0.5)  # until it computes, as a rule
        process.send_signal(how)
        start_s = time.monotonic()
        process.communicate(timeout=60)
        took_s = time.monotonic() - start_s
    assert took_s < ENDS_WITHIN_S / 2
    wait_until(lambda: not query_processes(tmp_path) and not any(tmp_path.iterdir()))


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


def query_processes(folder: Path) -> list[int]:
    """Return the processes whose arguments name something in a folder."""
    found = []
    for path in Path("/proc").iterdir():
        if path.name.isdigit():
            try:
                words = (path / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue  # it has ended
            if any(b"_query_process" in one for one in words) and any(
                one.startswith(os.fsencode(folder)) for one in words
            ):
                found.append(int(path.name))
    return found


def wait_until(is_so: Callable[[], bool]) -> None:
    end_s = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < end_s
        time.sleep(0.05)
