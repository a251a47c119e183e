"""What is watched of a case: its own probes, or those that are added."""

from __future__ import annotations

import dataclasses

from longfat.analysis.timeseries.live import Plan, plan_watch
from longfat.model.case import Case, Command
from longfat.model.network import ROOT_NAMESPACE
from longfat.model.probes import Queue, Rate, Tcp
from longfat.model.traffic import Iperf3, Ping


def test_a_case_with_probes_stays_as_it_is(case: Case) -> None:
    plan = plan_watch(case)
    assert plan.case == case
    assert plan.queues == {"s1-eth1": 100_000, "s2-eth1": None}


def test_missing_probes_are_added(case: Case) -> None:
    rate = Rate(name="watch-queue", of=("h1-eth0",))
    udp = Iperf3(name="udp", source="h1", target="h4", udp=True)
    ping = Ping(name="rtt", source="h1", target="h4")
    setup = (*case.setup, Command(node="h2", line="tc qdisc add dev h2-eth0 root netem delay 1ms"))
    bare = dataclasses.replace(case, probes=(rate,), setup=setup, flows=(*case.flows, udp, ping))
    plan = plan_watch(bare)
    assert [probe.name for probe in plan.case.probes] == [
        *("watch-queue", "watch-queue-", "watch-tcp"),
    ]
    assert plan.queues == {"s1-eth1": 100_000, "h2-eth0": None}
    (tcp,) = plan.case.probes_of(Tcp)
    assert (tcp.of, tcp.every_s) == (("one", "other", "back"), 0.1)
    assert dataclasses.replace(plan.case, probes=(rate,)) == bare


def test_a_probe_of_one_kind_does_not_keep_the_other_away(case: Case) -> None:
    queue = Queue(name="queue", of=("s2-eth1",), every_s=0.01)
    plan = plan_watch(dataclasses.replace(case, probes=(queue,)))
    assert [probe.name for probe in plan.case.probes] == ["queue", "watch-tcp"]


def test_a_case_with_nothing_to_watch(case: Case) -> None:
    line = Command(node=ROOT_NAMESPACE, line="tc qdisc show dev s1-eth10")
    empty = dataclasses.replace(case, probes=(), flows=(), setup=(line,))
    plan = plan_watch(empty)
    assert (plan.case, plan.queues, plan.flows) == (empty, {}, {})


def test_two_flows_to_the_same_port_of_two_hosts_differ(plan: Plan) -> None:
    assert {at: flow.name for at, flow in plan.flows.items()} == {
        ("h3", 5201): "one",
        ("h4", 5201): "other",
        ("h3", 5202): "back",
    }
