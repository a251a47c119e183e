"""Positions of a network's nodes in MiniEdit's window.

Switches and routers are in a row, with the hosts of each above and below it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from longfat.model.network import Network

_LEFT, _STEP = 90.0, 110.0
_ROWS = (90.0, 390.0)
_MIDDLE = 240.0


def lay_out(network: Network) -> dict[str, tuple[float, float]]:
    """Return the place of each node in pixels; all places differ."""
    inner = [switch.name for switch in network.switches]
    inner += [host.name for host in network.hosts if host.forwards]
    near: dict[str, list[str]] = {}
    for link in network.links:
        near.setdefault(link.a, []).append(link.b)
        near.setdefault(link.b, []).append(link.a)
    places: dict[str, tuple[float, float]] = {}
    left = _LEFT
    # A host is placed with the first switch or router that it is linked to.
    for name in _in_order(inner, near):
        hosts = [
            other
            for other in dict.fromkeys(near.get(name, ()))
            if other not in inner and other not in places
        ]
        width = max(1, (len(hosts) + 1) // 2)
        places[name] = (left + (width - 1) * _STEP / 2, _MIDDLE)
        for index, host in enumerate(hosts):
            places[host] = (left + index // 2 * _STEP, _ROWS[index % 2])
        left += width * _STEP
    for lone in network.hosts:
        if lone.name not in places:
            places[lone.name] = (left, _MIDDLE)
            left += _STEP
    return places


def _in_order(inner: list[str], near: dict[str, list[str]]) -> list[str]:
    """Return switches and routers in an order in which linked ones are adjacent."""
    found: dict[str, None] = {}
    # A chain is begun at one of its ends.
    ends = sorted(inner, key=lambda name: sum(other in inner for other in near.get(name, ())))
    for start in ends:
        waiting = [start]
        while waiting:
            name = waiting.pop()
            if name in inner and name not in found:
                found[name] = None
                waiting += reversed(near.get(name, []))
    return list(found)
