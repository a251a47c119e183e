"""The drawing of a network: what is written in it, and that nothing lies on top of another."""

from __future__ import annotations

import re
from itertools import combinations
from xml.etree import ElementTree

import pytest

from longfat.errors import InputError
from longfat.model.network import Host, Link, LinkImpairments, Network, Switch
from longfat.output.drawing import draw_network, network_picture, picture_bytes
from longfat.output.drawing.layouts import place_nodes
from longfat.output.drawing.picture import extent
from longfat.output.drawing.shapes import Box, Picture, Shape, Stroke, TextLine
from longfat.study.drawing import Drawing, Group, Note

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


SHAPED = LinkImpairments(rate_bps=10**8, delay_s=0.02)


def dumbbell(pairs: int) -> Network:
    sides = [(f"h{n}", "s1") for n in range(pairs)], [(f"g{n}", "s2") for n in range(pairs)]
    return Network(
        hosts=tuple(
            Host(name=name, address=f"10.0.0.{number}/8")
            for number, (name, _) in enumerate([*sides[0], *sides[1]], start=1)
        ),
        switches=(Switch(name="s1"), Switch(name="s2")),
        links=(
            *(Link(a=host, b=switch) for host, switch in sides[0]),
            Link(a="s1", b="s2", a_to_b=SHAPED, b_to_a=SHAPED),
            *(Link(a=switch, b=host) for host, switch in sides[1]),
        ),
    )


def ring(routers: int, *more: tuple[int, int]) -> Network:
    pairs = [(n, (n + 1) % routers) for n in range(routers)]
    return Network(
        hosts=tuple(Host(name=f"r{n}", address=None, forwards=True) for n in range(routers)),
        switches=(),
        links=tuple(Link(a=f"r{a}", b=f"r{b}", a_to_b=SHAPED) for a, b in [*pairs, *more]),
    )


def overlap(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return all(one[n] < other[n + 2] - 0.5 and other[n] < one[n + 2] - 0.5 for n in (0, 1))


def level_overlaps(picture: Picture) -> list[tuple[Shape, Shape]]:
    """Return which level texts and nodes lie on top of each other."""
    words = [shape for shape in picture.shapes if isinstance(shape, TextLine) and not shape.slope]
    along: list[Shape] = [shape for shape in words if shape.role.startswith("interface")]
    nodes: list[Shape] = [
        shape for shape in picture.shapes if isinstance(shape, Box) and shape.role == "node"
    ]
    return [
        (one, other)
        for one, other in combinations([*along, *nodes], 2)
        if overlap(extent([one]), extent([other]))
    ]


@pytest.mark.parametrize("pairs", [1, 4, 20])
def test_nothing_of_a_dumbbell_covers_anything(pairs: int) -> None:
    network = dumbbell(pairs)
    picture = network_picture(network)
    assert level_overlaps(picture) == []
    assert not any(shape.slope for shape in picture.shapes if isinstance(shape, TextLine))
    columns = {"s1": (260.0, 210.0), "s2": (500.0, 210.0)}
    columns |= {f"h{n}": (60.0, 60.0 + 100 * n) for n in range(pairs)}
    columns |= {f"g{n}": (700.0, 60.0 + 100 * n) for n in range(pairs)}
    drawn = network_picture(network, places=columns)
    assert level_overlaps(drawn) == []


def test_parallel_links_stand_apart() -> None:
    hosts = (Host(name="a", address="10.0.0.1/8"), Host(name="b", address="10.0.0.2/8"))
    links = tuple(Link(a="a", b="b", a_to_b=SHAPED) for _ in range(4))
    network = Network(hosts=hosts, switches=(), links=links)
    for places in (None, {"a": (0.0, 0.0), "b": (10.0, 10.0)}):
        strokes = [s for s in network_picture(network, places=places).shapes if type(s) is Stroke]
        assert len({stroke.points[len(stroke.points) // 2] for stroke in strokes}) == 4
    assert level_overlaps(network_picture(network)) == []


@pytest.mark.parametrize(
    "network",
    [
        ring(3),
        ring(12, (0, 6)),
        # Spines with the same neighbours would stand in one place.
        Network(
            hosts=tuple(
                Host(name=name, address=None, forwards=True)
                for name in ("s1", "s2", "s3", "l1", "l2", "l3", "l4")
            ),
            switches=(),
            links=tuple(
                Link(a=spine, b=leaf)
                for spine in ("s1", "s2", "s3")
                for leaf in ("l1", "l2", "l3", "l4")
            ),
        ),
    ],
    ids=["triangle", "ring", "spines"],
)
def test_nodes_of_a_mesh_stand_apart(network: Network) -> None:
    picture = network_picture(network)
    boxes = [extent([s]) for s in picture.shapes if isinstance(s, Box) and s.round_px == 8]
    assert len(boxes) == len(network.hosts)
    assert not any(overlap(one, other) for one, other in combinations(boxes, 2))
    assert picture == network_picture(network)


def test_places_of_a_study_are_kept_in_their_order() -> None:
    places = {"r0": (500.0, 10.0), "r1": (10.0, 10.0), "r2": (250.0, 400.0)}
    picture = network_picture(ring(3), places=places)
    at = {s.text: s.at for s in picture.shapes if isinstance(s, TextLine) and s.role == "name"}
    assert at["r1"][0] < at["r2"][0] < at["r0"][0]
    assert at["r0"][1] == at["r1"][1] < at["r2"][1]
    some = network_picture(ring(3), places={"r0": (500.0, 10.0)})
    at = {s.text: s.at for s in some.shapes if isinstance(s, TextLine) and s.role == "name"}
    assert at["r0"][1] < at["r1"][1] == at["r2"][1]
    assert at["r1"][0] < at["r2"][0]


@pytest.mark.parametrize("places", [{}, {"h0": (0.0, 0.0), "g0": (300.0, 0.0)}])
def test_what_a_person_added_is_drawn(places: dict[str, tuple[float, float]]) -> None:
    drawing = Drawing(
        colours={"h0": "blue"},
        groups=(Group(name="Site <1>", nodes=("h0", "s1"), colour="green"), Group(nodes=("no",))),
        notes=(Note(text="first\nsecond", at=(5.0, 5.0)), Note(text="other", at=(5.0, 90.0))),
    )
    picture = network_picture(dumbbell(1), places=places, drawing=drawing)
    texts = [shape.text for shape in picture.shapes if isinstance(shape, TextLine)]
    for text in ("Site <1>", "first", "second", "other"):
        assert texts.count(text) == 1
    groups = [s for s in picture.shapes if isinstance(s, Box) and s.role == "group"]
    assert [group.colour for group in groups] == ["green"]
    blue = [s for s in picture.shapes if isinstance(s, Box) and s.colour == "blue"]
    assert overlap(extent(blue), extent(groups))
    left, top, right, bottom = extent(picture.shapes)
    assert left >= picture.left
    assert top >= picture.top
    assert right <= picture.left + picture.width
    assert bottom <= picture.top + picture.height


@pytest.mark.parametrize(
    ("form", "begin"), [("svg", b"<svg xmlns="), ("png", b"\x89PNG"), ("pdf", b"%PDF-")]
)
def test_files_are_the_same_each_time(form: str, begin: bytes) -> None:
    drawing = Drawing(groups=(Group(name="$a & <b>$", nodes=("h0",)),))
    content = picture_bytes(network_picture(dumbbell(2), drawing=drawing), form)
    assert content.startswith(begin)
    assert content == picture_bytes(network_picture(dumbbell(2), drawing=drawing), form)
    if form == "svg":
        root = ElementTree.fromstring(content)
        texts = [text.text for text in root.iter("{http://www.w3.org/2000/svg}text")]
        assert "$a & <b>$" in texts


def test_a_large_network_is_not_drawn() -> None:
    network_picture(dumbbell(249))
    with pytest.raises(InputError, match="502 nodes is too large to draw: the maximum is 500"):
        network_picture(dumbbell(250))
    chain = Network(
        hosts=tuple(Host(name=f"h{n}", address=None, forwards=True) for n in range(500)),
        switches=(),
        links=tuple(Link(a=f"h{n}", b=f"h{n + 1}") for n in range(499)),
    )
    assert network_picture(chain).width > 10_000
