"""Which piece goes to which worker: decided without a cluster, with made-up events."""

from __future__ import annotations

from typing import TypeVar

from longfat.errors import HostError, InputError, MachineError
from longfat.execution.cluster.checks import FAILS, choose, decide
from longfat.execution.cluster.decisions import (
    Attempt,
    Collect,
    Drop,
    Fail,
    Hand,
    Keep,
    LeaveOut,
    Move,
    Release,
    Sketch,
)
from longfat.execution.cluster.messages import Done, Ended, Failed
from longfat.execution.cluster.scheduler import Handout

Kind = TypeVar("Kind", bound=Move)


def handout(*costs_s: float, share: float = 0.0) -> Handout:
    pieces = [Sketch(name=f"p{i}", cost_s=cost, kernel="k") for i, cost in enumerate(costs_s)]
    return Handout(pieces, check_share=share)


def only(moves: list[Move], kind: type[Kind]) -> list[Kind]:
    return [move for move in moves if isinstance(move, kind)]


def handed(work: Handout) -> list[Attempt]:
    return [move.attempt for move in only(work.moves(), Hand)]


def run(work: Handout, attempt: Attempt, digest: str = "d") -> None:
    """Play what happens when a worker runs an attempt to its good end."""
    work.begun(attempt.name)
    work.over(attempt.name)
    assert [move.attempt for move in only(work.moves(), Collect)] == [attempt]
    work.collected(attempt.name, Done(digest=digest, block=b""))


def test_the_dearest_first_and_a_few_ahead() -> None:
    work = handout(1, 5, 3, 4, 2)
    work.join("a", threads=1, host="x")
    work.join("b", threads=1, host="x")
    # Threads first, then one ahead each, as long as more wait than threads are there.
    assert [(one.piece, one.worker) for one in handed(work)] == [(1, "a"), (3, "b"), (2, "a")]
    work.gone("b")
    assert handed(work) == []


def test_each_piece_is_told_of_once() -> None:
    work = handout(1)
    work.join("a", threads=1, host="x")
    (one,) = handed(work)
    run(work, one)
    assert work.finished
    assert only(work.moves(), Fail) == []
    work.gone("a")
    work.over(one.name)
    work.collected(one.name, None)
    assert only(work.moves(), Hand) == []


def test_pieces_of_a_worker_that_died_go_to_others() -> None:
    work = handout(1)
    died = []
    for worker in "abc":
        work.join(worker, threads=1, host="x")
        (one,) = handed(work)
        assert one.worker == worker
        work.begun(one.name)
        work.gone(worker)
        died = only(work.moves(), Fail)
    (fail,) = died
    assert isinstance(fail.error, MachineError)
    assert str(fail.error) == "case 'p0': the worker that ran it died, 3 times: a, b, c"
    assert work.finished


def test_what_had_not_begun_is_no_reason_to_give_up_soon() -> None:
    work = handout(1)
    for number in range(9):
        work.join(f"w{number}", threads=1, host="x")
        assert len(handed(work)) == 1
        work.gone(f"w{number}")
    work.join("good", threads=1, host="x")
    (one,) = handed(work)
    run(work, one)
    assert work.finished


def test_a_run_on_its_way_is_not_run_again_unless_it_is_lost() -> None:
    work = handout(1)
    work.join("a", threads=1, host="x")
    work.join("b", threads=1, host="x")
    (one,) = handed(work)
    work.over(one.name)
    assert only(work.moves(), Collect)
    work.gone(one.worker)
    moves = work.moves()
    assert only(moves, Release)
    assert only(moves, Hand) == []
    work.collected(one.name, None)
    (again,) = handed(work)
    assert again.worker != one.worker


def test_what_a_worker_lacks_is_tried_elsewhere_and_told_of_it() -> None:
    work = handout(1)
    work.join("a", threads=1, host="x")
    work.join("b", threads=1, host="x")
    (one,) = handed(work)
    work.over(one.name)
    work.moves()
    work.collected(one.name, Failed(error=HostError("its disk is full")))
    (other,) = handed(work)
    assert other.worker != one.worker
    run(work, other)
    assert only(work.moves(), LeaveOut) == [LeaveOut(one.worker, "its disk is full")]


def test_what_all_workers_lack_fails() -> None:
    work = handout(1)
    work.join("a", threads=1, host="x")
    (one,) = handed(work)
    work.over(one.name)
    work.moves()
    work.collected(one.name, Failed(error=HostError("no foo", hint="install foo")))
    (fail,) = only(work.moves(), Fail)
    assert str(fail.error) == "worker a: no foo\n  hint: install foo"
    assert work.finished


def test_a_worker_that_is_told_to_end_gives_its_piece_back() -> None:
    work = handout(1)
    work.join("a", threads=1, host="x")
    (one,) = handed(work)
    work.over(one.name)
    work.moves()
    work.collected(one.name, Ended())
    assert [again.piece for again in handed(work)] == [0]


def test_votes() -> None:
    assert decide({}).agreed is None
    assert decide({"a": "x"}).agreed == "x"
    assert decide({"a": "x", "b": "x"}).odd == ()
    assert decide({"a": "x", "b": "y"}).agreed is None
    verdict = decide({"a": "x", "b": "y", "c": "x"})
    assert (verdict.agreed, verdict.odd) == ("x", ("b",))
    assert decide({"a": "x", "b": "y", "c": "x", "d": "y"}).agreed is None
    assert decide({"a": "x", "b": FAILS, "c": "z"}).agreed is None


def test_the_cheapest_of_each_kernel_is_run_by_all_if_that_costs_little() -> None:
    checks = choose([1.0] * 99 + [0.5, 3.0], ["k"] * 100 + ["l"], share=0.05)
    assert [(check.piece, check.wanted) for check in checks] == [(99, 10), (100, 2)]
    assert choose([1.0], ["k"], share=0.0) == []


def _vote(work: Handout, attempts: list[Attempt], digests: dict[str, str]) -> list[Move]:
    for attempt in attempts:
        run(work, attempt, digests[attempt.worker])
    return work.moves()


def test_results_wait_until_workers_agree() -> None:
    work = handout(9, 9, 1, share=0.05)
    work.join("a", threads=2, host="x")
    work.join("b", threads=2, host="y")
    first = handed(work)
    checks = [one for one in first if one.check]
    assert {one.worker for one in checks} == {"a", "b"}
    assert {one.piece for one in checks} == {2}
    (real, *_) = [one for one in first if not one.check]
    work.over(real.name)
    assert only(work.moves(), Collect) == []
    moves = _vote(work, checks, {"a": "d", "b": "d"})
    assert len(only(moves, Keep)) == 1
    assert [move.attempt for move in only(moves, Collect)] == [real]
    work.kept(only(moves, Keep)[0].attempt.name)
    assert not work.finished


def test_hosts_are_asked_before_second_workers_of_one() -> None:
    work = handout(9, 1, share=0.05)
    for worker, host in (("a", "x"), ("b", "x"), ("c", "y")):
        work.join(worker, threads=1, host=host)
    assert {one.worker for one in handed(work) if one.check} == {"a", "c"}


def test_two_that_disagree_end_all() -> None:
    work = handout(9, 1, share=0.05)
    work.join("a", threads=1, host="x")
    work.join("b", threads=1, host="y")
    moves = _vote(work, [one for one in handed(work) if one.check], {"a": "d" * 64, "b": "e" * 64})
    (fail,) = only(moves, Fail)
    assert "worker a: digest dddddddddddd\n" in str(fail.error)
    assert "worker b: digest eeeeeeeeeeee\n" in str(fail.error)
    assert isinstance(work.broken, HostError)
    assert only(moves, Hand) == []


def test_a_third_decides() -> None:
    work = handout(9, 9, 1, share=0.05)
    for worker in "abc":
        work.join(worker, threads=1, host=worker)
    two = [one for one in handed(work) if one.check]
    asked = {one.worker for one in two}
    assert len(two) == 2
    (third,) = {"a", "b", "c"} - asked
    wrong, right = sorted(asked)
    moves = _vote(work, two, {wrong: "e", right: "d"})
    assert only(moves, Fail) == []
    (deciding,) = [
        move.attempt for move in only([*moves, *work.moves()], Hand) if move.attempt.check
    ]
    assert deciding.worker == third
    moves = _vote(work, [deciding], {third: "d"})
    assert [move.worker for move in only(moves, LeaveOut)] == [wrong]
    (fail,) = only(moves, Fail)
    assert f"most agree, so look at {wrong}" in str(fail.error)
    assert work.broken is None
    assert all(move.doubtful for move in only(moves, Drop) if move.attempt.worker == wrong)


def test_one_that_comes_later_is_checked_too() -> None:
    work = handout(9, 9, 9, 1, share=1.0)
    work.join("a", threads=1, host="a")
    work.join("b", threads=1, host="b")
    moves = _vote(work, [one for one in handed(work) if one.check], {"a": "d", "b": "d"})
    work.kept(only(moves, Keep)[0].attempt.name)
    work.join("late", threads=1, host="late")
    (check,) = [one for one in handed(work) if one.check]
    assert check.worker == "late"
    moves = _vote(work, [check], {"late": "e"})
    (out,) = only(moves, LeaveOut)
    assert out.worker == "late"
    assert "most agree, so look at late" in out.reason
    assert only(moves, Fail) == []


def test_a_check_that_fails_everywhere_is_a_failed_case() -> None:
    work = handout(9, 1, share=0.05)
    work.join("a", threads=1, host="x")
    work.join("b", threads=1, host="y")
    for attempt in [one for one in handed(work) if one.check]:
        work.over(attempt.name)
        work.moves()
        work.collected(attempt.name, Failed(error=InputError("`false` exited with status 1")))
    (fail,) = only(work.moves(), Fail)
    assert str(fail.error) == "`false` exited with status 1"
    assert work.broken is None


def test_a_voter_that_dies_is_replaced() -> None:
    work = handout(1, share=0.05)
    work.join("a", threads=1, host="x")
    (one,) = handed(work)
    work.begun(one.name)
    work.gone("a")
    work.join("b", threads=1, host="y")
    (other,) = handed(work)
    moves = _vote(work, [other], {"b": "d"})
    work.kept(only(moves, Keep)[0].attempt.name)
    assert work.finished
