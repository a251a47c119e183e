"""What a kind of data is, and the case that the samples of raw files are of."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from longfat.model.case import Case, Command
from longfat.model.network import ROOT_NAMESPACE, Host, Link, Network, Switch
from longfat.model.probes import Capture, Queue, Rate, Tcp
from longfat.model.traffic import Cbr, Iperf3, Ping, Program, Requests, Transfer, Video
from longfat.model.traffic.extraction import Extraction
from tests.paths import REPOSITORY, TESTS

DATA = TESTS / "data"
LAB = DATA / "runs" / "lab08"
RUN = DATA / "runs" / "seeded" / "lossy-seed1"
EPOCH_S = 1700000002.0

Mutate = Callable[[random.Random, bytes], bytes]
Read = Callable[[Path, bytes], None]


class WrongError(Exception):
    """A change was not found out: the result is another one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A kind of data.

    Attributes:
        samples: returns real ones.
        mutate: changes one.
        read: reads one, with a folder to write it to.
    """

    samples: Callable[[], list[bytes]]
    mutate: Mutate
    read: Read


FLOWS = (
    Iperf3(name="bulk", source="h1", target="h2", time_s=2.0),
    Iperf3(name="back", source="h1", target="h2", time_s=2.0, reverse=True),
    Transfer(name="moved", source="h1", target="h2"),
    Ping(name="ping", source="h1", target="h2"),
    Requests(name="web", source="h1", target="h2", time_s=1.0),
    Cbr(name="call", source="h1", target="h2", time_s=1.0),
    Video(name="film", source="h1", target="h2", time_s=60.0, segment_s=2.0),
    Program(
        name="page",
        source="h1",
        target="h2",
        run="curl http://h2/",
        extractions=(
            Extraction(name="load", json="time_total", unit="s"),
            Extraction(name="size", json="size_download", unit="B"),
            Extraction(name="served", regex="(200)", take="count"),
        ),
    ),
)
PROBES = (
    Queue(name="queue", of=("s1-eth2", "h1-eth0")),
    Tcp(name="tcp", of=("bulk",)),
    Rate(name="rate", of=("s1-eth2",)),
    Capture(name="window", of="h1-eth0"),
)
CASE = Case(
    kernel="6.1",
    network=Network(
        hosts=(Host(name="h1", address="10.0.0.1/8"), Host(name="h2", address="10.0.0.2/8")),
        switches=(Switch(name="s1"),),
        links=(Link(a="h1", b="s1"), Link(a="h2", b="s1")),
    ),
    setup=(Command(node=ROOT_NAMESPACE, line="tc qdisc add dev s1-eth2 root netem delay 1ms"),),
    flows=FLOWS,
    probes=PROBES,
)


def write(folder: Path, name: str, content: bytes) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def files(*names: str) -> Callable[[], list[bytes]]:
    return lambda: [path.read_bytes() for name in names for path in sorted(REPOSITORY.glob(name))]
