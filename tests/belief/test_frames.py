"""What the code believes of frames, offloads and coalescing: from a study's fields to packets."""

from __future__ import annotations

import dataclasses
import functools
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from longfat.engine.kernel import Kernel
from longfat.errors import InputError
from longfat.execution import run_case
from longfat.execution.runs import Run
from longfat.model.case import Case
from longfat.model.network import Host, Link, LinkImpairments, Network, Switch
from longfat.model.probes import Capture
from longfat.model.traffic import Transfer

MakeCase = Callable[..., Case]

_MSS = 1448
_SHAPED = LinkImpairments(rate_bps=100_000_000, delay_s=0.005)


def network(*, receiver: dict[str, Any] | None = None, **fields: Any) -> Network:
    h2 = Host(name="h2", address="10.0.0.2/8", **(receiver or {}))
    return Network(
        hosts=(Host(name="h1", address="10.0.0.1/8"), h2),
        switches=(Switch(name="s1"),),
        links=(Link(a="h1", b="s1"), Link(a="s1", b="h2", a_to_b=_SHAPED)),
        **fields,
    )


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Case, Kernel], Run]:
    """Run a case once, however many tests look at it."""

    @functools.cache
    def run(case: Case, kernel: Kernel) -> Run:
        return run_case(case, name="x", out=tmp_path_factory.mktemp("run"), kernel=kernel)

    return run


@pytest.fixture
def play(each_kernel: Kernel, runs: Callable[[Case, Kernel], Run]) -> Callable[[Network], Run]:
    def play(network: Network) -> Run:
        probes = tuple(
            Capture(name=name, of=of) for name, of in (("sent", "h1-eth0"), ("came", "h2-eth0"))
        )
        flow = Transfer(name="bulk", source="h1", target="h2", time_s=1.0)
        case = Case(kernel=each_kernel.release, network=network, flows=(flow,), probes=probes)
        return runs(case, each_kernel)

    return play


def payloads(run: Run, probe: str) -> Counter[int]:
    """Return how many packets of the data there are, by their payload in bytes."""
    rows = run.series(probe).to_pylist()
    return Counter(row["payload_bytes"] for row in rows if row["payload_bytes"] > 0)


def acks(run: Run) -> int:
    rows = run.series("came").to_pylist()
    return sum(row["payload_bytes"] == 0 for row in rows)


def test_without_frames_a_packet_holds_many_segments(play: Callable[[Network], Run]) -> None:
    run = play(network())
    assert max(payloads(run, "sent")) >= 10 * _MSS


def test_a_frame_holds_one_segment_everywhere(play: Callable[[Network], Run]) -> None:
    run = play(network(frames=True))
    for probe in ("sent", "came"):
        assert max(payloads(run, probe)) == _MSS
    assert run.metrics["bulk.receiver_bps"] == pytest.approx(95e6, rel=0.03)


def test_coalescing_joins_what_came_as_frames(play: Callable[[Network], Run]) -> None:
    plain = play(network(frames=True))
    moderated = play(network(frames=True, receiver={"rx_coalescing_s": 1e-3}))
    # A frame takes 0.12 ms, so eight come in a millisecond.
    assert max(payloads(moderated, "sent")) == _MSS
    assert max(payloads(moderated, "came")) >= 8 * _MSS
    assert acks(moderated) < 0.3 * acks(plain)
    assert moderated.metrics["bulk.receiver_bps"] == pytest.approx(95e6, rel=0.05)


def test_an_offload_that_ethtool_does_not_know_is_bad_input(
    play: Callable[[Network], Run],
) -> None:
    with pytest.raises(InputError, match=r"the offloads of h2-eth0: `ethtool -K h2-eth0 warp on`"):
        play(network(receiver={"offloads": "warp on"}))


def test_a_link_without_checksums_still_carries(play: Callable[[Network], Run]) -> None:
    drawn = network()
    links = tuple(dataclasses.replace(link, offloads="tx off rx off") for link in drawn.links)
    run = play(dataclasses.replace(drawn, links=links))
    assert run.metrics["bulk.receiver_bps"] > 30e6
