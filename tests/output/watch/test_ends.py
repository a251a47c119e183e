"""Ports to streams: as iperf3's reports tell it at the end, and by hand."""

from __future__ import annotations

import itertools

from longfat.model.case import Case
from longfat.model.probes.tcp import End, find_ends
from longfat.model.traffic import Iperf3
from longfat.output.watch.ends import Connection, Served, sending_ends
from longfat.output.watch.live import LiveRun, TcpReader
from longfat.output.watch.plan import Plan
from tests.output.watch.conftest import DATA

FORWARD = Served(flow="bulk", client="h1", server="h2", port=5201)
BACKWARD = Served(flow="bulk", client="h1", server="h2", port=5201, server_sends=True)


def connection(client_port: int, *, first_s: float = 0.1, moved_bytes: int = 0) -> Connection:
    return Connection(client_port=client_port, first_s=first_s, moved_bytes=moved_bytes)


def test_the_connection_that_was_first_is_left_out() -> None:
    control = connection(40002, first_s=0.1, moved_bytes=500)
    # It has not moved anything yet, and is a stream all the same.
    stream = connection(40000, first_s=0.2)
    for seen in itertools.permutations([control, stream]):
        assert sending_ends({FORWARD: seen}) == {("h1", 40000, 5201): End("bulk", "sender", 0)}


def test_of_several_firsts_the_one_with_few_bytes_is_left_out() -> None:
    streams = [connection(port, moved_bytes=10**6 - port) for port in (40004, 40000, 40008)]
    control = connection(40002, moved_bytes=500)
    assert sending_ends({FORWARD: [*streams, control]}) == {
        ("h1", 40000, 5201): End("bulk", "sender", 0),
        ("h1", 40004, 5201): End("bulk", "sender", 1),
        ("h1", 40008, 5201): End("bulk", "sender", 2),
    }


def test_a_single_connection_is_no_stream() -> None:
    assert sending_ends({FORWARD: [connection(40000, moved_bytes=10**9)], BACKWARD: []}) == {}


def test_backwards_the_server_sends() -> None:
    seen = [connection(40000), connection(40002, first_s=0.2)]
    assert sending_ends({BACKWARD: seen}) == {("h2", 5201, 40002): End("bulk", "sender", 0)}


def test_it_finds_the_sockets_that_iperf3_reports(case: Case, plan: Plan) -> None:
    flows = [flow for flow in case.flows if isinstance(flow, Iperf3)]
    reported = {key: end.flow for key, end in find_ends(flows, DATA).items() if end.end == "sender"}
    assert len(reported) == 5
    reader = TcpReader("tcp", plan.flows, LiveRun(plan).flows)
    reader.feed((DATA / "tcp.samples").read_bytes())
    assert {key: end.flow for key, end in reader.ends.items()} == reported


def test_two_flows_to_the_same_port_of_two_hosts_are_told_apart(plan: Plan) -> None:
    one, other = (served for served in plan.flows if served.client == "h1")
    assert (one.port, other.port) == (5201, 5201)
    assert (one.server, other.server) == ("h3", "h4")
