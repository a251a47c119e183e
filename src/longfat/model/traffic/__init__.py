"""Traffic that is measured: one file a tool, with its command line and its parsed answer."""

from collections.abc import Mapping

from longfat.model.traffic.bulk import Bulk
from longfat.model.traffic.flow import Flow
from longfat.model.traffic.iperf3 import Iperf3
from longfat.model.traffic.ping import Ping
from longfat.model.traffic.transfer import Transfer

FLOWS: Mapping[str, type[Flow]] = {flow.tool: flow for flow in (Iperf3, Transfer, Ping)}
"""The kinds of flows by their tools."""

__all__ = ["FLOWS", "Bulk", "Flow", "Iperf3", "Ping", "Transfer"]
