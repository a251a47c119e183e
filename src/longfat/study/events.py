"""The `events` field: what changes while the traffic plays.

An entry has a time, and one thing that happens: `link` with what changes of it, `partition`,
`clock` with a host, or a node with a line, as in `setup`. What depends on the network, the flows
and the other events is checked when the whole case is known (`check_events`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from longfat.common.suggest import listed, nearest
from longfat.errors import InputError
from longfat.model.events import (
    ClockChange,
    Event,
    LinkChange,
    Partition,
    PropertyChange,
    TypedLine,
)
from longfat.model.fields import fields_of, read_fields
from longfat.model.kinds import time_text
from longfat.model.network import LinkImpairments
from longfat.model.timeline import EventError, timeline
from longfat.model.traffic.schedule import latest_ends_s
from longfat.study.network import check_host, read_directions
from longfat.study.node import check_lines, typed_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from longfat.errors import Place
    from longfat.model.case import Command
    from longfat.model.network import Network
    from longfat.model.traffic import Flow
    from longfat.study.node import Key, Node

_WHEN = tuple(fields_of(Event))
_LINK_FIELDS = ("link", *fields_of(LinkChange), *fields_of(LinkImpairments), "to")
_PARTITION_FIELDS = ("partition", *fields_of(Partition))
_CLOCK_FIELDS = ("clock", *fields_of(ClockChange))
_KINDS = ("link", "partition", "clock")
_FORM = (
    "an event: its time and what happens (such as {at: 10s, link: [s1, s2], rate: 5mbit} or "
    "{at: 10s, h1: ip route ...})"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenEvent:
    """An event with its places.

    Attributes:
        event: the event.
        place: where it is written; of a typed line, the line.
        places: where its fields are written, by key; of a typed line, the node's as well.
    """

    event: Event
    place: Place
    places: Mapping[str, Place]


def read_events(node: Node) -> tuple[WrittenEvent, ...]:
    """Read a list of events.

    Raises:
        InputError: it is not of that form, or a value is wrong.
    """
    events: list[WrittenEvent] = []
    for entry in node.sequence(f"a list, each entry {_FORM}"):
        events += entry.attempt(partial(_read_all, entry)) or ()
        check_lines(entry, len(events))
    return tuple(events)


def _read_all(entry: Node) -> list[WrittenEvent]:
    return list(_read(entry))


def _read(entry: Node) -> Iterator[WrittenEvent]:
    items = entry.items(_FORM)
    keys = [key.text for key, _ in items]
    if "link" in keys:
        fields = entry.fields("a change of a link", allowed=_LINK_FIELDS)
        yield _written(_read_link(entry, fields), entry, fields)
    elif "partition" in keys:
        fields = entry.fields("a partition", allowed=_PARTITION_FIELDS)
        yield _written(_read_partition(entry, fields), entry, fields)
    elif "clock" in keys:
        fields = entry.fields("a host's clock", allowed=_CLOCK_FIELDS)
        yield _written(_read_clock(entry, fields), entry, fields)
    else:
        typed = [(key, value) for key, value in items if key.text not in _WHEN]
        if len(typed) != 1:
            raise _not_one(entry, [key for key, _ in typed])
        fields = {key.text: value for key, value in items}
        yield from _read_lines(entry, *typed[0], fields)


def _not_one(entry: Node, keys: Sequence[Key]) -> InputError:
    kinds = "link, partition, clock or one node with a line"
    if not keys:
        return entry.error(f"nothing happens: beside its time an event has {kinds}")
    unknown = keys[1]
    return InputError(
        f"an event has, beside its time ({listed(_WHEN)}), {kinds}, and here are "
        f"{listed(key.text for key in keys)}{nearest(unknown.text, (*_WHEN, *_KINDS))}",
        place=unknown.place,
    )


def _written(event: Event, entry: Node, fields: Mapping[str, Node]) -> WrittenEvent:
    places = {key: value.place for key, value in fields.items()}
    if "to" in fields:
        for _, direction in fields["to"].items("properties by end"):
            places |= {key.text: key.place for key, _ in direction.items("properties")}
    return WrittenEvent(event=event, place=entry.place, places=places)


def _read_when(entry: Node, fields: Mapping[str, Node]) -> dict[str, Any]:
    """Read when an event happens."""
    if "at" not in fields and "after" not in fields:
        raise entry.error("here is no time: write at (after the traffic's start), or after a flow")
    if "every" in fields and "times" not in fields:
        raise fields["every"].error("this would never end: write times, how often it happens")
    if "times" in fields and "every" not in fields:
        raise fields["times"].error("it happens several times, but has no interval: write every")
    return read_fields(Event, fields)


def _read_lines(
    entry: Node, key: Key, value: Node, fields: Mapping[str, Node]
) -> Iterator[WrittenEvent]:
    when = _read_when(entry, {field: node for field, node in fields.items() if field in _WHEN})
    for name, line, place in typed_lines(key, value, form="one"):
        places = {field: node.place for field, node in fields.items()} | {name: key.place}
        event = TypedLine(node=name, line=line, **when)
        yield WrittenEvent(event=event, place=place, places=places)


def _read_link(entry: Node, fields: Mapping[str, Node]) -> LinkChange:
    form = "a link as [NODE, NODE]"
    ends = [end.line("a node's name") for end in fields["link"].sequence(form)]
    if len(ends) != 2:
        raise fields["link"].error(
            f"a link has two ends, and here are {len(ends)}: write [NODE, NODE]"
        )
    a, b = ends
    directions = read_directions(fields, (a, b))
    values = {**_read_when(entry, fields), **read_fields(LinkChange, fields)}
    if values.get("down") and values.get("up"):
        raise fields["up"].error("it cannot go down and come up at once: leave out one of the two")
    changed = [key for key in fields if key in fields_of(LinkImpairments) or key == "to"]
    for key in ("down", "up"):
        if values.get(key) and changed:
            raise fields[changed[0]].error(
                f"a link that goes {key} keeps its properties: write another event for them"
            )
    if values.get("up") and "for" in fields:
        raise fields["for"].error("up is for good: write for where the link goes down")
    if not values.get("down") and not values.get("up") and not any(directions):
        raise entry.error(
            "nothing changes of the link: write down, up, or properties of a link "
            f"({listed(fields_of(LinkImpairments))})"
        )
    a_to_b, b_to_a = (
        PropertyChange(
            given=LinkImpairments(**direction),
            taken_back=tuple(name for name, value in direction.items() if value is None),
        )
        for direction in directions
    )
    return LinkChange(a=a, b=b, a_to_b=a_to_b, b_to_a=b_to_a, **values)


def _read_partition(entry: Node, fields: Mapping[str, Node]) -> Partition:
    form = "a list of groups of nodes (such as [[h1, h2], [h3]])"
    groups = tuple(
        tuple(one.line("a node's name") for one in group.sequence("a group of nodes as a list"))
        for group in fields["partition"].sequence(form)
    )
    if len(groups) < 2:
        raise fields["partition"].expected(f"{form}, two or more")
    return Partition(groups=groups, **_read_when(entry, fields), **_for(fields))


def _read_clock(entry: Node, fields: Mapping[str, Node]) -> ClockChange:
    values = {**_read_when(entry, fields), **read_fields(ClockChange, fields)}
    if "offset" not in fields and "drift" not in fields:
        raise entry.error("nothing happens to the clock: write offset, drift or both")
    return ClockChange(host=fields["clock"].line("a host's name"), **values)


def _for(fields: Mapping[str, Node]) -> dict[str, Any]:
    return read_fields(Partition, {key: node for key, node in fields.items() if key == "for"})


def check_events(
    written: Sequence[WrittenEvent],
    network: Network,
    *,
    setup: Sequence[Command],
    flows: Sequence[Flow],
) -> None:
    """Check what depends on the network, the flows and the other events.

    Args:
        written: the events of a case.
        network: its network.
        setup: its set-up lines.
        flows: its flows.

    Raises:
        InputError: a node, link or flow is not there, events contradict each other, or the
            traffic ends before one.
    """
    if not written:
        return
    names = [flow.name for flow in flows]
    for one in written:
        event = one.event
        if not flows:
            raise InputError(
                "there is no traffic, while which events happen: write flows", place=one.place
            )
        if event.after is not None and event.after not in names:
            raise InputError(
                f"there is no flow {event.after!r}{nearest(event.after, names)} "
                f"(there are: {listed(names)})",
                place=one.places["after"],
            )
        if isinstance(event, TypedLine) and (reason := check_host(event.node, network, root=True)):
            raise InputError(reason, place=one.places[event.node])
        if isinstance(event, ClockChange) and (
            reason := check_host(event.host, network, root=False)
        ):
            raise InputError(reason, place=one.places["clock"])
    try:
        timeline(network, setup=setup, events=[one.event for one in written])
    except EventError as error:
        one = written[error.event]
        there = "" if error.other is None else _line_of(written[error.other])
        place = one.places.get(error.key, one.place)
        raise InputError(f"{error.message}{there}", place=place) from None
    _check_ends(written, flows)


def _line_of(other: WrittenEvent) -> str:
    return f" (the other event: line {other.place.line})"


def _check_ends(written: Sequence[WrittenEvent], flows: Sequence[Flow]) -> None:
    """Check that no event comes after the traffic, if its end is known."""
    ends_s = latest_ends_s(flows)
    if ends_s is None:
        return
    last_s = max(ends_s.values(), default=0.0)
    for one in written:
        event = one.event
        from_s = 0.0 if event.after is None else ends_s[event.after]
        late_s = from_s + event.moments_s()[-1]
        if late_s >= last_s:
            key = "times" if event.times > 1 else "at"
            when = f"{time_text(late_s)} after its start"
            raise InputError(
                f"the traffic ends {time_text(last_s)} after its start, and this would happen at "
                f"{time_text(late_s)}: write an earlier time, or longer flows"
                if event.after is None
                else f"this would happen {when}, and the traffic ends by {time_text(last_s)}: "
                "events need a flow that lasts longer",
                place=one.places.get(key, one.place),
            )
