"""The clock of a host that is wrong: how far it is ahead of the machine's, and what it gains.

Linux has one clock for the time of day, and hosts are namespaces of one Linux. The kernel variant
`clock` (kernel/variants/clock) gives each network namespace a clock of its own, by the sysctls
net.host_clock.offset_ns and drift_ppb. Durations are measured by the machine's clock.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from longfat.model.fields import declare, fields_of, read_fields, values_of, written_fields
from longfat.model.kinds import Drift, Kind, Offset

if TYPE_CHECKING:
    from longfat.model.kinds import Source

CLOCK_PATCH = "10-host-clock.patch"
"""The patch that a kernel must have for it, as a kernel's manifest names it."""

CLOCK_VERSION = "6.12+clock"
"""A kernel that has it, as messages name one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostClock:
    """How a host's clock differs from the machine's.

    Attributes:
        offset_s: how far it is ahead, in seconds; negative, if it is behind.
        drift_ppm: what it gains, in millionths; negative, if it loses.
    """

    offset_s: float = declare(
        Offset(example="3s"),
        default=0.0,
        label="Offset",
        help="how far the clock is ahead; negative, if it is behind",
    )
    drift_ppm: float = declare(
        Drift(example="100ppm"),
        default=0.0,
        label="Drift",
        help="what the clock gains; negative, if it loses",
    )

    def sysctl_line(self) -> str:
        """Return the line that sets the clock of the host that it is typed at."""
        return clock_line(offset_s=self.offset_s, drift_ppm=self.drift_ppm)


def clock_line(*, offset_s: float | None, drift_ppm: float | None) -> str:
    """Return the line that changes a host's clock; what is None stays as it is."""
    words = ["sysctl -qw"]
    if offset_s is not None:
        words.append(f"net.host_clock.offset_ns={round(offset_s * 1e9)}")
    if drift_ppm is not None:
        words.append(f"net.host_clock.drift_ppb={round(drift_ppm * 1e3)}")
    return " ".join(words)


class ClockKind(Kind[HostClock]):
    """The clock of a host: a mapping of the fields of `HostClock`."""

    form: ClassVar[str] = "text"
    what = "a clock (such as {offset: 3s, drift: 100ppm})"
    example = "{offset: 3s, drift: 100ppm}"

    def parse(self, text: str) -> HostClock:
        """Return the clock of a text: an offset, or what `text` returns."""
        if not text.startswith("{"):
            return HostClock(offset_s=fields_of(HostClock)["offset"].kind.parse(text))
        parts = [part.partition(":") for part in text.strip("{}").split(",") if part.strip()]
        given = {key.strip(): value.strip() for key, _, value in parts}
        return HostClock(**values_of(HostClock, given, what="a clock"))

    def read(self, source: Source) -> HostClock:
        """Return the clock at a place of a study."""
        if not source.is_mapping:
            return Kind.read(self, source)
        fields = source.fields(self.what, allowed=fields_of(HostClock))
        return HostClock(**read_fields(HostClock, fields))

    def of(self, value: object) -> HostClock:
        """Return the clock that a Python program gave."""
        if isinstance(value, HostClock):
            return value
        if isinstance(value, Mapping):
            return HostClock(**values_of(HostClock, value, what="a clock"))
        return HostClock(**values_of(HostClock, {"offset": value}, what="a clock"))

    def text(self, value: HostClock) -> str:
        """Return the clock in a study's words."""
        fields = written_fields(value)
        return "{" + ", ".join(f"{key}: {one}" for key, one in fields.items()) + "}"

    def plain(self, value: HostClock) -> object:
        """Return the clock as YAML holds it."""
        return written_fields(value)

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema of clocks."""
        fields = fields_of(HostClock)
        return {
            "anyOf": [
                fields["offset"].kind.schema(),
                {
                    "type": "object",
                    "properties": {key: one.kind.schema() for key, one in fields.items()},
                    "additionalProperties": False,
                },
            ]
        }
