"""Cuts of a network between two hosts: links that no packet between them can avoid.

Whatever set-up lines do to routes and switches, what gets from one host to another over links
crosses each cut between them at least once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from longfat.model.network.model import Network


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """The links between a part of the nodes and all others.

    Attributes:
        near: the nodes of the part.
        interfaces: the interfaces by which packets leave the part.
    """

    near: frozenset[str]
    interfaces: tuple[str, ...]

    def separates(self, start: str, end: str) -> bool:
        """Return whether all ways from one node to another lead over its links."""
        return start in self.near and end not in self.near


def cuts_between(network: Network, start: str, end: str) -> tuple[Cut, ...]:
    """Return the cut after each number of links from a node, up to another.

    Args:
        network: the network.
        start: the node that packets start at.
        end: the node that they are for.

    Returns:
        The cuts, the first of them around `start`; none where no links lead to `end`.
    """
    ends = [
        pair
        for link, (at_a, at_b) in zip(network.links, network.interfaces(), strict=True)
        for pair in ((link.a, link.b, at_a), (link.b, link.a, at_b))
    ]
    near = frozenset((start,))
    cuts = []
    while end not in near:
        leaving = [(far, interface) for node, far, interface in ends if node in near]
        crossing = [(far, interface) for far, interface in leaving if far not in near]
        if not crossing:
            return ()
        cuts.append(Cut(near=near, interfaces=tuple(interface for _, interface in crossing)))
        near |= {far for far, _ in crossing}
    return tuple(cuts)
