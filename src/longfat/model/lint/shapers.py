"""Rules about htb, tbf and policers after all set-up lines.

Sources: tc-htb(8), tc-tbf(8), tc-police(8); htb_classify and htb_change_class in
net/sched/sch_htb.c, tbf_enqueue in sch_tbf.c, tcf_police_act in act_police.c. The numbers of
docs/lint.md are from runs.
"""

from __future__ import annotations

from collections.abc import Iterator

from longfat.model.lint.case_facts import CaseFacts, default_class, size_of
from longfat.model.lint.machine_state import DeviceState, Entry, Origin, major
from longfat.model.lint.tc_numbers import rate_word, tc_rate_bps, tc_size_bytes
from longfat.model.metric import Unit
from longfat.model.units import format_quantity

_MIN_QUANTUM_BYTES, _MAX_QUANTUM_BYTES = 1000, 200_000
_R2Q = 10

Warnings = Iterator[tuple[Origin, str]]


def shaper_warnings(facts: CaseFacts) -> Warnings:
    """Find shapers that pass nothing, or not what they say."""
    for device in facts.known_devices():
        for entry in (*device.qdiscs.values(), *device.filters):
            if entry.is_typed and entry.command.kind in {"tbf", "bfifo", "police"}:
                yield from ((entry.origin, text) for text in _too_small(facts, entry))
        root = device.root
        if root is not None and root.command.kind == "htb":
            yield from _htb_warnings(device, root)
        yield from _replaced_queues(device)


def _too_small(facts: CaseFacts, entry: Entry) -> Iterator[str]:
    """Find buckets and queues that hold no full-sized frame."""
    frame, kind = facts.frame_bytes, entry.command.kind
    if kind == "police":
        frame -= 14  # at ingress a packet is without its Ethernet header
    options = {"tbf": ("burst", "limit", "mtu"), "bfifo": ("limit",), "police": ("burst", "mtu")}
    for name in options[kind]:
        size = size_of(entry, name)
        if size is None or size >= frame or (name == "mtu" and not _has_peak(entry)):
            continue
        typed = f"`{kind} {name} {entry.command.get(name)}`"
        if kind == "bfifo":
            packets = int(size)
            yield (
                f"{typed}: is {packets:,} bytes, below a full-sized frame of {frame:,}, and drops"
                f" what has to wait: write `pfifo limit {packets}` for packets, or"
                f" `limit {packets * frame}`"
            )
            return
        yield (
            f"{typed}: is {int(size):,} bytes, below a full-sized"
            f" {'packet' if kind == 'police' else 'frame'} of {frame:,}, which never passes:"
            f" write {_right_size(name, entry)}"
        )
    if kind == "police":
        yield from _policed_flows(facts, entry)


def _replaced_queues(device: DeviceState) -> Warnings:
    """Find a tbf or netem whose queue is not where its packets wait.

    The limit of a tbf is that of a FIFO below it, whose place another qdisc takes. In a netem all
    packets below it count, too; at a rate that is not above that of the tbf there, they wait in it.
    """
    for handle, entry in device.qdiscs.items():
        below = next(
            (one for one in device.qdiscs.values() if major(one.command.parent) == handle), None
        )
        if below is None or not (entry.is_typed and below.is_typed):
            continue
        kinds = (entry.command.kind, below.command.kind)
        limit = entry.command.get("limit") or entry.command.get("latency")
        if kinds == ("tbf", "netem") and limit and not below.command.has("limit"):
            name = "limit" if entry.command.has("limit") else "latency"
            yield (
                below.origin,
                f"`netem` below a tbf takes the place of its queue, so the tbf's `{name} {limit}`"
                " has no effect, and 1,000 packets wait in the netem: put the tbf below the netem,"
                " or write `limit` in packets at the netem, for both the queue and what its delay"
                " holds",
            )
        rates = [tc_rate_bps(one.command.get("rate")) for one in (entry, below)]
        if kinds == ("netem", "tbf") and rates[0] and rates[1] and rates[0] <= rates[1]:
            yield (
                below.origin,
                f"`tbf rate {below.command.get('rate')}` below a netem of"
                f" `rate {entry.command.get('rate')}`: packets wait in the netem, up to"
                f" {entry.command.get('limit') or '1000'} of them, and never in the tbf, whose"
                " limit has no effect: leave out one of both rates",
            )


def _has_peak(entry: Entry) -> bool:
    return entry.command.kind == "police" or entry.command.has("peakrate")


def _right_size(name: str, entry: Entry) -> str:
    if name == "mtu":
        return "`mtu 1514` or more"
    rate = tc_rate_bps(entry.command.get("rate")) or 0.0
    # What passes in 10 ms, and several frames.
    size = max(10 * 1024, int(rate / 8 / 100)) if name == "limit" else max(10_240, int(rate / 8e3))
    return f"such as `{name} {size}`"


def _policed_flows(facts: CaseFacts, entry: Entry) -> Iterator[str]:
    """Find a bucket that a window of TCP overruns: below half of rate x RTT.

    Measured at 100 Mbit/s and 20 ms, where that is 250 KB, with CUBIC: a bucket of 15 KB lets
    8 Mbit/s through, one of 64 KB 30, 250 KB 82 and 500 KB 88.
    """
    rate, burst = tc_rate_bps(entry.command.get("rate")), size_of(entry, "burst")
    device = facts.state.devices.get(entry.command.device or "")
    if not rate or burst is None or device is None or burst < facts.frame_bytes:
        return
    for path in facts.paths:
        if device.link not in {
            facts.state.devices[name].link for name in path.interfaces
        } or path.flow.congestion in {"bbr", "bbr2", "bbr3"}:
            continue
        product = min(rate / 8 * path.rtt_s, path.window_bytes)
        if burst < product / 2:
            yield (
                f"`police rate {entry.command.get('rate')} burst {entry.command.get('burst')}`:"
                f" drops whatever {path.flow.name} sends beyond the bucket, and rate x RTT is"
                f" {format_quantity(product, Unit.BYTES)}: write `burst {int(2 * product)}`, or"
                " shape in place of policing"
            )
            return


def _htb_warnings(device: DeviceState, root: Entry) -> Warnings:
    handle = next(key for key, one in device.qdiscs.items() if one is root)
    classes = {
        name: one
        for name, one in device.classes.items()
        if major(name) == handle and one.command.kind == "htb"
    }
    if len(classes) < len(device.classes):
        return
    yield from _default_warnings(device, root, classes, handle)
    for name, entry in classes.items():
        rate, ceil = entry.command.get("rate"), entry.command.get("ceil")
        rate_bps, ceil_bps = tc_rate_bps(rate), tc_rate_bps(ceil)
        if rate_bps and ceil_bps and ceil_bps < rate_bps:
            yield (
                entry.origin,
                f"`htb rate {rate} ceil {ceil}`: class {name} never sends more than its ceiling,"
                f" so its rate is {ceil}: write a ceiling of at least {rate}",
            )
        children = {key: one for key, one in classes.items() if one.command.parent == name}
        if children and rate_bps:
            yield from _children_warnings(name, entry, children, root)


def _default_warnings(
    device: DeviceState, root: Entry, classes: dict[str, Entry], handle: str
) -> Warnings:
    if not classes:
        return
    word = root.command.get("default")
    number = default_class(word)
    if not root.command.is_complete or (word is not None and number is None and word != "0"):
        return
    leaves = [
        name
        for name in classes
        if not any(other.command.parent == name for other in classes.values())
    ]
    right = leaves[-1].partition(":")[2]
    if number is None:
        if not device.filters and leaves:
            yield (
                root.origin,
                f"`htb` without `default`, and no filter puts packets into a class: all of them"
                f' leave unshaped, as "direct packets": write `default {right}`',
            )
        return
    name = f"{handle}{number:x}"
    if name not in classes:
        yield (
            root.origin,
            f"`htb default {word}`: there is no class {name} (the number is hexadecimal), so what"
            f' no filter matches leaves unshaped, as "direct packets": write `default {right}`',
        )
    elif name not in leaves:
        yield (
            root.origin,
            f"`htb default {word}`: the class {name} has classes below it, so what no filter"
            f' matches leaves unshaped, as "direct packets": name a leaf: `default {right}`',
        )


def _children_warnings(
    name: str, parent: Entry, children: dict[str, Entry], root: Entry
) -> Warnings:
    rates = [tc_rate_bps(one.command.get("rate")) for one in children.values()]
    known = [rate for rate in rates if rate is not None]
    ceiling = tc_rate_bps(parent.command.get("ceil") or parent.command.get("rate"))
    if len(known) < len(rates) or ceiling is None:
        return
    last = list(children.values())[-1]
    if sum(known) > ceiling:
        yield (
            last.origin,
            f"htb guarantees each class its rate, whatever its parent has: the classes below {name}"
            f" send {format_quantity(sum(known), Unit.BPS)} together, and {name} limits to"
            f" {format_quantity(ceiling, Unit.BPS)} only what they borrow: write rates whose sum is"
            f" at most {rate_word(ceiling)}, and `ceil {rate_word(ceiling)}`",
        )
    elif sum(known) < ceiling and not any(one.command.has("ceil") for one in children.values()):
        yield (
            last.origin,
            f"`htb rate {last.command.get('rate')}` without `ceil`: its ceiling is its rate, so no"
            f" class below {name} borrows what {name} has left of"
            f" {format_quantity(ceiling, Unit.BPS)}: write `ceil {rate_word(ceiling)}`, or"
            f" `ceil {last.command.get('rate')}` if that is meant",
        )
    yield from _quantum_warnings(name, children, root)


def _quantum_warnings(name: str, children: dict[str, Entry], root: Entry) -> Warnings:
    """Find quanta that the kernel cuts, so that what is borrowed is not shared by rate."""
    r2q = tc_size_bytes(root.command.get("r2q")) or _R2Q
    quanta = {
        key: (tc_rate_bps(one.command.get("rate")) or 0.0) / 8 / r2q
        for key, one in children.items()
        if not one.command.has("quantum")
    }
    outside = [
        key for key, size in quanta.items() if not _MIN_QUANTUM_BYTES <= size <= _MAX_QUANTUM_BYTES
    ]
    if not outside or len(children) < 2 or len(set(quanta.values())) < 2:
        return
    key = outside[0]
    is_big = quanta[key] > _MAX_QUANTUM_BYTES
    cut = _MAX_QUANTUM_BYTES if is_big else _MIN_QUANTUM_BYTES
    top = max(quanta.values()) * r2q
    yield (
        children[key].origin,
        f"htb gives {key} a quantum of rate / r2q, {int(quanta[key]):,} bytes, and the kernel makes"
        f' it {cut:,} ("quantum of class is {"big" if is_big else "small"}"), so the classes'
        f" below {name} do not share what they borrow by their rates: write `quantum` at each of"
        f" them, or `r2q {max(1, int(top / _MAX_QUANTUM_BYTES) + 1)}` at the qdisc",
    )
