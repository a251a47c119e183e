"""A network that is written as a Mininet script and read again is the same network."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from longfat.model.case import Command
from longfat.model.network import ROOT_NAMESPACE, Network, build_batches
from longfat.study.formats.mininet.write import mininet_text
from tests.study.formats.mininet_scripts import read
from tests.study.formats.test_mininet import NETWORK, SETUP
from tests.study.formats.test_write import networks


def test_a_script_of_ours_comes_back(tmp_path: Path) -> None:
    found, warnings = read(mininet_text(title="Ours", network=NETWORK, setup=SETUP), tmp_path)
    assert found.title == "Ours"
    assert found.network == NETWORK
    assert found.setup == SETUP
    assert warnings == ()


@given(network=networks())
@settings(
    max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_any_network_comes_back(network: Network, tmp_path: Path) -> None:
    # Offloads stay the lines that they are, and what follows them stays with them.
    network = replace(
        network,
        frames=False,
        hosts=tuple(replace(host, offloads="", rx_coalescing_s=None) for host in network.hosts),
        links=tuple(replace(link, offloads="") for link in network.links),
    )
    setup = (
        Command(node=ROOT_NAMESPACE, line="ping -c 1 10.0.0.1"),
        Command(node=network.hosts[0].name, line='echo "it\'s $HOME"'),
    )
    opened, _ = read(mininet_text(title="x", network=network, setup=setup), tmp_path)
    assert opened.setup == setup
    # Which of two ways an address was written in makes no difference to what is built.
    assert as_built(opened.network) == as_built(network)


def as_built(network: Network) -> list[tuple[str, str, list[str]]]:
    return [(one.program, one.node, sorted(one.lines)) for one in build_batches(network)]


@pytest.mark.parametrize(
    "line",
    [
        "tc qdisc add dev h1-eth0 root handle 1: tbf rate 0bit burst 1600 limit 3000",
        f"tc qdisc add dev h1-eth0 root handle 1: tbf rate 1mbit burst 1600 limit {'9' * 5000}",
        f"tc qdisc add dev h1-eth0 root handle 1: tbf rate {'9' * 400}bit burst 1 limit 1",
        f"tc qdisc add dev h1-eth0 root handle 1: netem limit 1 delay {'9' * 400}s",
    ],
)
def test_a_typed_line_with_odd_numbers_stays_as_it_is(line: str, tmp_path: Path) -> None:
    found, _ = read(
        "from mininet.net import Mininet\n"
        "net = Mininet()\n"
        "h1, h2 = net.addHost('h1'), net.addHost('h2')\n"
        "net.addLink(h1, h2)\n"
        f"h1.cmd({line!r})\n",
        tmp_path,
    )
    assert [command.line for command in found.setup] == [line]


@pytest.mark.parametrize(
    "line",
    [
        "echo hello",
        'echo "it\'s $HOME"; true',
        "echo 1 > /proc/sys/net/ipv4/tcp_ecn",
        "printf 'a\\n' | sort",
        "ip route show",
        "ping -c 1 10.0.0.2",
        "test -e /proc/1 && echo yes",
        "iperf3 -s -D",
        "for i in 1 2; do echo $i; done",
        "cd /tmp; wget http://10.0.0.2/",
    ],
)
def test_a_set_up_line_is_one_in_the_study_of_a_written_script(line: str, tmp_path: Path) -> None:
    setup = (
        Command(node="h1", line=line),
        Command(node="h1", line="sysctl -w net.ipv4.tcp_sack=0"),
    )
    found, _ = read(mininet_text(title="x", network=NETWORK, setup=setup), tmp_path)
    (run,) = found.runs
    assert run.traffic.flows == ()
    assert run.traffic.events == ()
    typed = [one.line for one in run.traffic.setup if one.node == "h1"]
    assert "; ".join(typed).endswith(f"{line}; {setup[1].line}")
