"""Changes of a link of a live network.

The lines are those of `longfat.model.network.link_changes`; here they are run, and undone
where the kernel rejects one.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from longfat.live.process import CommandFailed
from longfat.model.network import shaped_interfaces
from longfat.model.network.link_changes import change_lines, deletion

if TYPE_CHECKING:
    from collections.abc import Callable

    from longfat.model.network import Network
    from longfat.model.tc import QdiscLine


def reshape(
    before: Network, after: Network, *, link: int, run: Callable[[str, str], object]
) -> None:
    """Change a link's impairments; if that fails, restore the previous ones.

    Args:
        before: the network that is built.
        after: the same, except for the impairments of one link.
        link: the index of the link.
        run: runs a line at a node (a host or a switch).

    Raises:
        CommandFailed: `run` raised it, because tc rejected a line.
    """
    ends = before.interfaces()[link]
    undo: list[tuple[str, QdiscLine]] = []
    for node, was, will in zip(
        (before.links[link].a, before.links[link].b),
        shaped_interfaces(before, ends),
        shaped_interfaces(after, ends),
        strict=True,
    ):
        for number, line in enumerate(change_lines(was, will)):
            try:
                run(node, str(line))
            except CommandFailed:
                for place, again in undo:
                    with contextlib.suppress(CommandFailed):  # there may be nothing to delete
                        run(place, str(again))
                raise
            if number == 0:  # the previous qdiscs do not exist any more
                undo += [(node, again) for again in (deletion(was.name), *was.lines)]
