"""The nodes and links of a live network: added as values, each with a live object for it.

A caller uses the live objects; `RunningNetwork` builds the values.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from longfat.engine.kernel.cache import check_clocks
from longfat.errors import InputError, LongfatError
from longfat.live.links import LiveLink
from longfat.live.nodes import LiveHost, LiveSwitch, name_of
from longfat.model.fields import fields_of, values_of
from longfat.model.network import (
    Bond,
    Host,
    HostRoot,
    Link,
    Network,
    Route,
    Switch,
    Tunnel,
    VlanAddress,
)
from longfat.model.network.ends import cut_links
from longfat.model.network.impairments import UNIMPAIRED
from longfat.model.network.model import VLAN
from longfat.model.trace_models import MODELS
from longfat.study.addresses import host_address, interface_address, route_target, router_address
from longfat.study.network import name_problem, read_section

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from longfat.live.running import RunningNetwork
    from longfat.model.network import HostTiming

    Routes = Mapping[str, str | Sequence[str]]
    EndAddresses = str | Mapping[int, str] | None

_MIN_GROUPS = 2


class Topology:
    """The nodes and links of a live network; see `longfat.live.Network` for what raises what.

    Args:
        running: the network in its machine.
        images: the images that the machine was booted with, for hosts' roots.

    Attributes:
        nodes: the hosts and switches by name, in the order in which they were added.
        links: the links, likewise.
    """

    def __init__(self, running: RunningNetwork, *, images: Sequence[HostRoot]) -> None:
        self._running = running
        self._images = {image.image: image for image in images}
        self.nodes: dict[str, LiveHost | LiveSwitch] = {}
        self.links: list[LiveLink] = []
        self._cut: list[LiveLink] = []

    def node(self, name: str) -> LiveHost | LiveSwitch:
        """Return a node by its name."""
        self._check_node(name)
        return self.nodes[name]

    def add_host(
        self,
        name: str,
        address: str | None,
        *,
        gateway: str | None,
        routes: Routes | None,
        properties: dict[str, object],
        timing: HostTiming | None,
    ) -> LiveHost:
        """Add a host; see `Network.host`."""
        own = self._with_image(properties)
        return self._add_host(
            Host(
                name=name,
                address=None if address is None else interface_address(address),
                routes=_routes(gateway, routes),
                timing=timing,
                **values_of(Host, own, what="a host"),
            )
        )

    def add_router(
        self,
        name: str,
        *,
        gateway: str | None,
        routes: Routes | None,
        properties: dict[str, object],
    ) -> LiveHost:
        """Add a router; see `Network.router`."""
        properties = self._with_image(properties)
        own = values_of(Host, {"forwards": True, **properties}, what="a router")
        return self._add_host(Host(name=name, address=None, routes=_routes(gateway, routes), **own))

    def add_switch(self, name: str) -> LiveSwitch:
        """Add a switch; see `Network.switch`."""
        model = self._running.model
        self._check_free(name)
        self._running.change(replace(model, switches=(*model.switches, Switch(name=name))))
        switch = LiveSwitch(self._running, name)
        self.nodes[name] = switch
        return switch

    def add_link(
        self,
        a: LiveHost | LiveSwitch | str,
        b: LiveHost | LiveSwitch | str,
        *,
        addresses: tuple[EndAddresses, EndAddresses],
        reverse: Mapping[str, object],
        properties: dict[str, object],
    ) -> LiveLink:
        """Add a link; see `Network.link`."""
        own = {key: properties.pop(key) for key in fields_of(Link) if key in properties}
        one_way = UNIMPAIRED.changed(self._with_trace(properties))
        model = self._running.model
        link = Link(
            a=name_of(a),
            b=name_of(b),
            a_to_b=one_way,
            b_to_a=one_way.changed(self._with_trace(reverse)),
            a_address=interface_address(addresses[0]) if isinstance(addresses[0], str) else None,
            b_address=interface_address(addresses[1]) if isinstance(addresses[1], str) else None,
            a_vlan_addresses=_in_vlans(addresses[0]),
            b_vlan_addresses=_in_vlans(addresses[1]),
            **values_of(Link, own, what="a link"),
        )
        for end in (link.a, link.b):
            self._check_node(end)
        self._running.change(replace(model, links=(*model.links, link)))
        names = self._running.model.interfaces()[-1]
        self.links.append(LiveLink(self._running, len(self.links), names=names))
        return self.links[-1]

    def add_tunnel(
        self,
        a: LiveHost | str,
        b: LiveHost | str,
        *,
        addresses: tuple[str, str],
        endpoints: tuple[str | None, str | None],
        properties: dict[str, object],
    ) -> str:
        """Add a tunnel; see `Network.tunnel`."""
        model = self._running.model
        for end in (a, b):
            self._check_node(name_of(end))
        outer = [None if one is None else router_address(one) for one in endpoints]
        tunnel = Tunnel(
            a=name_of(a),
            b=name_of(b),
            a_address=host_address(addresses[0]),
            b_address=host_address(addresses[1]),
            a_endpoint=outer[0],
            b_endpoint=outer[1],
            **values_of(Tunnel, properties, what="a tunnel"),
        )
        changed = replace(model, tunnels=(*model.tunnels, tunnel))
        self._running.check(changed)
        self._running.change(changed)
        return changed.tunnel_interfaces()[-1][0]

    def add_bond(
        self,
        a: LiveHost | LiveSwitch | str,
        b: LiveHost | LiveSwitch | str | Sequence[LiveSwitch | str],
        *,
        properties: dict[str, object],
    ) -> str:
        """Add a bond; see `Network.bond`."""
        others = [b] if isinstance(b, LiveHost | LiveSwitch | str) else list(b)
        for end in (a, *others):
            self._check_node(name_of(end))
        bond = Bond(
            a=name_of(a),
            peers=tuple(name_of(end) for end in others),
            **values_of(Bond, properties, what="a bond"),
        )
        model = self._running.model
        changed = replace(model, bonds=(*model.bonds, bond))
        built = self._running.built_links
        if any(index < built for index in changed.bond_links(bond)):
            raise InputError(
                f"the links of {bond.text} are up already: bond them before a command runs or"
                " time passes"
            )
        self._running.check(changed)
        self._running.change(changed)
        return next(end.device for end in changed.bond_ends() if end.bond is bond)

    def add_section(self, network: Mapping[str, object]) -> None:
        """Add the nodes and links of a study's `network` section; see `Network.add`."""
        new = read_section(network)
        now = self._running.model
        for name in new.node_names():
            self._check_free(name)
        for ours, given, default in (
            (now.testbed, new.testbed, None),
            (now.frames, new.frames, False),
            (now.shared_kernel, new.shared_kernel, False),
        ):
            if given not in (ours, default):
                raise InputError(
                    "testbed, frames and shared_kernel are those of the whole network: see Network"
                )
        model = replace(
            now,
            tunnels=(*now.tunnels, *new.tunnels),
            bonds=(*now.bonds, *new.bonds),
            hosts=(*now.hosts, *new.hosts),
            switches=(*now.switches, *new.switches),
            links=(*now.links, *new.links),
        )
        self._running.check(model)
        self.take(model, new=new, first_link=len(now.links))

    def grow(self, model: Network) -> None:
        """Add and build what another network has in addition; see `Network.grow`."""
        now = self._running.model
        for name in ("hosts", "switches", "links", "tunnels", "bonds"):
            ours = getattr(now, name)
            if getattr(model, name)[: len(ours)] != ours:
                raise ValueError(f"the network's first {name} differ")
        if model.testbed != now.testbed:
            raise ValueError("the network's testbed differs")
        if model.frames != now.frames:
            raise ValueError("the network's packets (frames) differ")
        if model.shared_kernel != now.shared_kernel:
            raise ValueError("whether hosts share a kernel differs")
        added = Network(
            hosts=model.hosts[len(now.hosts) :],
            switches=model.switches[len(now.switches) :],
            links=model.links,
        )
        nodes, links = dict(self.nodes), list(self.links)
        self._running.keep_addresses(host.name for host in model.hosts)
        self.take(model, new=added, first_link=len(now.links))
        try:
            self._running.build()
        except LongfatError:
            self._running.change(now)
            self.nodes, self.links = nodes, links
            raise

    def take(self, model: Network, *, new: Network, first_link: int = 0) -> None:
        """Take a network as a value that contains new nodes and links.

        Args:
            model: the whole network.
            new: its new nodes.
            first_link: the index of its first new link.
        """
        self._check_clocks(new.hosts)
        self._running.change(model)
        self.nodes |= {host.name: LiveHost(self._running, host.name) for host in new.hosts}
        self.nodes |= {
            switch.name: LiveSwitch(self._running, switch.name) for switch in new.switches
        }
        for index, names in enumerate(model.interfaces()[first_link:], start=first_link):
            self.links.append(LiveLink(self._running, index, names=names))

    def partition(self, groups: Sequence[Sequence[LiveHost | LiveSwitch | str]]) -> None:
        """Cut groups of nodes off from each other; see `Network.partition`."""
        if self._cut:
            raise InputError("there is a partition already: heal it first")
        if len(groups) < _MIN_GROUPS:
            raise InputError("a partition has two groups of nodes or more")
        names = [[name_of(node) for node in group] for group in groups]
        self._cut = [self.links[index] for index in cut_links(self._running.model, names)]
        for link in self._cut:
            link.down()

    def heal(self) -> None:
        """End the partition; see `Network.heal`."""
        if not self._cut:
            raise InputError("there is no partition")
        healed, self._cut = self._cut, []
        for link in healed:
            link.up()

    def _add_host(self, host: Host) -> LiveHost:
        self._check_free(host.name)
        self._check_clocks([host])
        model = self._running.model
        self._running.change(replace(model, hosts=(*model.hosts, host)))
        live = LiveHost(self._running, host.name)
        self.nodes[host.name] = live
        return live

    def _check_clocks(self, hosts: Sequence[Host]) -> None:
        wrong = [host.name for host in hosts if host.clock is not None]
        check_clocks(wrong, self._running.session.kernel)

    def _with_trace(self, properties: Mapping[str, object]) -> Mapping[str, object]:
        """Return a link's properties with the trace copied into the machine."""
        name = properties.get("trace")
        if name is None or name in MODELS:
            return properties
        path = Path(str(name))
        try:
            content = path.read_bytes()
        except OSError as error:
            raise InputError(f"the trace {path} cannot be read: {error.strerror}") from None
        return {**properties, "trace": self._running.add_file(f"/opt/traces/{path.name}", content)}

    def _with_image(self, properties: dict[str, object]) -> dict[str, object]:
        """Return a host's properties with the image for its root."""
        image = properties.get("root")
        if image is None or isinstance(image, HostRoot):
            return properties
        if str(image) not in self._images:
            raise InputError(
                f"root: the machine does not have the image {str(image)!r}, which has to be "
                f"specified when it boots: write longfat.Network(images=[{str(image)!r}])"
            )
        return {**properties, "root": self._images[str(image)]}

    def _check_node(self, name: str) -> None:
        if name not in self.nodes:
            raise InputError(f"there is no node {name!r} (there are: {', '.join(self.nodes)})")

    def _check_free(self, name: str) -> None:
        if reason := name_problem(name):
            raise InputError(reason)
        if name in self.nodes:
            raise InputError(f"the name {name!r} is taken already")


def _in_vlans(addresses: EndAddresses) -> tuple[VlanAddress, ...]:
    if addresses is None or isinstance(addresses, str):
        return ()
    return tuple(
        VlanAddress(vlan=VLAN.of(vlan), address=host_address(address))
        for vlan, address in addresses.items()
    )


def _routes(gateway: str | None, routes: Routes | None) -> tuple[Route, ...]:
    given = {**({} if gateway is None else {"default": gateway}), **(routes or {})}
    return tuple(_route(to, via) for to, via in given.items())


def _route(to: str, via: str | Sequence[str]) -> Route:
    hops = [router_address(hop) for hop in ([via] if isinstance(via, str) else via)]
    if not hops or len(set(hops)) < len(hops):
        raise InputError(f"the route to {to} has no router, or one of them twice")
    return Route(to=route_target(to), via=hops[0], others=tuple(hops[1:]))
