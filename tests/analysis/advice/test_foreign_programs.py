"""Unmodified programs in a machine: what a tcp probe and a capture beside one show."""

from __future__ import annotations

from pathlib import Path

import pytest

from longfat.analysis.advice.diagnosis import diagnose
from longfat.analysis.advice.root_cause import RootCause
from longfat.errors import InputError
from longfat.execution import run_case
from longfat.execution.runs import Run
from longfat.model.case import Case, Command
from longfat.model.network import Host, Link, LinkImpairments, Network
from longfat.model.probes import Capture, Probe, Tcp
from longfat.model.traffic import Program

PORT = 7000
SERVER = """python3 -c "
import socket, sys
s = socket.create_server(('10.0.0.2', 7000)); c, _ = s.accept(); left = b''
while data := c.recv(65536):
    left += data
    while len(left) >= 300: left = left[300:]; c.sendall(b'ok')
"
"""
# A head and a body in two writes, and then a wait for the answer: Nagle holds the body back.
TALKER = """python3 -c "
import socket, time
s = socket.create_connection(('10.0.0.2', 7000)); start = time.monotonic()
while time.monotonic() - start < 4: s.send(b'h' * 100); s.send(b'b' * 200); s.recv(2)
"
"""
SINK = """python3 -c "
import socket
s = socket.create_server(('10.0.0.2', 7000)); c, _ = s.accept()
while c.recv(65536): pass
"
"""
SOURCE = """python3 -c "
import socket, time
s = socket.create_connection(('10.0.0.2', 7000)); start = time.monotonic()
while time.monotonic() - start < 4: s.sendall(bytes(65536))
"
"""


def run(
    out: Path, *, serve: str, program: str, probes: tuple[Probe, ...], setup: tuple[str, ...] = ()
) -> Run:
    there = LinkImpairments(rate_bps=100_000_000, delay_s=0.010, queue_bytes=1_000_000)
    case = Case(
        kernel="6.1",
        network=Network(
            hosts=(Host(name="h1", address="10.0.0.1/24"), Host(name="h2", address="10.0.0.2/24")),
            switches=(),
            links=(Link(a="h1", b="h2", a_to_b=there, b_to_a=LinkImpairments(delay_s=0.010)),),
        ),
        setup=tuple(Command(node="h2", line=line) for line in setup),
        flows=(
            Program(
                name="chat",
                source="h1",
                target="h2",
                run=program.strip(),
                serve=serve.strip(),
                port=PORT,
            ),
        ),
        probes=probes,
    )
    return run_case(case, name="case", out=out)


TCP = Tcp(name="tcp", of=("chat",), every_s=0.1)
PACKETS = Capture(name="packets", of="h1-eth0", filter="", snap_bytes=96, packets=2000)


@pytest.mark.parametrize("probe", [TCP, PACKETS], ids=["probe", "capture"])
def test_small_writes_of_a_program(tmp_path: Path, probe: Probe) -> None:
    done = run(tmp_path, serve=SERVER, program=TALKER, probes=(probe,))
    (found,) = diagnose(done)
    assert found.causes[0].cause is RootCause.SMALL_WRITES
    assert found.verdict


def test_the_window_of_a_program_s_receiver(tmp_path: Path) -> None:
    done = run(
        tmp_path,
        serve=SINK,
        program=SOURCE,
        probes=(TCP,),
        setup=("sysctl -w net.ipv4.tcp_rmem='4096 65536 65536'",),
    )
    (found,) = diagnose(done, "chat")
    assert found.causes[0].cause is RootCause.RECEIVE_WINDOW
    assert found.certain


def test_without_probes_there_is_nothing_to_diagnose(tmp_path: Path) -> None:
    done = run(tmp_path, serve=SERVER, program=TALKER, probes=())
    with pytest.raises(InputError, match="no other flow failed or lost a packet"):
        diagnose(done)
