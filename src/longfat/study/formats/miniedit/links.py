"""The links of a `.mn` file: which nodes, and Mininet's options of a TCLink.

Mininet gives the options to both ends, so each direction has the rate, the
delay, the jitter and the loss; see `longfat.study.formats.tclink`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from longfat.common.suggest import listed, nearest
from longfat.errors import InputError
from longfat.model.network import Link, LinkImpairments
from longfat.study.formats.miniedit.fields import Fields
from longfat.study.formats.tclink import link_shape, link_time_s

if TYPE_CHECKING:
    from collections.abc import Collection

    from longfat.study.formats.tclink import Notes
    from longfat.study.node import Node


def read_link(
    node: Node, *, nodes: Collection[str], controllers: Collection[str], notes: Notes
) -> Link | None:
    """Read a link.

    Args:
        node: the link.
        nodes: the names of hosts and switches.
        controllers: the names of controllers.
        notes: collects what is left out.

    Returns:
        The link; None for one to a controller, which is left behind.

    Raises:
        InputError: an end does not exist, or an option has no value that tc takes.
    """
    fields = Fields(node, "a link")
    ends = []
    for name in ("src", "dest"):
        value = fields.get(name)
        if value is None:
            raise node.error(f"the link has no {name}")
        ends.append((value, value.line("a node's name")))
    who = f"link {ends[0][1]} - {ends[1][1]}"
    if any(end in controllers for _, end in ends):
        notes.add(who, "is left out: there are no controllers")
        return None
    for value, end in ends:
        if end not in nodes:
            raise value.error(
                f"there is no node {end!r}{nearest(end, nodes)} (there are: {listed(nodes)})"
            )
    if ends[0][1] == ends[1][1]:
        raise node.error(f"the link leads from {ends[0][1]} to itself")
    shape = _read_shape(fields.get("opts"), who, notes)
    for name in fields.unknown():
        notes.add(who, f"the field {name} is not known and is left out")
    return Link(a=ends[0][1], b=ends[1][1], a_to_b=shape, b_to_a=shape)


def _read_shape(node: Node | None, who: str, notes: Notes) -> LinkImpairments:
    if node is None:
        return LinkImpairments()
    opts = Fields(node, "a link's options")
    megabits = opts.number("bw")
    packets = opts.number("max_queue_size")
    percent = opts.number("loss")
    delay_s = _time_s(opts, "delay", who, notes)
    jitter_s = _time_s(opts, "jitter", who, notes)
    if percent is not None and percent > 100:
        raise opts.node.error(f"a loss of {percent:g} % is more than all")
    if opts.text("speedup") not in {None, "0"}:
        notes.add(who, "speedup, the rate of a switch's end, is left out")
    for name in opts.unknown():
        notes.add(who, f"the option {name} is not known and is left out")
    return link_shape(
        megabits=megabits,
        packets=packets,
        percent=percent,
        delay_s=delay_s,
        jitter_s=jitter_s,
        who=who,
        notes=notes,
    )


def _time_s(opts: Fields, name: str, who: str, notes: Notes) -> float | None:
    text = opts.text(name)
    if text is None:
        return None
    try:
        return link_time_s(text, name=name, who=who, notes=notes)
    except InputError as error:
        value = opts.get(name)
        assert value is not None
        raise value.error(error.message) from None
