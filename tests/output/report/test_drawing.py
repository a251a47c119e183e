"""The drawing of a network: what is written in it, and that nothing lies on top of another."""

from __future__ import annotations

import re
from itertools import combinations
from xml.etree import ElementTree

import pytest

from longfat.model.network import Host, Link, LinkImpairments, Network, Switch
from longfat.output.report.drawing import draw_network, place_nodes

NETWORK = Network(
    hosts=(
        Host(name="h1", address="10.0.0.1/24"),
        Host(name="h2", address="10.1.0.1/24"),
        Host(name="h3", address=None),
        Host(name="r1", address=None, forwards=True),
    ),
    switches=(Switch(name="s1"),),
    links=(
        Link(a="h1", b="s1", mtu_bytes=9000),
        Link(
            a="r1",
            b="s1",
            a_to_b=LinkImpairments(rate_bps=10**9, delay_s=0.005),
            b_to_a=LinkImpairments(rate_bps=5 * 10**8, delay_s=0.01, jitter_s=0.001),
            a_address="10.0.0.254/24",
        ),
        Link(a="h2", b="r1", b_address="10.1.0.254/24"),
        Link(a="h3", b="r1", a_to_b=LinkImpairments(loss=1e-4), b_to_a=LinkImpairments(loss=1e-4)),
    ),
)


def texts(network: Network) -> list[ElementTree.Element]:
    return list(ElementTree.fromstring(draw_network(network)).iter("text"))


def test_what_is_written() -> None:
    words = [text.text for text in texts(NETWORK)]
    for found in ("no address", "router", "10.0.0.254/24", "10.1.0.254/24", "MTU 9000"):
        assert words.count(found) == 1
    assert words.count("0.01 % lost") == 1
    assert any(re.fullmatch("[←→] 1 Gbit/s, 5 ms", word or "") for word in words)
    assert any(re.fullmatch("[←→] 500 Mbit/s, 10 ms ±1 ms", word or "") for word in words)


def test_arrows_point_the_way_that_packets_go() -> None:
    places = place_nodes(NETWORK)
    rightwards = places["r1"].column < places["s1"].column
    words = [text.text or "" for text in texts(NETWORK)]
    assert ("→ 1 Gbit/s, 5 ms" in words) is rightwards


def test_interfaces_that_a_link_shapes_stand_out() -> None:
    bold = {text.text for text in texts(NETWORK) if "shaped" in text.get("class", "")}
    assert bold == {"r1-eth0", "s1-eth2", "h3-eth0", "r1-eth2"}


def test_routers_look_otherwise() -> None:
    root = ElementTree.fromstring(draw_network(NETWORK))
    assert len(list(root.iter("rect"))) == 5 + 1


@pytest.mark.parametrize("fan", [2, 5])
def test_no_two_texts_begin_in_one_place(fan: int) -> None:
    links = tuple(
        Link(
            a="r1",
            b=f"h{n}",
            a_address=f"10.{n}.0.254/24",
            a_to_b=LinkImpairments(rate_bps=10**9, delay_s=0.01),
        )
        for n in range(fan)
    )
    hosts = tuple(Host(name=f"h{n}", address=f"10.{n}.0.1/24") for n in range(fan))
    router = Host(name="r1", address=None, forwards=True)
    drawn = texts(Network(hosts=(*hosts, router), switches=(), links=links))
    spots = [(float(text.get("x", "0")), float(text.get("y", "0"))) for text in drawn]
    for (x, y), (other_x, other_y) in combinations(spots, 2):
        assert abs(x - other_x) > 10 or abs(y - other_y) > 8


def test_words_of_links() -> None:
    assert Link(a="a", b="b").summary() == ()
    one_way = Link(a="a", b="b", a_to_b=LinkImpairments(delay_s=0.02))
    assert one_way.summary() == ("→ 20 ms",)
    shape = LinkImpairments(rate_bps=2_500_000_000, queue_bytes=25 * 2**20, loss=1e-4)
    assert shape.summary() == "2.5 Gbit/s, 0.01 % lost, queue 25 MB"
