"""Rules about netem, FIFOs, CoDel, RED and cake after all set-up lines.

Sources: tc-netem(8), tc-codel(8), tc-fq_codel(8), tc-red(8), tc-cake(8); RFC 8289, section
4.2 and 4.3, for CoDel's target and interval.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from longfat.model.lint.case_facts import (
    CaseFacts,
    FlowFacts,
    entry_rate_bps,
    least_rate_bps,
    size_of,
)
from longfat.model.lint.machine_state import DeviceState, Entry, Origin
from longfat.model.lint.tc_numbers import split_number, tc_time_s
from longfat.model.metric import Unit
from longfat.model.units import format_quantity

Warnings = Iterator[tuple[Origin, str]]

NETEM_PACKETS = 1000
"""The default limit of netem."""

_CAKE_RTT_S = 0.1
_CAKE_RTTS = frozenset(
    ("rtt", "datacentre", "lan", "metro", "regional", "internet", "oceanic", "satellite")
) | {"interplanetary"}
_TARGETS_S = {"codel": 0.005, "fq_codel": 0.005, "pie": 0.015, "fq_pie": 0.015}
_INTERVAL_S = 0.1
_NEEDS_RATE = frozenset(("codel", "pie", "fq_pie", "red"))
_MARKS_WITH_ECN = frozenset(("codel", "pie", "red"))
_RACK_SHARE = 0.25
_RED_SHARE = 10
_FIFOS = frozenset(("pfifo", "bfifo", "tbf"))
_SMALL_BURST_PACKETS = 8
_NO_LOSS_BASED = frozenset(("bbr", "bbr2", "bbr3", "dctcp", "prague"))


def queue_warnings(facts: CaseFacts) -> Warnings:
    """Find queues that drop, or do nothing, because of a number that does not fit their path."""
    for device in facts.known_devices():
        for entry in device.qdiscs.values():
            if entry.is_typed:
                yield from ((entry.origin, text) for text in _warnings(facts, device, entry))


def _warnings(facts: CaseFacts, device: DeviceState, entry: Entry) -> Iterator[str]:
    kind = entry.command.kind
    if not entry.command.is_complete:
        return
    if kind == "netem":
        yield from _netem_limit(facts, device, entry)
        yield from _netem_jitter(entry)
        yield from _netem_reordering(facts, device, entry)
    if kind in {"codel", "fq_codel"}:
        yield from _codel(facts, device, entry)
    if kind == "cake":
        yield from _cake(facts, device, entry)
    if kind in _MARKS_WITH_ECN:
        yield from _marks_not(facts, device, entry)
    if kind == "red":
        yield from _red(facts, device, entry)
    if kind in _FIFOS:
        yield from _short_fifo(facts, device, entry)
    if kind in _NEEDS_RATE and entry.command.parent == "root":
        yield (
            f"`{kind}` at the root of {device.name}, which has no rate: packets leave at once, so"
            " no queue forms and it does nothing: put it below a `tbf` or an `htb`, or give the"
            " link a rate"
        )


def _shaped_bps(device: DeviceState, entry: Entry) -> float | None:
    """Return the least rate that a qdisc's packets leave an interface with."""
    near = (entry, *device.above(entry), *device.below(entry))
    return min((rate for one in near if (rate := entry_rate_bps(one)) is not None), default=None)


def _netem_limit(facts: CaseFacts, device: DeviceState, entry: Entry) -> Iterator[str]:
    delay = tc_time_s(entry.command.get("delay"))
    limit = split_number(entry.command.get("limit") or str(NETEM_PACKETS))
    if not delay or limit is None or limit[1]:
        return
    rates = [
        (rate, path.flow.name)
        for path in facts.crossing(device)
        if not path.has_loss and (rate := _rate_through(facts, device, path)) is not None
    ]
    if not rates:
        return
    rate, flow = max(rates)
    sure = min(rate, *(_sure_bps(path) for path in facts.crossing(device)))
    packet = facts.packet_bytes(rate)
    needed = math.ceil(rate / 8 * delay / packet)
    if limit[0] < math.ceil(sure / 8 * delay / packet):
        reached = limit[0] * packet * 8 / delay
        default = "" if entry.command.has("limit") else " by default"
        yield (
            f"`netem delay {entry.command.get('delay')}`: keeps at most {limit[0]:g} packets"
            f"{default}, and {flow} has {needed:,} on the way at"
            f" {format_quantity(rate, Unit.BPS)}: it drops the rest, from"
            f" {format_quantity(reached, Unit.BPS)} on: write `limit {_round_up(2 * needed)}`"
        )


def _rate_through(facts: CaseFacts, device: DeviceState, path: FlowFacts) -> float | None:
    """Return what flows bring through an interface where they fill a path, in bit/s.

    At each interface of the path, flows that come by another way take their part of its rate.
    """
    shares = []
    for name in path.interfaces:
        rate = least_rate_bps(facts.state.devices[name])
        if rate is not None:
            crossing = [one for one in facts.paths if name in one.interfaces]
            own = sum(one.flow.parallel for one in crossing if device.name in one.interfaces)
            shares.append(rate * own / sum(one.flow.parallel for one in crossing))
    return min(shares, default=None)


def _sure_bps(path: FlowFacts) -> float:
    """Return a rate in bit/s that a flow's own limits let it reach."""
    own = path.flow.rate_bps
    limits = [math.inf if own is None else own * path.flow.parallel]
    if path.rtt_s:
        limits.append(path.window_bytes * 8 / path.rtt_s)
    return min(limits)


def _round_up(number: int) -> int:
    unit = int(10 ** (len(str(number)) - 1))
    return math.ceil(number / unit) * unit


def _netem_jitter(entry: Entry) -> Iterator[str]:
    values = next((values for key, values in entry.command.options if key == "delay"), ())
    if len(values) < 2 or entry.command.has("distribution"):
        return
    delay, jitter = tc_time_s(values[0]), tc_time_s(values[1])
    if delay is not None and jitter is not None and jitter > delay:
        share = (jitter - delay) / (2 * jitter)
        yield (
            f"`netem delay {values[0]} {values[1]}`: {share:.0%} of the delays are negative, and"
            f" such packets leave at once, before others: write a jitter of at most {values[0]}"
        )


def _netem_reordering(facts: CaseFacts, device: DeviceState, entry: Entry) -> Iterator[str]:
    """Find jitter in the path of TCP: each packet draws its own delay, so they overtake.

    With a rate in the same netem each packet leaves after the one before. TCP waits for a quarter
    of its round-trip time before it takes a packet that is late for lost (RFC 8985, section 6.2),
    so a small jitter has no effect.
    """
    values = next((values for key, values in entry.command.options if key == "delay"), ())
    jitter = tc_time_s(values[1]) if len(values) > 1 else 0.0
    if not jitter:
        return
    late = [path for path in facts.crossing(device) if 2 * jitter > path.rtt_s * _RACK_SHARE]
    flows = [path.flow.name for path in late]
    has = entry.command.has
    if flows and not has("rate") and not has("reorder"):
        yield (
            f"`netem delay {' '.join(values)}`: each packet has a delay of its own, so those of"
            f" {flows[0]} overtake each other by up to"
            f" {format_quantity(2 * jitter, Unit.SECONDS)}, which TCP takes for losses: write a"
            " `rate` in the same netem, which keeps their order, or `reorder` if that is meant"
        )


def _marks_not(facts: CaseFacts, device: DeviceState, entry: Entry) -> Iterator[str]:
    """Find a queue that drops the packets of a flow that asks for ECN."""
    kind = entry.command.kind
    if entry.command.has("ecn"):
        return
    for path in facts.crossing(device):
        if facts.asks_for_ecn(path.flow.source) and not path.flow.reverse:
            yield (
                f"`{kind}` without `ecn`: {path.flow.name} asks for ECN, and its packets are"
                f" dropped in place of marked: write `{kind} ecn`"
            )
            return


def _codel(facts: CaseFacts, device: DeviceState, entry: Entry) -> Iterator[str]:
    rate = _shaped_bps(device, entry)
    kind = entry.command.kind
    target = tc_time_s(entry.command.get("target")) or _TARGETS_S[kind]
    interval = tc_time_s(entry.command.get("interval")) or _INTERVAL_S
    if rate is None:
        return
    frame_s = facts.frame_bytes * 8 / rate
    if frame_s > target:
        right_ms = math.ceil(frame_s * 1.5 * 1000)
        yield (
            f"`{kind}` with a target of {format_quantity(target, Unit.SECONDS)}: at"
            f" {format_quantity(rate, Unit.BPS)} one full-sized frame takes"
            f" {format_quantity(frame_s, Unit.SECONDS)}, so each that waits for another is too"
            f" late: write `target {right_ms}ms interval {max(100, 10 * right_ms)}ms`"
        )
    slow = [path for path in facts.crossing(device) if path.rtt_s > interval * 1.001]
    if slow:
        path = max(slow, key=lambda one: one.rtt_s)
        rtt_ms = math.ceil(path.rtt_s * 1000)
        yield (
            f"`{kind}` with an interval of {format_quantity(interval, Unit.SECONDS)}: drops again"
            f" before {path.flow.name} can respond, whose round-trip time is {rtt_ms} ms: write"
            f" `target {math.ceil(rtt_ms / 20)}ms interval {rtt_ms}ms`"
        )


def _cake(facts: CaseFacts, device: DeviceState, entry: Entry) -> Iterator[str]:
    if any(map(entry.command.has, _CAKE_RTTS)):
        return
    slow = [path for path in facts.crossing(device) if path.rtt_s > _CAKE_RTT_S * 1.001]
    if slow and entry.command.has("bandwidth"):
        path = max(slow, key=lambda one: one.rtt_s)
        yield (
            f"`cake` without `rtt`: its AQM is set for 100 ms, and {path.flow.name} has a"
            f" round-trip time of {math.ceil(path.rtt_s * 1000)} ms: write"
            f" `rtt {math.ceil(path.rtt_s * 1000)}ms`"
        )


def _short_fifo(facts: CaseFacts, device: DeviceState, entry: Entry) -> Iterator[str]:
    """Find a queue that holds less than two of the packets that TCP sends at once.

    Below a tbf, part of a burst passes before the queue fills.
    """
    kind = entry.command.kind
    rate = _shaped_bps(device, entry)
    flows = [path for path in facts.crossing(device) if not path.has_loss]
    flows = [path for path in flows if path.flow.rate_bps is None and not _is_slower(path, rate)]
    if rate is None or not flows:
        return
    packet = facts.packet_bytes(rate / sum(path.flow.parallel for path in flows))
    shaper = entry if kind == "tbf" else next(iter(device.above(entry)), entry)
    burst = size_of(shaper, "burst") if shaper.command.kind == "tbf" else None
    passes = burst is not None and burst >= _SMALL_BURST_PACKETS * packet
    word = entry.command.get("limit")
    least = 1 if passes else 2
    if kind == "pfifo":
        number = split_number(word or "")
        if number is None or number[1] or number[0] > least or passes:
            return
        held, right = f"{number[0]:g} packet{'' if number[0] == 1 else 's'}", "`limit 100`"
    else:
        limit = size_of(entry, "limit")
        if limit is None or not facts.frame_bytes <= limit < least * packet:
            return
        product = max((rate / 8 * path.rtt_s for path in flows), default=0.0)
        held = f"{int(limit):,} bytes"
        right = f"such as `limit {_round_up(math.ceil(max(10 * packet, product)))}`"
    yield (
        f"`{kind} limit {word}`: holds {held}, and {flows[0].flow.name} sends packets of up to"
        f" {int(packet):,} bytes at this rate, several at once: all but the first of a burst are"
        f" dropped: write {right}"
    )


def _is_slower(path: FlowFacts, rate: float | None) -> bool:
    """Return whether something else on a flow's way has less than a rate."""
    return path.rate_bps is not None and rate is not None and path.rate_bps < rate


def _red(facts: CaseFacts, device: DeviceState, entry: Entry) -> Iterator[str]:
    high, rate = size_of(entry, "max"), _shaped_bps(device, entry)
    if high is None or rate is None or entry.command.has("ecn"):
        return
    for path in facts.crossing(device):
        product = min(rate / 8 * path.rtt_s, path.window_bytes)
        is_limited = path.rate_bps is not None and path.rate_bps < rate
        if path.flow.congestion in _NO_LOSS_BASED or is_limited or path.flow.parallel > 1:
            continue
        if high * _RED_SHARE < product:
            yield (
                f"`red max {entry.command.get('max')}`: drops all packets while its average is"
                f" above {int(high):,} bytes, and rate x RTT of {path.flow.name} is"
                f" {int(product):,}: write such as `min {int(product / 4)} max {int(product)}`"
            )
            return
