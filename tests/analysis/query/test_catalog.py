"""What goes into run directories comes out of queries, and nothing else does."""

from __future__ import annotations

import json
import math
import tempfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longfat.analysis.query import Catalog
from longfat.errors import InputError
from tests.analysis.query.conftest import BASE, write_run

# Names as no study file has them, but a manifest might.
NAMES = st.text(st.characters(codec="utf-8"), min_size=1, max_size=12)
NUMBERS = st.floats(width=64, allow_nan=False, allow_infinity=False)
METRICS = st.dictionaries(
    st.builds(lambda a, b: f"{a}.{b}", NAMES.filter(lambda text: "." not in text), NAMES),
    NUMBERS,
    max_size=6,
)
SETTINGS = st.one_of(
    st.builds(lambda text: {"text": text, "number": None, "unit": None}, NAMES),
    st.builds(
        lambda text, number, unit: {"text": text, "number": number, "unit": unit},
        NAMES,
        NUMBERS,
        st.sampled_from(["bps", "bytes", "s", "fraction", "count"]),
    ),
)
RUNS = st.lists(
    st.fixed_dictionaries(
        {
            "study": NAMES,
            "name": NAMES,
            "seed": st.integers(0, 2**63 - 1),
            "metrics": METRICS,
            "parameters": st.dictionaries(NAMES, SETTINGS, max_size=4),
        }
    ),
    max_size=10,
)


def same(a: Any, b: Any) -> bool:
    if isinstance(a, float) and isinstance(b, float):
        return a == b or (math.isnan(a) and math.isnan(b))
    return bool(a == b)


def whole_tables(catalog: Catalog, *names: str) -> pa.Table:
    """Return all rows of tables in one row: a column of a table's name, its rows as a list.

    Each question is a process of its own, and so few questions are asked, of many tables.
    """
    lists = [f'(select list(whole) from {name} as whole) as "{name}"' for name in names]
    return catalog.query(f"select {', '.join(lists)}")


@settings(max_examples=10, deadline=None)
@given(RUNS)
def test_what_goes_in_comes_out(runs: list[dict[str, Any]]) -> None:
    with tempfile.TemporaryDirectory() as root:
        for index, run in enumerate(runs):
            write_run(Path(root, "study", f"run{index}"), **run)
        catalog = Catalog([Path(root)])
        (tables,) = whole_tables(catalog, "runs", "metrics", "parameters").to_pylist()
        rows = sorted(tables["runs"] or (), key=lambda row: row["run"])
        assert [(r["study"], r["case_name"], r["seed"]) for r in rows] == [
            (run["study"], run["name"], run["seed"]) for run in runs
        ]
        by_run = {row["run"]: run for row, run in zip(rows, runs, strict=True)}

        metrics = tables["metrics"] or ()
        assert len(metrics) == sum(len(run["metrics"]) for run in runs)
        for row in metrics:
            name = f"{row['source']}.{row['metric']}"
            assert same(by_run[row["run"]]["metrics"][name], row["value"])

        parameters = tables["parameters"] or ()
        assert len(parameters) == sum(len(run["parameters"]) for run in runs)
        for row in parameters:
            one = by_run[row["run"]]["parameters"][row["name"]]
            assert row["text"] == one["text"]
            assert row["unit"] == one["unit"]
            assert same(row["number"], one["number"])

        wide = catalog.query("select * from results order by run")
        assert len(set(wide.column_names)) == len(wide.column_names)
        for row, run in zip(wide.to_pylist(), runs, strict=True):
            found = [value for value in row.values() if value is not None]
            expected = [run["study"], run["name"], run["seed"], *run["metrics"].values()]
            for one in run["parameters"].values():
                expected += [one["text"]] if one["unit"] is None else [one["text"], one["number"]]
            assert len(found) == len(expected) + 2  # the run's directory and its kernel
            for value in expected:
                assert any(same(value, other) for other in found)


def test_the_units_of_metrics_are_known(seeded: Path) -> None:
    catalog = Catalog([seeded])
    rows = catalog.query("select distinct source, metric, unit from metrics").to_pylist()
    units = {row["metric"]: row["unit"] for row in rows}
    assert units["receiver_bps"] == "bps"
    assert units["retransmits"] == "count"
    assert units["max_cwnd_bytes"] == "bytes"
    assert units["mean_rtt_s"] == "s"


def test_flows_tools_intervals_and_replies(seeded: Path) -> None:
    catalog = Catalog([seeded])
    manifest = json.loads((seeded / "seeded/lossy-seed2/manifest.json").read_text())
    flow = manifest["case"]["flows"][0]
    row = catalog.query(
        f"select * from flows where case_name = 'lossy' and seed = 2 and flow = '{flow['name']}'"
    ).to_pylist()
    assert [(one["tool"], one["start_s"]) for one in row] == [
        (flow["tool"], manifest["flow_times"][flow["name"]]["start_s"])
    ]
    tools = catalog.query("select distinct tool from tools").to_pylist()
    assert {"iperf3", "tc"} <= {one["tool"] for one in tools}
    bulk = next(one["name"] for one in manifest["case"]["flows"] if one["tool"] == "iperf3")
    sums = catalog.query(
        "select seed, sum(bytes) as bytes, any_value(m.value) as sent from intervals as i "
        "join metrics as m using (run, study, case_name, seed) "
        f"where m.metric = 'sent_bytes' and m.source = '{bulk}' and i.flow = '{bulk}' "
        "and not omitted and case_name = 'lossy' group by seed"
    ).to_pylist()
    assert len(sums) == 5
    for one in sums:
        assert one["bytes"] == pytest.approx(one["sent"], rel=0.01)
    replies = catalog.query("select count(*) as n from replies").to_pylist()
    pings = sum(one["tool"] == "ping" for one in manifest["case"]["flows"])
    assert (replies[0]["n"] > 0) == (pings > 0)


@pytest.mark.usefixtures("all_old")
def test_a_run_below_two_folders_counts_once(seeded: Path) -> None:
    assert Catalog([seeded]).runs == 6
    assert Catalog([seeded, seeded / "seeded", seeded / "seeded" / "clean-seed1"]).runs == 6
    alone = seeded / "seeded" / "lossy-seed1"
    assert Catalog([alone]).runs == 1
    assert not (alone / ".catalog").exists()


def test_no_runs_are_empty_tables(tmp_path: Path) -> None:
    catalog = Catalog([tmp_path])
    names = [table.name for table in catalog.tables]
    assert whole_tables(catalog, *names).to_pylist() == [dict.fromkeys(names)]


def test_every_table_has_the_columns_that_are_documented(seeded: Path) -> None:
    catalog = Catalog([seeded])
    found = whole_tables(catalog, *(table.name for table in catalog.tables))
    for table in catalog.tables:
        row = found.schema.field(table.name).type.value_type
        names = [field.name for field in row.fields]
        assert names == [column.name for column in table.columns], table.name


def test_what_is_no_run_is_passed_over_and_reported(seeded: Path) -> None:
    study = seeded / "seeded"
    (study / "clean-seed1" / "manifest.json").write_text("{")
    (study / "lossy-seed1" / "manifest.json").write_text('{"format": 2}')
    write_run(study / "lossy-seed2", metrics={"f.x": "many"})
    write_run(study / "lossy-seed3", study="\ud800")
    (study / "lossy-seed4" / "manifest.json").write_text(json.dumps({**BASE, "seed": 2}))
    catalog = Catalog([seeded])
    assert catalog.runs == 1
    told = {Path(one.split(": ")[0]).name: one for one in catalog.problems}
    assert len(told) == 5
    assert "not JSON" in told["clean-seed1"]
    assert "its format is 2" in told["lossy-seed1"]
    assert "metrics.f.x: found the text 'many'" in told["lossy-seed2"]
    assert "half of a surrogate pair" in told["lossy-seed3"]
    assert "damaged: its checksum" in told["lossy-seed4"]


def test_a_missing_series_is_reported(seeded: Path) -> None:
    probe = {"kind": "queue", "name": "q", "of": ["s1-eth2"], "every_s": 0.1}
    case = {**BASE["case"], "probes": [probe]}
    write_run(seeded / "seeded" / "clean-seed1", case=case)
    with pytest.raises(InputError, match=r"clean-seed1/series/q\.parquet"):
        Catalog([seeded]).query("select max(backlog_bytes) from series_queue")


def test_claims_come_from_verdicts(seeded: Path) -> None:
    claim = {"text": "it is", "expression": "a < b", "holds": None, "seeds": None}
    many = {**claim, "holds": True, "seeds": {"holding": 4, "count": 5}}
    verdict = {"study": "seeded", "claims": [claim, many]}
    (seeded / "seeded" / "verdict.json").write_text(json.dumps(verdict))
    catalog = Catalog([seeded])
    rows = catalog.query("select study, holds, seeds_holding, seeds from claims").to_pylist()
    assert [tuple(row.values()) for row in rows] == [
        ("seeded", None, None, None),
        ("seeded", True, 4, 5),
    ]
    (seeded / "seeded" / "verdict.json").write_text("[]")
    assert catalog.query("select * from claims").num_rows == 0
    assert "not a verdict" in catalog.problems[0]


MISTAKES = [
    ("select * from resuls", "no table 'resuls'; did you mean 'results'?"),
    ("select wal_s from runs", "no column 'wal_s' in what the query reads; did you mean 'wall_s'?"),
    ("select value from runs", "it is a column of metrics"),
    ("select case from runs", "the case's name is in case_name"),
    ('select * from runs where study = "seeded"', "a text is in single quotes: 'seeded'"),
    ("select bulk.receiver from results", 'in double quotes: "bulk.receiver_bps"'),
    ("selec 1", 'syntax error at or near "selec"\n  selec 1\n  ^^^^^'),
    ("select 1,\n  nope from runs", "\n    nope from runs\n    ^^^^"),
    ("select 'abc", "unterminated"),
    ("", "the query is empty"),
    ("-- nothing", "the query is empty"),
    ("select 1; select 2", "here are 2 queries"),
    ("select cast('x' as int)", "Could not convert string 'x'"),
]


@pytest.mark.parametrize(("sql", "message"), MISTAKES)
def test_mistakes_are_reported(seeded: Path, sql: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        Catalog([seeded]).query(sql)
    assert message in str(caught.value)


REFUSED = [
    "select * from read_csv('{secret}')",
    "select * from read_text('{secret}')",
    "select * from '{secret}'",
    "select * from glob('{folder}/*')",
    "copy runs to '{out}'",
    "copy (pivot runs on seed using count(*)) to '{out}'",
    "explain analyze copy runs to '{out}'",
    "attach '{out}' as db",
    "export database '{out}'",
    "create table t as select 1",
    "set enable_external_access = true",
    "install httpfs",
    "load httpfs",
    "pragma database_list",
    "call duckdb_settings()",
]


@pytest.mark.parametrize("sql", REFUSED)
def test_a_query_reaches_nothing_but_the_tables(seeded: Path, tmp_path: Path, sql: str) -> None:
    secret, out = tmp_path / "secret.csv", tmp_path / "out.csv"
    secret.write_text("a,b\n1,2\n")
    before = sorted(path.name for path in tmp_path.iterdir())
    with pytest.raises(InputError):
        Catalog([seeded]).query(sql.format(secret=secret, out=out, folder=tmp_path))
    assert sorted(path.name for path in tmp_path.iterdir()) == before
