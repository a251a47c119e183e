"""A command of tc as it was typed: where it applies, and its options, read as tc reads them.

The values stay words here, since a rule is to name what was typed. Only what is understood with
certainty is in `options`; `is_complete` says whether that is all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from longfat.model.kinds import Kind
from longfat.model.lint.shell_words import Word
from longfat.model.network import tc

# What the values of an option are: a rate, a size, a time, a percentage, a number of packets, or
# a word; an option without values is a flag. tc takes the first value in any form, and a further
# one if it begins with a digit.
RATE, SIZE, TIME, SHARE, COUNT, WORD = "rate", "size", "time", "share", "count", "word"

_Options = Mapping[str, tuple[str, ...]]
_NAMES: Mapping[Kind[Any], str] = {
    tc.RATE: RATE,
    tc.BYTES: SIZE,
    tc.TIME: TIME,
    tc.SHARE: SHARE,
    tc.COUNT: COUNT,
}


def _numbers(kind: str) -> _Options:
    """Return the options of a qdisc whose values `longfat.model.network.tc` reads.

    Options with names of two words are not among them: here the second word is a value.
    """
    return {
        option: tuple(_NAMES[value] for value in values)
        for option, values in tc.OPTIONS[kind].items()
        if " " not in option
    }


_ECN: _Options = {"ecn": (), "noecn": ()}
_CODEL: _Options = {**_ECN, "ce_threshold": (TIME,)}
_PIE: _Options = {
    **_numbers("pie"),
    **_ECN,
    "alpha": (WORD,),
    "beta": (WORD,),
    "bytemode": (),
    "nobytemode": (),
}
OPTIONS: Mapping[str, _Options] = {
    "netem": {
        **_numbers("netem"),
        "latency": (TIME, TIME, SHARE),
        "drop": (SHARE, SHARE),
        "random": (SHARE, SHARE),
        "distribution": (WORD,),
        "rate": (RATE, WORD, WORD, WORD),
        "ecn": (),
    },
    "tbf": {**_numbers("tbf"), **dict.fromkeys(("buffer", "maxburst", "minburst"), (SIZE,))},
    "red": {
        **_numbers("red"),
        "probability": (WORD,),
        **dict.fromkeys(("ecn", "harddrop", "nodrop", "adaptative", "adaptive"), ()),
    },
    **{kind: _numbers(kind) for kind in ("bfifo", "pfifo", "pfifo_head_drop")},
    "codel": {**_numbers("codel"), **_CODEL},
    "fq_codel": {
        **_numbers("fq_codel"),
        **_CODEL,
        "flows": (COUNT,),
        "memory_limit": (SIZE,),
    },
    "fq": {
        **_numbers("fq"),
        "initial_quantum": (SIZE,),
        **dict.fromkeys(("pacing", "nopacing"), ()),
    },
    "pie": _PIE,
    "fq_pie": _PIE,
    "cake": {
        **_numbers("cake"),
        **dict.fromkeys(("besteffort", "diffserv3", "diffserv4", "diffserv8", "precedence"), ()),
        **dict.fromkeys(("flowblind", "srchost", "dsthost", "hosts", "flows"), ()),
        **dict.fromkeys(("dual-srchost", "dual-dsthost", "triple-isolate"), ()),
        **dict.fromkeys(("nat", "nonat", "wash", "nowash", "split-gso", "no-split-gso"), ()),
        **dict.fromkeys(("ack-filter", "ack-filter-aggressive", "no-ack-filter"), ()),
        **dict.fromkeys(("unlimited", "ingress", "egress", "autorate-ingress"), ()),
        **dict.fromkeys(("datacentre", "lan", "metro", "regional", "internet"), ()),
        **dict.fromkeys(("oceanic", "satellite", "interplanetary"), ()),
    },
    "sfq": {"limit": (COUNT,), "perturb": (WORD,), "divisor": (WORD,), "depth": (WORD,)},
    "htb": {"default": (WORD,), "r2q": (WORD,), "direct_qlen": (COUNT,)},
    "htb class": {
        **dict.fromkeys(("rate", "ceil"), (RATE,)),
        **dict.fromkeys(("burst", "cburst", "buffer", "cbuffer", "maxburst"), (SIZE,)),
        **dict.fromkeys(("mtu", "quantum"), (SIZE,)),
        "prio": (WORD,),
    },
    "police": {
        **dict.fromkeys(("rate", "peakrate"), (RATE,)),
        **dict.fromkeys(("burst", "buffer", "maxburst", "mtu", "minburst", "mpu"), (SIZE,)),
        "avrate": (RATE,),
        "conform-exceed": (WORD,),
        **dict.fromkeys(("drop", "pass", "ok", "pipe", "continue", "reclassify"), ()),
    },
}
"""What the values of an option are, by the kind of the qdisc, class or action."""

_SAME = {
    "tbf": {"buffer": "burst", "maxburst": "burst", "minburst": "mtu"},
    "htb class": {"buffer": "burst", "maxburst": "burst", "cbuffer": "cburst"},
    "police": {"buffer": "burst", "maxburst": "burst", "minburst": "mtu"},
    "netem": {"latency": "delay", "drop": "loss", "random": "loss"},
}
"""Other names of options."""

_PLACES: Mapping[Word, str] = {
    "dev": "dev",
    "parent": "parent",
    "handle": "handle",
    "classid": "handle",
}
_NO_KINDS = frozenset(("stab", "estimator", "help", "ingress_block", "egress_block"))
_OBJECTS = ("qdisc", "class", "filter")
_VERBS = ("add", "change", "replace", "delete", "link", "show", "list", "get")
_SHORT_VERBS = {"del": "delete", "d": "delete", "ls": "list", "lst": "list"}


@dataclass(frozen=True, slots=True)
class TcCommand:
    """A command of tc.

    Attributes:
        object: `qdisc`, `class` or `filter`.
        verb: such as `add`.
        device: the interface; None if it is not known, "" if none is named.
        parent: `root`, `ingress`, a handle such as `1:`, or "" if none is named.
        handle: the qdisc's own handle, or the class's; "" if none is named.
        kind: such as `netem`; "" if none is named.
        options: each option with its values, in their order.
        rest: all words behind the kind.
        refused: what tc refuses, and what would be right; "" if nothing is known to be.
        is_complete: nothing else is in it.
    """

    object: str
    verb: str
    device: Word
    parent: str
    handle: str
    kind: str
    options: tuple[tuple[str, tuple[str, ...]], ...] = ()
    rest: tuple[Word, ...] = ()
    refused: str = ""
    is_complete: bool = True

    def get(self, name: str) -> str | None:
        """Return an option's first value, the last if it is there twice; None without it."""
        return next(
            (values[0] for key, values in self.options[::-1] if key == name and values), None
        )

    def has(self, name: str) -> bool:
        """Return whether an option is there."""
        return any(key == name for key, _ in self.options)

    @property
    def table(self) -> str:
        """The key of its options in `OPTIONS`."""
        return "htb class" if (self.object, self.kind) == ("class", "htb") else self.kind


def parse_tc(words: Sequence[Word]) -> TcCommand | None:
    """Return a command of tc; None if it changes nothing, or is not read.

    Args:
        words: its words; the first is `tc`.
    """
    if len(words) < 3 or words[0] != "tc":
        return None
    what = _full(words[1], _OBJECTS)
    verb = _SHORT_VERBS.get(words[2] or "") or _full(words[2], _VERBS)
    if what is None or verb is None or verb in {"show", "list", "get"}:
        return None
    if what == "filter":
        return _filter(verb, words)
    return _placed(what, verb, words[3:])


def _placed(what: str, verb: str, words: Sequence[Word]) -> TcCommand:
    """Return a qdisc or a class: its place, and then its kind with its options."""
    places: dict[str, Word] = {"dev": "", "parent": "", "handle": ""}
    at = 0
    while at < len(words):
        word = words[at]
        if word in {"ingress", "clsact"} and what == "qdisc":
            return TcCommand(what, verb, places["dev"], "ingress", "ffff:", str(word))
        if word == "root":
            places["parent"], at = "root", at + 1
        elif word in _PLACES:
            places[_PLACES[word]] = words[at + 1] if at + 1 < len(words) else None
            at += 2
        else:
            break
    parent, handle = places["parent"], places["handle"]
    if parent is None or handle is None:
        return TcCommand(what, verb, places["dev"], "", "", "", is_complete=False)
    command = TcCommand(what, verb, places["dev"], _identifier(parent), _identifier(handle), "")
    if at >= len(words):
        return command
    kind = words[at]
    if kind is None or kind in _NO_KINDS:
        return replace(command, is_complete=False)
    return with_options(replace(command, kind=kind, rest=tuple(words[at + 1 :])))


def with_options(command: TcCommand) -> TcCommand:
    """Return a command with the options that its words are."""
    table = OPTIONS.get(command.table)
    if table is None:
        return replace(command, is_complete=False)
    same = _SAME.get(command.table, {})
    options: list[tuple[str, tuple[str, ...]]] = []
    words = command.rest
    at = 0
    while at < len(words):
        word = words[at]
        if word is None or word not in table:
            refused = "" if word is None else _refusal(word, options, table)
            return replace(command, options=tuple(options), refused=refused, is_complete=False)
        kinds = table[word]
        if word == "loss" and words[at + 1 : at + 2] and words[at + 1] in {"state", "gemodel"}:
            return replace(command, options=tuple(options), is_complete=False)
        if word == "loss" and words[at + 1 : at + 2] == ("random",):
            at += 1
        values: list[str] = []
        for number in range(len(kinds)):
            value = words[at + 1] if at + 1 < len(words) else None
            if number and (value is None or not value[:1].isdigit()):
                break
            if value is None:
                return replace(command, options=tuple(options), is_complete=False)
            values.append(value)
            at += 1
        options.append((same.get(word, word), tuple(values)))
        at += 1
    return replace(command, options=tuple(options))


_UNITS = frozenset(
    (
        *("%", "s", "ms", "us", "ns", "sec", "msec", "usec", "bit", "kbit", "mbit", "gbit", "tbit"),
        *("bps", "kbps", "mbps", "gbps", "b", "k", "kb", "m", "mb", "g", "gb"),
    )
)


def _refusal(word: str, options: Sequence[tuple[str, tuple[str, ...]]], table: _Options) -> str:
    """Return why tc refuses a word: it is the unit of the number before it."""
    if not options or word.lower() not in _UNITS or not options[-1][1]:
        return ""
    name, values = options[-1]
    if name not in table or not values[-1][-1:].isdigit():
        return ""
    typed = " ".join((name, *values))
    return (
        f"`{typed} {word}`: tc takes {word!r} for an option, and refuses it: write `{typed}{word}`"
    )


def _filter(verb: str, words: Sequence[Word]) -> TcCommand:
    """Return a filter: what it is of, its class as `handle`, and the options of its policer."""
    device: Word = ""
    parent, flow = "", ""
    for before, word in pairwise(words[2:]):
        if before == "dev":
            device = word
        elif before == "parent":
            parent = _identifier(word or "")
        elif before in {"flowid", "classid"}:
            flow = _identifier(word or "")
        if before in {"ingress", "egress"} or word in {"ingress", "egress"}:
            parent = parent or ("ingress" if "ingress" in (before, word) else "egress")
    command = TcCommand("filter", verb, device, parent, flow, "", rest=tuple(words[3:]))
    if "police" not in words:
        return command
    at = words.index("police")
    behind = list(words[at + 1 :])
    for end in ("flowid", "classid", "action", "index", "protocol"):
        if end in behind:
            behind = behind[: behind.index(end)]
    return with_options(replace(command, kind="police", rest=tuple(behind)))


def _identifier(word: str) -> str:
    """Return a handle or a class in one form: `1:`, `1:a`; numbers are hexadecimal."""
    if word in {"", "root", "ingress", "clsact", "none"}:
        return word
    major, colon, minor = word.partition(":")
    try:
        first = f"{int(major or '0', 16):x}"
        second = f"{int(minor, 16):x}" if minor else ""
    except ValueError:
        return word
    if not colon or second in {"", "0"}:
        second = ""
    return f"{first}:{second}"


def _full(word: Word, names: Sequence[str]) -> str | None:
    """Return the name that a word is the beginning of, as iproute2 compares them."""
    if not word:
        return None
    return next((name for name in names if name.startswith(word)), None)
