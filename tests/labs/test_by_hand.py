"""Every lab can be done by hand, from its text alone.

The lines of a lab's text are typed in their order, each at its nodes, in the network that
`longfat shell LAB` and the studio open for working by hand, and all of them must succeed. What
takes long is shortened: whether a line works does not depend on how long its traffic lasts.
"""

from __future__ import annotations

import re
import signal

import pytest
from markdown_it import MarkdownIt

from longfat.live import Network
from longfat.live.process import Process
from longfat.study.labs import StudyFolder, all_labs, find_lab
from longfat.study.text import ENGLISH, nodes_of_block

pytestmark = pytest.mark.slow

_WITHIN_S = 120.0
_UNTIL_STOPPED = "tcpdump "
_SHORTER = [
    # Of an amount and of a time, iperf3 takes one.
    (re.compile(r"^(iperf3 -c .*?) -[tn] \d+\b"), r"\1 -n 1000000"),
    (re.compile(r"^(iperf3 -c .*?) -O \d+\b"), r"\1"),
    (re.compile(r"^ping -c \d+\b"), "ping -c 10 -i 0.2"),
    # Seconds of load by the QUIC client, the first of which it leaves out.
    (re.compile(r"(client\.py load \S+ \S+ \d+) \d+\b"), r"\1 2"),
]


@pytest.mark.parametrize("lab", all_labs(), ids=lambda lab: lab.name)
def test_the_lines_of_the_text_work_in_their_order(lab: StudyFolder) -> None:
    with Network.open(lab.study_file) as net:  # on the kernel that the lab names
        endless: list[Process] = []
        for node, line in typed_lines(lab):
            if line.startswith(_UNTIL_STOPPED):
                place = net.root if node == net.root.name else net[node]
                endless.append(place.spawn(f"exec {line}"))
                continue
            done = net.run_at(node, shorter(line), timeout=_WITHIN_S)
            assert done.returncode == 0, f"{node}: {line}\n{done.stdout}{done.stderr}"
        for process in endless:
            process.send_signal(signal.SIGINT)
            assert process.wait(timeout=_WITHIN_S) == 0


@pytest.mark.parametrize("lab", ["lab08", "lab09", "lab11", "lab16", "workshop"])
def test_labs_of_mininet_begin_with_the_buffers_of_its_machine(lab: str) -> None:
    with Network.open(find_lab(lab).study_file, kernel="6.1") as net:
        for name in ("net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem"):
            shown = net["h1"].run(["sysctl", name], check=True).stdout
            assert shown == f"{name} = 10240\t87380\t16777216\n"
        for qdisc in net.root.run("tc qdisc show", check=True).stdout.splitlines():
            assert "noqueue" in qdisc or "fifo" in qdisc


def typed_lines(lab: StudyFolder) -> list[tuple[str, str]]:
    """Return the lines that a lab's text has a person type, with their nodes."""
    text = lab.text_files[ENGLISH].read_text(encoding="utf-8")
    found = []
    for token in MarkdownIt("commonmark").parse(text):
        if token.type == "fence":
            nodes = nodes_of_block(token.info)
            lines = [line for line in token.content.splitlines() if line]
            found += [(node, line) for node in nodes for line in lines]
    assert found
    return found


def shorter(line: str) -> str:
    for pattern, by in _SHORTER:
        line = pattern.sub(by, line)
    return line
