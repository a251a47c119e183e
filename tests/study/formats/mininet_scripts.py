"""Reads Mininet scripts of ours in a process of the host, for tests.

That is quicker than a machine, which `test_mininet_machine.py` has.
"""

from __future__ import annotations

import json
import subprocess
import textwrap
from pathlib import Path

import pytest

from longfat import guest
from longfat.errors import InputError
from longfat.study.formats.mininet import MininetNetwork, network_of

RUN = Path(guest.__file__).parent / "mininet" / "run.py"


def read(text: str, folder: Path, *arguments: str) -> tuple[MininetNetwork, tuple[str, ...]]:
    run_here(textwrap.dedent(text), folder, *arguments)
    return network_of((folder / "record.json").read_bytes(), file="net.py")


def run_here(text: str, folder: Path, *arguments: str) -> str:
    """Run a script of ours against the stand-in, without a machine; return what it prints."""
    (folder / "script").write_text(text, encoding="utf-8")
    job = {"name": "net.py", "arguments": arguments, "lines": 100_000, "limit_s": 60}
    (folder / "job.json").write_text(json.dumps({**job, "memory_bytes": 2 << 30}))
    done = subprocess.run(
        ["/usr/bin/python3", "-s", "-B", RUN, folder, folder],
        cwd=folder,
        env={"PYTHONHASHSEED": "0", "PATH": "/usr/bin:/bin"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        timeout=100,
    )
    return done.stdout


def error(text: str, folder: Path) -> str:
    with pytest.raises(InputError) as caught:
        read(text, folder)
    return str(caught.value)


NET = """
from mininet.net import Mininet
from mininet.node import Node
from mininet.topo import SingleSwitchTopo; from mininet.link import TCLink
import sys, os, random, time
net = Mininet()
h1 = net.addHost('h1')
h2 = net.addHost('h2', ip='10.0.0.77')
s1 = net.addSwitch('s1')
"""
