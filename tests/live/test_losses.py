"""Losses of a live network, on each kernel."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from longfat.analysis.loss_causes import Cause
from longfat.analysis.losses import Loss
from longfat.live import Network
from tests.kernels import KERNELS

pytestmark = pytest.mark.xdist_group("live-losses")


@pytest.fixture(scope="module", params=KERNELS)
def net(request: pytest.FixtureRequest) -> Iterator[Network]:
    with Network(kernel=request.param) as net:
        h1, h2, s1 = net.host("h1"), net.host("h2"), net.switch("s1")
        net.link(h1, s1)
        net.link(s1, h2)
        yield net


def hurting(losses: list[Loss]) -> list[Loss]:
    return [loss for loss in losses if loss.cause.is_loss]


def test_place_cause_and_hosts(net: Network) -> None:
    h1 = net.hosts[0]
    h1.run("ping -c 1 h2")
    net.losses(new=True)
    net.tc("s1-eth2", "qdisc replace dev s1-eth2 root handle 5: netem loss 100%")
    from_s = net.clock.now
    h1.run("ping -c 3 -i 0.1 -W 0.1 h2")
    before_s = net.clock.now
    (loss,) = hurting(net.losses(new=True))
    assert net.clock.now == before_s
    assert (loss.interface, loss.cause, loss.qdisc) == ("s1-eth2", Cause.NETEM_LOSS, "netem 5:")
    assert (loss.flow, loss.protocol, loss.packets) == ("h1 -> h2", "icmp", 3)
    assert from_s < loss.first_s < loss.last_s < before_s


def test_those_since_the_last_look(net: Network) -> None:
    h1 = net.hosts[0]
    net.losses(new=True)
    assert net.losses(new=True) == []
    net.tc("s1-eth2", "qdisc replace dev s1-eth2 root handle 6: tbf rate 1mbit burst 3k limit 3k")
    h1.run("ping -c 1 -s 8000 -W 0.1 h2")
    every = sum(loss.packets for loss in hurting(net.losses()))
    h1.run("ping -c 2 -s 8000 -i 0.2 -W 0.2 h2")
    lost = hurting(net.losses(new=True))
    assert {(loss.interface, loss.cause, loss.qdisc) for loss in lost} == {
        ("s1-eth2", Cause.QUEUE_FULL, "tbf 6:")
    }
    assert sum(loss.packets for loss in hurting(net.losses())) == every + sum(
        loss.packets for loss in lost
    )
