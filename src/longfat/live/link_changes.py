"""The lines of `tc` that let a link do something else while it lives.

What stays of an interface's qdiscs is changed in its place and keeps its packets;
from the first one down that has to be another, all are deleted and made anew. In
the end there stands what `longfat.model.network.shape` would have built at once, but for a
tbf's burst. For that, four ways of the kernel have to be known:

* `change` leaves alone what a line does not speak of. For netem these are corruption
  and reordering, which are taken back by name; other disciplines are changed only if
  every option that was given is given again.
* A tbf whose queue is deleted has none, until it is changed itself.
* A tbf that is changed sets the limit of any fifo below it, in whatever it counts.
* A tbf cuts up what is larger than its burst when it comes, not when it goes. After a
  change to a smaller burst what waits there already would never go, nor what is behind
  it: so a burst stays as large as it was.

Source: net/sched/sch_netem.c, sch_tbf.c and sch_fifo.c of Linux 6.1 and 6.12.
"""

from __future__ import annotations

import contextlib
import re
from typing import TYPE_CHECKING

from longfat.live.process import CommandFailed
from longfat.model.fields import fields_of
from longfat.model.network import LinkImpairments
from longfat.model.network.build import DEFAULT_MTU_BYTES
from longfat.model.network.shape import shape_lines, shape_qdiscs

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from longfat.model.network import Network
    from longfat.model.network.shape import PlacedQdisc

_KEPT = [field.about.tc for field in fields_of(LinkImpairments).values() if field.about.is_kept]

_CHANGEABLE = frozenset(
    ("bfifo", "cake", "codel", "fq", "fq_codel", "fq_pie", "pfifo", "pfifo_head_drop", "pie", "red")
)
"""Disciplines of queues that the kernel changes with the packets in them."""

_FIXED = ("flows", "buckets", "orphan_mask")
"""Options of theirs with which it refuses to."""


def reshape(
    before: Network, after: Network, *, link: int, run: Callable[[str, str], object]
) -> None:
    """Let a link do something else to packets; if it cannot, it does what it did before.

    Args:
        before: the network that is built.
        after: the same, but for the shapes of one link.
        link: the link, by its place.
        run: runs a line at a node (a host or a switch).

    Raises:
        CommandFailed: `run` raised it, for tc refused a line.
    """
    old, new = before.links[link], after.links[link]
    mtu_bytes = old.mtu_bytes or DEFAULT_MTU_BYTES
    at_a, at_b = before.interfaces()[link]
    undo: list[tuple[str, str]] = []
    for node, interface, was, will in (
        (old.a, at_a, old.a_to_b, new.a_to_b),
        (old.b, at_b, old.b_to_a, new.b_to_a),
    ):
        there, then = (shape_qdiscs(shape, mtu_bytes=mtu_bytes) for shape in (was, will))
        anew = [
            f"qdisc del dev {interface} root",
            *shape_lines(interface, was, mtu_bytes=mtu_bytes),
        ]
        for number, line in enumerate(change_lines(interface, there, then)):
            try:
                run(node, line)
            except CommandFailed:
                for place, words in undo:
                    with contextlib.suppress(CommandFailed):  # there may be nothing to delete
                        run(place, f"tc {words}")
                raise
            if number == 0:  # what was there is not there any more
                undo += [(node, words) for words in anew]


def change_lines(
    interface: str, old: Sequence[PlacedQdisc], new: Sequence[PlacedQdisc]
) -> list[str]:
    """Return the lines that make other qdiscs of those of an interface.

    Args:
        interface: the interface.
        old: its qdiscs, from the root down.
        new: those that it is to have.
    """
    changed: list[str] = []
    kept = 0
    touched = False  # the one above was changed
    for was, will in zip(old, new, strict=False):
        # A fifo follows the tbf above it, and has to be told again what it holds.
        follows = touched and "fifo" in will.kind
        if not _stays(was, will, follows=follows):
            break
        kept += 1
        bereft = will.kind == "tbf" and kept == len(new) < len(old)
        touched = was.words != will.words or follows or bereft
        if touched:
            words = _spoken_of(was, will)
            changed.append(f"tc qdisc change {_at(interface, will)} {words}")
    deleted = [f"tc qdisc del dev {interface} {one.place}" for one in old[kept : kept + 1]]
    added = [f"tc qdisc add {_at(interface, one)} {one.words}" for one in new[kept:]]
    return deleted + changed + added


def _at(interface: str, qdisc: PlacedQdisc) -> str:
    return f"dev {interface} {qdisc.place} handle {qdisc.handle}"


def _stays(was: PlacedQdisc, will: PlacedQdisc, *, follows: bool) -> bool:
    if was.kind != will.kind:
        return False
    if was.kind in {"netem", "tbf"} or (was.words == will.words and not follows):
        return True
    given, now = _options(was), _options(will)
    if follows and "limit" not in now:
        return False
    return was.kind in _CHANGEABLE and given <= now and not now.intersection(_FIXED)


def _options(qdisc: PlacedQdisc) -> set[str]:
    return {word for word in qdisc.words.split()[1:] if word[0].isalpha()}


def _spoken_of(was: PlacedQdisc, will: PlacedQdisc) -> str:
    """Return the words to change a qdisc by, with those that take back what it is not to do."""

    def burst(tbf: PlacedQdisc) -> int:
        found = re.search(r"\bburst (\d+)", tbf.words)
        return int(found[1]) if found else 0

    if will.kind == "tbf":
        least = max(burst(one) for one in (was, will))
        return re.sub(r"\bburst \d+", f"burst {least}", will.words)
    if will.kind != "netem":
        return will.words
    given, now = _options(was), _options(will)
    return " ".join([will.words, *(f"{word} 0%" for word in _KEPT if word in given - now)])
