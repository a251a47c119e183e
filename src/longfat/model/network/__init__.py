"""The network of a case: hosts, switches and links, and the lines that build it.

Hosts are network namespaces; switches are Linux bridges in the root namespace,
as in Mininet, so that `tc ... dev s1-eth2` typed at root works. `model` has the
values, `check` says what is wrong with them, `build` and `shape` give the lines
of `ip` and `tc`, and `routing` follows a packet.
"""

from longfat.model.network.build import (
    Batch,
    build_batches,
    hosts_file,
    link_of_qdisc,
    shape_commands,
)
from longfat.model.network.check import Problem, problems
from longfat.model.network.model import ROOT, Host, Link, Network, Route, Shape, Switch
from longfat.model.network.routing import NoWayError, follow_back, follow_links, follow_routes
from longfat.model.network.shape import shape_lines

__all__ = [
    "ROOT",
    "Batch",
    "Host",
    "Link",
    "Network",
    "NoWayError",
    "Problem",
    "Route",
    "Shape",
    "Switch",
    "build_batches",
    "follow_back",
    "follow_links",
    "follow_routes",
    "hosts_file",
    "link_of_qdisc",
    "problems",
    "shape_commands",
    "shape_lines",
]
