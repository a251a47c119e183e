"""The network of a case: hosts, switches and links, and the `ip` lines that build it.

Hosts are network namespaces; switches are Linux bridges in the root namespace,
as in Mininet, so that `tc ... dev s1-eth2` typed at root works.
"""

from longfat.network.build import Batch, build_batches, hosts_file
from longfat.network.model import ROOT, Host, Link, Network, Switch

__all__ = ["ROOT", "Batch", "Host", "Link", "Network", "Switch", "build_batches", "hosts_file"]
