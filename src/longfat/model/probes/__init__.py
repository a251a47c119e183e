"""Probes: what is sampled while the traffic runs, one file a probe.

A probe is a value like a flow. It defines what the guest does (`order`), and
turns the raw bytes that the guest left into an Arrow table with units
(`table`) and a few metrics (`measure`). The guest keeps raw replies of the
kernel and decodes nothing, so that sampling costs little, and a wrong decoder
can be corrected without running the case again.
"""

from longfat.common.plugins import Registry
from longfat.model.probes.capture import Capture
from longfat.model.probes.probe import Probe
from longfat.model.probes.queue import Queue
from longfat.model.probes.rate import Rate
from longfat.model.probes.tcp import Tcp

PROBES: Registry[type[Probe]] = Registry(
    "longfat.probes",
    base=Probe,
    tag="kind",
    own={probe.kind: probe for probe in (Queue, Tcp, Rate, Capture)},
)
"""The kinds of probes by their names, those of plug-ins among them."""

__all__ = ["PROBES", "Capture", "Probe", "Queue", "Rate", "Tcp"]
