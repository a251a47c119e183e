"""Probes: what is sampled while the traffic runs, one file a probe.

A probe is a value like a flow. It says what the guest is to do (`order`), and
turns the raw bytes that the guest left into an Arrow table with units
(`table`) and a few metrics (`measure`). The guest keeps raw replies of the
kernel and decodes nothing, so that looking costs little, and a wrong decoder
can be mended without running the case again.
"""

from collections.abc import Mapping

from longfat.model.probes.capture import Capture
from longfat.model.probes.probe import Probe
from longfat.model.probes.queue import Queue
from longfat.model.probes.rate import Rate
from longfat.model.probes.tcp import Tcp

PROBES: Mapping[str, type[Probe]] = {probe.kind: probe for probe in (Queue, Tcp, Rate, Capture)}
"""The kinds of probes by their names."""

__all__ = ["PROBES", "Capture", "Probe", "Queue", "Rate", "Tcp"]
