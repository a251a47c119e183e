"""The lines of `tc` that let a link do something else while it lives.

Qdiscs that stay are changed in place and keep their packets; from the first one down that
must be of another kind, all are deleted and added again. The result is what
`longfat.model.network.shape` would have built, but for a tbf's burst. Four properties of
the kernel matter:

* `change` leaves alone what a line does not speak of. For netem these are corruption
  and reordering, which are taken back by name; other disciplines are changed only if
  every option that was given is given again.
* A tbf or wire whose queue is deleted has none, until it is changed itself.
* A tbf or wire that is changed sets the limit of any fifo below it, in whatever it counts.
* A tbf cuts up what is larger than its burst when it comes, not when it goes. After a
  change to a smaller burst what waits there already would never go, nor what is behind
  it: so a burst stays as large as it was.

Source: net/sched/sch_netem.c, sch_tbf.c and sch_fifo.c of Linux 6.1 and 6.12.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from longfat.errors import InputError
from longfat.model.fields import fields_of
from longfat.model.network.impairments import LinkImpairments
from longfat.model.network.shape import TRACE, WIRE
from longfat.model.network.tc import BYTES, ROOT, Option, Qdisc, QdiscLine

if TYPE_CHECKING:
    from longfat.model.network.tc import Interface

_KEPT = [field.about.tc for field in fields_of(LinkImpairments).values() if field.about.is_kept]

_CHANGEABLE = frozenset(
    ("bfifo", "cake", "codel", "fq", "fq_codel", "fq_pie", "pfifo", "pfifo_head_drop", "pie", "red")
)
"""Disciplines of queues that the kernel changes with the packets in them."""

_FIXED = ("flows", "buckets", "orphan_mask")
"""Options of theirs with which it refuses to."""


def change_lines(old: Interface, new: Interface) -> list[QdiscLine]:
    """Return the lines that make other qdiscs of those of an interface.

    Args:
        old: the interface with its qdiscs.
        new: the interface with those that it is to have.

    Raises:
        InputError: one that follows a trace would begin, end, or restart.
    """
    changed: list[QdiscLine] = []
    kept = 0
    touched = False  # the one above was changed
    for was, will in zip(old.qdiscs, new.qdiscs, strict=False):
        # A fifo follows the wire above it, so its limit has to be set again.
        follows = touched and "fifo" in will.kind
        if not _stays(was, will, follows=follows):
            break
        kept += 1
        bereft = will.kind in {"tbf", WIRE} and kept == len(new.qdiscs) < len(old.qdiscs)
        touched = was.words != will.words or follows or bereft
        if touched:
            qdisc = _with_all_options(was, will)
            changed.append(QdiscLine(verb="change", device=new.name, qdisc=qdisc))
    if any(one.kind == TRACE for one in (*old.qdiscs[kept:], *new.qdiscs[kept:])):
        raise InputError(
            f"{new.name} follows a trace, which a change must not end or restart: rates and "
            "losses are the trace's, and a link that has no delay at first gets none later"
        )
    deleted = [deletion(old.name, one.parent) for one in old.qdiscs[kept : kept + 1]]
    return [*deleted, *changed, *new.lines[kept:]]


def deletion(interface: str, parent: str = ROOT) -> QdiscLine:
    """Return the line that deletes a qdisc of an interface, and those below it."""
    return QdiscLine(verb="del", device=interface, qdisc=Qdisc(kind="", parent=parent))


def _stays(was: Qdisc, will: Qdisc, *, follows: bool) -> bool:
    if was.kind != will.kind:
        return False
    if was.kind in {"netem", "tbf", WIRE} or (was.words == will.words and not follows):
        return True
    given, now = _names(was), _names(will)
    if follows and "limit" not in now:
        return False
    return was.kind in _CHANGEABLE and given <= now and not now.intersection(_FIXED)


def _names(qdisc: Qdisc) -> set[str]:
    return {option.name for option in qdisc.options}


def _with_all_options(was: Qdisc, will: Qdisc) -> Qdisc:
    """Return the qdisc to change one to, with what takes back what it is not to do."""
    if will.kind == "tbf":
        burst = max(one.number("burst", BYTES) for one in (was, will))
        return will.having(Option("burst", (burst,)))
    if will.kind != "netem":
        return will
    gone = [name for name in _KEPT if name in _names(was) - _names(will)]
    return will.having(*(Option(name, (0.0,)) for name in gone))
