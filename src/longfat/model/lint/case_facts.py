"""What rules need to know of a case: its interfaces, the frames, and the paths of its flows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from longfat.model.case import Case
from longfat.model.events import TypedLine
from longfat.model.flow_path import flow_interfaces
from longfat.model.lint.machine_state import (
    DeviceState,
    Entry,
    MachineState,
    Origin,
    Typed,
    typed_commands,
)
from longfat.model.lint.shell_words import settings_of
from longfat.model.lint.tc_numbers import tc_rate_bps, tc_size_bytes, tc_time_s
from longfat.model.network.model import DEFAULT_MTU_BYTES
from longfat.model.traffic import Bulk

_ECN = re.compile(r"net[./]ipv4[./]tcp_ecn=1")
ETHERNET_BYTES = 14
_GSO_BYTES = 65_536

MAX_SEND_BYTES = 4 << 20
"""The largest send buffer that Linux gives by itself (`tcp_wmem`)."""

MAX_RECEIVE_BYTES = 6 << 20
"""The largest receive buffer that all kernels give (`tcp_rmem`)."""

_DATA_SHARE = 0.4
"""The share of a buffer that holds data, at least: docs/advice.md has 0.42 to 0.79."""

_MTU = re.compile(r"\b(?:link|route)\b[^;&|\n]*?\bmtu\s+(?:lock\s+)?(\d+)")
_FRAMES = re.compile(r"\b(?:gso_max_segs\s+1\b|gso_max_size|tso\s+off|gso\s+off)")


@dataclass(frozen=True, slots=True)
class FlowFacts:
    """The path of a flow over TCP.

    Attributes:
        flow: the flow.
        interfaces: what its data leaves through, in their order.
        rtt_s: the delay of both directions, in seconds; it is at least that.
        rate_bps: the least rate on its way; None if nothing limits it.
        window_bytes: its buffers let it have so much in flight, at least.
        has_loss: a netem on its way loses, corrupts or reorders packets at random, so that the
            flow may never reach the rate.
    """

    flow: Bulk
    interfaces: tuple[str, ...]
    rtt_s: float
    rate_bps: float | None
    window_bytes: float
    has_loss: bool


@dataclass(frozen=True, slots=True)
class CaseFacts:
    """A case and the state of its machine after its set-up lines.

    Attributes:
        case: the case.
        state: the interfaces.
        commands: what is typed, in its order.
        is_complete: all lines are understood.
        frame_bytes: the smallest of full-sized frames on its links, with the Ethernet header.
        has_frames: each packet of TCP is one frame.
        paths: the flows over TCP whose whole path is known.
    """

    case: Case
    state: MachineState
    commands: tuple[Typed, ...]
    is_complete: bool
    frame_bytes: int
    has_frames: bool
    paths: tuple[FlowFacts, ...]

    def crossing(self, device: DeviceState) -> Iterator[FlowFacts]:
        """Yield the flows whose data leaves by an interface."""
        return (path for path in self.paths if device.name in path.interfaces)

    def known_devices(self) -> Iterator[DeviceState]:
        """Yield the interfaces of which all is known."""
        return (device for device in self.state.devices.values() if device.is_known)

    def asks_for_ecn(self, host: str) -> bool:
        """Return whether a line lets a host ask for ECN when it connects."""
        lines = [one.command.words for one in self.commands if one.command.node == host]
        return self.is_complete and any(
            _ECN.fullmatch(word or "") for words in lines for word in words
        )

    def packet_bytes(self, rate_bps: float) -> float:
        """Return the size of the packets that TCP sends at a rate, in bytes.

        A GSO packet is what is sent in about a millisecond, of two segments to 64 KB
        (tcp_tso_autosize in net/ipv4/tcp_output.c).
        """
        if self.has_frames:
            return self.frame_bytes
        return min(_GSO_BYTES, max(2 * self.frame_bytes, rate_bps / 8 / 1024))


def facts_of(case: Case) -> CaseFacts:
    """Return what rules need to know of a case."""
    state = MachineState(case)
    commands: list[Typed] = []
    is_complete = True
    for index, line in enumerate(case.setup):
        typed, is_whole = typed_commands(line.node, line.line, Origin(setup=index))
        is_complete = is_complete and is_whole
        if not is_whole:
            state.forget()
        for one in typed:
            state.enter(one)
            commands.append(one)
    for index, event in enumerate(case.events):
        if isinstance(event, TypedLine):
            typed, is_whole = typed_commands(event.node, event.line, Origin(event=index))
            commands += typed
    lines = [line.line for line in case.setup]
    mtus = [link.mtu_bytes or DEFAULT_MTU_BYTES for link in case.network.links]
    mtus += [int(mtu) for line in lines for mtu in _MTU.findall(line)]
    has_frames = case.network.frames or any(_FRAMES.search(line) for line in lines)
    return CaseFacts(
        case=case,
        state=state,
        commands=tuple(commands),
        is_complete=is_complete,
        frame_bytes=min(mtus, default=DEFAULT_MTU_BYTES) + ETHERNET_BYTES,
        has_frames=has_frames,
        paths=tuple(_paths(case, state, commands)),
    )


def _paths(case: Case, state: MachineState, commands: Sequence[Typed]) -> Iterator[FlowFacts]:
    for flow in case.tcp_flows:
        there = [name for _, name in flow_interfaces(case.network, flow) or ()]
        back = [name for _, name in flow_interfaces(case.network, flow, is_back=True) or ()]
        devices = [state.devices.get(name) for name in (*there, *back)]
        known = [device for device in devices if device is not None and device.is_known]
        if not there or not back or len(known) < len(devices):
            continue
        rates = [rate for one in known[: len(there)] if (rate := least_rate_bps(one)) is not None]
        yield FlowFacts(
            flow=flow,
            interfaces=tuple(there),
            rtt_s=sum(map(delay_s, known)),
            rate_bps=None if _is_policed(case, state, there) else min(rates, default=None),
            window_bytes=_window_bytes(flow, commands),
            has_loss=any(map(_loses, known)),
        )


def _is_policed(case: Case, state: MachineState, names: Sequence[str]) -> bool:
    """Return whether a policer is on a way, whose rate may be the least one."""
    links = {state.devices[name].link for name in names}
    return any(
        device.link in links and any(one.command.kind == "police" for one in device.filters)
        for device in state.devices.values()
    ) or any(
        shape.policer is not None
        for link in links
        for shape in (case.network.links[link].a_to_b, case.network.links[link].b_to_a)
    )


def _window_bytes(flow: Bulk, commands: Sequence[Typed]) -> float:
    """Return how many bytes of a flow its buffers and its size let be in flight, at least."""
    sender, receiver = (flow.target, flow.source) if flow.reverse else (flow.source, flow.target)
    limits: list[float] = []
    for host, name, default in (
        (sender, "net.ipv4.tcp_wmem", MAX_SEND_BYTES),
        (receiver, "net.ipv4.tcp_rmem", MAX_RECEIVE_BYTES),
    ):
        typed = [
            value.split()
            for one in commands
            if one.command.node == host
            for key, value in settings_of(one.command.words)
            if key == name
        ]
        last = [int(words[2]) for words in typed if len(words) == 3 and words[2].isdigit()]
        limits.append(last[-1] if last else default)
    if flow.window_bytes is not None:
        limits.append(flow.window_bytes)
    window = min(limits) * _DATA_SHARE
    return (window if flow.bytes is None else min(window, flow.bytes)) * flow.parallel


def entry_rate_bps(entry: Entry) -> float | None:
    """Return the rate that a qdisc or class limits to, in bit/s; None if it limits none."""
    tc = entry.command
    if tc.object == "class":
        return tc_rate_bps(tc.get("ceil") or tc.get("rate"))
    if tc.kind in {"tbf", "netem"}:
        return tc_rate_bps(tc.get("rate"))
    if tc.kind == "fq":
        return tc_rate_bps(tc.get("maxrate"))
    if tc.kind == "cake":
        return tc_rate_bps(tc.get("bandwidth"))
    if tc.kind == "wire":
        return _wire_rate_bps(tc.rest)
    return None


def _wire_rate_bps(words: Sequence[str | None]) -> float | None:
    for name, value in pairwise(words):
        if name == "rate":
            return tc_rate_bps(value)
    return None


def least_rate_bps(device: DeviceState) -> float | None:
    """Return the least rate that all packets of an interface are limited to; None for none.

    Of classes only the largest ceiling is a limit of all.
    """
    rates = [entry_rate_bps(entry) for entry in device.qdiscs.values()]
    leaves = [entry_rate_bps(entry) for entry in device.classes.values()]
    if leaves and None not in leaves and _is_classified(device):
        rates.append(max(rate for rate in leaves if rate is not None))
    return min((rate for rate in rates if rate is not None), default=None)


def _is_classified(device: DeviceState) -> bool:
    root = device.root
    return (
        root is not None
        and root.command.kind == "htb"
        and default_class(root.command.get("default")) in device.classes_minor()
    )


def default_class(word: str | None) -> int | None:
    """Return the number of htb's default class; None without one."""
    try:
        return int(word or "", 16) or None
    except ValueError:
        return None


def delay_s(device: DeviceState) -> float:
    """Return the delay of an interface's netem at its root or below, in seconds."""
    delays = [
        tc_time_s(entry.command.get("delay")) or 0.0
        for entry in device.qdiscs.values()
        if entry.command.kind == "netem"
    ]
    return sum(delays) if len(device.classes) <= 1 else 0.0


def _loses(device: DeviceState) -> bool:
    netems = [one.command for one in device.qdiscs.values() if one.command.kind == "netem"]
    return any(
        not one.is_complete or any(map(one.has, ("loss", "corrupt", "duplicate", "reorder")))
        for one in netems
    )


def size_of(entry: Entry, name: str) -> float | None:
    """Return a size among the options of a qdisc, in bytes."""
    return tc_size_bytes(entry.command.get(name))
