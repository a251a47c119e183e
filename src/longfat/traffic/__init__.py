"""Traffic that is measured: one file a tool, with its command line and its parsed answer."""

from longfat.traffic.flow import Flow
from longfat.traffic.iperf3 import Iperf3
from longfat.traffic.ping import Ping

__all__ = ["Flow", "Iperf3", "Ping"]
