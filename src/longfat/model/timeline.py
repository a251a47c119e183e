"""From events to lines with their times: what is typed where, and when.

The events of a case are played through in the order of their times, so that each change of a
link becomes the lines of `tc` that lead from what the link does then to what it is to do
(`longfat.model.network.link_changes`). Where two events have the same time, what ends there comes
first, and then the events in the order of the study.

A link's own changes can only be followed in one order. So they all count from the traffic's
start, or from the end of the same flow, and no typed line changes its qdiscs.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from longfat.common.suggest import listed
from longfat.errors import InputError
from longfat.model.case import Command
from longfat.model.events import (
    ClockChange,
    Event,
    LinkChange,
    Partition,
    PropertyChange,
    TypedLine,
)
from longfat.model.fields import fields_of
from longfat.model.flow_path.setup_lines import QdiscTree
from longfat.model.kinds import time_text
from longfat.model.network import LinkImpairments, shape_qdiscs, shaped_interfaces
from longfat.model.network.clock import clock_line
from longfat.model.network.link_changes import change_lines
from longfat.model.network.model import DEFAULT_MTU_BYTES
from longfat.model.network.shape import THROUGH, WIRE
from longfat.model.network.tc import BYTES, Option, parse_line
from longfat.model.typed_line import NotUnderstoodError, mentions

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from longfat.model.network import Link, Network
    from longfat.model.network.tc import Interface, Qdisc, QdiscLine

MAX_COMMANDS = 20_000
"""How many lines the events of a case may become."""

_KEYS = {field.name: key for key, field in fields_of(LinkImpairments).items()}


class EventError(InputError):
    """An event cannot happen as it is written.

    Args:
        message: what was found, and what would be right.
        event: the event's index.
        key: the field of it that is wrong, such as `rate` or `for`; empty for all of it.
        other: the index of the event that it contradicts; None if it is none, or itself.
    """

    def __init__(
        self, message: str, *, event: int, key: str = "", other: int | None = None
    ) -> None:
        super().__init__(message)
        self.event = event
        self.key = key
        self.other = None if other == event else other


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One time at which an event happens.

    Attributes:
        event: the event's index.
        after: the flow from whose end `at_s` counts; None for the traffic's start.
        at_s: when it happens, in seconds.
        commands: what is typed, in this order.
        words: what happens, in a few words.
        restores: it takes back what the event did before.
    """

    event: int
    after: str | None
    at_s: float
    commands: tuple[Command, ...]
    words: str
    restores: bool = False


@dataclass(slots=True)
class _LinkState:
    """A link on its way through the events.

    Attributes:
        index: the link, by its place.
        link: the link with the properties that it has now.
        ends: its interfaces with the qdiscs that they have now.
        first: the first event, by the study's order, that changes it.
        down: the event that set it down; None if it is up.
        held: until when an event with `for` holds a property, and which event.
    """

    index: int
    link: Link
    ends: list[Interface]
    first: int
    down: int | None = None
    held: dict[tuple[int, str], tuple[float, int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Moment:
    """A time of an event, before it is known what that means."""

    event: int
    number: int
    at_s: float
    restores: bool

    @property
    def order(self) -> tuple[float, bool, int, int]:
        return (self.at_s, not self.restores, self.event, self.number)


def timeline(
    network: Network, *, setup: Sequence[Command], events: Sequence[Event]
) -> tuple[Step, ...]:
    """Return what is typed when.

    Args:
        network: the network as it is when the traffic starts.
        setup: the case's set-up lines.
        events: the case's events.

    Returns:
        The steps: for each flow (or the traffic's start) that they count from, those in the
        order of their times.

    Raises:
        EventError: an event speaks of a link that is not there, or contradicts another.
    """
    found: list[Step] = []
    player = _Player(network, setup=setup, events=events)
    player.check_count()
    for after in dict.fromkeys(event.after for event in events):
        for moment in sorted(_moments(events, after), key=lambda one: one.order):
            found.append(player.step(moment))
    return tuple(found)


def _moments(events: Sequence[Event], after: str | None) -> Iterator[_Moment]:
    for index, event in enumerate(events):
        if event.after != after:
            continue
        for number, at_s in enumerate(event.moments_s()):
            yield _Moment(event=index, number=number, at_s=at_s, restores=False)
            if event.lasts_s is not None:
                end_s = round(at_s + event.lasts_s, 9)
                yield _Moment(event=index, number=number, at_s=end_s, restores=True)


class _Player:
    """Plays events through, without a machine."""

    def __init__(
        self, network: Network, *, setup: Sequence[Command], events: Sequence[Event]
    ) -> None:
        self._network = network
        self._events = events
        self._typed = list(setup)
        self._links: dict[int, _LinkState] = {}
        self._before: dict[tuple[int, int], list[dict[str, Any]]] = {}
        self._concerned = [self._concern(index, event) for index, event in enumerate(events)]
        self._interfaces = {one.name: one for one in shaped_interfaces(network)}
        self._tc_lines = [
            line
            for line in (
                *(command.line for command in setup),
                *(event.line for event in events if isinstance(event, TypedLine)),
            )
            if mentions(line, "tc")
        ]
        # The first of them that names an interface, of those that were requested.
        self._typed_at: dict[str, str | None] = {}
        self._has_one_order = len({event.after for event in events}) == 1
        # The current qdiscs of the interfaces that events type lines at; None from the
        # first line on that is not understood.
        self._trees: dict[str, QdiscTree | None] = {}

    def check_count(self) -> None:
        """Check that the events become a number of lines that can be played.

        Raises:
            EventError: they are too many by one of them.
        """
        count = 0
        for index, (event, links) in enumerate(zip(self._events, self._concerned, strict=True)):
            ways = 1 if event.lasts_s is None else 2
            count += event.times * ways * max(1, 2 * len(links))
            if count > MAX_COMMANDS:
                raise EventError(
                    f"with this event, the events of a case happen so often that {count:,} lines "
                    f"are typed, and at most {MAX_COMMANDS:,} are possible: write fewer times, or "
                    "a loop in a script under files",
                    event=index,
                    key="times" if event.times > 1 else "",
                )

    def step(self, moment: _Moment) -> Step:
        """Return the lines of an event at one of its times; times are passed in order."""
        event = self._events[moment.event]
        links = self._concerned[moment.event]
        commands: list[Command] = []
        words = event.summary()
        match event:
            case TypedLine():
                commands = [Command(node=event.node, line=event.line)]
                self._check_tc(moment.event, commands[0])
                self._enter(commands[0])
            case ClockChange():
                line = clock_line(offset_s=event.offset_s, drift_ppm=event.drift_ppm)
                commands = [Command(node=event.host, line=line)]
            case LinkChange(down=False, up=False):
                (state,) = links
                if moment.restores:
                    changes = self._before.pop((moment.event, moment.number))
                    words = _restored(event, state, changes)
                    for key in [k for k, held in state.held.items() if held[1] == moment.event]:
                        del state.held[key]
                else:
                    changes = [dict(one.values) for one in _ways(event, state)]
                    self._hold(moment, event, state, changes)
                commands = list(self._change(moment.event, state, changes))
            case LinkChange() | Partition():
                goes_up = moment.restores or (isinstance(event, LinkChange) and event.up)
                if moment.restores:
                    words = f"{event.name} up" if isinstance(event, LinkChange) else "joined again"
                for state in links:
                    commands += self._switch(moment, state, goes_up=goes_up)
        return Step(
            event=moment.event,
            after=event.after,
            at_s=moment.at_s,
            commands=tuple(commands),
            words=words,
            restores=moment.restores,
        )

    def _concern(self, index: int, event: Event) -> list[_LinkState]:
        """Return the links that an event changes."""
        try:
            places = event.links(self._network)
        except InputError as error:
            raise EventError(error.message, event=index, key=event.kind) from None
        for place in places:
            if place not in self._links:
                names = self._network.interfaces()[place]
                ends = list(shaped_interfaces(self._network, names))
                self._links[place] = _LinkState(place, self._network.links[place], ends, index)
            first = self._links[place].first
            if self._events[first].after != event.after:
                raise EventError(
                    "the order of this link's changes is not known: another event counts "
                    f"from {_base(self._events[first])}, and this one from {_base(event)}",
                    event=index,
                    key="after" if event.after is not None else "at",
                    other=first,
                )
        return [self._links[place] for place in places]

    def _hold(
        self, moment: _Moment, event: LinkChange, state: _LinkState, changes: list[dict[str, Any]]
    ) -> None:
        """Check that no other event holds what changes, and note what this one holds."""
        for way, change in enumerate(changes):
            for name in change:
                self._check_held(moment, state, way, name)
        if event.for_s is None:
            return
        shapes = (state.link.a_to_b, state.link.b_to_a)
        self._before[moment.event, moment.number] = [
            {name: getattr(shape, name) for name in change}
            for shape, change in zip(shapes, changes, strict=True)
        ]
        until_s = round(moment.at_s + event.for_s, 9)
        for way, change in enumerate(changes):
            state.held |= {(way, name): (until_s, moment.event) for name in change}

    def _check_held(self, moment: _Moment, state: _LinkState, way: int, name: str) -> None:
        held = state.held.get((way, name))
        if held is None:
            return
        until_s, other = held
        who = "this event itself" if other == moment.event else "another event"
        raise EventError(
            f"{who} holds the {_KEYS[name]} of {state.link.a} - {state.link.b} until "
            f"{time_text(until_s)}, and at {time_text(moment.at_s)} it would change: let the one "
            "end before the other begins",
            event=moment.event,
            key="for" if other == moment.event else _KEYS[name],
            other=other,
        )

    def _change(
        self, index: int, state: _LinkState, changes: Sequence[Mapping[str, Any]]
    ) -> Iterator[Command]:
        """Change a link's properties; yield the lines that do so."""
        link = state.link
        mtu_bytes = link.mtu_bytes or DEFAULT_MTU_BYTES
        shapes = [
            replace(shape, **change)
            for shape, change in zip((link.a_to_b, link.b_to_a), changes, strict=True)
        ]
        for way, (shape, change) in enumerate(zip(shapes, changes, strict=True)):
            if not change:
                continue
            for key, message in shape.problems(mtu_bytes=mtu_bytes):
                raise EventError(message, event=index, key=key)
            was = state.ends[way]
            self._check_untyped(index, was.name, next(iter(change)))
            try:
                state.ends[way], lines = _changed(was, shape, mtu_bytes)
            except InputError as error:
                key = _KEYS[next(iter(change))]
                raise EventError(error.message, event=index, key=key) from None
            yield from (Command(node=was.node, line=line) for line in lines)
        state.link = replace(link, a_to_b=shapes[0], b_to_a=shapes[1])

    def _switch(self, moment: _Moment, state: _LinkState, *, goes_up: bool) -> Iterator[Command]:
        """Set a link down or up; yield the lines that do so."""
        name, key = f"{state.link.a} - {state.link.b}", "up" if goes_up else "down"
        if isinstance(self._events[moment.event], Partition):
            key = "partition"
        if goes_up and state.down is None:
            raise EventError(
                f"{name} is up at {time_text(moment.at_s)}: only a link that an event set down "
                "comes up",
                event=moment.event,
                key=key,
            )
        if not goes_up and state.down is not None:
            raise EventError(
                f"{name} is down at {time_text(moment.at_s)} already",
                event=moment.event,
                key=key,
                other=state.down,
            )
        state.down = None if goes_up else moment.event
        for end in state.ends:
            yield Command(
                node=end.node, line=f"ip link set {end.name} {'up' if goes_up else 'down'}"
            )

    def _check_untyped(self, index: int, interface: str, name: str) -> None:
        if interface not in self._typed_at:
            naming = (line for line in self._tc_lines if mentions(line, interface))
            self._typed_at[interface] = next(naming, None)
        line = self._typed_at[interface]
        if line is None:
            return
        raise EventError(
            f"the qdiscs of {interface} are typed, by `{line}`, and not made by the link's "
            "properties: write an event with a line of tc, or the properties in place of the "
            "typed line",
            event=index,
            key=_KEYS[name],
        )

    def _check_tc(self, index: int, command: Command) -> None:
        """Check that a typed line changes or deletes a qdisc that is there."""
        if not self._has_one_order or not mentions(command.line, "tc"):
            return
        try:
            line = parse_line(command.line)
            if line is None or line.verb not in {"change", "del"}:
                return
            interface = self._interfaces.get(line.device)
        except NotUnderstoodError:
            return
        if interface is None or interface.node != command.node:
            return
        tree = self._tree(interface)
        if tree is None:
            return
        there = tree.lines
        if any(_is_meant(line, one) for one in there):
            return
        found = listed(f"{one.qdisc.kind} at {one.qdisc.place}" for one in there)
        wanted = f"{line.qdisc.kind or 'qdisc'} at {line.qdisc.place}"
        raise EventError(
            f"{line.device} has no {wanted} by then (there is: {found}): give the link such a "
            "property, or add the qdisc under setup",
            event=index,
            key=command.node,
        )

    def _tree(self, interface: Interface) -> QdiscTree | None:
        """Return the current qdiscs of an interface; None, if they are not known."""
        if interface.name not in self._trees:
            self._trees[interface.name] = QdiscTree(interface)
            for command in self._typed:
                self._enter_at(interface.name, command)
        return self._trees[interface.name]

    def _enter(self, command: Command) -> None:
        """Note a line that has been typed."""
        self._typed.append(command)
        for name in self._trees:
            self._enter_at(name, command)

    def _enter_at(self, name: str, command: Command) -> None:
        tree = self._trees[name]
        try:
            if tree is not None:
                tree.enter(command)
        except NotUnderstoodError:
            self._trees[name] = None


@lru_cache(maxsize=1024)
def _changed(
    was: Interface, shape: LinkImpairments, mtu_bytes: int
) -> tuple[Interface, tuple[str, ...]]:
    """Return an interface with the impairments, and the lines that lead there.

    An event that happens ten thousand times makes the same few changes again and again.
    """
    passes = any(qdisc.kind == WIRE and qdisc.get(THROUGH) for qdisc in was.qdiscs)
    will = _keep_bursts(was, shape_qdiscs(shape, mtu_bytes=mtu_bytes, passes_frames=passes))
    return will, tuple(str(line) for line in change_lines(was, will))


def _is_meant(line: QdiscLine, there: QdiscLine) -> bool:
    same_kind = line.verb == "del" or line.qdisc.kind == there.qdisc.kind
    return same_kind and line.qdisc.parent == there.qdisc.parent


def _keep_bursts(was: Interface, qdiscs: Sequence[Qdisc]) -> Interface:
    """Return an interface with other qdiscs, of which a tbf in its place keeps a larger burst."""
    found = {one.place: one.number("burst", BYTES) for one in was.qdiscs if one.kind == "tbf"}
    return replace(
        was,
        qdiscs=tuple(
            one.having(Option("burst", (max(found[one.place], one.number("burst", BYTES)),)))
            if one.kind == "tbf" and one.place in found
            else one
            for one in qdiscs
        ),
    )


def _ways(event: LinkChange, state: _LinkState) -> tuple[PropertyChange, PropertyChange]:
    """Return the changes from the link's first node to its second, and back."""
    ways = (event.a_to_b, event.b_to_a)
    return ways if _begins_at_a(event, state) else ways[::-1]


def _begins_at_a(event: LinkChange, state: _LinkState) -> bool:
    """Return whether an event names the ends of a link in the link's order."""
    return event.a in (state.link.a, state.ends[0].name)


def _restored(event: LinkChange, state: _LinkState, changes: list[dict[str, Any]]) -> str:
    """Return what a link does again, in a few words."""
    there, back = (
        PropertyChange(
            given=LinkImpairments(**change),
            taken_back=tuple(name for name, value in change.items() if value is None),
        )
        for change in changes
    )
    if not _begins_at_a(event, state):
        there, back = back, there
    return replace(event, a_to_b=there, b_to_a=back).summary()


def _base(event: Event) -> str:
    return "the traffic's start" if event.after is None else f"the end of {event.after!r}"
