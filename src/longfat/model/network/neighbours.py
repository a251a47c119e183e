"""The neighbours that flows need, so that hosts know their addresses before the traffic starts.

On a network that has been up for a while hosts know the link-layer addresses of those they speak
to. On one that was just built the first packet waits for ARP or neighbour discovery: it takes a
round trip more, and where the request is lost, as one may be in a short queue, a second.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from longfat.model.network.routing import Handover, NoRouteError, trace_handovers

if TYPE_CHECKING:
    from longfat.model.case import Command
    from longfat.model.network.model import Network

# Lines that change addresses of interfaces, or say themselves who knows whom.
_OWN_NEIGHBOURS = re.compile(r"\b(neigh\w*|arp\w*|lladdr|fdb)\b|\blink\b.*\baddress\b")


def needed_neighbours(
    network: Network,
    pairs: Iterable[tuple[str, str, str | None]],
    *,
    setup: Sequence[Command] = (),
) -> list[Handover]:
    """Return the neighbours that packets between hosts are handed to, there and back.

    Args:
        network: the network.
        pairs: the hosts at the ends of each flow, and the address of the second one that the
            flow is sent to; that which it is called by, if None.
        setup: the set-up lines. If one changes link-layer addresses or neighbours, there
            are none: what hosts knew before would be wrong.

    Returns:
        Each once, in the order of the flows; none of ways that no routes give.
    """
    if any(_OWN_NEIGHBOURS.search(command.line) for command in setup):
        return []
    needed: dict[Handover, None] = {}
    for source, target, address in dict.fromkeys(pairs):
        for start, end, at in ((source, target, address), (target, source, None)):
            with suppress(NoRouteError):
                handed = trace_handovers(network, start, end, address=at)
                needed |= dict.fromkeys(handed)
    return list(needed)
