"""The time that a host's CPU takes: how late it serves timers, and what its work costs.

Without it, hosts are infinitely fast. A kernel patch keeps these values for each network
namespace, as sysctls, which `build_batches` sets. Hosts with a timing of their own have CPUs of
their own; a testbed's is that of one computer, which runs all others and the switches, as Mininet
does.

`PROFILES` are named timings. None of them predicts a testbed: see docs/fidelity.md.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from longfat.common.suggest import listed, nearest
from longfat.errors import InputError
from longfat.model.fields import declare, fields_of, values_of, written_fields
from longfat.model.kinds import Time, TimePerByte

_MAX_S = 0.01


def _cost(example: str) -> Time:
    return Time(maximum=_MAX_S, example=example, bare_seconds=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class CpuCosts:
    """What the work of a host costs its CPU, which does one thing after another.

    Attributes:
        syscall_s: a system call.
        copy_s: a byte that a system call copies.
        packet_s: a packet (of GSO: up to 45 segments) that an interface sends or receives.
        wakeup_s: a switch to another process.
    """

    syscall_s: float = declare(
        _cost("300ns"), default=0.0, label="System call", help="the cost of a system call"
    )
    copy_s: float = declare(
        TimePerByte(), default=0.0, label="Copy", help="the cost of a byte that one copies"
    )
    packet_s: float = declare(
        _cost("436ns"),
        default=0.0,
        label="Packet",
        help="the cost of a packet that an interface sends or receives",
    )
    wakeup_s: float = declare(
        _cost("1us"), default=0.0, label="Wake-up", help="the cost of a switch to another process"
    )


NO_COSTS = CpuCosts()


@dataclass(frozen=True, slots=True, kw_only=True)
class HostTiming:
    """How long the CPU of a host takes.

    Attributes:
        timer_latency_s: how late the CPU serves a timer while it is idle: the timers that
            processes sleep by, of queueing disciplines, and of TCP's pacing and compressed ACKs.
        cpu: what its work costs.
    """

    timer_latency_s: float = declare(
        _cost("50us"),
        default=0.0,
        label="Timer latency",
        help="how late an idle CPU serves a timer",
    )
    cpu: CpuCosts = NO_COSTS

    @property
    def name(self) -> str:
        """The profile's name, or what differs from an infinitely fast CPU, for people."""
        if self.profile is not None:
            return self.profile
        fields = written_fields(self) | written_fields(self.cpu)
        words = (f"{key.replace('_', ' ')} {value}" for key, value in fields.items())
        return ", ".join(words) or "infinitely fast"

    @property
    def profile(self) -> str | None:
        """The name of the profile that it is; None if it is none."""
        return next((name for name, profile in PROFILES.items() if profile == self), None)

    def sysctl_values(self) -> dict[str, int]:
        """Return the values of net.host_cpu that differ from 0, by name."""
        values = {
            "timer_latency_ns": round(self.timer_latency_s * 1e9),
            "syscall_ns": round(self.cpu.syscall_s * 1e9),
            "copy_ps": round(self.cpu.copy_s * 1e12),
            "packet_ns": round(self.cpu.packet_s * 1e9),
            "wakeup_ns": round(self.cpu.wakeup_s * 1e9),
        }
        return {name: value for name, value in values.items() if value}


PROFILES: Mapping[str, HostTiming] = {
    "vm-2020": HostTiming(
        timer_latency_s=50e-6,
        cpu=CpuCosts(syscall_s=300e-9, copy_s=80e-12, packet_s=436e-9, wakeup_s=1e-6),
    ),
}
"""Timings by name."""

TIMING_KEYS = ("profile", *fields_of(HostTiming), "cpu")
"""What a study calls the parts of a timing."""


def profile_named(name: str) -> HostTiming:
    """Return a profile.

    Raises:
        InputError: there is none of this name.
    """
    if name not in PROFILES:
        raise InputError(
            f"there is no profile {name!r}{nearest(name, PROFILES)} (there are: {listed(PROFILES)})"
        )
    return PROFILES[name]


def timing_from(
    *,
    profile: str | None = None,
    cpu: Mapping[str, object] | None = None,
    **values: object,
) -> HostTiming | None:
    """Return the timing that a Python program gave.

    Args:
        profile: the timing that holds for what is not given; infinitely fast, if None.
        cpu: costs by key, as texts of a study or in seconds.
        values: the declared fields of `HostTiming`, likewise.

    Returns:
        The timing; None for a host that is infinitely fast.

    Raises:
        InputError: there is no such profile or field, or a value is wrong.
    """
    timing = HostTiming() if profile is None else profile_named(profile)
    given = {key: value for key, value in values.items() if value is not None}
    costs = values_of(CpuCosts, cpu or {}, what="a CPU")
    return timing_with(timing, values_of(HostTiming, given, what="a host's timing"), costs)


def timing_with(
    timing: HostTiming, values: Mapping[str, Any], costs: Mapping[str, Any]
) -> HostTiming | None:
    """Return a timing with other values, by attribute; None if it is infinitely fast."""
    found = dataclasses.replace(timing, **values, cpu=dataclasses.replace(timing.cpu, **costs))
    return found if found.sysctl_values() else None
