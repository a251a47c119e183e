"""The queue for machines: who is first, who lets others pass, and who is forgotten."""

from __future__ import annotations

import threading

import pytest

from longfat.errors import InputError
from longfat.studio import machine_queue as module
from longfat.studio.http import HttpError
from longfat.studio.machine_queue import MachineAccess, MachineQueue, Member
from longfat_class.studio.classroom.limits import read_limits


class Class:
    """Students with machines."""

    def __init__(self, *, machines: int, max_per_member: int, students: str) -> None:
        self.queue = MachineQueue(machines=machines, max_per_member=max_per_member)
        self.held = dict.fromkeys(students, 0)
        for name in students:
            self.queue.join(name, lambda name=name: self.held[name])  # type: ignore[misc]

    def asks(self, name: str, key: str = "x") -> str:
        """Ask for a machine; return what is waited for, empty if there is one."""

        def begin() -> None:
            self.held[name] += 1

        wait = self.queue.take(name, key, begin=begin)
        return "" if wait is None else wait.words


def test_who_asked_first_is_first() -> None:
    group = Class(machines=2, max_per_member=2, students="abcd")
    assert group.asks("a") == group.asks("b") == ""
    assert "2 run" in group.asks("c")
    assert "you are next" in group.asks("c")
    assert "one is before you" in group.asks("d")
    group.held["a"] = 0
    assert "one is before you" in group.asks("d")  # the free one is c's
    assert group.asks("c") == ""
    group.held["b"] = 0
    assert group.asks("d") == ""


def test_who_has_enough_lets_others_pass() -> None:
    group = Class(machines=2, max_per_member=1, students="ab")
    assert group.asks("a") == ""
    assert "as many as one may have" in group.asks("a", "second")
    assert group.asks("b") == ""


def test_who_does_not_ask_any_more_loses_the_place(monkeypatch: pytest.MonkeyPatch) -> None:
    group = Class(machines=1, max_per_member=1, students="abc")
    assert group.asks("a") == ""
    assert group.asks("b")
    assert "one is before you" in group.asks("c")
    assert group.queue.state("b") == (0, 1)
    monkeypatch.setattr(module, "KEPT_S", 0.0)
    assert "you are next" in group.asks("c")
    assert group.queue.state("b") == (0, 0)


def test_a_place_can_be_given_up() -> None:
    group = Class(machines=1, max_per_member=1, students="abc")
    assert group.asks("a") == ""
    assert group.asks("b")
    group.queue.leave("b", "x")
    assert "you are next" in group.asks("c")


def test_limits() -> None:
    limits = read_limits("machines=8, each=1, memory=2GB, wall=30min, disk=1GB")
    assert (limits.at_once, limits.each, limits.wall) == (8, 1, 1800)
    assert limits.quota() == f"memory={2 << 30}B, wall=1800s, disk={1 << 30}B"
    assert limits.quota("wall=60s").endswith(", wall=60s")
    assert read_limits("").at_once >= 2
    for text, words in (
        ("machine=2", "there is no limit 'machine'"),
        ("each=0", "above 0"),
        ("each=1.5", "a whole number"),
        ("memory=much", "memory"),
    ):
        with pytest.raises(InputError, match=words):
            read_limits(text)


def test_a_script_that_is_imported_has_a_machine_as_long_as_it_runs() -> None:
    queue = MachineQueue(machines=1, max_per_member=1)
    alice, bob = (MachineAccess(Member(queue=queue, name=name)) for name in ("alice", "bob"))
    with alice.turn("net.py"):
        assert queue.state("alice") == (1, 0)
        with pytest.raises(HttpError, match="you are next") as refused, bob.turn("net.py"):
            pass
        assert refused.value.is_queued
        assert queue.state("bob") == (0, 1)
        with pytest.raises(HttpError, match="as many as one may have") as own, alice.turn("2.py"):
            pass
        assert not own.value.is_queued
    assert queue.state("alice") == (0, 0)
    with bob.turn("net.py"):
        assert queue.state("bob") == (1, 0)
    with pytest.raises(InputError), alice.turn("net.py"):
        raise InputError("what is wrong with a script costs no machine")
    assert queue.state("alice") == (0, 0)


def test_who_gives_up_waiting_has_no_place() -> None:
    queue = MachineQueue(machines=1, max_per_member=1)
    alice, bob = (Member(queue=queue, name=name) for name in ("alice", "bob"))
    held = [1]
    queue.join("alice", lambda: sum(held))
    queue.join("bob", lambda: 0)
    cancelled = threading.Event()
    waits: list[str | None] = []

    def note(words: str | None) -> None:
        waits.append(words)
        cancelled.set()

    assert not bob.wait("job", begin=lambda: None, cancelled=cancelled, on_wait=note)
    assert waits[0] is not None
    assert "you are next" in waits[0]
    assert waits[-1] is None
    assert queue.state("bob") == (0, 0)
    held.clear()
    assert alice.wait("job", begin=lambda: held.append(1), cancelled=cancelled, on_wait=note)
    assert queue.state("alice") == (1, 0)
