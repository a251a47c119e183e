"""When a run lost packets: its losses between events, and the drops of sampled queues over time.

The kernel counts drops, with the times of the first and the last of each kind. The counts of runs
with events were also read after each moment of them (`longfat.guest.drops`). A queue probe has the
drops of its interfaces at every sample.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from longfat.analysis.losses import Loss, LossReader, check_flow, total_losses
from longfat.analysis.timeseries.quantities import CounterGrowth
from longfat.common.extras import lazy
from longfat.model.probes import Queue
from longfat.model.probes.queue import the_queue

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from longfat.execution.runs import Run

pc = lazy("pyarrow.compute")

_STEPS_S = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 60, 120, 300, 600, 3600)
_MAX_STEPS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class LossSection:
    """What a run lost between two events.

    Attributes:
        start_s: when it began, in seconds after the traffic's start.
        end_s: when it ended, likewise: with the next event, or the last flow.
        event: the event with which it began; empty for the traffic's start.
        losses: the losses, the most packets first. The first of a kind that was also lost before
            has the time of the section's start.
    """

    start_s: float
    end_s: float
    event: str
    losses: tuple[Loss, ...]

    def to_json(self) -> dict[str, Any]:
        """Return it as plain data, numbers in base units."""
        return {
            "start_s": self.start_s,
            "end_s": self.end_s,
            "event": self.event,
            "losses": [loss.to_json() for loss in self.losses],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class DropSeries:
    """The drops of an interface's queue over time, as a queue probe sampled them.

    Attributes:
        probe: the probe.
        interface: the interface.
        step_s: the length of each step, in seconds; the first begins with the traffic.
        packets: the packets dropped in each step; a GSO packet counts once, as in tc's counters.
    """

    probe: str
    interface: str
    step_s: float
    packets: tuple[int, ...]

    def to_json(self) -> dict[str, Any]:
        """Return it as plain data, numbers in base units."""
        return dataclasses.asdict(self)


def loss_sections(run: Run, flow: str | None = None) -> tuple[LossSection, ...]:
    """Return what a run lost between its events.

    Args:
        run: the run.
        flow: only what this flow lost; None for everything.

    Returns:
        A section for each moment of events that was read, and the last one; nothing if the run
        has no events, or none was read.

    Raises:
        InputError: there is no such flow, or the run's kernel does not count what it drops.
    """
    check_flow(run, flow)
    reader = LossReader(run)
    if not run.drop_sections:
        return ()
    # The same drops are of the same flow in each section, also where two flows share a port.
    assert run.drops is not None
    known = {drop.kind: loss for drop, loss in zip(run.drops, reader.losses, strict=True)}
    parts: list[list[Loss]] = []
    for section in run.drop_sections:
        parts.append([])
        for drop in section.drops:
            loss = known.get(drop.kind) or reader.read(drop)
            parts[-1].append(
                dataclasses.replace(
                    loss,
                    packets=drop.packets,
                    size_bytes=drop.size_bytes,
                    first_s=drop.first_s,
                    last_s=drop.last_s,
                )
            )
    ends = [section.end_s for section in run.drop_sections]
    parts.append(_rest(reader.losses, (loss for part in parts for loss in part), start_s=ends[-1]))
    starts = [0.0, *ends]
    ends.append(max([ends[-1], *(time.end_s for time in run.flow_times.values())]))
    return tuple(
        LossSection(
            start_s=start_s,
            end_s=end_s,
            event=_events_at(run, start_s) if index else "",
            losses=total_losses(part, flow),
        )
        for index, (start_s, end_s, part) in enumerate(zip(starts, ends, parts, strict=True))
        if end_s > start_s or part
    )


def drop_series(run: Run) -> tuple[DropSeries, ...]:
    """Return the drops over time of each interface with a queue probe that dropped packets.

    Args:
        run: the run.
    """
    series: dict[str, DropSeries] = {}
    end_s = max((time.end_s for time in run.flow_times.values()), default=0.0)
    for probe in run.case.probes_of(Queue):
        table = the_queue(run.series(probe.name))
        interfaces = table["interface"].cast("string")
        for interface in probe.of:
            rows = table.filter(pc.equal(interfaces, interface))
            columns = (rows[name].to_pylist() for name in ("time_s", "handle", "drops"))
            step_s = _step_s(end_s, probe.every_s)
            packets = _steps(zip(*columns, strict=True), step_s)
            if packets and interface not in series:
                series[interface] = DropSeries(
                    probe=probe.name,
                    interface=interface,
                    step_s=step_s,
                    packets=tuple(packets.get(step, 0) for step in range(max(packets) + 1)),
                )
    return tuple(series.values())


def _rest(losses: Iterable[Loss], earlier: Iterable[Loss], *, start_s: float) -> list[Loss]:
    """Return the losses after some time: those of the whole run without the earlier ones."""
    counted = {loss.key: loss for loss in total_losses(earlier)}
    rest = []
    for loss in total_losses(losses):
        before = counted.get(loss.key)
        if before is None:
            rest.append(loss)
        elif loss.packets > before.packets:
            rest.append(
                dataclasses.replace(
                    loss,
                    packets=loss.packets - before.packets,
                    size_bytes=max(loss.size_bytes - before.size_bytes, 0),
                    first_s=max(loss.first_s, start_s),
                )
            )
    return rest


def _events_at(run: Run, at_s: float) -> str:
    """Return what happened at a time, in words."""
    texts = [event.words for event in run.event_times if event.at_s == at_s]
    if not texts:  # the lines of an event took some time, after which the counts were read
        before = [event.at_s for event in run.event_times if event.at_s <= at_s]
        texts = [event.words for event in run.event_times if event.at_s == max(before, default=-1)]
    return "; ".join(dict.fromkeys(texts))


def _step_s(end_s: float, every_s: float) -> float:
    """Return the length of steps: as short as samples allow, so that there are not too many."""
    return next(
        (step_s for step_s in _STEPS_S if step_s >= every_s and end_s / step_s <= _MAX_STEPS),
        _STEPS_S[-1],
    )


def _steps(samples: Iterable[tuple[float, str, int | None]], step_s: float) -> Mapping[int, int]:
    """Return the packets that were dropped in each step in which some were."""
    growth = CounterGrowth()
    packets: dict[int, int] = {}
    before = 0
    is_first = True
    for time_s, handle, count in samples:
        total = growth.add(handle, count or 0, from_start=is_first)
        is_first = False
        if total > before:
            # A sample has what was dropped before it.
            step = max(0, round((time_s - step_s / 2) / step_s))
            packets[step] = packets.get(step, 0) + total - before
            before = total
    return packets
