"""What to set on a long, fat path, and why: each line with its arithmetic.

`tune` is the entry point. `need` does the arithmetic, by the formulas of `longfat.theory`;
`tuning_lines` and `tuning_notes` derive the advice. No host is inspected.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from longfat.analysis.advice.need import Need, work_out
from longfat.analysis.advice.tuning_lines import all_lines
from longfat.analysis.advice.tuning_notes import keep, notes

if TYPE_CHECKING:
    from longfat.analysis.advice.recommendation import Line


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuning:
    """What to set for a path.

    Attributes:
        need: what the path requires.
        lines: what to set; lines of one place are adjacent.
        keep: what to leave as it is, each with the reason.
        notes: further remarks.
    """

    need: Need
    lines: tuple[Line, ...]
    keep: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the advice as plain data, numbers in base units."""
        need = self.need
        return {
            "rate_bps": need.path.rate_bps,
            "rtt_s": need.path.rtt_s,
            "kernel": need.path.kernel,
            "congestion": need.congestion,
            "loss": need.loss,
            "flows": need.flows,
            "bdp_bytes": need.path.bdp_bytes,
            "buffer_bytes": need.buffer_bytes,
            "stream_bps": need.stream_bps,
            "streams": need.streams,
            "goodput_bps": need.goodput_bps,
            "expected_bps": need.expected_bps,
            "lines": [{"at": one.node, "line": one.text, "why": one.why} for one in self.lines],
            "keep": [{"setting": setting, "why": why} for setting, why in self.keep],
            "notes": list(self.notes),
        }


def tune(
    *,
    rate_bps: int,
    rtt_s: float,
    kernel: str,
    congestion: str = "cubic",
    loss_fraction: float = 0.0,
    flows: int = 1,
) -> Tuning:
    """Return what to set for a path.

    Args:
        rate_bps: the rate of the bottleneck, in bit/s.
        rtt_s: the round-trip time of the idle path, in seconds.
        kernel: the Linux version of the hosts, such as `6.1`.
        congestion: one of `longfat.analysis.advice.need.CONGESTIONS`.
        loss_fraction: the share of packets that the path loses, 0 for none.
        flows: the number of long flows that share the bottleneck.

    Raises:
        InputError: a number is not one of a path, or nothing is known of the
            congestion control.
    """
    need = work_out(
        rate_bps=rate_bps,
        rtt_s=rtt_s,
        kernel=kernel,
        congestion=congestion,
        loss_fraction=loss_fraction,
        flows=flows,
    )
    return Tuning(
        need=need, lines=all_lines(need), keep=tuple(keep(need)), notes=tuple(notes(need))
    )
