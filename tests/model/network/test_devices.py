"""Names of interfaces where a node's own name is too long for Linux."""

from __future__ import annotations

from dataclasses import replace

import pytest

from longfat.model.network import Host, Link, Network, Switch, build_batches, problems
from longfat.model.network.devices import MAX_INTERFACE_LENGTH, device_name, device_stem

LONG = Network(
    hosts=(Host(name="frankfurt-core", address="10.0.0.1/8"), Host(name="h2", address=None)),
    switches=(Switch(name="distribution-switch-floor-3"),),
    links=(
        Link(a="frankfurt-core", b="distribution-switch-floor-3"),
        Link(a="h2", b="distribution-switch-floor-3"),
    ),
)


# The same values as in web/src/documents/devices.test.ts.
@pytest.mark.parametrize(
    ("name", "stem"),
    [
        ("h1", "h1"),
        ("tenletters", "tenletters"),
        ("h2345678901", "h23_b71ov"),
        ("frankfurt-core", "fra_0wp0g"),
    ],
)
def test_short_names_are_kept_and_long_ones_abbreviated(name: str, stem: str) -> None:
    assert device_stem(name) == stem


def test_a_name_of_ten_characters_is_whole_where_it_fits() -> None:
    assert device_name("tenletters", "-eth9") == "tenletters-eth9"
    assert device_name("tenletters", "-eth10") == "ten_19unn-eth10"
    assert device_name("tenletters", "-bond0") == "ten_19unn-bond0"
    assert device_name("ninechars", "-eth100") == "ninechars-eth100"  # neither fits


def test_interfaces_fit_and_the_full_names_are_known() -> None:
    names = [name for pair in LONG.interfaces() for name in pair]
    assert max(map(len, names)) <= MAX_INTERFACE_LENGTH
    assert LONG.full_interface_names()[names[0]] == "frankfurt-core-eth0"
    assert LONG.full_interface_names()[names[3]] == "distribution-switch-floor-3-eth2"
    assert "h2-eth0" not in LONG.full_interface_names()


def test_the_full_name_is_an_alternative_name() -> None:
    root, host, other = build_batches(LONG)
    bridge = device_stem("distribution-switch-floor-3")
    assert f"link add {bridge} type bridge" in root.lines
    assert f"link property add dev {bridge} altname distribution-switch-floor-3" in root.lines
    assert "link property add dev fra_0wp0g-eth0 altname frankfurt-core-eth0" in host.lines
    assert not any("altname" in line for line in other.lines)


def test_two_nodes_with_one_short_name_are_a_problem() -> None:
    lone = Network(
        hosts=(Host(name="frankfurt-core", address=None), Host(name="fra_0wp0g", address=None)),
        switches=(),
        links=(),
    )
    (problem,) = problems(lone)
    assert problem.path == ("hosts", "fra_0wp0g")
    assert "the same short names (fra_0wp0g-eth0)" in problem.message
    ten = replace(
        lone, hosts=(Host(name="tenletters", address=None), Host(name="ten_19unn", address=None))
    )
    assert [problem.path for problem in problems(ten)] == [("hosts", "ten_19unn")]
