"""Templates of studies: what they make is read without a mistake, and everybody is reached."""

from __future__ import annotations

import pytest

from longfat.errors import InputError
from longfat.model.fields import fields_of
from longfat.study import Study
from longfat.study.reachability import check_reach
from longfat.study.read import parse_study
from longfat.study.templates import TEMPLATES, make_template

SIZES = [
    ("dumbbell", {"hosts": "1"}),
    ("dumbbell", {"hosts": "100", "rate": "10gbit", "rtt": "1ms"}),
    ("parking-lot", {"hops": "40"}),
    ("tree", {"depth": "1", "fanout": "16"}),
    ("tree", {"depth": "4", "fanout": "4"}),
    ("wan", {"sites": "40", "hosts": "6"}),
    ("data-centre", {"leaves": "16", "spines": "8", "hosts": "16"}),
    ("home", {"hosts": "40", "buffer": "10ms"}),
    ("rrul", {"rate": "1gbit", "uplink": "100mbit", "time": "10s"}),
    ("responsiveness", {"streams": "16", "buffer": "1ms", "rate": "1mbit"}),
    *((name, {}) for name in TEMPLATES),
]


def study(name: str, given: dict[str, str]) -> Study:
    return parse_study(make_template(TEMPLATES[name], given).text(), name=name)


@pytest.mark.parametrize(("name", "given"), SIZES)
def test_every_flow_arrives_and_every_node_has_a_place(name: str, given: dict[str, str]) -> None:
    found = study(name, given)
    network = next(iter(found.cases.values())).case.network
    assert set(found.layout) == set(network.node_names())
    assert len(set(found.layout.values())) == len(found.layout)
    names = [host.name for host in network.hosts if not host.forwards]
    for other in names[1:]:
        assert check_reach(network, names[0], other) is None or name == "home"


@pytest.mark.parametrize("name", TEMPLATES)
def test_its_first_lines_make_the_same_again(name: str) -> None:
    template = TEMPLATES[name]
    text = make_template(template, {"rate": "123mbit", "rtt": "8ms"}).text()
    comment = " ".join(line.strip("# ") for line in text.splitlines() if line.startswith("#"))
    words = comment.partition(f"longfat new {name} ")[2].partition(" Positions")[0].split()
    given = dict(zip((one[2:] for one in words[::2]), words[1::2], strict=True))
    assert set(given) == set(fields_of(template))
    assert make_template(template, given).text() == text


@pytest.mark.parametrize(
    ("name", "given", "words"),
    [
        ("dumbbell", {"hosts": "101"}, "hosts: 101 is outside of what is allowed: 1 to 100"),
        ("dumbbell", {"rate": "fast"}, "rate: 'fast' is not a rate"),
        ("dumbbell", {"sites": "1"}, "the template dumbbell has no 'sites'"),
        ("tree", {"depth": "6", "fanout": "16"}, "16777216 hosts, and at most 256"),
    ],
)
def test_mistakes_say_what_would_be_right(name: str, given: dict[str, str], words: str) -> None:
    with pytest.raises(InputError) as raised:
        make_template(TEMPLATES[name], given).text()
    assert words in str(raised.value)
