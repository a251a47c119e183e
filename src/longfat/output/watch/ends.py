"""Which sockets carry a flow's data, as far as that is known while the flow runs.

A tool reports its connections' ports at its end.
Until then the server's host and port are all that is known: every connection
to it is the flow's, and one of them is the control connection, which iperf3
makes before the streams' and which moves a few hundred bytes in all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from longfat.model.probes.tcp import End, Ends


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """A flow, and the server that its connections lead to.

    Attributes:
        flow: the flow's name.
        client: the client's host.
        server: the server's host.
        port: the server's port.
        server_sends: the data goes from the server to the client.
        has_control: the first connection carries no data, as iperf3's does not.
    """

    flow: str
    client: str
    server: str
    port: int
    server_sends: bool = False
    has_control: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """A connection to a flow's server.

    Attributes:
        client_port: the port at the client.
        first_s: when it was first seen, in seconds of virtual time.
        moved_bytes: what it has carried so far, in both directions.
    """

    client_port: int
    first_s: float
    moved_bytes: int


def sending_ends(connections: Mapping[Served, Iterable[Connection]]) -> Ends:
    """Return the sockets that send flows' data, without their control connections.

    The control connection is the one that was seen first. Where several were
    seen first at once, it is the one of them that has moved the fewest bytes. A
    flow of which a single connection was seen has no stream yet.

    Args:
        connections: all connections of each flow so far.

    Returns:
        For each socket its flow and the number of its stream, in the order in
        which they were seen.
    """
    found: Ends = {}
    for served, seen in connections.items():
        by_age = sorted(seen, key=lambda one: (one.first_s, one.moved_bytes, one.client_port))
        streams = sorted(
            by_age[1:] if served.has_control else by_age,
            key=lambda one: (one.first_s, one.client_port),
        )
        for number, one in enumerate(streams):
            if served.server_sends:
                key = (served.server, served.port, one.client_port)
            else:
                key = (served.client, one.client_port, served.port)
            found[key] = End(served.flow, "sender", number)
    return found
