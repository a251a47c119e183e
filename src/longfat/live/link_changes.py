"""A link of a live network that does something else from now on.

The lines are those of `longfat.model.network.link_changes`; here they are typed, and taken back
where the kernel refuses one.
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
    """Let a link do something else to packets; if it cannot, it does what it did before.

    Args:
        before: the network that is built.
        after: the same, but for the shapes of one link.
        link: the link, by its place.
        run: runs a line at a node (a host or a switch).

    Raises:
        CommandFailed: `run` raised it, for tc refused a line.
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
            if number == 0:  # what was there is not there any more
                undo += [(node, again) for again in (deletion(was.name), *was.lines)]
