"""Policers: what comes in faster than a rate, beyond a burst, is dropped, and nothing waits.

A provider polices where packets come in: here at the interface of the receiving end, by tc's
action `police`, which counts IP packets without their Ethernet headers. A policer
drops a GSO packet as a whole; so the sending end hands over frames: its wire cuts packets into
them, and its interface has no TSO.

Sources: tc-police(8), tc-matchall(8); `sch_handle_ingress` in net/core/dev.c and
`tcf_police_act` in net/sched/act_police.c of Linux 6.1 and 6.12.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from longfat.errors import InputError
from longfat.model.fields import REQUIRED, declare, fields_of, values_of, written_fields
from longfat.model.kinds import Kind, Rate, Size
from longfat.model.kinds.kind import WrongKindError

if TYPE_CHECKING:
    from longfat.model.kinds import Source

FRAMES_ONLY = "tso off tx-udp-segmentation off"
"""The offloads of an interface that sends to a policer: it hands over frames."""

_MIN_RATE_BPS = 8  # the kernel counts whole bytes per second
_MAX_RATE_BPS = 10**12
_MAX_BURST_BYTES = 2**32 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Policer:
    """What a policer lets pass.

    Attributes:
        rate_bps: the rate of IP packets in bit/s.
        burst_bytes: how many bytes beyond it may come at once.
    """

    rate_bps: int = declare(
        Rate(minimum=_MIN_RATE_BPS, maximum=_MAX_RATE_BPS),
        default=REQUIRED,
        label="Rate",
        help="the rate of IP packets that pass",
    )
    burst_bytes: int = declare(
        Size(minimum=1, maximum=_MAX_BURST_BYTES),
        default=REQUIRED,
        label="Burst",
        help="how much may come at once after a pause",
    )


def police_lines(policer: Policer, device: str) -> tuple[str, str]:
    """Return the lines, without the word `tc`, that police what comes in by an interface."""
    police = f"rate {policer.rate_bps}bit burst {policer.burst_bytes}b conform-exceed drop"
    return (
        f"qdisc add dev {device} ingress",
        f"filter add dev {device} ingress protocol all matchall action police {police}",
    )


class PolicerKind(Kind[Policer]):
    """A policer: a mapping of the fields of `Policer`."""

    form: ClassVar[str] = "text"
    what = "a policer (such as {rate: 100mbit, burst: 500KB})"
    example = "{rate: 100mbit, burst: 500KB}"

    def parse(self, text: str) -> Policer:
        """Return the policer of a text: what `text` returns."""
        if not (text.startswith("{") and text.endswith("}")):
            raise WrongKindError(f"{text!r} is not {self.what}")
        parts = [part.partition(":") for part in text.strip("{}").split(",") if part.strip()]
        return _policer({key.strip(): value.strip() for key, _, value in parts})

    def read(self, source: Source) -> Policer:
        """Return the policer at a place of a study."""
        if not source.is_mapping:
            return Kind.read(self, source)
        declared = fields_of(Policer)
        fields = source.fields(self.what, allowed=declared)
        for key, field in declared.items():
            if key not in fields:
                raise source.error(f"the policer has no {key}: write {key}: {field.kind.what}")
        values = {field.name: field.kind.read(fields[key]) for key, field in declared.items()}
        return Policer(**values)

    def of(self, value: object) -> Policer:
        """Return the policer that a Python program gave."""
        if isinstance(value, Policer):
            # Its numbers are checked, too.
            return _policer({"rate": value.rate_bps, "burst": value.burst_bytes})
        if isinstance(value, Mapping):
            return _policer(value)
        return Kind.of(self, value)

    def text(self, value: Policer) -> str:
        """Return the policer in a study's words."""
        return "{" + ", ".join(f"{key}: {one}" for key, one in written_fields(value).items()) + "}"

    def plain(self, value: Policer) -> object:
        """Return the policer as YAML holds it."""
        return written_fields(value)

    def words(self, value: Policer) -> str:
        """Return the policer as people read it."""
        return fields_of(Policer)["rate"].kind.words(value.rate_bps)

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema of policers."""
        fields = fields_of(Policer)
        return {
            "type": "object",
            "properties": {
                # A grid's parameter may stand for a value.
                key: {"anyOf": [field.kind.schema(), {"type": "string", "pattern": r"\$<.*>"}]}
                for key, field in fields.items()
            },
            "required": list(fields),
            "additionalProperties": False,
        }


def _policer(given: Mapping[str, object]) -> Policer:
    for key, field in fields_of(Policer).items():
        if given.get(key) is None and set(given) <= set(fields_of(Policer)):
            raise InputError(f"the policer has no {key}: write {key}: {field.kind.what}")
    return Policer(**values_of(Policer, given, what="a policer"))
