"""How the data of this folder came to be: `python make_data.py` writes them anew."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from longfat.model.case import Case, Command
from longfat.model.network import ROOT_NAMESPACE, Host, Link, Network, Switch
from longfat.model.probes import Capture, Queue, Rate, Tcp
from longfat.execution import run_case
from longfat.model.traffic import Iperf3

HERE = Path(__file__).resolve().parent
SETUP = (
    "tc qdisc add dev s1-eth2 root handle 1: netem delay 20ms",
    "tc qdisc add dev s1-eth2 parent 1: handle 2: tbf rate 100mbit burst 50000 limit 1000000",
)
CASE = Case(
    kernel="6.1",
    network=Network(
        hosts=(Host(name="h1", address="10.0.0.1/8"), Host(name="h2", address="10.0.0.2/8")),
        switches=(Switch(name="s1"),),
        links=(Link(a="h1", b="s1"), Link(a="h2", b="s1")),
    ),
    setup=tuple(Command(node=ROOT_NAMESPACE, line=line) for line in SETUP),
    flows=(Iperf3(name="bulk", source="h1", target="h2", time_s=2.0),),
    probes=(
        Queue(name="queue", of=("s1-eth2", "h1-eth0")),
        Tcp(name="tcp", of=("bulk",)),
        Rate(name="rate", of=("s1-eth2",)),
        Capture(name="window", of="h1-eth0", filter="tcp and src host 10.0.0.2", packets=300),
    ),
)

with tempfile.TemporaryDirectory() as folder:
    run = run_case(CASE, name="probed", out=Path(folder))
    for path in run.raw.iterdir():
        if path.suffix != ".err":
            shutil.copy(path, HERE)
    print(run.epoch_s)
