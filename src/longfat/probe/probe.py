"""What all probes have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import pyarrow as pa

    from longfat.metric import Metric
    from longfat.network import Network
    from longfat.traffic import Flow


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe(ABC):
    """Something to sample while the traffic runs.

    Attributes:
        name: the probe's name in the study, unique among its case's flows and probes.

    A subclass also says its `kind` and the `metrics` that it can measure.
    """

    kind: ClassVar[str]
    metrics: ClassVar[tuple[Metric, ...]]

    name: str

    @abstractmethod
    def order(self, *, network: Network, flows: Sequence[Flow]) -> dict[str, Any]:
        """Return what the guest is to do, as plain data; `longfat.guest.probe` reads it.

        Args:
            network: the case's network.
            flows: the case's flows.
        """

    @abstractmethod
    def table(self, raw: Path, *, flows: Sequence[Flow], epoch_s: float) -> pa.Table:
        """Decode the raw bytes.

        Args:
            raw: the folder of the run's raw files.
            flows: the case's flows.
            epoch_s: what the guest's clock said at the traffic's start, in
                seconds since 1970.

        Returns:
            A table whose column `time_s` is virtual time after the traffic's
            start, in seconds; each column's unit stands in its metadata.

        Raises:
            longfat.errors.MachineError: the file is missing or broken.
        """

    @abstractmethod
    def measure(self, table: pa.Table) -> Mapping[str, float]:
        """Return the metrics of a decoded table by full name, in base units."""
