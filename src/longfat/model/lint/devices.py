"""Rules about interfaces: names that do not exist, qdiscs that stand in the way, MTUs, gateways.

Sources: tc_modify_qdisc in net/sched/sch_api.c; veth_forward_skb and is_skb_forwardable for the
MTU; fib_check_nh for gateways. tests/belief/test_lint.py has what kernels do.
"""

from __future__ import annotations

import difflib
import ipaddress
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from longfat.model.case import Case
from longfat.model.lint.case_facts import CaseFacts
from longfat.model.lint.machine_state import (
    DeviceState,
    MachineState,
    Origin,
    Typed,
    major,
    typed_commands,
)
from longfat.model.lint.shell_words import SimpleCommand, Word, is_ip
from longfat.model.lint.tc_command import TcCommand
from longfat.model.network import ROOT_NAMESPACE
from longfat.model.network.devices import device_stem
from longfat.model.network.model import DEFAULT_MTU_BYTES

Warnings = Iterator[tuple[Origin, str]]

_LINK_FIELDS = ", or give the link itself what the line is for (delay, loss, rate, qdisc)"
_MAKERS = frozenset(
    ("brctl", "modprobe", "insmod", "ovs-vsctl", "vconfig", "openvpn", "tunctl", "teamd", "mn")
)


def device_warnings(facts: CaseFacts) -> Warnings:
    """Find commands for interfaces that are not there, or at another node."""
    if not facts.is_complete or any(_makes_devices(one.command) for one in facts.commands):
        return
    names = device_names(facts.case)
    for typed in facts.commands:
        text = device_problem(typed.command, names)
        if text:
            yield typed.origin, text


def device_names(case: Case) -> dict[str, str]:
    """Return the node of each interface that a network has."""
    network = case.network
    hosts = {host.name for host in network.hosts}
    names: dict[str, str] = {}
    for link, pair in zip(network.links, network.interfaces(), strict=True):
        for node, name in zip((link.a, link.b), pair, strict=True):
            names[name] = node if node in hosts else ROOT_NAMESPACE
    for short, full in network.full_interface_names().items():
        names[full] = names[short]
    for tunnel, pair in zip(network.tunnels, network.tunnel_interfaces(), strict=True):
        names |= dict(zip(pair, (tunnel.a, tunnel.b), strict=True))
    for end in network.bond_ends():
        names[end.device] = end.node if end.node in hosts else ROOT_NAMESPACE
    for switch in network.switches:
        names[switch.name] = names[device_stem(switch.name)] = ROOT_NAMESPACE
    return names


def _makes_devices(command: SimpleCommand) -> bool:
    words = command.words
    if words[0] in _MAKERS or None in words[:1]:
        return True
    if words[0] != "ip" or len(words) < 3:
        return False
    if words[2] == "set":
        return "name" in words or "netns" in words
    return str(words[1] or "").startswith(("l", "tun")) and words[2] not in {"show", None}


def device_problem(command: SimpleCommand, names: Mapping[str, str]) -> str:
    """Return why a command's interface is not there; "" if it is, or may be."""
    device = _device_of(command.words)
    node = command.node
    if not device or node is None or device == "lo" or "." in device or "@" in device:
        return ""
    if names.get(device) == node:
        return ""
    if device in names:
        return (
            f"`dev {device}`: is an interface of {names[device]}, not of {node}: write the line"
            + (f" at `{names[device]}`")
        )
    own = [name for name, home in names.items() if home == node]
    if node == ROOT_NAMESPACE and not own:
        return ""
    near = difflib.get_close_matches(device, own, n=1, cutoff=0.4) or own[:1]
    if not near:
        return ""
    return f"`dev {device}`: no link makes such an interface at {node}: write `dev {near[0]}`"


def _device_of(words: Sequence[Word]) -> Word:
    """Return the interface that a command of tc, ip or ethtool changes; "" for none."""
    program = words[0]
    if program == "tc" and len(words) > 3 and words[2] in {"add", "change", "replace", "del"}:
        for before, word in pairwise(words[3:]):
            if before == "dev":
                return word
    if program == "ip" and len(words) > 3 and words[2] in {"set", "add", "replace", "del"}:
        what = str(words[1] or "")
        if words[2] == "set" and "link".startswith(what):
            return words[4] if words[3] == "dev" and len(words) > 4 else words[3]
        if "address".startswith(what) and "dev" in words[:-1]:
            return words[words.index("dev") + 1]
    return ""


def replace_warnings(case: Case) -> Warnings:
    """Find lines that add a qdisc where one is, or below one that is not there.

    The kernel refuses a new root with a handle, and one of the same kind. One of another kind
    without a handle takes the place of all that is there, without a word.
    """
    state = MachineState(case)
    for index, line in enumerate(case.setup):
        typed, is_whole = typed_commands(line.node, line.line, Origin(setup=index))
        if not is_whole:
            state.forget()
        for one in typed:
            device = state.devices.get(one.tc.device or "") if one.tc else None
            is_sure = not one.command.may_fail and not one.command.is_conditional
            if (
                one.tc
                and device
                and device.is_known
                and device.node == one.command.node
                and is_sure
            ):
                text = _place_problem(device, one.tc) or _changed_netem(device, one.tc)
                if text:
                    yield one.origin, text
            state.enter(one)


def _place_problem(device: DeviceState, tc: TcCommand) -> str:
    if tc.object != "qdisc" or tc.parent in {"", "ingress"} or not tc.kind:
        return ""
    return _root_problem(device, tc) if tc.parent == "root" else _parent_problem(device, tc)


def _root_problem(device: DeviceState, tc: TcCommand) -> str:
    root = device.root
    if root is None:
        if tc.verb != "change":
            return ""
        return (
            f"`tc qdisc change dev {device.name} root`: there is no qdisc to change, and the kernel"
            " refuses it: write `add`, or `replace` for both"
        )
    if tc.verb != "add":
        return ""
    old = ", ".join(one.command.kind for one in device.qdiscs.values())
    is_links = root.origin.link is not None
    by = "the link" if is_links else "an earlier line"
    other = _LINK_FIELDS if is_links else _stack(root.command)
    if tc.handle or root.command.kind == tc.kind:
        return (
            f"`tc qdisc add dev {device.name} root`: there is a qdisc of {by} ({old}), and the"
            f" kernel refuses a second root: write `tc qdisc replace` to take its place{other}"
        )
    return (
        f"`tc qdisc add dev {device.name} root {tc.kind}`: takes the place of the qdiscs of"
        f" {by} ({old}), which are gone: write `tc qdisc replace` if that is meant{other}"
    )


def _parent_problem(device: DeviceState, tc: TcCommand) -> str:
    handle = major(tc.parent)
    above = device.qdiscs.get(handle)
    if above is None:
        handles = ", ".join(key for key in device.qdiscs if not key.startswith("auto"))
        return (
            f"`parent {tc.parent}`: {device.name} has no qdisc {handle}, and the kernel refuses the"
            " line" + (f": it has {handles}" if handles else ": give one that handle")
        )
    if above.command.kind == "htb" and tc.parent not in device.classes and tc.parent != handle:
        return (
            f"`parent {tc.parent}`: the htb of {device.name} has no such class, and the kernel"
            f" refuses the line: it has {', '.join(device.classes) or 'none'}"
        )
    return ""


def _stack(root: TcCommand) -> str:
    if root.handle and root.kind in {"netem", "tbf"}:
        return f", or `parent {root.handle}1` to put it below the {root.kind}"
    if root.kind in {"netem", "tbf"}:
        return f", or give the {root.kind} `handle 1:` and this one `parent 1:1`"
    return ""


def _changed_netem(device: DeviceState, tc: TcCommand) -> str:
    """Return a warning where a netem loses its delay, since tc sets all options anew."""
    if tc.object != "qdisc" or tc.kind != "netem" or tc.verb not in {"change", "replace"}:
        return ""
    old = device.child(tc.parent) if tc.parent != "root" else device.root
    if old is None or old.command.kind != "netem" or not tc.is_complete:
        return ""
    delay = next((values for key, values in old.command.options if key == "delay"), ())
    others = [key for key, _ in tc.options if key in {"loss", "corrupt", "duplicate", "rate"}]
    if not delay or tc.has("delay") or not others:
        return ""
    return (
        f"`tc qdisc {tc.verb} dev {device.name} ... netem {others[0]}`: sets all options anew, so"
        f" the delay of {delay[0]} is gone: write `netem delay {' '.join(delay)} {others[0]} ...`,"
        " or `delay 0ms` if that is meant"
    )


def ip_warnings(facts: CaseFacts) -> Warnings:
    """Find MTUs that differ at the ends of a link, and gateways that no link leads to."""
    if not facts.is_complete:
        return
    yield from _mtu_warnings(facts)
    yield from _gateway_warnings(facts)


def _mtu_warnings(facts: CaseFacts) -> Warnings:
    network = facts.case.network
    names = device_names(facts.case)
    typed: dict[str, tuple[int, Typed]] = {}
    for one in facts.commands:
        words = one.command.words
        if words[0] != "ip" or "mtu" not in words[:-1] or one.origin.setup is None:
            continue
        mtu = words[words.index("mtu") + 1]
        device = _device_of(words)
        if device is None or mtu is None or not mtu.isdigit():
            return  # unknown: nothing is certain
        if words[2] == "set" and names.get(device) == one.command.node:
            typed[device] = (int(mtu), one)
    for link, (first, second) in zip(network.links, network.interfaces(), strict=True):
        own = link.mtu_bytes or DEFAULT_MTU_BYTES
        ends = [typed.get(name, (own, None)) for name in (first, second)]
        (a, by_a), (b, by_b) = ends
        command = by_a or by_b
        if a == b or command is None:
            continue
        small, large = (first, second) if a < b else (second, first)
        yield (
            command.origin,
            f"the MTU of {large} is {max(a, b)} and that of {small}, at the link's other end,"
            f" {min(a, b)}: {small} drops packets above {min(a, b)} bytes that come by the link,"
            f" without an ICMP message: write `ip link set dev"
            f" {small if command is (by_a if large == first else by_b) else large} mtu"
            f" {max(a, b) if command is (by_a if large == first else by_b) else min(a, b)}` too",
        )


def _gateway_warnings(facts: CaseFacts) -> Warnings:
    network = facts.case.network
    hosts = {host.name for host in network.hosts}
    near: dict[str, list[ipaddress.IPv4Network | ipaddress.IPv6Network]] = {}
    for link, pair in zip(network.links, network.addresses(), strict=True):
        for name, address in zip((link.a, link.b), pair, strict=True):
            if name in hosts and address is not None:
                near.setdefault(name, []).append(ipaddress.ip_interface(address).network)
    if network.tunnels or any(
        link.a_vlan_addresses or link.b_vlan_addresses for link in network.links
    ):
        return
    if any(is_ip(one.command.words, "address") for one in facts.commands):
        return  # a line may change addresses
    for one in facts.commands:
        words, node = one.command.words, one.command.node
        if not is_ip(words, "route") or words[2] not in {"add", "replace"} or "onlink" in words:
            continue
        gateway = _gateway(words)
        if gateway is None:
            continue
        networks = near.get(node or "", [])
        if networks and not any(gateway in subnet for subnet in networks):
            yield (
                one.origin,
                f"`via {gateway}`: is in no network of {node}"
                f" ({', '.join(dict.fromkeys(map(str, networks)))}), and the kernel refuses the"
                " route: write the address of a neighbour on one of its links",
            )


def _gateway(words: Sequence[Word]) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    if "via" not in words[:-1]:
        return None
    try:
        return ipaddress.ip_address(words[words.index("via") + 1] or "")
    except ValueError:
        return None
