"""Traffic that is measured: one file a tool, with its command line and its parsed answer."""

from longfat.common.plugins import Registry
from longfat.model.traffic.bulk import Bulk
from longfat.model.traffic.cbr import Cbr
from longfat.model.traffic.flow import Flow
from longfat.model.traffic.iperf3 import Iperf3
from longfat.model.traffic.ping import Ping
from longfat.model.traffic.program import Program
from longfat.model.traffic.requests import Requests
from longfat.model.traffic.transfer import Transfer
from longfat.model.traffic.video import Video

FLOWS: Registry[type[Flow]] = Registry(
    "longfat.flows",
    base=Flow,
    tag="tool",
    own={flow.tool: flow for flow in (Iperf3, Transfer, Ping, Requests, Cbr, Video, Program)},
)
"""The kinds of flows by their tools, those of plug-ins among them."""

__all__ = [
    "FLOWS",
    "Bulk",
    "Cbr",
    "Flow",
    "Iperf3",
    "Ping",
    "Program",
    "Requests",
    "Transfer",
    "Video",
]
