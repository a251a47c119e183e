"""Queueing disciplines as values, and the lines of `tc qdisc` for them.

A `Qdisc` is at a place of an interface, a `QdiscLine` changes one, and an
`Interface` has some, the root first. Values print as one canonical line each:

    tc qdisc add dev s1-eth2 parent 1: handle 2: wire rate 10gbit limit 25000000

`parse_line` reads a typed line. Options whose units are listed here, and those that a
property of links declares, become numbers in base units, all others stay words. The typed text
is kept beside the values and is what they print, since the typed text is what runs.

Only plain forms are read. An option begins with a letter and its values do not; `loss gemodel`
and the like are names of two words. tc takes numbers without a unit in units of its own, and
some units otherwise than people do: these stay words, too (`longfat.model.units`).

Sources: tc(8), "PARAMETERS"; tc-netem(8), tc-tbf(8), tc-red(8), tc-bfifo(8), tc-codel(8),
tc-fq_codel(8), tc-fq(8), tc-pie(8), tc-cake(8).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from longfat.errors import InputError
from longfat.model.fields import fields_of
from longfat.model.kinds import Integer, Kind, Rate, Share, Size, Time
from longfat.model.network.impairments import LinkImpairments
from longfat.model.typed_line import NotUnderstoodError, plain_words

Value = int | float | str
"""A number in a base unit, or a word that is not understood."""

ROOT = "root"
"""The place of an interface's first qdisc."""


class _Bytes(Size):
    """A size, always written as a number of bytes."""

    def text(self, value: int) -> str:
        return str(value)


class _Microseconds(Time):
    """A time of at least microseconds: netem reads no nanoseconds, and cuts off what is less."""

    def text(self, value: float) -> str:
        time_ns = round(value * 1e9)
        for unit, factor in (("s", 10**9), ("ms", 10**6), ("us", 10**3)):
            if time_ns % factor == 0:
                return f"{time_ns // factor}{unit}"
        return f"{time_ns // 1000}.{time_ns % 1000:03}".rstrip("0") + "us"


# What a number is, and how longfat prints it.
RATE, BYTES, SHARE, COUNT = Rate(), _Bytes(), Share(), Integer()
TIME = _Microseconds(bare_seconds=False)

_Options = Mapping[str, tuple[Kind[Any], ...]]


def _link_options() -> _Options:
    """Return the options of netem that properties of links declare, with their values.

    netem takes a correlation after a share.
    """
    values: Mapping[type[Kind[Any]], tuple[Kind[Any], ...]] = {
        Integer: (COUNT,),
        Rate: (RATE,),
        Share: (SHARE, SHARE),
        Size: (BYTES,),
        Time: (TIME,),
    }
    declared = (field.about for field in fields_of(LinkImpairments).values() if field.about.tc)
    return {about.tc: values.get(type(about.kind), ()) for about in declared}


_CODEL: _Options = {"limit": (COUNT,), "target": (TIME,), "interval": (TIME,)}
OPTIONS: Mapping[str, _Options] = {
    "netem": {
        "limit": (COUNT,),
        "delay": (TIME, TIME, SHARE),
        **_link_options(),
        "loss random": (SHARE, SHARE),
        "loss state": (),
        **dict.fromkeys(("distribution normal", "distribution pareto"), ()),
        **dict.fromkeys(("distribution uniform", "distribution paretonormal"), ()),
        "gap": (COUNT,),
        "rate": (RATE,),
    },
    "tbf": {
        **dict.fromkeys(("rate", "peakrate"), (RATE,)),
        **dict.fromkeys(("burst", "limit", "mtu", "mpu"), (BYTES,)),
        "latency": (TIME,),
    },
    "wire": {"rate": (RATE,), "limit": (BYTES,), "cut": (BYTES,), "through": ()},
    "red": {
        **dict.fromkeys(("limit", "min", "max", "avpkt"), (BYTES,)),
        "burst": (COUNT,),
        "bandwidth": (RATE,),
    },
    "bfifo": {"limit": (BYTES,)},
    "pfifo": {"limit": (COUNT,)},
    "pfifo_head_drop": {"limit": (COUNT,)},
    "codel": _CODEL,
    "fq_codel": {**_CODEL, "quantum": (BYTES,)},
    "fq": {"limit": (COUNT,), "flow_limit": (COUNT,), "quantum": (BYTES,), "maxrate": (RATE,)},
    "pie": {"limit": (COUNT,), "target": (TIME,), "tupdate": (TIME,)},
    "cake": {"bandwidth": (RATE,), "rtt": (TIME,), "memlimit": (BYTES,)},
}
"""What the values of an option are, by the qdisc's kind and the option's name."""


class Option(NamedTuple):
    """An option of a qdisc.

    Attributes:
        name: such as `delay`, or `loss gemodel`.
        values: its values.
    """

    name: str
    values: tuple[Value, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Qdisc:
    """A queueing discipline.

    Attributes:
        kind: such as `netem`.
        parent: its parent: `ROOT`, or the class or qdisc above it, such as `1:`.
        handle: its own name, such as `1:`; empty, if the kernel gives it one.
        options: its options, in their order.
        typed: its kind and options, as typed; empty, if they were not.
    """

    kind: str
    parent: str = ROOT
    handle: str = ""
    options: tuple[Option, ...] = ()
    typed: str = field(default="", compare=False)

    @property
    def words(self) -> str:
        """Its kind and options as tc takes them: what was typed, or else in canonical form."""
        return self.typed or " ".join([self.kind, *map(self._option_words, self.options)])

    @property
    def place(self) -> str:
        """Its place, in tc's syntax."""
        return self.parent if self.parent == ROOT else f"parent {self.parent}"

    def _option_words(self, option: Option) -> str:
        return f"{option.name} {self.text(option)}".rstrip()

    def text(self, option: Option) -> str:
        """Return the values of an option as tc takes them."""
        kinds = _kinds(self.kind, option.name, len(option.values))
        return " ".join(
            str(value) if kind is None or isinstance(value, str) else kind.text(value)
            for value, kind in zip(option.values, kinds, strict=True)
        )

    def get(self, name: str) -> Option | None:
        """Return an option; None where it is not there."""
        return next((option for option in self.options if option.name == name), None)

    def number(self, name: str, kind: Kind[Any], *, at: int = 0) -> Any:
        """Return a number behind an option.

        Args:
            name: the option.
            kind: the kind of the number: `RATE`, `BYTES`, `TIME`, `SHARE` or `COUNT`.
            at: which of its values.

        Returns:
            The number in its base unit; None where the option is not there, or its values
            are of another kind.

        Raises:
            InputError: there is no value, or one that is not understood.
        """
        option = self.get(name)
        if option is None or _kinds(self.kind, name, at + 1)[at] is not kind:
            return None
        if at >= len(option.values) or isinstance(option.values[at], str):
            raise InputError(f"`{self.words}`: {name} is not followed by {kind.what}")
        return option.values[at]

    def having(self, *options: Option) -> Qdisc:
        """Return it with options in the place of those of the same names, or behind all others."""
        new = {option.name: option for option in options}
        kept = [new.pop(option.name, option) for option in self.options]
        return replace(self, options=(*kept, *new.values()), typed="")


@dataclass(frozen=True, slots=True, kw_only=True)
class QdiscLine:
    """A line of `tc qdisc` that changes the qdiscs of an interface.

    Attributes:
        verb: `add`, `replace`, `change` or `del`.
        device: the interface.
        qdisc: what is put there; for `del` its place is enough.
        typed: the line as typed; empty, if it was not.
    """

    verb: str
    device: str
    qdisc: Qdisc
    typed: str = field(default="", compare=False)

    @property
    def arguments(self) -> str:
        """The words behind `tc`, in canonical order."""
        qdisc = self.qdisc
        handle = f"handle {qdisc.handle}" if qdisc.handle else ""
        words = ("qdisc", self.verb, "dev", self.device, qdisc.place, handle, qdisc.words)
        return " ".join(filter(None, words))

    def __str__(self) -> str:
        return self.typed or f"tc {self.arguments}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Interface:
    """An interface and what shapes the packets that leave through it.

    Attributes:
        name: such as `s1-eth2`.
        node: where it is visible: a host, or `longfat.model.network.ROOT_NAMESPACE`.
        qdiscs: its qdiscs, each below the one before.
    """

    name: str
    node: str
    qdiscs: tuple[Qdisc, ...] = ()

    @property
    def lines(self) -> tuple[QdiscLine, ...]:
        """The lines that build its qdiscs."""
        return tuple(QdiscLine(verb="add", device=self.name, qdisc=one) for one in self.qdiscs)


_VERBS = {"add": "add", "replace": "replace", "change": "change", "del": "del", "delete": "del"}
_SHOWS = frozenset(("show", "list", "ls"))

# Keywords for the place of a qdisc, with the number of words that they take.
_PLACES = {ROOT: 1, "dev": 2, "parent": 2, "handle": 2}


def parse_line(line: str) -> QdiscLine | None:
    """Read a line of `tc qdisc`.

    Args:
        line: the line as it was typed.

    Returns:
        What it changes; None for a line that only shows what is there.

    Raises:
        NotUnderstoodError: it is no such line, or in a form that is not read.
    """
    words = plain_words(line)
    while len(words) > 1 and words[1].startswith("-"):
        del words[1]
    if words[:2] != ["tc", "qdisc"] or len(words) < 3:
        raise NotUnderstoodError(line)
    if words[2] in _SHOWS:
        return None
    verb, rest = _VERBS.get(words[2]), words[3:]
    places: dict[str, str] = {}
    while rest and (count := _PLACES.get(rest[0])):
        if len(rest) < count:
            raise NotUnderstoodError(line)
        places["parent" if rest[0] == ROOT else rest[0]] = rest[count - 1]
        rest = rest[count:]
    if verb is None or "parent" not in places or (verb != "del" and not rest):
        raise NotUnderstoodError(line)
    qdisc = parse_qdisc(rest, parent=places["parent"], handle=places.get("handle", ""))
    return QdiscLine(verb=verb, device=places.get("dev", ""), qdisc=qdisc, typed=line)


def parse_qdisc(words: Sequence[str], *, parent: str = ROOT, handle: str = "") -> Qdisc:
    """Read a qdisc's kind and options.

    Args:
        words: the kind and the options as they were typed; empty for one to be deleted.
        parent: its parent.
        handle: its own name.
    """
    kind = words[0] if words else ""
    known = OPTIONS.get(kind, {})
    found: list[tuple[str, list[str]]] = []
    for word in words[1:]:
        if found and not word[:1].isalpha():
            found[-1][1].append(word)
        elif found and not found[-1][1] and (both := f"{found[-1][0]} {word}") in known:
            found[-1] = (both, [])
        else:
            found.append((word, []))
    options = tuple(
        Option(name, tuple(map(_value, values, _kinds(kind, name, len(values)))))
        for name, values in found
    )
    return Qdisc(kind=kind, parent=parent, handle=handle, options=options, typed=" ".join(words))


def _kinds(kind: str, option: str, count: int) -> list[Kind[Any] | None]:
    """Return what the values of an option are; None for words."""
    known = OPTIONS.get(kind, {}).get(option, ())
    return [known[at] if at < len(known) else None for at in range(count)]


def _value(word: str, kind: Kind[Any] | None) -> Value:
    try:
        value: Value = word if kind is None else kind.parse(word)
    except InputError:
        return word
    return value
