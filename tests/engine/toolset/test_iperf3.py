"""iperf3 of the toolset, with longfat's changes, in machines: toolset/iperf3."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from longfat.engine import toolset as toolsets
from longfat.engine.toolset import Toolset
from longfat.engine.toolset.elf import needed_libraries, with_library
from longfat.execution import run_case
from longfat.study import read_study

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("toolset")]

STUDY = """\
title: iperf3
kernel: "6.1"
memory: 1GB
network:
  hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8}
  links: [[h1, h2, {rate: RATE, delay: 10ms}]]
setup:
  - h1: sysctl -qw net.ipv4.tcp_wmem='10240 87380 16777216'
  - h2: sysctl -qw net.ipv4.tcp_rmem='10240 87380 16777216'
  - h2: sysctl -qw net.host_cpu.copy_ps=COPY_PS
files:
  /srv/server: server
  /srv/client: client
  /srv/iperf3: {from: iperf3, executable: true}
flows:
  test: {program: h1 -> h2, serve: sh /srv/server, run: sh /srv/client}
"""
# As an ordinary process: one that spins would let nobody else of its rank run.
UNCHANGED = "chrt -o 0 /longfat/ld.so /srv/iperf3"
COUNTS = r"""
count() { grep -c -- "$1" /tmp/calls; }
echo selects $(count pselect6)
echo clocks $(count clock_gettime)
echo empty $(count '\(read\|recvfrom\)(.*EAGAIN')
echo copied $(count 'read(.* = [0-9]\{5,\}\|recvfrom(.*, 0, NULL, NULL) = [0-9]\{5,\}')
echo discarded $(count 'MSG_TRUNC.* = [0-9]\{5,\}')
"""


def traced(command: str) -> str:
    """Return lines for a shell that print how many calls of each kind a command makes."""
    trace = "strace -f -o /tmp/calls -e trace=pselect6,read,recvfrom,clock_gettime"
    return f"{trace} {command} > /dev/null\n{COUNTS}"


def counts(printed: str) -> dict[str, int]:
    return {name: int(number) for name, number in re.findall(r"(\w+) (\d+)$", printed, re.M)}


@pytest.fixture(scope="module")
def toolset() -> Toolset:
    return toolsets.build(report=lambda *_: None)


@pytest.fixture(scope="module")
def unchanged(toolset: Toolset) -> bytes:
    """Debian's program, without longfat's changes."""
    program = (toolset.folder / "bin/iperf3").read_bytes()
    return with_library(program, "libiperf.so.0", before="liblongfat.so")


class Hosts:
    """Runs scripts at two hosts of a machine with the toolset."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def run(
        self, *, server: str, client: str, copy_ps: int = 0, rate: str = "1gbit"
    ) -> tuple[str, str]:
        """Return what the scripts print."""
        (self._folder / "server").write_text(server)
        (self._folder / "client").write_text(client)
        study = self._folder / "study.yaml"
        study.write_text(STUDY.replace("COPY_PS", str(copy_ps)).replace("RATE", rate))
        (planned,) = read_study(study).cases.values()
        raw = run_case(planned.case, out=self._folder, name="case").raw
        return (raw / "test.server.txt").read_text(), (raw / "test.client.txt").read_text()


@pytest.fixture
def hosts(tmp_path: Path, unchanged: bytes) -> Hosts:
    (tmp_path / "iperf3").write_bytes(unchanged)
    return Hosts(tmp_path)


def test_it_says_and_takes_what_debians_does(
    toolset: Toolset, unchanged: bytes, tmp_path: Path
) -> None:
    (tmp_path / "iperf3").write_bytes(unchanged)
    command = toolset.on_host("iperf3")
    for option in ("--version", "--help"):
        ours, theirs = (
            subprocess.run([*line, option], capture_output=True, text=True, check=True).stdout
            for line in (command, [*command[:-1], str(tmp_path / "iperf3")])
        )
        assert ours == theirs
        assert option == "--help" or ours.startswith("iperf 3.12 ")


def test_its_library_needs_debians_and_names_no_folder(toolset: Toolset) -> None:
    library = (toolset.folder / "lib/liblongfat.so").read_bytes()
    assert needed_libraries((toolset.folder / "bin/iperf3").read_bytes())[0] == "liblongfat.so"
    assert needed_libraries(library) == ["libiperf.so.0"]
    for data in (library, (toolset.folder / "lib/tc/q_wire.so").read_bytes()):
        for name in (b".making-", b"source", b".c\0", b"compiler"):
            assert name not in data
    assert "modified" in (toolset.folder / "licences/changes.md").read_text()


@pytest.mark.parametrize("options", ["-n 1M", "-n 1M -R"])
def test_it_waits_before_and_after_the_test(hosts: Hosts, options: str) -> None:
    server = "iperf3 -s > /dev/null & sleep 5; kill $!"
    client = f"sleep 1\n{traced(f'iperf3 -c 10.0.0.2 {options}')}"
    calls = counts(hosts.run(server=server, client=client)[1])
    # One for each packet that comes, and some ten beside them; the original makes thousands.
    assert calls["selects"] < (300 if "-R" in options else 40)


@pytest.mark.parametrize(
    ("server", "client", "copy_ps", "discards"),
    [
        ("", "", 0, True),
        ("-F /tmp/kept", "", 0, False),
        ("--file /tmp/kept", "", 0, False),
        ("", "", 200, False),
        ("", "-P 2", 0, True),
    ],
    ids=["plain", "file", "long file", "copies take time", "two streams"],
)
def test_a_receiver_makes_only_the_calls_that_it_needs(
    hosts: Hosts, server: str, client: str, copy_ps: int, discards: bool
) -> None:
    printed, _ = hosts.run(
        server=traced(f"iperf3 -s -1 {server}"),
        client=f"sleep 1; iperf3 -c 10.0.0.2 -t 1 {client}",
        copy_ps=copy_ps,
    )
    calls = counts(printed)
    assert (calls["discarded"] > 100, calls["copied"] > 100) == (discards, not discards)
    is_alone = "-P" not in client
    assert (calls["empty"] == 0, calls["clocks"] < calls["selects"] / 8) == (is_alone, is_alone)


# The server may end before the last blocks have come; what it has is what was sent. Without a
# rate iperf3 3.12 fills the socket's buffer and loses the rest of a block that fits in part.
KEEPS = """
head -c 9000000 /dev/urandom > /tmp/sent
iperf3 -s -1 -p 5202 --file /tmp/kept > /dev/null &
sleep 0.2
iperf3 -c 127.0.0.1 -p 5202 -b 500M -F /tmp/sent > /dev/null
wait
cmp -n $(stat -c %s /tmp/kept) /tmp/sent /tmp/kept && stat -c %s /tmp/kept
"""


def test_data_that_is_kept_is_what_was_sent(hosts: Hosts) -> None:
    printed = hosts.run(server="sleep 1", client=f"ip link set lo up\n{KEEPS}")[1]
    assert int(printed) > 1_000_000


# A client that closes its data connection, and goes on.
CLOSES = """
import json, socket, time

def connect():
    connection = socket.create_connection(("10.0.0.2", 5201))
    connection.sendall(b"x" * 36 + b"\\0")
    return connection

control = connect()
assert control.recv(1)[0] == 9  # PARAM_EXCHANGE
parameters = {"tcp": True, "omit": 0, "time": 5, "parallel": 1, "len": 131072, "pacing_timer": 1000}
text = json.dumps(parameters).encode()
control.sendall(len(text).to_bytes(4, "big") + text)
assert control.recv(1)[0] == 10  # CREATE_STREAMS
data = connect()
assert control.recv(1)[0] == 1  # TEST_START
assert control.recv(1)[0] == 2  # TEST_RUNNING
data.sendall(bytes(100_000))
data.close()
time.sleep(3)
control.sendall(bytes([12]))  # CLIENT_TERMINATE
"""


def test_a_closed_data_connection_is_not_read_again_and_again(hosts: Hosts) -> None:
    server, _ = hosts.run(
        server=traced("iperf3 -s -1"), client=f"sleep 1\npython3 - <<'END'\n{CLOSES}END"
    )
    assert 0 < counts(server)["selects"] < 100


@pytest.mark.parametrize("options", ["", "-R", "--bidir", "-u -b 20M"])
def test_an_interrupted_client_leaves_its_server_ready(hosts: Hosts, options: str) -> None:
    client = f"""
sleep 1
iperf3 -c 10.0.0.2 -t 100 {options} > /tmp/first &
sleep 2.0123
kill -INT $!
wait
sleep 1
grep -o interrupt /tmp/first || echo "not interrupted"
iperf3 -c 10.0.0.2 -t 1 -J {options}
"""
    server = "iperf3 -s > /tmp/server & sleep 10; kill $!; grep -c 'Server listening' /tmp/server"
    printed, shown = hosts.run(server=server, client=client)
    assert int(printed) == 3
    first, _, report = shown.partition("\n")
    assert first in {"interrupt", "not interrupted"}
    end = json.loads(report)["end"]
    total = end["sum_received"] if "sum_received" in end else end["sum"]
    assert total["bits_per_second"] > 10e6


def test_it_measures_what_an_unchanged_one_does(hosts: Hosts) -> None:
    def figures(program: str) -> dict[str, Any]:
        printed = hosts.run(
            server=f"{program} -s -1 > /dev/null",
            client=f"sleep 1; {program} -c 10.0.0.2 -t 4 -J",
            rate="10gbit",
        )[1]
        end = json.loads(printed)["end"]
        (stream,) = end["streams"]
        return {**end["sum_sent"], **stream["sender"], "received": end["sum_received"]["bytes"]}

    changed, spinning = figures("iperf3"), figures(UNCHANGED)
    assert changed["bits_per_second"] > 2e9
    for name, value in spinning.items():
        # A window's last step is a matter of one ACK more or less.
        tolerance = 0.1 if name.startswith("max_snd") else 0.005
        assert changed[name] == pytest.approx(value, rel=tolerance), name


@pytest.mark.parametrize("options", ["-R", "--bidir", "-P 3", "-u -b 50M", "-Z", "-O 1 -t 2"])
def test_tests_of_all_kinds_end(hosts: Hosts, options: str) -> None:
    server, client = hosts.run(
        server="iperf3 -s -1", client=f"sleep 1; iperf3 -c 10.0.0.2 -t 1 {options}"
    )
    assert ("sender" if "-R" in options else "receiver") in server
    assert "receiver" in client
    assert "iperf Done." in client
