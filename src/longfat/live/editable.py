"""The nodes and links of a live network, added one by one or as values.

They are collected as values in the network's case, which `RunningNetwork` builds; for each
there is a live object, which the caller uses.
"""

from __future__ import annotations

import ipaddress
from abc import ABC
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from longfat.engine.kernel.cache import check_clocks
from longfat.errors import InputError, LongfatError
from longfat.live.links import LiveLink
from longfat.live.nodes import LiveHost, LiveSwitch
from longfat.live.running import RunningNetwork
from longfat.model.fields import fields_of, takes_fields, values_of
from longfat.model.network import (
    Host,
    HostRoot,
    HostTiming,
    Link,
    LinkImpairments,
    Network,
    Route,
    Switch,
    timing_from,
)
from longfat.model.network.check import problems
from longfat.model.network.impairments import UNIMPAIRED
from longfat.model.trace_models import MODELS
from longfat.study.addresses import host_address, route_target, router_address
from longfat.study.network import name_problem, read_section

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from longfat.live.process import Process
    from longfat.live.session import Session
    from longfat.model.case import Case

_ADDRESSES = ipaddress.ip_network("10.0.0.0/8")


class EditableNetwork(RunningNetwork, ABC):
    """A live network that nodes and links can be added to at any time.

    Args:
        case: as for `RunningNetwork`.
        session: likewise.
        images: the images that the session was started with, for hosts' roots.
        environment: as for `RunningNetwork`.
        on_command: likewise.
        on_build: likewise.
    """

    def __init__(
        self,
        case: Case,
        session: Session,
        *,
        images: Sequence[HostRoot],
        environment: Mapping[str, str],
        on_command: Callable[[str, Process], None],
        on_build: Callable[[], None],
    ) -> None:
        super().__init__(
            case, session, environment=environment, on_command=on_command, on_build=on_build
        )
        self._images = {image.image: image for image in images}
        self._nodes: dict[str, LiveHost | LiveSwitch] = {}
        self._links: list[LiveLink] = []

    @takes_fields(Host, HostTiming)
    def host(
        self,
        name: str,
        address: str | None = None,
        *,
        gateway: str | None = None,
        routes: Mapping[str, str] | None = None,
        profile: str | None = None,
        cpu: Mapping[str, object] | None = None,
        **properties: object,
    ) -> LiveHost:
        """Add a host.

        Args:
            name: its name, such as `h1`; its interfaces are `h1-eth0` and so on.
            address: address and prefix length of its first interface; the next free one of
                10.0.0.1/8, 10.0.0.2/8, ... if None.
            gateway: the router of its default route.
            routes: more routes: networks, such as "10.1.0.0/16", with their routers.
            profile: a named timing, such as "vm-2020", the default for its timing.
            cpu: the cost of its CPU's work, by name: {"syscall": "300ns", "copy": "80ps/B"}.
            properties: other properties of a host; its timing is the network's testbed, if nothing
                of it is given.

        Raises:
            InputError: the name is taken or invalid, or the address or a timing is invalid.
        """
        hosts = self._case.network.hosts
        own = self._with_image(
            {key: properties.pop(key) for key in fields_of(Host) if key in properties}
        )
        return self._add_host(
            Host(
                name=name,
                address=self._next_address() if address is None else host_address(address),
                routes=_routes(gateway, routes),
                timing=timing_from(profile=profile, cpu=cpu, **properties),
                **values_of(Host, own, what="a host"),
            ),
            hosts,
        )

    @takes_fields(Host)
    def router(
        self,
        name: str,
        *,
        gateway: str | None = None,
        routes: Mapping[str, str] | None = None,
        **properties: object,
    ) -> LiveHost:
        """Add a router: a host that forwards packets. Its links give it its addresses.

        Args:
            name: its name, such as `r1`.
            gateway: as for `host`.
            routes: likewise.
            properties: likewise, such as `nat="home"`.

        Raises:
            InputError: the name is taken or invalid, or a property has no such value.
        """
        properties = self._with_image(properties)
        own = values_of(Host, {"forwards": True, **properties}, what="a router")
        router = Host(name=name, address=None, routes=_routes(gateway, routes), **own)
        return self._add_host(router, self._case.network.hosts)

    def switch(self, name: str) -> LiveSwitch:
        """Add a switch; its interfaces are `s1-eth1` and so on, visible at root.

        Args:
            name: its name, such as `s1`.

        Raises:
            InputError: the name is taken or invalid.
        """
        model = self._case.network
        self._check_free(name)
        self._change(replace(model, switches=(*model.switches, Switch(name=name))))
        switch = LiveSwitch(self, name)
        self._nodes[name] = switch
        return switch

    @takes_fields(LinkImpairments, Link)
    def link(
        self,
        a: LiveHost | LiveSwitch | str,
        b: LiveHost | LiveSwitch | str,
        *,
        addresses: tuple[str | None, str | None] = (None, None),
        reverse: Mapping[str, object] | None = None,
        **properties: object,
    ) -> LiveLink:
        """Link two nodes.

        Args:
            a: a node or its name.
            b: the other.
            addresses: of the interfaces at `a` and `b`, with prefix length; a host's own if
                it is its first interface and None is given.
            reverse: the differences in the direction from `b` to `a`, by name.
            properties: the link's impairments in each direction: numbers in base units
                (bit/s, seconds, bytes, shares from 0 to 1), or texts as in a study. A `trace`
                is a file of the host, and begins when the link is built.

        Raises:
            InputError: there is no such node, or a property has no such value.
        """
        own = {key: properties.pop(key) for key in fields_of(Link) if key in properties}
        one_way = UNIMPAIRED.changed(self._with_trace(properties))
        model = self._case.network
        link = Link(
            a=name_of(a),
            b=name_of(b),
            a_to_b=one_way,
            b_to_a=one_way.changed(self._with_trace(reverse or {})),
            a_address=None if addresses[0] is None else host_address(addresses[0]),
            b_address=None if addresses[1] is None else host_address(addresses[1]),
            **values_of(Link, own, what="a link"),
        )
        for end in (link.a, link.b):
            self._check_node(end)
        self._change(replace(model, links=(*model.links, link)))
        names = self._case.network.interfaces()[-1]
        self._links.append(LiveLink(self, len(self._links), names=names))
        return self._links[-1]

    def add(self, network: Mapping[str, object]) -> None:
        """Add the nodes and links of a study's `network` section.

        Args:
            network: the section as plain data: {"hosts": {"h1": "10.0.0.1/8"}, ...}. Its links
                do not follow traces from files; `link` does.

        Raises:
            InputError: something in it is wrong, or a name is taken; `place` is its location.
        """
        new = read_section(network)
        now = self._case.network
        for name in new.node_names():
            self._check_free(name)
        for ours, given, default in (
            (now.testbed, new.testbed, None),
            (now.frames, new.frames, False),
        ):
            if given not in (ours, default):
                raise InputError("testbed and frames are those of the whole network: see Network")
        model = replace(
            now,
            hosts=(*now.hosts, *new.hosts),
            switches=(*now.switches, *new.switches),
            links=(*now.links, *new.links),
        )
        for problem in problems(model):
            raise InputError(problem.message)
        self._take(model, new=new, first_link=len(now.links))

    def grow(self, model: Network) -> None:
        """Add and build the nodes and links that another network has in addition to this one's.

        Args:
            model: the whole network; its first nodes and links are this one's.

        Raises:
            ValueError: its first nodes or links, its testbed or its kind of packets differ.
            InputError: the nodes and links do not make a network, or a command that builds
                them failed.
        """
        now = self._case.network
        for name in ("hosts", "switches", "links"):
            ours = getattr(now, name)
            if getattr(model, name)[: len(ours)] != ours:
                raise ValueError(f"the network's first {name} differ")
        if model.testbed != now.testbed:
            raise ValueError("the network's testbed differs")
        if model.frames != now.frames:
            raise ValueError("the network's packets (frames) differ")
        added = Network(
            hosts=model.hosts[len(now.hosts) :],
            switches=model.switches[len(now.switches) :],
            links=model.links,
        )
        nodes, links = dict(self._nodes), list(self._links)
        self._take(model, new=added, first_link=len(now.links))
        try:
            self.build()
        except LongfatError:
            self._change(now)
            self._nodes, self._links = nodes, links
            raise

    def __getitem__(self, name: str) -> LiveHost | LiveSwitch:
        """Return a node by its name.

        Raises:
            InputError: there is no such node.
        """
        self._check_node(name)
        return self._nodes[name]

    @property
    def hosts(self) -> list[LiveHost]:
        """The hosts, in the order in which they were added."""
        return [node for node in self._nodes.values() if isinstance(node, LiveHost)]

    @property
    def switches(self) -> list[LiveSwitch]:
        """The switches, likewise."""
        return [node for node in self._nodes.values() if isinstance(node, LiveSwitch)]

    @property
    def links(self) -> list[LiveLink]:
        """The links, likewise."""
        return list(self._links)

    def _check_clocks(self, hosts: Sequence[Host]) -> None:
        wrong = [host.name for host in hosts if host.clock is not None]
        check_clocks(wrong, self.session.kernel)

    def _take(self, model: Network, *, new: Network, first_link: int = 0) -> None:
        self._check_clocks(new.hosts)
        self._change(model)
        self._nodes |= {host.name: LiveHost(self, host.name) for host in new.hosts}
        self._nodes |= {switch.name: LiveSwitch(self, switch.name) for switch in new.switches}
        for index, names in enumerate(model.interfaces()[first_link:], start=first_link):
            self._links.append(LiveLink(self, index, names=names))

    def _add_host(self, host: Host, hosts: Sequence[Host]) -> LiveHost:
        self._check_free(host.name)
        self._check_clocks([host])
        self._change(replace(self._case.network, hosts=(*hosts, host)))
        live = LiveHost(self, host.name)
        self._nodes[host.name] = live
        return live

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
        return {**properties, "trace": self.add_file(f"/opt/traces/{path.name}", content)}

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
        if name not in self._nodes:
            raise InputError(f"there is no node {name!r} (there are: {', '.join(self._nodes)})")

    def _check_free(self, name: str) -> None:
        if reason := name_problem(name):
            raise InputError(reason)
        if name in self._nodes:
            raise InputError(f"the name {name!r} is taken already")

    def _next_address(self) -> str:
        taken = {
            str(host.address).partition("/")[0] for host in self._case.network.hosts if host.address
        }
        number = len(self._case.network.hosts)
        while True:
            number += 1
            address = str(_ADDRESSES[number])
            if address not in taken:
                return f"{address}/{_ADDRESSES.prefixlen}"


def name_of(node: LiveHost | LiveSwitch | str) -> str:
    """Return the name of a node that a caller gave as an object or by its name."""
    return node if isinstance(node, str) else node.name


def _routes(gateway: str | None, routes: Mapping[str, str] | None) -> tuple[Route, ...]:
    given = {**({} if gateway is None else {"default": gateway}), **(routes or {})}
    return tuple(Route(to=route_target(to), via=router_address(via)) for to, via in given.items())
