"""Settings that are ignored, cut or changed without an error, or not there, found before a run.

Sources: tcp(7) and socket(7) for SO_SNDBUF, SO_RCVBUF and their limits; Documentation/networking/
ip-sysctl.rst, `tcp_ecn`; RFC 8257, section 3, for DCTCP's need of marks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from longfat.model.flow_path.flow_path import (
    flow_interfaces,
    interface_lines,
    sender_and_receiver,
)
from longfat.model.flow_path.ping_intervals import slow_pings
from longfat.model.flow_path.setup_lines import sysctl, sysctl_word
from longfat.model.kinds import Size
from longfat.model.traced_links import late_traces
from longfat.model.traffic.bulk import Bulk
from longfat.model.typed_line import NotUnderstoodError

if TYPE_CHECKING:
    from longfat.model.case import Case, Command
    from longfat.model.network.tc import Qdisc

ECN_CONTROLS = frozenset(("dctcp", "prague"))
"""Congestion controls that slow down by the share of marked packets."""

MAX_SOCKET_BUFFER_BYTES = 212_992
"""`net.core.rmem_max` and `wmem_max` as the kernel starts (SK_RMEM_MAX of 256 packets)."""

_BUFFER_LIMITS = re.compile(r"net[./]core[./]([rw]mem)_max\s*=\s*(\d+)")
_ASKING = (1, 3, 4)  # values of tcp_ecn with which the end that connects asks for ECN
_SIZE = Size()

_QDISCS_SINCE = {"dualpi2": ((6, 17), "7.2")}
"""Kinds that not all kernels have: since which release, and a series that has them."""
_NO_RELEASE = frozenset(("bbr2", "bbr3", "prague"))
_SERIES = re.compile(r"(\d+)\.(\d+)")

# Kinds that mark without an option, and those that do with one.
_MARK = frozenset(("cake", "dualpi2", "fq_codel", "sfb"))
_MARK_WITH = {
    **dict.fromkeys(("choke", "codel", "fq_pie", "gred", "pie", "red"), "ecn"),
    "fq": "ce_threshold",
    "hhf": "",
}


def setting_warnings(case: Case) -> Iterator[tuple[int | None, str]]:
    """Find the settings of a case that have no effect, less than they say, or are not there.

    Only what is certain is returned: set-up lines that cannot be read end a check.

    Yields:
        The flow, by its number in the case, None for the network; and what is wrong and would
        be right.
    """
    for kind, (since, newer) in missing_qdiscs(case).items():
        yield (
            None,
            f"the qdisc {kind} is in Linux since {since[0]}.{since[1]}, and the kernel is"
            f' {case.kernel}: write `kernel: "{newer}"`',
        )
    for name, first_s in late_traces(case.network, case.files).items():
        yield (
            None,
            f"the first row of the trace {PurePosixPath(name).name} is at {first_s:g} s: all its"
            " times are earlier by that here, since a trace begins with the traffic; add a row at"
            " 0 to keep them",
        )
    yield from slow_pings(case)
    for index, flow in enumerate(case.flows):
        if not isinstance(flow, Bulk):
            continue
        if flow.congestion in _NO_RELEASE:
            yield (
                index,
                f"{flow.congestion} is in no release of Linux: only a kernel of your own can have"
                " it, built by `longfat kernel build --patch`",
            )
        if flow.congestion in ECN_CONTROLS:
            yield from ((index, text) for text in _ecn_problems(case, flow))
        if flow.window_bytes is not None:
            yield from ((index, text) for text in _window_problems(case, flow.window_bytes))


def missing_qdiscs(case: Case) -> dict[str, tuple[tuple[int, int], str]]:
    """Return the kinds of qdisc of a case's links that its kernel does not have.

    Returns:
        For each kind, since which release Linux has it, and a series of the tests that does.
    """
    shapes = (shape for link in case.network.links for shape in (link.a_to_b, link.b_to_a))
    used = {(shape.qdisc or "").split(" ")[0] for shape in shapes}
    return {
        kind: (since, newer)
        for kind, (since, newer) in _QDISCS_SINCE.items()
        if kind in used and _series(case.kernel) < since
    }


def _ecn_problems(case: Case, flow: Bulk) -> Iterator[str]:
    try:
        has_ecn = _negotiates_ecn(case, flow)
        interfaces = flow_interfaces(case.network, flow) or []
        qdiscs = [line.qdisc for _, name in interfaces for line in interface_lines(case, name)]
    except NotUnderstoodError:
        return
    if not has_ecn:
        yield (
            f"{flow.congestion} slows down by ECN marks, and its connection has no ECN, so it"
            " behaves as Reno: Linux accepts ECN from such a connection where the other end has"
            f" the same default; set up `[{flow.source}, {flow.target}]: sysctl -w"
            f" net.ipv4.tcp_congestion_control={flow.congestion}`"
        )
    if not any(map(_marks, qdiscs)):
        yield (
            f"{flow.congestion} slows down by ECN marks, and no queue from"
            f" {' to '.join(sender_and_receiver(flow))} sets any: give a link a qdisc that does,"
            " such as `qdisc: codel ecn`, with `ce_threshold` for DCTCP"
        )


def _series(kernel: str) -> tuple[int, int]:
    """Return the series of a kernel's version; one above all others where it names none."""
    numbers = _SERIES.match(kernel)
    return (int(numbers[1]), int(numbers[2])) if numbers else (10**6, 0)


def _negotiates_ecn(case: Case, flow: Bulk) -> bool:
    """Return whether a flow with DCTCP or its like has ECN (tests/belief/test_ecn.py).

    A socket that has DCTCP before it connects marks its SYN as ECT, which Linux refuses unless
    the listener has such a control, too. iperf3 connects first, and so does the receiver of a
    reversed transfer: it asks for ECN by tcp_ecn, as any other.

    Raises:
        NotUnderstoodError: a set-up line cannot be read with certainty.
    """
    controls = [
        sysctl_word(case.setup, host, "net.ipv4.tcp_congestion_control")
        for host in (flow.source, flow.target)
    ]
    if flow.tool == "transfer" and not flow.reverse:
        return controls[1] in ECN_CONTROLS
    asked = sysctl(case.setup, flow.source, "net.ipv4.tcp_ecn")
    asks = asked is not None and asked[0] in _ASKING
    return asks or all(control in ECN_CONTROLS for control in controls)


def _marks(qdisc: Qdisc) -> bool:
    option = _MARK_WITH.get(qdisc.kind)
    return qdisc.kind in _MARK or bool(option and qdisc.get(option))


def socket_buffer_limit(setup: Iterable[Command]) -> tuple[str, int]:
    """Return the smaller limit of sockets' buffers: `rmem` or `wmem`, and its size in bytes.

    Args:
        setup: set-up lines, some of which may set net.core.rmem_max and net.core.wmem_max.
    """
    limits = dict.fromkeys(("rmem", "wmem"), MAX_SOCKET_BUFFER_BYTES)
    for command in setup:
        limits |= {kind: int(size) for kind, size in _BUFFER_LIMITS.findall(command.line)}
    return min(limits.items(), key=lambda item: item[1])


def _window_problems(case: Case, window_bytes: int) -> Iterator[str]:
    kind, limit = socket_buffer_limit(case.setup)
    if window_bytes > limit:
        yield (
            f"a window of {_SIZE.text(window_bytes)} is cut to {_SIZE.text(limit)}, which is"
            f" net.core.{kind}_max; set both limits up by `root: sysctl -w"
            f" net.core.rmem_max={window_bytes} net.core.wmem_max={window_bytes}`"
        )
