"""Many seeds and many studies on one pool: the same bytes as one by one, and told errors."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from longfat.case import Case
from longfat.errors import InputError
from longfat.runner import Batch, Piece, run_batches, run_case, run_cases
from longfat.runs import Run
from longfat.study import Planned
from longfat.traffic import Iperf3, Ping

MakeCase = Callable[..., Case]
LOSSY = (
    "tc qdisc add dev s1-eth2 root handle 1: netem delay 10ms loss 1%",
    "tc qdisc add dev s1-eth2 parent 1: handle 2: tbf rate 50mbit burst 50000 limit 250000",
)
BULK = Iperf3(name="bulk", source="h1", target="h2", time_s=1.0)
PING = Ping(name="rtt", source="h1", target="h2", count=2)


def plan(case: Case, *, seeds: int = 1) -> Planned:
    return Planned(case=case, setup_places=(), title="", seeds=seeds)


def test_seeds_give_what_single_runs_give(tmp_path: Path, make_case: MakeCase) -> None:
    case = make_case(BULK, root=LOSSY, seed=5)
    done: list[Piece] = []
    lock = threading.Lock()

    def on_done(piece: Piece, run: Run) -> None:
        with lock:
            done.append(piece)
        assert run.seed == piece.seed

    many = run_cases(
        {"lossy": plan(case, seeds=3), "idle": plan(make_case(PING))},
        out=tmp_path / "many",
        on_done=on_done,
    )
    assert list(many) == ["lossy", "idle"]
    assert [run.seed for run in many["lossy"]] == [5, 6, 7]
    assert [run.folder.name for run in many["lossy"]] == [f"lossy-seed{k}" for k in (5, 6, 7)]
    assert [run.seed for run in many["idle"]] == [1]
    assert {(piece.name, piece.seed) for piece in done} == {
        ("lossy", 5),
        ("lossy", 6),
        ("lossy", 7),
        ("idle", 1),
    }
    for run, single in zip(many["lossy"], plan(case, seeds=3).seeded(), strict=True):
        alone = run_case(single, name="alone", out=tmp_path / "alone")
        assert alone.digest == run.digest
        assert alone.metrics == run.metrics
    assert len({run.digest for run in many["lossy"]}) == 3


def test_studies_share_a_pool(tmp_path: Path, make_case: MakeCase) -> None:
    order: list[tuple[int, str]] = []
    longer = Ping(name="rtt", source="h1", target="h2", count=20)
    batches = [
        Batch(cases={"short": plan(make_case(PING))}, out=tmp_path / "a"),
        Batch(
            cases={"short": plan(make_case(PING)), "long": plan(make_case(longer))},
            out=tmp_path / "b",
        ),
    ]
    first, second = run_batches(
        batches, jobs=1, on_done=lambda piece, _: order.append((piece.batch, piece.name))
    )
    assert (list(first), list(second)) == (["short"], ["short", "long"])
    assert first["short"][0].digest == second["short"][0].digest
    assert second["short"][0].folder == tmp_path / "b" / "short-seed1"
    # Longest first, over all studies; and then in the studies' order.
    assert order == [(1, "long"), (0, "short"), (1, "short")]


def test_an_error_names_the_seed(tmp_path: Path, make_case: MakeCase) -> None:
    case = make_case(root=("false",), seed=7)
    # Side by side, the second may fail first, and then the first is ended.
    with pytest.raises(InputError, match=r"^with seed [78]: case 'bad': `false` exited"):
        run_cases({"bad": plan(case, seeds=2)}, out=tmp_path)
    assert list(tmp_path.iterdir()) == []
