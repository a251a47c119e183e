"""Small live networks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from longfat.live import LiveHost, Network

MakeNetwork = Callable[..., Network]


@pytest.fixture
def make_network() -> Iterator[MakeNetwork]:
    """Make networks that end with the test."""
    with ExitStack() as stack:

        def make(**options: Any) -> Network:
            options = {"kernel": "6.1", "memory": "512MB", **options}
            return stack.enter_context(Network(**options))

        yield make


@pytest.fixture
def net(make_network: MakeNetwork) -> Network:
    """h1 and h2 at the switch s1."""
    return two_hosts(make_network())


def two_hosts(net: Network, **properties: Any) -> Network:
    """Add h1 and h2 at s1, the link of h2 with properties."""
    h1, h2 = net.host("h1"), net.host("h2")
    s1 = net.switch("s1")
    net.link(h1, s1)
    net.link(s1, h2, **properties)
    return net


def host(net: Network, name: str) -> LiveHost:
    """Return a host by its name."""
    found = net[name]
    assert isinstance(found, LiveHost)
    return found
