"""Changes by hand in a live run as events of a study, so that it can be replayed.

A change of a link's properties becomes an event of that link. A command typed at a terminal
becomes a command at its node: configuration commands as typed, if they succeeded; others (a
ping, an iperf3) in the background, since the commands of a study's events must succeed and
run one after the other.

Not every manual action can be expressed in a study: a link's properties cannot be tracked
once its qdiscs were changed at a terminal. Such changes are written as the `tc` commands that
were run; if that is impossible, too, they are left out and reported.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING

from longfat.errors import InputError
from longfat.model.case import Command
from longfat.model.events import Event, LinkChange, PropertyChange, TypedLine
from longfat.model.network import ROOT_NAMESPACE, LinkImpairments, shaped_interfaces
from longfat.model.network.link_changes import change_lines
from longfat.study.formats.write import study_text
from longfat.study.read import parse_study

if TYPE_CHECKING:
    from collections.abc import Mapping

    from longfat.model.case import Case
    from longfat.model.network import Network
    from longfat.studio.live.terminals import Typed
    from longfat.study.drawing import Drawing

CONFIGURING = frozenset(
    ("bridge", "ethtool", "ifconfig", "ip", "iptables", "nft", "route", "sysctl", "tc")
)
"""Programs that configure a network and end at once."""

# A line with one of them is more than a simple command.
_SHELL = frozenset("|&;<>()`\n")
_LINK_WORDS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A change of the network made on the page.

    Attributes:
        event: the event of a study.
        lines: the same as commands.
    """

    event: Event
    lines: tuple[TypedLine, ...]


def link_change(before: Network, after: Network, *, link: int, at_s: float) -> Change:
    """Return a change of a link's properties.

    Args:
        before: the network before.
        after: the same, but for the properties of one link.
        link: the link's index.
        at_s: when, in seconds after the run's start.
    """
    old, new = before.links[link], after.links[link]
    event = LinkChange(
        a=old.a,
        b=old.b,
        at_s=at_s,
        a_to_b=_difference(old.a_to_b, new.a_to_b),
        b_to_a=_difference(old.b_to_a, new.b_to_a),
    )
    ends = before.interfaces()[link]
    hosts = {host.name for host in before.hosts}
    lines = tuple(
        TypedLine(node=node if node in hosts else ROOT_NAMESPACE, line=str(line), at_s=at_s)
        for node, was, will in zip(
            (old.a, old.b),
            shaped_interfaces(before, ends),
            shaped_interfaces(after, ends),
            strict=True,
        )
        for line in change_lines(was, will)
    )
    return Change(event=event, lines=lines)


def _difference(old: LinkImpairments, new: LinkImpairments) -> PropertyChange:
    names = [field.name for field in fields(LinkImpairments)]
    changed = {
        name: getattr(new, name) for name in names if getattr(new, name) != getattr(old, name)
    }
    given = {name: value for name, value in changed.items() if value is not None}
    taken_back = tuple(name for name, value in changed.items() if value is None)
    return PropertyChange(given=LinkImpairments(**given), taken_back=taken_back)


def line_change(command: Command, *, at_s: float) -> Change:
    """Return a set-up line that was added while the network ran."""
    event = TypedLine(node=command.node, line=command.line, at_s=at_s)
    return Change(event=event, lines=(event,))


def typed_event(typed: Typed, network: Network) -> Event | None:
    """Return a typed command as an event; None if it changed nothing.

    Args:
        typed: the line.
        network: the network, whose nodes are commands at its prompts.
    """
    node, line = at_node(typed, network)
    words = line.split()
    if not words:
        return None
    if words[0] == "link" and len(words) == _LINK_WORDS and words[3] in ("down", "up"):
        down = words[3] == "down"
        if typed.status:
            return None
        return LinkChange(a=words[1], b=words[2], at_s=typed.at_s, down=down, up=not down)
    if words[0] in CONFIGURING and not _SHELL & set(line):
        return TypedLine(node=node, line=line, at_s=typed.at_s) if typed.status == 0 else None
    background = f"sh -c {shlex.quote(line)} </dev/null >/dev/null 2>&1 &"
    return TypedLine(node=node, line=background, at_s=typed.at_s)


def configuring(typed: Sequence[Typed], network: Network) -> list[Command]:
    """Return the typed configuration commands, as set-up lines."""
    found = []
    for one in typed:
        node, line = at_node(one, network)
        words = line.split()
        if words and words[0] in CONFIGURING and not _SHELL & set(line) and one.status == 0:
            found.append(Command(node=node, line=line))
    return found


def at_node(typed: Typed, network: Network) -> tuple[str, str]:
    """Return the node and the command: `h1 tc ...` at root is `tc ...` at h1."""
    hosts = {host.name for host in network.hosts}
    nodes = hosts | {ROOT_NAMESPACE} | {switch.name for switch in network.switches}
    node, line = typed.node, typed.line.strip()
    first, _, rest = line.partition(" ")
    if first in nodes and rest.strip():
        node, line = first, rest.strip()
    return (node if node in hosts else ROOT_NAMESPACE), line


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """A live run as a study.

    Attributes:
        case: the case, with the manual changes among its events.
        text: the study's text.
        left_out: descriptions of what was left out.
    """

    case: Case
    text: str
    left_out: tuple[str, ...]


def make_replay(
    case: Case,
    *,
    title: str,
    layout: Mapping[str, tuple[float, float]],
    drawing: Drawing,
    before: Sequence[Typed],
    changes: Sequence[Change],
    typed: Sequence[Typed],
) -> Replay:
    """Return a live run as a study.

    Args:
        case: network, set-up, flows, probes and the study's own events.
        title: the study's title.
        layout: the positions of nodes.
        drawing: notes, groups and colours.
        before: the commands typed in the session before the run.
        changes: the changes made on the page during the run.
        typed: the commands typed during the run.

    Raises:
        InputError: even the case without these cannot be written.
    """
    events = [event for one in typed if (event := typed_event(one, case.network))]
    setup = configuring(before, case.network)
    by_hand = [change.event for change in changes]
    lines = [line for change in changes for line in change.lines]
    what = "manual changes could not be written as events of a study"
    earlier = "commands typed before the run could not be written as its set-up"
    first = InputError("")
    for prefix, meanwhile, left_out in (
        (setup, [*by_hand, *events], ()),
        (setup, [*lines, *events], ()),
        ([], [*by_hand, *events], (earlier,) if setup else ()),
        ([], [*lines, *events], (earlier,) if setup else ()),
        ([], [], (what, *((earlier,) if setup else ()))),
    ):
        whole = replace(
            case,
            setup=(*case.setup, *prefix),
            events=(*case.events, *sorted(meanwhile, key=lambda event: event.at_s)),
        )
        try:
            text = study_text(title=title, case=whole, layout=layout, drawing=drawing)
            (planned,) = parse_study(text, name="a live run").cases.values()
        except InputError as error:
            first = first if first.message else error
            continue
        reason = tuple(f"{words}: {first.message}" for words in left_out)
        return Replay(case=planned.case, text=text, left_out=reason)
    raise first
