"""The path of a flow, as far as a case's lines tell it: rate, delay, loss, queue, buffers.

Nothing is measured here. `typed_lines` are those that shape the links, and the
set-up lines after them. `setup_lines` reads the plain forms of `tc` and
`sysctl` that a person types, `flow_path` puts together what lies on the way
from a flow's sender to its receiver. Reports and advice both rest on it.
"""

from longfat.model.flow_path.flow_path import (
    Bottleneck,
    FlowPath,
    bottleneck,
    egress_interfaces,
    flow_path,
    idle_rtt,
    sender_and_receiver,
    typed_lines,
)
from longfat.model.flow_path.setup_lines import (
    NotUnderstoodError,
    QueueLine,
    Shaping,
    queue_line,
    shaping,
    sysctl,
    sysctl_word,
)

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
    "queue_line",
    "sender_and_receiver",
    "shaping",
    "sysctl",
    "sysctl_word",
    "typed_lines",
]
