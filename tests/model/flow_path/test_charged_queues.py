"""Where senders of one kernel feel a queue, and the warning about studies that do not say."""

from __future__ import annotations

import pytest

from longfat.model.flow_path.charged_queues import charged_queues
from longfat.study.check import check_text
from longfat.study.read import parse_study

STUDY = """\
title: a queue behind a switch
network:
  hosts: {h1: 10.0.0.1/24, h2: 10.0.0.2/24}
  switches: [s1, s2]
  links: [[h1, s1], [s1, s2], [s2, h2]]
"""
ROUTED = """\
title: a queue behind a router
network:
  hosts:
    h1: {address: 10.0.0.1/24, routes: {default: 10.0.0.254}}
    h2: {address: 10.0.1.2/24, routes: {default: 10.0.1.254}}
    r1: {forwards: yes}
  switches: [s1, s2]
  links:
    - [h1, s1]
    - [s1, r1, {addresses: {r1: 10.0.0.254/24}}]
    - [r1, s2, {addresses: {r1: 10.0.1.254/24}}]
    - [s2, h2]
"""
FLOWS = """\
flows:
  bulk: {transfer: h1 -> h2, time: 1s}
"""
TBF = "tc qdisc add dev s1-eth2 root tbf rate 100mbit burst 50kb limit 500kb"


def setup(*lines: str) -> str:
    typed = (line.split(": ", 1) for line in lines)
    return "setup:\n" + "".join(f'  - {node}: "{line}"\n' for node, line in typed) + FLOWS


@pytest.mark.parametrize(
    ("text", "queues"),
    [
        (STUDY + setup(f"root: {TBF}"), ["s1-eth2"]),
        (STUDY + FLOWS, []),
        (STUDY + setup(f"root: {TBF}", "h1: tc qdisc add dev h1-eth0 root netem delay 5ms"), []),
        (
            STUDY
            + setup(
                "root: tc qdisc add dev s1-eth2 root handle 1: netem delay 5ms",
                "root: tc qdisc add dev s1-eth2 parent 1: tbf rate 1mbit burst 5kb limit 50kb",
            ),
            [],
        ),
        (
            STUDY + setup(f"root: {TBF}", "root: tc qdisc add dev s2-eth2 root netem delay 5ms"),
            ["s1-eth2"],
        ),
        (
            STUDY.replace("[s1, s2]]", "[s1, s2, {rate: 100mbit}]]").replace(
                "[s1, s2], [s2", "[s1, s2, {rate: 100mbit}], [s2"
            )
            + FLOWS,
            ["s1-eth2"],
        ),
        (
            ROUTED
            + setup("root: tc qdisc add dev s2-eth2 root tbf rate 100mbit burst 50kb limit 500kb"),
            [],
        ),
    ],
    ids=["switch", "no rate", "delay before", "delay above", "delay after", "link", "router"],
)
def test_queues_that_senders_of_one_kernel_feel(text: str, queues: list[str]) -> None:
    (planned,) = parse_study(text, name="study.yaml").cases.values()
    assert charged_queues(planned.case) == queues


PUBLISHED = "published:\n  source: a paper\n  default: {bulk.receiver: 90mbit}\n"


@pytest.mark.parametrize(
    ("text", "count"),
    [
        (STUDY + setup(f"root: {TBF}"), 0),
        (STUDY + setup(f"root: {TBF}") + PUBLISHED, 1),
        (STUDY + "  shared_kernel: yes\n" + setup(f"root: {TBF}") + PUBLISHED, 0),
        (STUDY + "  shared_kernel: no\n" + setup(f"root: {TBF}") + PUBLISHED, 0),
        (STUDY + FLOWS + PUBLISHED, 0),
    ],
    ids=["nothing published", "not said", "one kernel", "computers", "no queue"],
)
def test_a_study_beside_published_figures_has_to_say_which(text: str, count: int) -> None:
    messages = [str(finding.error) for finding in check_text(text, name="study.yaml").findings]
    assert sum("shared_kernel" in message and "s1-eth2" in message for message in messages) == count
