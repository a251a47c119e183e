"""Scripts in machines: what passes, what fails and how it is told, and what a script cannot do."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from longfat.engine.kernel import Kernel
from longfat.errors import MachineError
from longfat_packetdrill.options import Settings
from longfat_packetdrill.parser import parse_script
from longfat_packetdrill.run import Result, explain, read_outcome, run_script
from longfat_packetdrill.script import Script
from tests.paths import REPOSITORY

EXAMPLES = sorted((REPOSITORY / "examples" / "packetdrill").glob("*.pkt"))
SERVER = """\
0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0 setsockopt(3, SOL_SOCKET, SO_REUSEADDR, [1], 4) = 0
+0 bind(3, ..., ...) = 0
+0 listen(3, 1) = 0
+0 < S 0:0(0) win 65535 <mss 1000,nop,nop,sackOK,nop,wscale 7>
+0 > S. 0:0(0) ack 1 <...>
+.1 < . 1:1(0) ack 1 win 512
+0 accept(3, ..., ...) = 4
"""

Run = Callable[..., tuple[Script, Result]]


@pytest.fixture
def run(kernel: Kernel, tmp_path: Path) -> Run:
    def run(text: str, *, ip_version: str = "ipv4", **more: Any) -> tuple[Script, Result]:
        path = tmp_path / "x.pkt"
        path.write_text(text)
        script = parse_script(text, file=str(path), settings=Settings(ip_version=ip_version))
        return script, run_script(script, root=tmp_path, kernel=kernel, **more)

    return run


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_pass(path: Path, each_kernel: Kernel) -> None:
    script = parse_script(path.read_text(), file=str(path), settings=Settings())
    result = run_script(script, root=path.parent, kernel=each_kernel)
    assert result.passed, result.failure


def test_commands_see_timers_of_high_resolution(run: Run) -> None:
    _, result = run("`grep -q 3b9aca00 /proc/net/psched`\n" + SERVER)
    assert result.passed, result.failure


def test_hystart_counts_rounds_from_the_first_ack(each_kernel: Kernel, tmp_path: Path) -> None:
    """Before Linux 6.14 and its backports it counted from a cwnd of 16 on, and left at 48 here."""
    lines = ["`sysctl -q net.ipv4.tcp_congestion_control=cubic net.ipv4.tcp_early_retrans=0`"]
    lines += [SERVER, "+0 write(4, ..., 40000) = 40000"]
    lines += [f"+.1 < . 1:1(0) ack {2000 * number + 1} win 512" for number in range(1, 20)]
    lines += ["+0 %{ assert (tcpi_snd_cwnd, tcpi_snd_ssthresh) == (36, 36), tcpi_snd_cwnd }%"]
    text = "\n".join(lines) + "\n"
    path = tmp_path / "hystart.pkt"
    path.write_text(text)
    script = parse_script(text, file=str(path), settings=Settings())
    result = run_script(script, root=tmp_path, kernel=each_kernel)
    assert result.passed, result.failure


@pytest.mark.parametrize("version", ["ipv4", "ipv6", "ipv4-mapped-ipv6"])
def test_each_version_of_ip(run: Run, version: str) -> None:
    _, result = run(
        SERVER + "+0 write(4, ..., 1000) = 1000\n+0 > P. 1:1001(1000) ack 1\n",
        ip_version=version,
    )
    assert result.passed, result.failure
    assert result.packets == 2


def test_the_same_script_gives_the_same(run: Run, tmp_path: Path) -> None:
    text = (
        SERVER
        + "+0 write(4, ..., 900) = 900\n+0 > P. 1:901(900) ack 1\n+.1~+9 > P. 1:901(900) ack 1\n"
    )
    captures = [tmp_path / f"{number}.pcap" for number in range(2)]
    results = [run(text, capture=capture)[1] for capture in captures]
    assert results[0].passed
    assert results[0].deviation_s == results[1].deviation_s
    assert captures[0].read_bytes() == captures[1].read_bytes()


def test_a_packet_that_differs_is_shown_beside_the_scripts(run: Run) -> None:
    script, result = run(
        SERVER + "+0 write(4, ..., 1000) = 1000\n+0 > . 1:1001(1000) ack 1 win 7\n"
    )
    assert result.failure is not None
    assert [one.field for one in result.failure.differences] == ["flags", "window"]
    lines = explain(script, result.failure)
    assert lines[0] == f"{script.file}:10:1: the kernel sent another packet"
    assert lines[1] == "  expected  0.100000 s  > . 1:1001(1000) ack 1 win 7"
    assert lines[2].startswith("  actual    0.1000")
    assert " s  > P. 1:1001(1000) ack 1 win " in lines[2]
    assert lines[3] == "  differs   flags: expected ., actual P."


def test_a_packet_that_does_not_come(run: Run) -> None:
    script, result = run(SERVER + "+.5 > P. 1:1001(1000) ack 1\n")
    assert result.failure is not None
    assert explain(script, result.failure) == [
        f"{script.file}:9:1: the kernel did not send this packet",
        "  expected  0.600000 s  > P. 1:1001(1000) ack 1",
    ]


def test_a_packet_at_another_time(run: Run) -> None:
    _, result = run(
        f"--tolerance_percent=0\n{SERVER}"
        "+0 write(4, ..., 1000) = 1000\n+.2 > P. 1:1001(1000) ack 1\n"
    )
    assert result.failure is not None
    assert result.failure.message == "the kernel sent it at another time"
    assert (result.failure.expected_ns, result.failure.differences) == (300_000_000, ())
    assert abs((result.failure.actual_ns or 0) - 100_000_000) < 10_000


def test_a_call_that_gives_something_else(run: Run) -> None:
    _, result = run(SERVER + "+0 read(4, ..., 10) = -1 EBADF (Bad file descriptor)\n")
    assert result.failure is not None
    # It waits for data, although the script does not say so: until its time is over.
    assert "is not over after" in result.failure.message
    script, result = run("0 socket(..., SOCK_STREAM, 17) = 3\n")
    assert result.failure is not None
    lines = explain(script, result.failure)
    assert lines[1:3] == ["  of        socket(..., SOCK_STREAM, 17) = 3", "  expected  3"]
    assert lines[3].startswith("  actual    0.00000")
    assert lines[3].endswith(" s  -1 EPROTONOSUPPORT (Protocol not supported)")


def test_a_blocking_call_returns_at_its_time(run: Run) -> None:
    text = SERVER + "+0...{} read(4, ..., 100) = 10\n+.2 < P. 1:11(10) ack 1 win 512\n"
    assert run(text.format("0.2"))[1].passed
    _, result = run(text.format("0.1"))
    assert result.failure is not None
    assert result.failure.message == "this call returned at another time"
    assert (result.failure.line, result.failure.expected_ns) == (9, 200_000_000)


def test_a_call_that_never_returns(run: Run) -> None:
    _, result = run(SERVER + "+0...0.2 read(4, ..., 100) = 10\n")
    assert result.failure is not None
    assert result.failure.message == "this call has not returned when the script ends"


def test_what_calls_write_is_compared(run: Run) -> None:
    _, result = run(SERVER + '+0 getsockopt(4, SOL_TCP, TCP_CONGESTION, "reno", [4]) = 0\n')
    assert result.failure is not None
    assert result.failure.message == "this call wrote something else"
    _, result = run(SERVER + "+0 getsockopt(4, SOL_SOCKET, SO_REUSEADDR, [2], [4]) = 0\n")
    assert result.failure is not None
    (difference,) = result.failure.differences
    assert (difference.field, difference.expected, difference.actual) == ("value", "2", "1")
    _, result = run(SERVER + "+0 poll([{fd=4, events=POLLOUT, revents=POLLIN}], 1, 0) = 1\n")
    assert result.failure is not None
    assert result.failure.differences[0].field == "revents of 4"


def test_code_sees_the_connection(run: Run) -> None:
    more = "+0 %{ seen = tcpi_snd_mss }%\n+0 %{\nassert seen == 1000\nassert seen == 5, seen\n}%\n"
    _, result = run(SERVER + more)
    assert result.failure is not None
    assert result.failure.message == "this code failed: AssertionError: 1000"
    assert result.failure.line == 12


def test_udp_and_icmp(run: Run) -> None:
    _, result = run(
        "0 socket(..., SOCK_DGRAM, IPPROTO_UDP) = 3\n"
        "+0 connect(3, ..., ...) = 0\n"
        "+0 write(3, ..., 500) = 500\n"
        "+0 > udp (500)\n"
        "+.1 < udp (80)\n"
        "+0 read(3, ..., 100) = 80\n"
        "+0 < icmp unreachable port_unreachable [udp (500)]\n"
        "+0 read(3, ..., 100) = -1 ECONNREFUSED (Connection refused)\n"
    )
    assert result.passed, result.failure


def test_a_difference_that_is_allowed_is_a_warning(run: Run) -> None:
    more = "+0 write(4, ..., 10) = 10\n+0 > . 1:11(10) ack 1\n"
    _, result = run("--non_fatal=packet\n" + SERVER + more)
    assert result.passed
    assert [warning.line for warning in result.warnings] == [11]


def test_commands_run_in_the_scripts_folder(run: Run, tmp_path: Path) -> None:
    tool = tmp_path / "tool.sh"
    tool.write_text('#!/bin/sh\necho said\n[ -n "$PACKETDRILL_PID" ] && ls x.pkt\n')
    tool.chmod(0o755)
    _, result = run("`./tool.sh`\n" + SERVER + "+0 `./tool.sh; false`\n`echo end`\n")
    assert result.failure is not None
    assert (result.failure.line, result.failure.actual) == (10, "exit status 1")
    assert result.output == "said\nx.pkt\nsaid\nx.pkt\nend\n"


# reboot(2) with LINUX_REBOOT_CMD_RESTART: reboot(8) is not on every computer.
REBOOT = "perl -e 'syscall(169, 0xfee1dead, 672274793, 0x1234567, 0)'"
HOSTILE = {
    "`sleep 1000000`": "the script is not over after 100 s of virtual time",
    "`yes`": "it wrote more than 1,048,576 bytes",
    f"`{REBOOT}`": "the script does too much, or does not end",
    "`head -c 10000000000 /dev/zero > /run/output/outcome.json`": "No space left on device",
    f"`echo '{{}}' > /run/output/outcome.json; {REBOOT}`": "rebooted from inside",
}


@pytest.mark.parametrize("command", HOSTILE)
def test_what_a_script_cannot_do(run: Run, command: str) -> None:
    script, result = run(
        f"0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n+0 {command}\n", limit_s=100
    )
    assert result.failure is not None
    assert HOSTILE[command] in result.failure.message
    assert result.failure.line == 2
    assert explain(script, result.failure)[0].startswith(f"{script.file}:2:1: ")


def test_a_forged_outcome_is_found_out(tmp_path: Path) -> None:
    path = tmp_path / "outcome.json"
    sent = {"outbound": True, "ip": {"any_ect": False}, "tcp": None, "udp": None, "icmp": None}
    sent["ip"] = {"ecn": 1, "any_ect": False, "tos": None, "flow_label": None, "ttl": None}
    failure = {
        "line": 1,
        "message": "x",
        "expected": None,
        "actual": None,
        "expected_ns": None,
        "actual_ns": None,
        "differences": [],
        "sent": sent,
    }
    outcome = {
        "failure": failure,
        "warnings": [],
        "events": 1,
        "packets": 0,
        "virtual_ns": 0,
        "late_ns": 0,
        "deviation_ns": None,
        "deviation_line": None,
        "output": "",
    }
    path.write_text(json.dumps(outcome))
    with pytest.raises(MachineError, match="a packet that is none"):
        read_outcome(path, wall_s=1.0)
    path.write_text(json.dumps({**outcome, "failure": None, "packets": "many"}))
    with pytest.raises(MachineError, match="packets"):
        read_outcome(path, wall_s=1.0)
