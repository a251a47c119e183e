"""The rate that an installed qdisc limits to, as the kernel returns it in TCA_OPTIONS.

Installed by any of: a link's properties, a set-up line, or a line that was typed.

Source of the format: tc_tbf_qopt, TCA_TBF_*, TCA_NETEM_*, TCA_CAKE_* of
include/uapi/linux/pkt_sched.h.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from longfat.model.probes.samples import attributes

if TYPE_CHECKING:
    from collections.abc import Mapping

_NETEM_HEAD_BYTES = 24  # struct tc_netem_qopt, before the attributes
_TBF_PARAMETERS, _TBF_RATE64 = 1, 4
_NETEM_RATE, _NETEM_RATE64 = 6, 8
_CAKE_BASE_RATE64 = 2
# struct tc_ratespec at the head of struct tc_tbf_qopt: its last field is the rate.
_TBF_RATE_AT = 8


def installed_rate_bps(kind: str, options: memoryview | None) -> float | None:
    """Return the rate that a qdisc limits what passes it to, in bit/s.

    Args:
        kind: which qdisc it is, such as `tbf`.
        options: its TCA_OPTIONS.

    Returns:
        The rate; None where it limits none, or its classes do (htb, hfsc), which a dump of
        qdiscs does not show.
    """
    if options is None:
        return None
    if kind == "tbf":
        found = attributes(options)
        return _bps(found, _TBF_RATE64, fallback=(_TBF_PARAMETERS, _TBF_RATE_AT))
    if kind == "netem":
        found = attributes(options[_NETEM_HEAD_BYTES:])
        return _bps(found, _NETEM_RATE64, fallback=(_NETEM_RATE, 0))
    if kind == "cake":
        return _bps(attributes(options), _CAKE_BASE_RATE64, fallback=None)
    return None


def _bps(
    found: Mapping[int, memoryview], wide: int, *, fallback: tuple[int, int] | None
) -> float | None:
    """Return a rate from its field of 64 bits, or of 32 if it fits, in bit/s; None for 0."""
    bytes_per_s = 0
    if wide in found:
        (bytes_per_s,) = struct.unpack_from("=Q", found[wide])
    elif fallback is not None and fallback[0] in found:
        (bytes_per_s,) = struct.unpack_from("=I", found[fallback[0]], fallback[1])
    return bytes_per_s * 8.0 if bytes_per_s else None
