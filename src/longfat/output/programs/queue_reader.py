"""Samples the queue of an interface in the network namespace of this process.

The queue is where packets wait for the line, as in `longfat.model.probes.queue.the_queue`: the
first qdisc from the root down that is no netem.
"""

from __future__ import annotations

import os
import socket
from dataclasses import dataclass

from longfat.errors import InputError
from longfat.guest.netlink import ROUTE, Netlink, of_interfaces, queues_request, reply_buffer
from longfat.model.probes.queue import decode, waiting_handles
from longfat.model.probes.samples import Message, Source, message_bodies


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """The state of a queue at a moment.

    Attributes:
        time_s: the time since the first sample, in seconds.
        qdisc: its kind, such as `tbf`; with the kinds of those below it.
        backlog_bytes: the bytes that wait.
        backlog_packets: the packets that wait.
        drops: the packets dropped since the qdisc was made.
    """

    time_s: float
    qdisc: str
    backlog_bytes: int
    backlog_packets: int
    drops: int


class QueueReader:
    """Reads the queue of an interface.

    Args:
        interface: its name.
        node: the node whose interfaces are meant, for the message.

    Raises:
        InputError: there is no such interface here; the message lists those that exist.
    """

    def __init__(self, interface: str, *, node: str) -> None:
        try:
            self._index = socket.if_nametoindex(interface)
        except (OSError, ValueError):
            names = [name for _, name in socket.if_nameindex() if name != "lo"]
            raise InputError(
                f"there is no interface {interface!r} at {node}; there are:"
                f" {', '.join(names) or 'none'}"
            ) from None
        self._interface = interface
        # The agent's sockets have other addresses; ip and tc have the numbers of their processes.
        self._netlink = Netlink(ROUTE, buffer=reply_buffer(), address=os.getpid())
        self._request = queues_request()

    def read(self, time_s: float) -> Sample | None:
        """Return the queue's state; None if the interface is not there any more.

        Args:
            time_s: the time to give it, in seconds since the first sample.
        """
        messages = of_interfaces(self._netlink.dump(self._request), {self._index})
        source = Source("", {self._index: self._interface})
        bodies = message_bodies(memoryview(messages))
        qdiscs = list(decode(Message(time_s, source, body) for body in bodies))
        if not qdiscs:
            return None
        handles = waiting_handles(qdiscs)
        by_handle = {qdisc["handle"]: qdisc for qdisc in qdiscs}
        queue = by_handle[handles[0]]
        return Sample(
            time_s=time_s,
            qdisc=", ".join(dict.fromkeys(by_handle[handle]["qdisc"] for handle in handles)),
            backlog_bytes=queue["backlog_bytes"],
            backlog_packets=queue["backlog_packets"],
            drops=queue["drops"],
        )
