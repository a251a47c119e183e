"""The rate of an interface over time, where events change it.

Not exported by the package: the timeline imports the package, and this the timeline.
"""

from __future__ import annotations

import math
from collections import defaultdict, deque
from typing import TYPE_CHECKING

from longfat.model.flow_path.installed import snapshots
from longfat.model.flow_path.installed_path import total_rate
from longfat.model.flow_path.setup_lines import QdiscTree, shaping
from longfat.model.network import shaped_interfaces
from longfat.model.timeline import timeline

if TYPE_CHECKING:
    from collections.abc import Sequence

    from longfat.model.case import Case
    from longfat.model.flow_path.installed import InstalledNode
    from longfat.model.timeline import Step


def interface_rates(
    case: Case,
    name: str,
    happened: Sequence[tuple[int, float]],
    *,
    installed: Sequence[InstalledNode] | None = None,
) -> list[tuple[float, float | None]]:
    """Return the rates of an interface, and from when on each holds.

    Args:
        case: the case.
        name: the interface.
        happened: what happened of the case's events: an event's index, and when, in seconds
            after the traffic's start.
        installed: what its run's kernel had installed; None to read set-up lines and events.

    Returns:
        Times with rates in bit/s, None for no limit. The first holds from the beginning.

    Raises:
        NotUnderstoodError: a line cannot be read with certainty.
    """
    (interface,) = shaped_interfaces(case.network, {name})
    if installed is not None:
        rates: list[tuple[float, float | None]] = []
        for now in snapshots(installed):
            rate_bps = total_rate(now.interface(interface.node, name))
            if not rates or rate_bps != rates[-1][1]:
                rates.append((now.at_s if rates else -math.inf, rate_bps))
        return rates or [(-math.inf, None)]
    tree = QdiscTree(interface)
    for command in case.setup:
        tree.enter(command)
    found = [(-math.inf, shaping(tree.lines).rate_bps)]
    if not happened:
        return found
    steps: defaultdict[int, deque[Step]] = defaultdict(deque)
    for step in timeline(case.network, setup=case.setup, events=case.events):
        steps[step.event].append(step)
    for event, at_s in sorted(happened, key=lambda one: one[1]):
        # The steps of one event happen in the timeline's order.
        for command in steps[event].popleft().commands:
            tree.enter(command)
        rate_bps = shaping(tree.lines).rate_bps
        if rate_bps != found[-1][1]:
            found.append((at_s, rate_bps))
    return found
