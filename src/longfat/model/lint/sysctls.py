"""Rules about lines of sysctl.

Sources: ip-sysctl.rst; tcp(7); sysctl(8). tests/belief/test_lint.py has what sysctl does with
wrong numbers of values.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterator, Sequence

from longfat.model.lint.case_facts import CaseFacts
from longfat.model.lint.machine_state import Origin
from longfat.model.lint.shell_words import SimpleCommand, Word, settings_of
from longfat.model.lint.sysctl_names import OF_HOSTS, OF_MACHINE
from longfat.model.metric import Unit
from longfat.model.network import ROOT_NAMESPACE
from longfat.model.units import format_quantity

CONGESTION_CONTROLS = frozenset(
    (
        *("bbr", "bic", "cdg", "cubic", "dctcp", "highspeed", "htcp", "hybla", "illinois", "lp"),
        *("nv", "reno", "scalable", "vegas", "veno", "westwood", "yeah"),
    )
)
"""The congestion controls of longfat's own kernels."""

_TRIPLES = frozenset(("net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem"))
_SOCKET_LIMITS = frozenset(
    ("net.core.rmem_max", "net.core.wmem_max", "net.core.rmem_default", "net.core.wmem_default")
)
_CONTROL = "net.ipv4.tcp_congestion_control"
_TCP_MEM = "net.ipv4.tcp_mem"
_PAGE_BYTES = 4096
_MAX_SCALED_BYTES = 65_535
_PLAIN_KERNEL = re.compile(r"\d+(\.\d+)*")
_CUTOFF = 0.8

Warnings = Iterator[tuple[Origin, str]]


def is_plain_kernel(kernel: str) -> bool:
    """Return whether a kernel is one of Linux's releases, and not one with more names."""
    return _PLAIN_KERNEL.fullmatch(kernel) is not None


def sysctl_warnings(command: SimpleCommand, *, is_own_kernel: bool = True) -> Iterator[str]:
    """Find sysctls that do not do what they say, whatever the network is.

    Args:
        command: the command.
        is_own_kernel: the kernel is one of longfat's, and not one with more names.
    """
    if command.words[0] != "sysctl":
        return
    settings = dict(settings_of(command.words))
    for name, value in settings.items():
        if is_own_kernel:
            yield from _name_warnings(name)
        yield from _node_warnings(name, command.node)
        if name in _TRIPLES:
            yield from _triple_warnings(name, value, command.words)
        if name == _CONTROL and is_own_kernel and value not in CONGESTION_CONTROLS:
            near = difflib.get_close_matches(value.lower(), sorted(CONGESTION_CONTROLS), n=1)
            meant = f": write `{name}={near[0]}`" if near else ""
            yield (
                f"`{name}={value}`: the kernel has no such congestion control, and refuses"
                f" it{meant}"
                + ("" if near else f" (it has {', '.join(sorted(CONGESTION_CONTROLS))})")
            )
        if name in _SOCKET_LIMITS and value.isdigit() and int(value) >= 2**31:
            yield f"`{name}={value}`: the kernel refuses numbers above {2**31 - 1}"
        if name == "net.core.default_qdisc":
            yield (
                f"`{name}={value}`: is of interfaces that are made later, and those of the links"
                f" are there: write `tc qdisc replace dev DEVICE root {value}` for each"
            )


def _name_warnings(name: str) -> Iterator[str]:
    known = OF_HOSTS | OF_MACHINE
    if name in known or not re.fullmatch(r"net\.(core|ipv4|ipv6)\.\w+", name):
        return
    near = difflib.get_close_matches(name, sorted(known), n=1, cutoff=_CUTOFF)
    if not near:
        last = name.rpartition(".")[2]
        near = [other for other in sorted(known) if other.rpartition(".")[2] == last]
    if near:
        yield f"`{name}`: the kernel has no such sysctl; the nearest name is `{near[0]}`"


def _node_warnings(name: str, node: str | None) -> Iterator[str]:
    if node is None:
        return
    if node == ROOT_NAMESPACE and name in OF_HOSTS and name.startswith(("net.ipv4.tcp_",)):
        yield (
            f"`{name}` at root: each host has its own, and at root there are no connections:"
            " write the line at the hosts, such as `[h1, h2]: sysctl ...`"
        )
    if node != ROOT_NAMESPACE and name in OF_MACHINE:
        yield (
            f"`{name}` at {node}: there is one for the whole machine, which only root can set:"
            " write the line at `root`"
        )


def _triple_warnings(name: str, value: str, words: Sequence[Word]) -> Iterator[str]:
    numbers = value.split()
    if not numbers or not all(number.isdigit() for number in numbers):
        return
    behind = [word for word in words if word is not None and word.isdigit()]
    if len(numbers) == 1 and behind:
        full = " ".join((*numbers, *behind))
        yield (
            f"`{name}={value} {' '.join(behind)}`: without quotes only the first number is set,"
            f" the minimum: write `{name}='{full}'`"
        )
    elif len(numbers) < 3:
        what = "the first number, the minimum, is" if len(numbers) == 1 else "two numbers are"
        yield (
            f"`{name}={value}`: only {what} set, and the largest buffer stays as it is: write three"
            f" numbers, `{name}='4096 131072 {numbers[-1]}'`"
        )
    elif len(numbers) > 3:
        yield f"`{name}={value}`: the kernel refuses more than three numbers"
    elif int(numbers[2]) >= 2**31:
        yield f"`{name}={value}`: the kernel refuses numbers above {2**31 - 1}"
    elif int(numbers[0]) > int(numbers[2]) or int(numbers[1]) > int(numbers[2]):
        yield (
            f"`{name}={value}`: the numbers are the minimum, the first size and the maximum of a"
            f" buffer, and the maximum is the smallest: write"
            f" `{name}='{' '.join(sorted(numbers, key=int))}'`"
        )


def case_sysctl_warnings(facts: CaseFacts) -> Warnings:
    """Find sysctls that do not fit the case's machine and paths."""
    case = facts.case
    is_own = is_plain_kernel(case.kernel)
    for typed in facts.commands:
        for text in sysctl_warnings(typed.command, is_own_kernel=is_own):
            yield typed.origin, text
        for name, value in settings_of(typed.command.words):
            numbers = [int(number) for number in value.split() if number.isdigit()]
            if name == _TCP_MEM and len(numbers) == 3:
                size = numbers[2] * _PAGE_BYTES
                if size > case.memory_bytes:
                    yield (
                        typed.origin,
                        f"`{name}={value}`: counts pages of 4,096 bytes, so the last is"
                        f" {format_quantity(size, Unit.BYTES)} of a machine of"
                        f" {format_quantity(case.memory_bytes, Unit.BYTES)}: leave the line out, or"
                        " write tcp_rmem and tcp_wmem for the buffers of a connection",
                    )
            if name in _TRIPLES and len(numbers) == 3 and numbers[2] > case.memory_bytes:
                yield (
                    typed.origin,
                    f"`{name}={value}`: buffers of up to"
                    f" {format_quantity(numbers[2], Unit.BYTES)} in a machine of"
                    f" {format_quantity(case.memory_bytes, Unit.BYTES)}, half of which is for all"
                    " sockets together (tcp_mem): at that, windows stop growing: write `memory:"
                    f" {math.ceil(2 * numbers[2] / 1e9)}GB`, or a smaller maximum",
                )
            if name == "net.ipv4.tcp_window_scaling" and value == "0":
                yield from ((typed.origin, text) for text in _scaling(facts, typed.command.node))
            if name == "net.core.rmem_max" and _is_mistaken_for_tcp_rmem(facts):
                yield (
                    typed.origin,
                    f"`{name}={value}`: is the most that a program may set by SO_RCVBUF, and none"
                    " of this case's flows does: write `net.ipv4.tcp_rmem='4096 131072"
                    f" {value}'` at the hosts for the buffers that Linux sets itself",
                )


def _scaling(facts: CaseFacts, node: str | None) -> Iterator[str]:
    for path in facts.paths:
        ends = (path.flow.source, path.flow.target)
        if node in ends and path.rate_bps and path.rtt_s:
            product = path.rate_bps / 8 * path.rtt_s
            if product > _MAX_SCALED_BYTES:
                reached = _MAX_SCALED_BYTES * 8 / path.rtt_s
                yield (
                    "`net.ipv4.tcp_window_scaling=0`: no window of more than 65,535 bytes, so"
                    f" {path.flow.name} gets at most {format_quantity(reached, Unit.BPS)} at its"
                    f" round-trip time of {format_quantity(path.rtt_s, Unit.SECONDS)}: leave the"
                    " line out"
                )
                return


def _is_mistaken_for_tcp_rmem(facts: CaseFacts) -> bool:
    """Return whether all traffic is TCP's whose buffers Linux sets itself."""
    case = facts.case
    names = [name for typed in facts.commands for name, _ in settings_of(typed.command.words)]
    return (
        facts.is_complete
        and len(case.tcp_flows) > 0
        and len(case.tcp_flows) + len(case.pings) == len(case.flows)
        and all(flow.window_bytes is None for flow in case.tcp_flows)
        and "net.ipv4.tcp_rmem" not in names
        and not any(set(flow.args) & {"-w", "--window"} for flow in case.flows)
    )
