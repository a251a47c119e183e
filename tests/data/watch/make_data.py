"""How the data of this folder came to be: `python make_data.py` writes them anew.

Three flows whose connections are easily taken for each other's: two leave the
same host for the same port of two hosts, and one has several streams and goes
backwards.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path

from longfat.model.case import Case, Command
from longfat.model.network import ROOT_NAMESPACE, Host, Link, Network, Switch
from longfat.model.probes import Queue, Tcp
from longfat.execution import run_case
from longfat.model.traffic import Iperf3

HERE = Path(__file__).resolve().parent
SETUP = (
    "tc qdisc add dev s1-eth1 root handle 1: netem delay 10ms",
    "tc qdisc add dev s1-eth1 parent 1: handle 2: tbf rate 50mbit burst 50000 limit 100000",
)
CASE = Case(
    kernel="6.1",
    network=Network(
        hosts=tuple(Host(name=f"h{k}", address=f"10.0.0.{k}/8") for k in range(1, 5)),
        switches=(Switch(name="s1"), Switch(name="s2")),
        links=tuple(
            Link(a=a, b=b)
            for a, b in (("s1", "s2"), ("h1", "s1"), ("h2", "s1"), ("h3", "s2"), ("h4", "s2"))
        ),
    ),
    setup=tuple(Command(node=ROOT_NAMESPACE, line=line) for line in SETUP),
    flows=(
        Iperf3(name="one", source="h1", target="h3", time_s=1.0),
        Iperf3(name="other", source="h1", target="h4", time_s=1.0, start_s=0.25),
        Iperf3(name="back", source="h2", target="h3", time_s=1.0, parallel=3, reverse=True),
    ),
    probes=(
        Queue(name="queue", of=("s1-eth1", "s2-eth1")),
        Tcp(name="tcp", of=("one", "other", "back")),
    ),
    memory_bytes=512 << 20,
)

with tempfile.TemporaryDirectory() as folder:
    run = run_case(CASE, name="watched", out=Path(folder))
    for path in run.raw.iterdir():
        if path.name.endswith((".samples", ".client.json")):
            shutil.copy(path, HERE)
    (HERE / "case.json").write_text(json.dumps(CASE.to_json(), indent=1) + "\n")
