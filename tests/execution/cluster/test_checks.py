"""Which workers are asked in a check, and what their votes amount to."""

from __future__ import annotations

from longfat.execution.cluster.checks import FAILS, Check, choose, decide, disagreement


def test_votes() -> None:
    assert decide({}).agreed is None
    assert decide({"a": "x"}).agreed == "x"
    assert decide({"a": "x", "b": "x"}).odd == ()
    assert decide({"a": "x", "b": "y"}).agreed is None
    verdict = decide({"a": "x", "b": "y", "c": "x"})
    assert (verdict.agreed, verdict.odd) == ("x", ("b",))
    assert decide({"a": "x", "b": "y", "c": "x", "d": "y"}).agreed is None
    assert decide({"a": "x", "b": FAILS, "c": "z"}).agreed is None


def test_a_disagreement_names_workers_and_digests() -> None:
    votes = {"a": "d" * 64, "b": FAILS, "c": "d" * 64}
    assert disagreement("red", votes, decide(votes)) == (
        "case 'red': workers disagree about one and the same case:\n"
        "    worker a: digest dddddddddddd\n"
        "    worker b: it fails\n"
        "    worker c: digest dddddddddddd\n"
        "  most agree, so check b"
    )


def test_the_cheapest_of_each_kernel_is_run_by_all_if_that_costs_little() -> None:
    checks = choose([1.0] * 99 + [0.5, 3.0], ["k"] * 100 + ["l"], share=0.05)
    assert [(check.case, check.wanted) for check in checks] == [(99, 10), (100, 2)]
    assert choose([1.0], ["k"], share=0.0) == []


def vote(check: Check, votes: dict[str, str]) -> None:
    for worker, digest in votes.items():
        check.asked.remove(worker)
        check.votes[worker] = digest


def test_other_hosts_are_asked_before_second_workers_of_one() -> None:
    check = Check(case=0, wanted=2)
    assert check.ask({"a": "x", "b": "x", "c": "y"}) == ["a", "c"]
    assert check.ask({"a": "x", "b": "x", "c": "y"}) == []
    assert [check.suspends(worker) for worker in "abc"] == [True, False, True]


def test_a_check_waits_for_those_it_has_asked_and_for_those_to_come() -> None:
    check = Check(case=0, wanted=2)
    assert check.settle(others=False) is None
    check.ask({"a": "x"})
    assert check.settle(others=False) is None
    vote(check, {"a": "d"})
    assert check.suspends("a")
    assert check.settle(others=True) is None
    check.ask({"a": "x", "b": "y"})
    vote(check, {"b": "d"})
    verdict = check.settle(others=True)
    assert verdict is not None
    assert (verdict.agreed, verdict.odd) == ("d", ())
    assert not check.suspends("a")
    assert check.settle(others=True) is None, "decided twice"


def test_one_worker_alone_is_believed() -> None:
    check = Check(case=0, wanted=2)
    check.ask({"a": "x"})
    vote(check, {"a": "d"})
    verdict = check.settle(others=False)
    assert verdict is not None
    assert verdict.agreed == "d"


def test_a_third_is_asked_where_two_disagree() -> None:
    check = Check(case=0, wanted=2)
    hosts = {"a": "x", "b": "y", "c": "z"}
    assert check.ask(hosts) == ["a", "b"]
    vote(check, {"a": "d", "b": "e"})
    assert check.settle(others=True) is None
    assert check.ask(hosts) == ["c"]
    vote(check, {"c": "e"})
    verdict = check.settle(others=False)
    assert verdict is not None
    assert verdict.odd == ("a",)


def test_two_that_disagree_and_nobody_else() -> None:
    check = Check(case=0, wanted=2)
    check.ask({"a": "x", "b": "y"})
    vote(check, {"a": "d", "b": "e"})
    verdict = check.settle(others=False)
    assert verdict is not None
    assert verdict.agreed is None


def test_one_that_comes_later_is_asked_as_long_as_votes_are_wanted() -> None:
    check = Check(case=0, wanted=3)
    check.ask({"a": "x", "b": "y"})
    vote(check, {"a": "d", "b": "d"})
    assert check.settle(others=False) is not None
    assert check.ask({"a": "x", "b": "y", "late": "z", "later": "z"}) == ["late"]
    assert check.suspends("late")
    assert not check.suspends("later")


def test_nobody_is_asked_about_a_case_that_failed_before_any_vote() -> None:
    check = Check(case=0, wanted=2)
    check.settled = True
    assert check.ask({"a": "x"}) == []
