"""The network of a case: hosts, switches and links, and the lines that build it.

Hosts are network namespaces; switches are Linux bridges in the root namespace,
as in Mininet, so that `tc ... dev s1-eth2` typed at root works. `model` has the
values, `check` validates them, `shape` gives the qdiscs of links,
`build` the lines of `ip` and `tc`, and `routing` follows a packet.
"""

from longfat.model.host_root import HostRoot
from longfat.model.network.bonds import Bond
from longfat.model.network.build import (
    Batch,
    build_batches,
    hosts_file,
    interface_commands,
    shape_commands,
    tunnel_commands,
    typed_part,
)
from longfat.model.network.check import Problem, problems
from longfat.model.network.impairments import LinkImpairments
from longfat.model.network.model import (
    DEFAULT_MTU_BYTES,
    ROOT_NAMESPACE,
    Host,
    Link,
    Network,
    Route,
    Switch,
    VlanAddress,
)
from longfat.model.network.police import Policer
from longfat.model.network.routing import NoRouteError, follow_back, follow_links, trace_route
from longfat.model.network.shape import (
    infer_impairments,
    shape_qdiscs,
    shaped_interfaces,
)
from longfat.model.network.timing import (
    PROFILES,
    TIMING_KEYS,
    CpuCosts,
    HostTiming,
    profile_named,
    timing_from,
    timing_with,
)
from longfat.model.network.tunnels import Tunnel

__all__ = [
    "DEFAULT_MTU_BYTES",
    "PROFILES",
    "ROOT_NAMESPACE",
    "TIMING_KEYS",
    "Batch",
    "Bond",
    "CpuCosts",
    "Host",
    "HostRoot",
    "HostTiming",
    "Link",
    "LinkImpairments",
    "Network",
    "NoRouteError",
    "Policer",
    "Problem",
    "Route",
    "Switch",
    "Tunnel",
    "VlanAddress",
    "build_batches",
    "follow_back",
    "follow_links",
    "hosts_file",
    "infer_impairments",
    "interface_commands",
    "problems",
    "profile_named",
    "shape_commands",
    "shape_qdiscs",
    "shaped_interfaces",
    "timing_from",
    "timing_with",
    "trace_route",
    "tunnel_commands",
    "typed_part",
]
