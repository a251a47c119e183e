"""Rules about interfaces: names that do not exist, qdiscs that stand in the way, MTUs, gateways.

Sources: tc_modify_qdisc in net/sched/sch_api.c; veth_forward_skb and is_skb_forwardable for the
MTU; fib_check_nh for gateways. tests/belief/test_lint.py has what kernels do.
"""

from __future__ import annotations

import difflib
import ipaddress
from collections.abc import Iterator, Mapping, Sequence

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
from longfat.model.lint.shell_words import SimpleCommand, Word
from longfat.model.lint.tc_command import TcCommand
from longfat.model.network import ROOT_NAMESPACE
from longfat.model.network.devices import device_stem
from longfat.model.network.model import DEFAULT_MTU_BYTES

Warnings = Iterator[tuple[Origin, str]]

_LINK_FIELDS = ", or give the link itself what the line is for (delay, loss, rate, qdisc)"
_MAKERS = frozenset(("brctl", "ovs-vsctl", "vconfig", "openvpn", "tunctl", "teamd", "mn"))


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
    return str(words[1] or "").startswith(("l", "tun")) and words[2] not in {"set", "show", None}


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
        for before, word in zip(words[3:], words[4:], strict=False):
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
            state.forget(None if "netns" in line.line or "nsenter" in line.line else line.node)
        for one in typed:
            tc = one.tc
            device = state.devices.get(tc.device or "") if tc else None
            if tc and device and device.is_known and device.node == one.command.node:
                if not one.command.may_fail and not one.command.is_conditional:
                    text = _place_problem(device, tc) or _changed_netem(device, tc)
                    if text:
                        yield one.origin, text
            state.enter(one)


def _place_problem(device: DeviceState, tc: TcCommand) -> str:
    if tc.object != "qdisc" or tc.parent in {"", "ingress"} or not tc.kind:
        return ""
    root = device.root
    if tc.parent == "root":
        if root is None or tc.verb != "add":
            if root is None and tc.verb == "change":
                return (
                    f"`tc qdisc change dev {device.name} root`: there is no qdisc to change, and"
                    " the kernel refuses it: write `add`, or `replace` for both"
                )
            return ""
        old = ", ".join(one.command.kind for one in device.qdiscs.values())
        by = "the link" if root.origin.link is not None else "an earlier line"
        if tc.handle or root.command.kind == tc.kind:
            return (
                f"`tc qdisc add dev {device.name} root`: there is a qdisc of {by} ({old}), and the"
                f" kernel refuses a second root: write `tc qdisc replace` to take its place"
                + (_LINK_FIELDS if by == "the link" else _stack(root.command))
            )
        return (
            f"`tc qdisc add dev {device.name} root {tc.kind}`: takes the place of the qdiscs of"
            f" {by} ({old}), which are gone: write `tc qdisc replace` if that is meant"
            + (_LINK_FIELDS if by == "the link" else _stack(root.command))
        )
    if tc.parent in device.classes or major(tc.parent) == tc.parent and tc.parent in device.qdiscs:
        return ""
    above = device.qdiscs.get(major(tc.parent))
    if above is None:
        handles = ", ".join(key for key in device.qdiscs if not key.startswith("auto"))
        return (
            f"`parent {tc.parent}`: {device.name} has no qdisc {major(tc.parent)}, and the kernel"
            f" refuses the line" + (f": it has {handles}" if handles else ": give one that handle")
        )
    if above.command.kind == "htb":
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
        for node, address in zip((link.a, link.b), pair, strict=True):
            if node in hosts and address is not None:
                near.setdefault(node, []).append(ipaddress.ip_interface(address).network)
    if network.tunnels or any(
        link.a_vlan_addresses or link.b_vlan_addresses for link in network.links
    ):
        return
    for one in facts.commands:
        words = one.command.words
        if words[0] != "ip" or len(words) < 4 or not str(words[1] or "x").startswith("a"):
            continue
        return  # a line changes addresses
    for one in facts.commands:
        words, node = one.command.words, one.command.node
        if words[0] != "ip" or len(words) < 5 or not str(words[1] or "x").startswith("r"):
            continue
        if words[2] not in {"add", "replace"} or "via" not in words[:-1] or "onlink" in words:
            continue
        try:
            gateway = ipaddress.ip_address(words[words.index("via") + 1] or "")
        except ValueError:
            continue
        networks = near.get(node or "", [])
        if networks and not any(gateway in subnet for subnet in networks):
            yield (
                one.origin,
                f"`via {gateway}`: is in no network of {node}"
                f" ({', '.join(dict.fromkeys(map(str, networks)))}), and the kernel refuses the"
                " route: write the address of a neighbour on one of its links",
            )
