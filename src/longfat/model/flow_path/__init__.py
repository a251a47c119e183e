"""The path of a flow, as configured: rate, delay, loss, queue, buffers.

Nothing is measured here. Of a run, `installed` has what its kernel had, and `installed_path` what
a flow's packets go through at an interface. Of a case that was not run, `setup_lines` applies
set-up lines to the qdiscs of the links. `flow_path` combines the hops from a flow's sender to its
receiver. Reports and advice use it.
"""

from longfat.model.flow_path.flow_path import (
    Bottleneck,
    FlowPath,
    bottleneck,
    egress_interfaces,
    flow_interfaces,
    flow_path,
    idle_rtt,
    interface_lines,
    interface_queue,
    path_interfaces,
    queue_limits,
    sender_and_receiver,
)
from longfat.model.flow_path.setup_lines import (
    QueueLine,
    Shaping,
    qdisc_lines,
    queue_line,
    shaping,
    sysctl,
    sysctl_word,
)
from longfat.model.typed_line import NotUnderstoodError

__all__ = [
    "Bottleneck",
    "FlowPath",
    "NotUnderstoodError",
    "QueueLine",
    "Shaping",
    "bottleneck",
    "egress_interfaces",
    "flow_interfaces",
    "flow_path",
    "idle_rtt",
    "interface_lines",
    "interface_queue",
    "path_interfaces",
    "qdisc_lines",
    "queue_limits",
    "queue_line",
    "sender_and_receiver",
    "shaping",
    "sysctl",
    "sysctl_word",
]
