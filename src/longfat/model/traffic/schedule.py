"""About when the flows of a case end, as far as their fields define it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from longfat.model.traffic.flow import Flow


def expected_ends_s(flows: Iterable[Flow], *, start_s: Callable[[Flow], float]) -> dict[str, float]:
    """Return about when each flow ends, by its name, in seconds after the traffic's start.

    Args:
        flows: the flows; none waits for one that is not there, or for itself.
        start_s: when a flow starts, in seconds after what it counts from.
    """
    named = {flow.name: flow for flow in flows}
    ends: dict[str, float] = {}

    def end_s(flow: Flow) -> float:
        if flow.name not in ends:
            before_s = end_s(named[flow.after]) if flow.after is not None else 0.0
            ends[flow.name] = before_s + start_s(flow) + flow.duration_s()
        return ends[flow.name]

    for flow in named.values():
        end_s(flow)
    return ends


def latest_ends_s(flows: Iterable[Flow]) -> dict[str, float] | None:
    """Return about when each flow ends at the latest, for any seed.

    Returns:
        Seconds after the traffic's start by name; None where that depends on how fast a
        flow's data passes.
    """
    flows = list(flows)
    if not all(flow.has_known_duration for flow in flows):
        return None
    return expected_ends_s(flows, start_s=lambda flow: flow.start_s + flow.start_spread_s)
