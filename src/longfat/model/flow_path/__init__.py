"""The path of a flow, as far as its case says it: rate, delay, loss, queue, buffers.

Nothing is measured here. `setup_lines` puts what a person types onto the qdiscs of
the links, `flow_path` puts together what lies on the way from a flow's sender to
its receiver. Reports and advice both rest on it.
"""

from longfat.model.flow_path.flow_path import (
    Bottleneck,
    FlowPath,
    bottleneck,
    egress_interfaces,
    flow_path,
    idle_rtt,
    interface_lines,
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
    "flow_path",
    "idle_rtt",
    "interface_lines",
    "qdisc_lines",
    "queue_line",
    "sender_and_receiver",
    "shaping",
    "sysctl",
    "sysctl_word",
]
