"""Names for the cases of a script that runs its network several times.

A loop over a queue's size or a congestion control builds the same network with another value each
time: so the value that differs is the name. Where no single value distinguishes all runs, they are
numbered.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from longfat.study.formats.mininet.machine import NetworkRecord

if TYPE_CHECKING:
    from collections.abc import Hashable

_MAX_LENGTH = 30
_SHORT = {"max_queue_size": "queue"}


def case_names(networks: Sequence[NetworkRecord]) -> list[str]:
    """Return a name for each of a script's networks, such as `queue-20` or `cubic`."""
    if len(networks) == 1:
        return ["default"]
    values = [dict(_values(network)) for network in networks]
    for key in values[0]:
        texts = [str(own.get(key, "")) for own in values]
        names = [_name(key, text) for text in texts]
        if all(texts) and len(set(names)) == len(names):
            return names
    return [f"run{number}" for number in range(1, len(networks) + 1)]


def _values(network: NetworkRecord) -> Iterator[tuple[Hashable, object]]:
    for index, link in enumerate(network.links):
        for end in link.ends:
            for name, value in end.options.items():
                yield (name, index, end.interface), value
    yield ("hosts",), sum(not node.is_switch for node in network.nodes)
    yield ("switches",), sum(node.is_switch for node in network.nodes)
    commands = [one for one in network.commands if one.kind == "line" and one.text]
    for index, command in enumerate(commands):
        for number, word in enumerate(re.split(r"[\s=]+", command.text)):
            if "/" not in word and not word.startswith("-"):
                yield ("", index, number), word


def _name(key: Hashable, text: str) -> str:
    label = key[0] if isinstance(key, tuple) else ""
    label = _SHORT.get(str(label), str(label))
    value = re.sub(r"[^A-Za-z0-9_]", "_", text)[:_MAX_LENGTH].strip("_")
    name = f"{label}-{value}" if label else value
    return name if name[:1].isalpha() else f"run-{name}"
