"""The queueing disciplines that a link's queue can have, and what is wrong with their words.

The words are tc's and are passed to it unchanged: only the first is checked here, and that
the rest are plain words. Errors of tc or the kernel in the options are reported when the
network is built.

Not here are disciplines that need more lines than one (classes, filters, virtual
queues), and those that a link's other properties become. Source: tc(8), and the
kernels of the tests, which have each of them; dualpi2 is in Linux since 6.17.
"""

from __future__ import annotations

import difflib
import re

QDISCS = (
    "bfifo",
    "cake",
    "choke",
    "codel",
    "dualpi2",
    "fq",
    "fq_codel",
    "fq_pie",
    "hhf",
    "pfifo",
    "pfifo_fast",
    "pfifo_head_drop",
    "pie",
    "red",
    "sfb",
    "sfq",
    "skbprio",
)
"""The allowed first words."""

_SETUP = "write its lines of tc under setup, without a rate, delay or qdisc here"
_ELSEWHERE = {
    "netem": "what else the link does to packets becomes one",
    "tbf": "the link's rate becomes one",
}
_CLASSFUL = frozenset(
    ("cbq", "cbs", "drr", "dsmark", "ets", "gred", "hfsc", "htb", "mq", "mqprio", "multiq")
) | frozenset(("prio", "qfq", "taprio"))

# Neither white space but blanks, nor what means something to a shell or to `tc -batch`.
_WORDS = re.compile(r"[A-Za-z0-9_.:,%/+-]+( [A-Za-z0-9_.:,%/+-]+)*")

MAX_CHARACTERS = 500
"""How long the words may be in all; tc takes a hundred words in a line."""


def qdisc_problem(words: str) -> str | None:
    """Return why words are no queueing discipline of a link; None if they are one.

    Args:
        words: the discipline's name and its options, such as `pfifo limit 100`.
    """
    if len(words) > MAX_CHARACTERS:
        return f"{len(words)} characters are more than a line of tc: at most {MAX_CHARACTERS}"
    if not _WORDS.fullmatch(words):
        return (
            f"{words!r} are no words of tc: write a queueing discipline and its options with one "
            "blank between them, such as 'pfifo limit 100'"
        )
    kind = words.partition(" ")[0]
    if kind in QDISCS:
        return None
    if kind in _ELSEWHERE:
        return f"{kind} is not a queue: {_ELSEWHERE[kind]}; for your own, {_SETUP}"
    if kind in _CLASSFUL:
        return f"{kind} needs more lines than this one: {_SETUP}"
    found = difflib.get_close_matches(kind[:80], QDISCS, n=1)
    meant = f"; did you mean {found[0]!r}?" if found else ""
    return f"there is no queueing discipline {kind!r}{meant} (there are: {', '.join(QDISCS)})"
