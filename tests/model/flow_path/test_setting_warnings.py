"""Settings that Linux ignores, cuts or does not have."""

from __future__ import annotations

from dataclasses import replace

import pytest

from longfat.model.case import Case, Command
from longfat.model.flow_path.setting_warnings import setting_warnings
from longfat.model.network import ROOT_NAMESPACE, Host, Link, LinkImpairments, Network
from longfat.model.traffic import Iperf3, Transfer
from longfat.study.check import check_text

ECN = Command(node="h1", line="sysctl -w net.ipv4.tcp_ecn=1")
DCTCP = Command(node="h2", line="sysctl -w net.ipv4.tcp_congestion_control=dctcp")


def case(*setup: Command, qdisc: str | None = None, kernel: str = "6.1", **flow: object) -> Case:
    link = LinkImpairments(rate_bps=10**8, qdisc=qdisc)
    network = Network(
        hosts=(Host(name="h1", address="10.0.0.1/8"), Host(name="h2", address="10.0.0.2/8")),
        switches=(),
        links=(Link(a="h1", b="h2", a_to_b=link, b_to_a=link),),
    )
    bulk = Transfer(name="bulk", source="h1", target="h2", time_s=1.0, **flow)  # type: ignore[arg-type]
    return Case(kernel=kernel, network=network, setup=setup, flows=(bulk,))


@pytest.mark.parametrize(
    ("studied", "parts"),
    [
        (case(), []),
        (case(congestion="bbr", qdisc="codel"), []),
        (case(DCTCP, congestion="dctcp", qdisc="codel ecn ce_threshold 1ms"), []),
        (case(DCTCP, congestion="dctcp", qdisc="fq_codel"), []),
        (case(ECN, congestion="dctcp", qdisc="fq_codel"), ["its connection has no ECN"]),
        (case(ECN, congestion="dctcp", qdisc="fq_codel", reverse=True), []),
        (
            case(congestion="dctcp", qdisc="codel ecn"),
            ["its connection has no ECN, so it behaves as Reno"],
        ),
        (case(DCTCP, congestion="dctcp", qdisc="codel"), ["no queue from h1 to h2 sets any"]),
        (case(DCTCP, congestion="dctcp", qdisc="fq"), ["no queue from h1 to h2 sets any"]),
        (case(ECN, congestion="dctcp", reverse=True), ["no queue from h2 to h1 sets any"]),
        (case(DCTCP, congestion="prague", qdisc="codel ecn"), ["prague is in no release of Linux"]),
        (case(window_bytes=212_992), []),
        (case(window_bytes=40 << 20), ["a window of 40MB is cut to 208KB, which is net.core.rmem"]),
        (
            case(
                Command(
                    node=ROOT_NAMESPACE,
                    line="sysctl -w net.core.rmem_max=50000000 net.core.wmem_max=1000000",
                ),
                window_bytes=40 << 20,
            ),
            ["net.core.wmem_max; set both limits up"],
        ),
        (case(qdisc="dualpi2"), ['since 6.17, and the kernel is 6.1: write `kernel: "7.2"`']),
        (case(qdisc="dualpi2", kernel="7.2.12"), []),
        # A line that is not understood may do all of it.
        (case(Command(node="h2", line="sh x.sh tcp_congestion_control"), congestion="dctcp"), []),
    ],
)
def test_warnings(studied: Case, parts: list[str]) -> None:
    warnings = [text for _, text in setting_warnings(studied)]
    assert len(warnings) == len(parts), warnings
    for text, part in zip(warnings, parts, strict=True):
        assert part in text


def test_iperf3_has_the_same_windows() -> None:
    flow = Iperf3(name="bulk", source="h1", target="h2", time_s=1.0, window_bytes=1 << 20)
    ((index, text),) = setting_warnings(replace(case(), flows=(flow,)))
    assert index == 0
    assert "a window of 1MB" in text


def test_a_check_names_the_flow_and_its_place() -> None:
    text = (
        "title: X\n"
        "network: {hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8}, links: [[h1, h2]]}\n"
        "flows:\n"
        "  bulk: {transfer: h1 -> h2, time: 1s, window: 1MB}\n"
    )
    (finding,) = check_text(text, name="x.yaml").findings
    assert not finding.is_mistake
    assert str(finding.error).startswith("x.yaml:4:20: flows.bulk.transfer: flow 'bulk': a window")
