"""Traffic that is measured: one file a tool, with its command line and its parsed answer."""

from collections.abc import Mapping

from longfat.traffic.flow import Flow
from longfat.traffic.iperf3 import Iperf3
from longfat.traffic.ping import Ping

FLOWS: Mapping[str, type[Flow]] = {flow.tool: flow for flow in (Iperf3, Ping)}
"""The kinds of flows by their tools."""

__all__ = ["FLOWS", "Flow", "Iperf3", "Ping"]
