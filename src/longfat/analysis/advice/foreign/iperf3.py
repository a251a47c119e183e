"""What limited a test of iperf3 on any network, by its JSON report alone.

A report has for each interval the throughput, and at the sending end cwnd, RTT, retransmissions
and, in recent versions, the window of the other end. What was in flight follows from Little's law:
throughput x RTT. If it fills the congestion window, that window limits, and losses or the RTT
show why; if it does not, something else does: a receive window, a send buffer, the program.

Windows and buffers are recognised by the sizes that Linux gives them by itself
(`longfat.theory.socket_buffers`).
"""

from __future__ import annotations

from collections.abc import Iterator

from longfat.analysis.advice.foreign.foreign_diagnosis import (
    ConnectionKey,
    ForeignDiagnosis,
    ranked,
)
from longfat.analysis.advice.foreign.iperf3_findings import TO_LEARN, report_findings
from longfat.analysis.advice.foreign.iperf3_numbers import MIN_ROWS, Direction
from longfat.model.metric import Unit
from longfat.model.traffic.iperf3_any import AnyReport
from longfat.model.units import format_quantity


def diagnose_report(report: AnyReport) -> tuple[ForeignDiagnosis, ...]:
    """Return what limited each direction of a test.

    Args:
        report: the report.
    """
    tests = [Direction(report, sends=sends) for sends in (True, False)]
    return tuple(_diagnose(test) for test in tests if test.streams)


def _diagnose(test: Direction) -> ForeignDiagnosis:
    report = test.report
    count = len(test.streams)
    kind = "UDP" if report.is_udp else report.congestion or "TCP"
    direction = "sends" if test.sends else "receives"
    seconds = max(stream.seconds for stream in test.streams)
    return ForeignDiagnosis(
        files=(str(report.path),),
        flow=_name(test),
        title=f"{report.version or 'iperf3'}, this end {direction}, "
        f"{count} stream{'s' if count > 1 else ''}, {kind}",
        findings=ranked(report_findings(test), to_learn=TO_LEARN),
        facts=tuple(test.facts),
        unknown=tuple(_unknown(test)),
        notes=tuple(_notes(test)),
        connections=tuple(
            ConnectionKey((host.removeprefix("::ffff:"), port) for host, port in ends)
            for ends in report.connections
        ),
        duration_s=seconds,
    )


def _name(test: Direction) -> str:
    if not test.report.connections:
        return test.report.path.name
    local, remote = test.report.connections[0]
    source, target = (local, remote) if test.sends else (remote, local)
    return f"{source[0]}:{source[1]} -> {target[0]}:{target[1]}"


def _unknown(test: Direction) -> Iterator[str]:
    report = test.report
    if not report.is_udp and test.cwnd_bytes is None:
        yield (
            "This end received, and knows neither cwnd nor RTT nor retransmissions: add the "
            "report of "
            "the end that sent (the client's, or with -R the server's: --get-server-output)."
        )
    elif not report.is_udp and test.offered_bytes is None:
        yield (
            "The receiver's window: this version of iperf3 does not report it (snd_wnd); `ss "
            "-tinm` "
            "at the sender does."
        )
    yield "The rate and the other traffic of the slowest link."


def _notes(test: Direction) -> Iterator[str]:
    report = test.report
    if report.broken:
        yield f"The test broke off: {report.broken}"
    if report.cpu is not None and report.cpu > 0.9:
        yield (
            f"This end used {format_quantity(report.cpu, Unit.FRACTION)} of a CPU: it may be the "
            "limit itself; compare with -P 2 of iperf3 3.16 or later."
        )
    if len(test.rates) < MIN_ROWS:
        yield f"Only {len(test.rates)} intervals: a longer test says more."
