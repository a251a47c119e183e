"""Queues whose packets stay charged to the sender's socket where hosts share a kernel.

Between namespaces of one kernel (Mininet) a sender feels the queue of a switch: TCP small queues
and UDP's send buffer count what waits in it. Between separate computers it does not. So a shaper
at a switch gives other results in the two, unless something before it ends the charge: a router,
which receives the packet by IP, or a netem with a delay (`skb_orphan_partial` in
net/sched/sch_netem.c). See `longfat.model.network.Network.shared_kernel`.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from longfat.model.flow_path.flow_path import (
    flow_interfaces,
    interface_lines,
    sender_and_receiver,
)
from longfat.model.flow_path.setup_lines import shaping
from longfat.model.network import ROOT_NAMESPACE
from longfat.model.typed_line import NotUnderstoodError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from longfat.model.case import Case
    from longfat.model.traffic import Flow


def charged_queues(case: Case) -> list[str]:
    """Return the interfaces of switches with a rate and no delay before it on a flow's way.

    Interfaces whose lines cannot be read with certainty are left out.

    Args:
        case: the case.
    """
    queues: dict[str, None] = {}
    for flow in case.flows:
        with contextlib.suppress(NotUnderstoodError):
            queues.update(dict.fromkeys(_on_the_way(case, flow)))
    return list(queues)


def _on_the_way(case: Case, flow: Flow) -> Iterator[str]:
    sender, _ = sender_and_receiver(flow)
    for node, interface in flow_interfaces(case.network, flow) or []:
        if node not in (ROOT_NAMESPACE, sender):
            return
        shaped = shaping(interface_lines(case, interface))
        if shaped.delay_s:
            return
        if node == ROOT_NAMESPACE and shaped.rate_bps is not None:
            yield interface
