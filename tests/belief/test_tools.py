"""What the code believes of ping, ip, tc and iperf3."""

from __future__ import annotations

import dataclasses
import functools
import json
import re
import resource
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from longfat.engine.kernel import Kernel
from longfat.execution import run_case
from longfat.execution.runs import Run
from longfat.model.case import Case, Command
from longfat.model.network import ROOT_NAMESPACE
from longfat.model.traffic import Iperf3, Ping
from longfat.model.traffic.flow import Process
from longfat.model.traffic.preload import IPERF3, preload
from tests.command import run_command

Boot = Callable[..., str]
MakeCase = Callable[..., Case]

TWO_HOSTS = """
ip link add near type veth peer name far
ip netns add x
ip link set far netns x
ip addr add 10.0.0.1/8 dev near
ip link set near up
ip -n x addr add 10.0.0.2/8 dev far
ip -n x link set far up
"""


@pytest.mark.parametrize("each_kernel", ["6.1"], indirect=True)
def test_ping_floods_in_the_first_second(boot: Boot, each_kernel: Kernel) -> None:
    # The reason why no traffic starts before 2 s. On 6.12 and 7.2 it does not, and not any more.
    year = int(re.findall(r"iputils (\d{4})", boot(each_kernel, "ping -V"))[0])
    early = boot(each_kernel, f"{TWO_HOSTS} ping -c 3 10.0.0.2 | grep time")
    late = boot(each_kernel, f"{TWO_HOSTS} sleep 2; ping -c 3 10.0.0.2 | grep time")
    assert int(re.findall(r"time (\d+)ms", late)[0]) >= 2000
    assert (int(re.findall(r"time (\d+)ms", early)[0]) < 2000) is (year < 2024)


def test_a_batch_of_ip_stops_at_the_first_bad_line(boot: Boot, kernel: Kernel) -> None:
    lines = r"link add p type dummy\nlink set nonesuch up\nlink add q type dummy\n"
    said = boot(kernel, f"printf '{lines}' | ip -batch - ; echo status $?; ip -br link")
    assert "status 1" in said
    assert re.search(r"^p ", said, re.MULTILINE)
    assert not re.search(r"^q ", said, re.MULTILINE)


def test_netem_drops_whole_gso_packets(boot: Boot, kernel: Kernel) -> None:
    # As in the source labs: with segmentation offload on, one loss is up to 45 segments.
    said = boot(
        kernel,
        f"""{TWO_HOSTS} sleep 2
        sysctl -qw net.ipv4.tcp_wmem='10240 87380 16777216'
        tc qdisc add dev near root netem delay 5ms loss 0.5%
        ip netns exec x iperf3 -s -1 > /dev/null &
        sleep 1
        iperf3 -c 10.0.0.2 -t 2 -J | grep '"retransmits"' | tail -1
        tc -s qdisc show dev near""",
    )
    lost = int(re.findall(r"dropped (\d+)", said)[0])
    again = int(re.findall(r'"retransmits":\s*(\d+)', said)[0])
    assert lost >= 1
    assert again > 4 * lost


def shaped(make_case: MakeCase, flow: Iperf3, **fields: Any) -> Case:
    case = make_case(
        flow,
        root=(
            "tc qdisc add dev s1-eth2 root handle 1: netem delay 20ms",
            "tc qdisc add dev s1-eth2 parent 1: handle 2:"
            " tbf rate 10gbit burst 5000000 limit 25000000",
        ),
        **fields,
    )
    buffers = tuple(
        Command(node=host, line=f"sysctl -w net.ipv4.tcp_{which}mem='10240 87380 16777216'")
        for host in ("h1", "h2")
        for which in "rw"
    )
    return dataclasses.replace(case, setup=case.setup + buffers, memory_bytes=2 << 30)


@pytest.mark.parametrize(
    ("version", "low_bps", "high_bps"), [("6.1", 3.0e9, 3.5e9), ("6.12", 4.2e9, 5.2e9)]
)
def test_how_much_of_a_buffer_is_window(
    tmp_path: Path, make_case: MakeCase, version: str, low_bps: float, high_bps: float
) -> None:
    # Kernels before 6.6 use half of a buffer; later ones scale by the packets' real overhead.
    flow = Iperf3(name="bulk", source="h1", target="h2", time_s=4.0)
    run = run_case(shaped(make_case, flow, kernel=version), name="case", out=tmp_path)
    steady = [row.bps for row in flow.report(run.raw).streams[0]][1:]
    assert low_bps < min(steady)
    assert max(steady) < high_bps


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class WithoutShim(Iperf3):
    """iperf3 as it is."""

    def processes(self, *, address: str, port: int) -> tuple[Process, ...]:
        return tuple(
            # As an ordinary process: one that spins would let nobody else of its rank run.
            # chrt stands for the `env` of a shim: each program that starts draws random numbers.
            dataclasses.replace(process, shim="", argv=("chrt", "-o", "0", *process.argv))
            for process in Iperf3.processes(self, address=address, port=port)
        )


def _figures(run: Run) -> dict[str, Any]:
    end = json.loads((run.raw / "bulk.client.json").read_text())["end"]
    (stream,) = end["streams"]
    return {**end["sum_sent"], **stream["sender"], "received": end["sum_received"]["bytes"]}


def test_an_idle_iperf3_measures_what_a_spinning_one_does(
    tmp_path: Path, make_case: MakeCase
) -> None:
    fields: dict[str, Any] = {"name": "bulk", "source": "h1", "target": "h2", "time_s": 4.0}
    # On 6.1, half of a buffer is window. Later kernels measure it, and so each read counts: on
    # 7.2 the bytes differ by up to 1 %, this way and that.
    of = functools.partial(shaped, make_case, kernel="6.1")
    idle = run_case(of(Iperf3(**fields)), name="idle", out=tmp_path)
    spinning = run_case(of(WithoutShim(**fields)), name="spinning", out=tmp_path)
    figures = _figures(idle)
    assert figures["bits_per_second"] > 3e9
    for name, value in _figures(spinning).items():
        # A window's last step is a matter of one ACK more or less.
        tolerance = 0.1 if name.startswith("max_snd") else 0.005
        assert figures[name] == pytest.approx(value, rel=tolerance), name
    # The spinning one starts up to a turn later and so ends later, never by a jiffy.
    assert abs(idle.virtual_s - spinning.virtual_s) < 0.01


@pytest.mark.parametrize(
    "fields",
    [
        {"time_s": 5.0, "rate_bps": 10_000_000},
        {"time_s": 5.0, "rate_bps": 10_000_000, "udp": True},
        {"bytes": 10_000_000},
    ],
    ids=["rate", "UDP", "bytes"],
)
def test_iperf3_waits_where_it_has_nothing_to_send(
    tmp_path: Path, make_case: MakeCase, fields: dict[str, Any]
) -> None:
    # Some versions spin there: 3.16 took 15 CPU seconds a virtual second, 3.20 did not end.
    flow = Iperf3(name="bulk", source="h1", target="h2", **fields)
    before_s = _cpu_of_children_s()
    run = run_case(shaped(make_case, flow), name="case", out=tmp_path)
    assert _cpu_of_children_s() - before_s < 10
    if "rate_bps" in fields:
        assert run.metrics["bulk.receiver_bps"] == pytest.approx(10e6, rel=0.02)


def _cpu_of_children_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


_LIBRARY = """\
__attribute__((noinline)) int iperf_send_mt(void *turns) { return --*(int *)turns; }
void *iperf_client_worker_run(void *turns) { while (iperf_send_mt(turns) > 0); return 0; }
"""
_PROGRAM = """\
#include <fcntl.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
void *iperf_client_worker_run(void *);
int main(void)
{
	struct timespec start, end;
	int turns = 40, null = open("/dev/null", O_WRONLY);

	if (write(null, "\\2", 1) != 1)  /* the state TEST_RUNNING */
		return 1;
	clock_gettime(CLOCK_MONOTONIC, &start);
	iperf_client_worker_run(&turns);
	clock_gettime(CLOCK_MONOTONIC, &end);
	printf("%f\\n", end.tv_sec - start.tv_sec + (end.tv_nsec - start.tv_nsec) / 1e9);
	return 0;
}
"""


@pytest.mark.parametrize("option", ["", "-Wl,-Bsymbolic-functions"], ids=["Debian", "Ubuntu"])
def test_a_turn_of_iperf3_without_sending_waits(
    tmp_path: Path, kernel: Kernel, option: str
) -> None:
    # However libiperf is linked; a turn without a wait takes less than a microsecond.
    (tmp_path / "library.c").write_text(_LIBRARY)
    (tmp_path / "program.c").write_text(_PROGRAM)
    library = ["gcc", "-O2", "-fPIC", "-shared", "-o", "libiperf.so", "library.c"]
    program = ["gcc", "-O2", "-o", "program", "program.c", "./libiperf.so"]
    for command in ([*library, option] if option else library, program):
        subprocess.run(command, cwd=tmp_path, check=True)
    shim = kernel.binary.with_name("iperf3_lean.so")
    done = subprocess.run(
        ["./program"],
        cwd=tmp_path,
        env={"LD_PRELOAD": str(shim)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert float(done.stdout) >= 0.04


def test_the_interpreter_of_the_guest_runs_from_the_host(
    tmp_path: Path, make_case: MakeCase
) -> None:
    case = make_case(
        root=("test $(id -u) = 0", "test -w /tmp", "! touch /usr/x", "sysctl kernel.ostype")
    )
    assert run_case(case, name="case", out=tmp_path).virtual_s < 1
    assert case.setup[0].node == ROOT_NAMESPACE


def test_ping_spins_through_the_last_jiffy_before_a_request(
    tmp_path: Path, make_case: MakeCase
) -> None:
    # Where nothing is on its way any more and the next request is due within 10 ms, iputils'
    # ping does not wait: it asks for replies and yields, over and over (main_loop in
    # ping_common.c). In virtual time each round reads the clock, which is all that lets it pass.
    def wall_s(interval_s: float) -> float:
        flow = Ping(name="rtt", source="h1", target="h2", count=20, interval_s=interval_s)
        case = make_case(flow, root=("tc qdisc add dev s1-eth2 root netem delay 40ms",))
        return run_case(case, name=f"{interval_s:g}", out=tmp_path).wall_s

    calm_s = max(wall_s(0.03), wall_s(0.055), wall_s(0.2))
    assert wall_s(0.05) > 3 * calm_s


# The server may end before the last blocks have come; what it has is what was sent. Without a
# rate iperf3 3.12 fills the socket's buffer and loses the rest of a block that fits in part.
KEEPS = """
head -c 9000000 /dev/urandom > /tmp/sent
iperf3 -s -1 --file /tmp/kept > /dev/null &
sleep 0.2
iperf3 -c 127.0.0.1 -b 500M -F /tmp/sent > /dev/null
wait
cmp -n $(stat -c %s /tmp/kept) /tmp/sent /tmp/kept && stat -c %s /tmp/kept
"""
COUNTS = r"""
sysctl -qw net.host_cpu.copy_ps=COPY_PS
strace -f -o /tmp/calls -e trace=read,recvfrom iperf3 -s -1 > /dev/null &
sleep 0.2
iperf3 -c 127.0.0.1 -n 20M > /dev/null
wait
echo $(grep -c 'read(.* = [0-9]\{5\}' /tmp/calls) $(grep -c 'MSG_TRUNC.* = [0-9]\{5\}' /tmp/calls)
"""


def _with_shim(script: str) -> list[int]:
    """Return the numbers that a script prints; its programs have the shim of iperf3."""
    lines = f"export LD_PRELOAD={preload(IPERF3)['LD_PRELOAD']}\nip link set lo up\n{script}"
    command = ("longfat", "exec", "--kernel", "6.1", "--memory", "512MB", "--", "sh", "-c", lines)
    done = run_command(*command, given="")
    assert done.returncode == 0, done.stderr
    return [int(word) for word in done.stdout.split()]


def test_an_iperf3_that_keeps_its_data_in_a_file_copies_it() -> None:
    (size,) = _with_shim(KEEPS)
    assert size > 1_000_000


def test_an_iperf3_has_its_data_thrown_away_where_copies_take_no_time() -> None:
    read, thrown_away = _with_shim(COUNTS.replace("COPY_PS", "0"))
    assert (read < 10, thrown_away > 100) == (True, True)
    read, thrown_away = _with_shim(COUNTS.replace("COPY_PS", "200"))
    assert (read > 100, thrown_away) == (True, 0)
