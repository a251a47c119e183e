"""What all probes have in common."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

from longfat.common.extras import lazy
from longfat.common.suggest import listed, nearest
from longfat.model.fields import REQUIRED, declare
from longfat.model.kinds import Names, Time

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import pyarrow as pa

    from longfat.model.metric import Metric
    from longfat.model.network import Network
    from longfat.model.probes.columns import Column
    from longfat.model.traffic import Flow

pc = lazy("pyarrow.compute")

MAX_SEPARATE = 16
"""Of up to so many targets of a probe each has metrics of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe(ABC):
    """Something to sample while the traffic runs.

    Attributes:
        name: the probe's name in the study, unique among its case's flows and probes.

    A subclass also defines its `kind`, the programs of the host that it `needs`, the `columns` of
    its series and the `metrics` that it can measure.
    """

    kind: ClassVar[str]
    needs: ClassVar[tuple[str, ...]] = ()
    columns: ClassVar[Sequence[Column]]

    name: str

    @property
    @abstractmethod
    def metrics(self) -> tuple[Metric, ...]:
        """What it can measure; a class variable, where that is the same for all of its kind."""

    @property
    @abstractmethod
    def targets(self) -> tuple[str, ...]:
        """The names of what it is of: interfaces, or flows."""

    def target_problem(
        self, name: str, *, network: Network, flows: Mapping[str, Flow]
    ) -> str | None:
        """Return why it cannot be of something; None if it can.

        Args:
            name: one of its targets.
            network: the case's network.
            flows: the case's flows by their names.
        """
        known = [interface for pair in network.interfaces() for interface in pair]
        known += [end.device for end in network.bond_ends()]
        if name in known:
            return None
        if name in flows:
            ends = [
                interface
                for link, pair in zip(network.links, network.interfaces(), strict=True)
                for node, interface in zip((link.a, link.b), pair, strict=True)
                if node in (flows[name].source, flows[name].target)
            ]
            return (
                f"{name!r} is a flow, and a {self.kind} probe is of interfaces (those of the "
                f"flow's hosts: {listed(ends)})"
            )
        full = {long: short for short, long in network.full_interface_names().items()}
        if name in full:
            return f"the interface {name} has a name too long for Linux: write {full[name]}"
        return f"there is no interface {name!r}{nearest(name, known)} (there are: {listed(known)})"

    @abstractmethod
    def order(self, *, network: Network, flows: Sequence[Flow]) -> dict[str, Any]:
        """Return what the guest is to do, as plain data; `longfat.guest.probes` reads it.

        Args:
            network: the case's network.
            flows: the case's flows.
        """

    def is_refused(self, words: str) -> bool:
        """Return whether a program of its own ended because its arguments were invalid.

        Args:
            words: what the program wrote to standard error.
        """
        del words
        return False

    @abstractmethod
    def series_bytes(self, time_s: float, *, rate_bps: float, streams: Mapping[str, int]) -> float:
        """Return about how much it writes.

        Args:
            time_s: how long the traffic takes, in seconds.
            rate_bps: what all flows carry together, in bit/s.
            streams: the number of streams of each flow.
        """

    @abstractmethod
    def table(
        self,
        raw: Path,
        *,
        flows: Sequence[Flow],
        epoch_s: float,
        failed_ports: Mapping[str, int] = MappingProxyType({}),
    ) -> pa.Table:
        """Decode the raw bytes.

        Args:
            raw: the folder of the run's raw files.
            flows: the case's flows.
            epoch_s: the guest's clock at the traffic's start, in seconds since 1970.
            failed_ports: the ports of the servers of flows that failed, which may have reported
                no connections.

        Returns:
            A table whose column `time_s` is virtual time after the traffic's
            start, in seconds; each column's unit is in its metadata.

        Raises:
            longfat.errors.MachineError: the file is missing or broken.
        """

    @abstractmethod
    def measure(self, table: pa.Table) -> Mapping[str, float]:
        """Return the metrics of a decoded table by full name, in base units."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampled(Probe):
    """A probe of the guest's sampler, which queries the kernel at a fixed interval.

    Attributes:
        of: the names of what is sampled: interfaces, or flows.
        every_s: the time between two samples, in seconds.
    """

    of: tuple[str, ...] = declare(
        Names(what="an interface (such as s1-eth1), or a list of them"),
        default=REQUIRED,
        label="Of",
        help="the interface, or a list of them",
    )
    every_s: float = declare(
        Time(minimum=1e-3, maximum=1.0),
        default=0.1,
        label="Every",
        help="the time between two samples",
    )

    target_metrics: ClassVar[tuple[Metric, ...]]
    """What it can measure of its targets, of each or of all together."""

    target_column: ClassVar[str] = "interface"
    """The column of the series that names the target of a row."""

    combined: ClassVar[str] = "sum of"
    """How titles call the metrics of several targets together: `sum of 2 interfaces`."""

    @property
    def targets(self) -> tuple[str, ...]:
        """The names of what is sampled."""
        return self.of

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """What it can measure: of several targets, of each and then of all together."""
        if len(self.of) == 1:
            return self.target_metrics
        parts = [
            replace(
                metric,
                name=f"{prefix}_{metric.name}",
                title=f"{target} {metric.title}",
                source=metric.source and metric.source.of_rows(f"{self.target_column} {target}"),
            )
            for prefix, target in self._prefixes().items()
            for metric in self.target_metrics
        ]
        together = f"{self.combined} {len(self.of)} {self.target_column}s"
        totals = [
            replace(metric, title=f"{metric.title}, {together}") for metric in self.target_metrics
        ]
        return (*parts, *totals)

    def _prefixes(self) -> dict[str, str]:
        """Return the targets with metrics of their own by what the metrics' names begin with."""
        prefixes: dict[str, str] = {}
        if not 1 < len(self.of) <= MAX_SEPARATE:
            return prefixes
        for target in self.of:
            # A metric's name begins with a letter.
            prefix = name = re.sub(r"\W", "_", f"if_{target}" if target[0].isdigit() else target)
            number = 1
            while name in prefixes:  # a-b and a_b
                number += 1
                name = f"{prefix}_{number}"
            prefixes[name] = target
        return prefixes

    def measure(self, table: pa.Table) -> dict[str, float]:
        """Return the metrics of a decoded table; see `Probe.measure`."""
        measured: dict[str, float] = {}
        for prefix, target in self._prefixes().items():
            rows = table.filter(pc.equal(table[self.target_column].cast("string"), target))
            part = self.measure_targets(rows)
            measured |= {f"{prefix}_{name}": value for name, value in part.items()}
        return measured | self.measure_targets(table)

    @abstractmethod
    def measure_targets(self, table: pa.Table) -> dict[str, float]:
        """Return the metrics of the targets in a table together, as `target_metrics` lists them."""

    sample_bytes: ClassVar[float] = 300
    """About what a sample of one target takes on the disk."""

    def series_bytes(self, time_s: float, *, rate_bps: float, streams: Mapping[str, int]) -> float:
        """Return about how much it writes; see `Probe.series_bytes`."""
        del rate_bps, streams
        return time_s / self.every_s * len(self.of) * self.sample_bytes

    def order(self, *, network: Network, flows: Sequence[Flow]) -> dict[str, Any]:
        """Return the interval, and where to sample."""
        return {
            "kind": self.kind,
            "output": self.samples_file,
            "every_ns": round(self.every_s * 1e9),
            "nodes": self.nodes(network=network, flows=flows),
        }

    def nodes(self, *, network: Network, flows: Sequence[Flow]) -> dict[str, list[str]]:
        """Return the interfaces to query, by the nodes where they are visible."""
        del flows
        return network.interfaces_by_node(self.of)

    @property
    def samples_file(self) -> str:
        """Return the name of the raw file."""
        return f"{self.name}.samples"
