"""Events: what changes while the traffic of a case plays.

An event has a time, after the start of the traffic or after the end of a flow, and may
happen several times. There are four kinds: a line that is typed at a node (`TypedLine`), a
link whose properties change or which goes down or up (`LinkChange`), groups of nodes that
are cut off from each other (`Partition`), and a host's clock that is set (`ClockChange`).
`longfat.model.timeline` defines their effects and order.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar

from longfat.model.fields import declare, fields_of
from longfat.model.kinds import Drift, Flag, Integer, Offset, Text, Time
from longfat.model.network.ends import cut_links, link_between
from longfat.model.network.impairments import UNIMPAIRED, LinkImpairments

if TYPE_CHECKING:
    from longfat.model.network import Network

MAX_TIMES = 10_000
"""How often an event may happen."""

_MIN_S = 1e-6


@dataclass(frozen=True, slots=True, kw_only=True)
class Event(ABC):
    """What all events have in common.

    Attributes:
        at_s: when it happens, in seconds after the traffic's start, or after the end of
            the flow named by `after`.
        after: the flow whose end it waits for, if any.
        every_s: the time from one of its times to the next, in seconds; None if it
            happens once.
        times: how often it happens.
    """

    kind: ClassVar[str]

    at_s: float = declare(
        Time(example="10s"),
        default=0.0,
        label="At",
        help="when it happens, after the traffic's start or after the end of the flow in `after`",
        absent="(required, unless there is `after`)",
    )
    after: str | None = declare(
        Text(what="a flow's name", example="bulk"),
        default=None,
        label="After",
        help="it waits for the end of this flow",
    )
    every_s: float | None = declare(
        Time(minimum=_MIN_S, example="5s"),
        default=None,
        label="Every",
        help="it happens again after each such time; needs `times`",
        absent="it happens once",
    )
    times: int = declare(
        Integer(minimum=1, maximum=MAX_TIMES),
        default=1,
        label="Times",
        help="how often it happens in all; needs `every`",
    )

    @abstractmethod
    def summary(self) -> str:
        """Return what happens in a few words, such as `s1 - s2: 5 Mbit/s`."""

    def links(self, network: Network) -> Sequence[int]:  # noqa: ARG002
        """Return the links that it changes, by their places in the network.

        Raises:
            InputError: it speaks of a node or a link that is not there.
        """
        return ()

    @property
    def lasts_s(self) -> float | None:
        """After how many seconds it ends by itself; None for never."""
        return None

    def moments_s(self) -> list[float]:
        """Return when it happens, in seconds after what `at_s` counts from."""
        return [
            round(self.at_s + number * (self.every_s or 0.0), 9) for number in range(self.times)
        ]

    def to_json(self) -> dict[str, Any]:
        """Return the event as plain data: its kind, and what differs from the defaults."""
        return {"kind": self.kind, **_set_fields(self)}


@dataclass(frozen=True, slots=True, kw_only=True)
class TypedLine(Event):
    """A line that is typed at a node.

    Attributes:
        node: the host it is typed at, or `longfat.model.network.ROOT_NAMESPACE`.
        line: the line.
    """

    kind: ClassVar[str] = "line"

    node: str
    line: str

    def summary(self) -> str:
        """Return the line with its node."""
        return f"{self.node}: {self.line}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Lasting(Event):
    """An event that ends by itself after `for`, if it has one.

    Attributes:
        for_s: after how many seconds all is as it was before; None for never.
    """

    for_s: float | None = declare(
        Time(minimum=_MIN_S, example="2s"),
        default=None,
        label="For",
        help="after this time what it changed is as it was before",
        absent="for good",
    )

    @property
    def lasts_s(self) -> float | None:
        """After how many seconds all is as it was before; None for never."""
        return self.for_s


@dataclass(frozen=True, slots=True, kw_only=True)
class PropertyChange:
    """Other properties of one direction of a link; what is not named stays.

    Attributes:
        given: the properties with their new values; None for one that stays.
        taken_back: the names of those that the direction has no more, such as `loss`.
    """

    given: LinkImpairments = UNIMPAIRED
    taken_back: tuple[str, ...] = ()

    @property
    def values(self) -> Mapping[str, Any]:
        """The new value of each property that changes, by its attribute; None for none."""
        given = {field.name: getattr(self.given, field.name) for field in fields(LinkImpairments)}
        kept = {name: value for name, value in given.items() if value is not None}
        return {**dict.fromkeys(self.taken_back), **kept}

    def of(self, before: LinkImpairments) -> LinkImpairments:
        """Return the properties of a direction that had others before."""
        return replace(before, **self.values)

    def summary(self) -> str:
        """Return the new properties in a few words; empty for none."""
        keys = {field.name: key for key, field in fields_of(LinkImpairments).items()}
        gone = (f"no {keys[name].replace('_', ' ')}" for name in self.taken_back)
        return ", ".join(filter(None, [self.given.summary(), *gone]))


NO_CHANGE = PropertyChange()
"""A direction of a link that stays as it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkChange(_Lasting):
    """A link that has other properties from now on, or goes down or up.

    Attributes:
        a: the node at one end, or its interface.
        b: the node at the other, or its interface.
        down: it goes down.
        up: it comes up again.
        a_to_b: the properties that change for packets from `a` to `b`.
        b_to_a: those of the other direction.
    """

    kind: ClassVar[str] = "link"

    a: str
    b: str
    down: bool = declare(
        Flag(),
        default=False,
        label="Down",
        help="the link goes down: the interfaces at both ends are set down",
    )
    up: bool = declare(
        Flag(),
        default=False,
        label="Up",
        help="a link that went down comes up again",
    )
    a_to_b: PropertyChange = NO_CHANGE
    b_to_a: PropertyChange = NO_CHANGE

    @property
    def name(self) -> str:
        """The link, for people."""
        return f"{self.a} - {self.b}"

    def links(self, network: Network) -> Sequence[int]:
        """Return the link's place."""
        return [link_between(network, self.a, self.b)]

    def summary(self) -> str:
        """Return the link and what changes, a direction at a time where they differ."""
        if self.down or self.up:
            return f"{self.name} {'down' if self.down else 'up'}"
        there, back = self.a_to_b.summary(), self.b_to_a.summary()
        if there == back:
            return f"{self.name}: {there}"
        both = ((f"{self.a} → {self.b}", there), (f"{self.b} → {self.a}", back))
        return "; ".join(f"{way}: {words}" for way, words in both if words)


@dataclass(frozen=True, slots=True, kw_only=True)
class Partition(_Lasting):
    """Groups of nodes that are cut off from each other: the links between them go down.

    Attributes:
        groups: the groups. A node in none of them belongs to the group that it is linked
            with, itself or by other such nodes.
    """

    kind: ClassVar[str] = "partition"

    groups: tuple[tuple[str, ...], ...]

    def links(self, network: Network) -> Sequence[int]:
        """Return the links between the groups."""
        return cut_links(network, self.groups)

    def summary(self) -> str:
        """Return the groups."""
        return "partition " + " | ".join(", ".join(group) for group in self.groups)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockChange(Event):
    """A host's clock that is set, or runs faster or slower from now on.

    Attributes:
        host: the host.
        offset_s: how far it is ahead from now on, in seconds; None to set it not.
        drift_ppm: what it gains from now on, in millionths; None for what it gained before.
    """

    kind: ClassVar[str] = "clock"

    host: str
    offset_s: float | None = declare(
        Offset(example="3s"),
        default=None,
        label="Offset",
        help="the clock is set, so that it is so far ahead; negative, if behind",
        absent="it is not set",
    )
    drift_ppm: float | None = declare(
        Drift(example="100ppm"),
        default=None,
        label="Drift",
        help="what the clock gains from now on; negative, if it loses",
        absent="as before",
    )

    def summary(self) -> str:
        """Return the host and what becomes of its clock."""
        words = [
            f"{key} {field.kind.text(getattr(self, field.name))}"
            for key, field in fields_of(ClockChange).items()
            if key in ("offset", "drift") and getattr(self, field.name) is not None
        ]
        return f"clock of {self.host}: {', '.join(words)}"


EVENTS: Mapping[str, type[Event]] = {
    event.kind: event for event in (TypedLine, LinkChange, Partition, ClockChange)
}
"""The kinds of events, by their names in a case."""


def _set_fields(value: Any) -> dict[str, Any]:
    """Return the fields of a dataclass that differ from their defaults, as plain data."""
    found = {}
    for field in fields(value):
        given = getattr(value, field.name)
        if given != field.default:
            found[field.name] = (
                _set_fields(given)
                if isinstance(given, (PropertyChange, LinkImpairments))
                else given
            )
    return found
