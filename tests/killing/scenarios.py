"""What is killed: the ways in which machines are started, each as cheap as it can be."""

from __future__ import annotations

import json
import sys
import urllib.parse
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from longfat.engine.kernel import locate
from tests.paths import LONGFAT

# The source of the host's own cache: with an empty one, it would be downloaded.
_SOURCE = ("--source", str(found.path)) if (found := locate.here("6.1")) else ()

STUDY = """\
title: A ping
kernel: "6.1"
memory: 128MB
network:
  hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8}
  links: [[h1, h2]]
flows:
  rtt: {ping: h1 -> h2, count: 2}
probes:
  rate: {of: h1-eth0, every: 100ms}
"""

_NETWORK = """\
import longfat
with longfat.Network(kernel="6.1", memory="128MB") as net:
    h1, h2 = net.host("h1"), net.host("h2")
    net.link(h1, h2)
    while True:
        h1.run("ping -c 1 10.0.0.2; echo x > /run/output/raw/x")
"""

_TEST = """\
import pytest
@pytest.mark.parametrize("number", range(3))
@pytest.mark.longfat(kernel="6.1", memory="128MB")
def test_reaches(network, number):
    h1, h2 = network.host("h1"), network.host("h2")
    network.link(h1, h2)
    assert h1.ping(h2)["loss"] == 0
"""

_STUDIO = """\
import sys
from pathlib import Path
from typing import Any
from longfat.studio.address import Address
from longfat.studio.serve import serve
serve(workspace=Path("out"), static=Path("static"), address=Address(), query={}, browser=False)
"""

# Writes all the time, so that a folder is removed while somebody writes there.
_WRITER = "while :; do for n in 1 2 3 4; do echo x > {0}/$n; rm {0}/$n; done; sleep 0.01; done"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """One way to start machines.

    Attributes:
        name: what the table calls it.
        weight: how often it is chosen, in relation to the others.
        command: the command line, in a folder of its own.
        lasts_s: how long it takes, in seconds; of one that does not end, in which time
            it is killed.
        ends: it ends by itself; else it is ended after the kill.
        files: what has to be in the folder, by name.
        terminal: it needs a terminal.
        own_cache: it needs a cache of its own, which is empty.
        out: where it puts its runs.
        drive: told each line of its output.
    """

    name: str
    weight: int
    command: tuple[str, ...]
    lasts_s: float
    ends: bool = True
    files: dict[str, str] = field(default_factory=dict)
    terminal: bool = False
    own_cache: bool = False
    out: str = "out"
    drive: Callable[[str], None] = lambda _line: None


def _post_job(line: str) -> None:
    """Have a studio run a study, when it has told its URL."""
    if not line.startswith("longfat studio: "):
        return
    parts = urllib.parse.urlsplit(line.rsplit(maxsplit=1)[-1])
    origin = f"http://{parts.netloc}"
    token = urllib.parse.parse_qs(parts.query)["token"][0]
    text = STUDY.replace("count: 2", "count: 500000")
    body: dict[str, Any] = {
        "name": "mine.yaml",
        "text": text,
        "lab": None,
        "cases": [],
        "seeds": None,
    }
    request = urllib.request.Request(
        f"{origin}/api/jobs",
        data=json.dumps(body).encode(),
        headers={
            "Authorization": f"Bearer {token}",
            "Origin": origin,
            "Content-Type": "application/json",
        },
    )
    with urllib.request.urlopen(request, timeout=20):
        pass


RUN = Scenario(
    name="run",
    weight=28,
    command=(LONGFAT, "run", "study.yaml", "--json", "--out", "out"),
    lasts_s=1.6,
    files={"study.yaml": STUDY},
)
"""A case on one machine; also what is started after a kill that left nobody to clean up."""

SCENARIOS = (
    RUN,
    Scenario(
        name="run, pool",
        weight=16,
        command=(*RUN.command, "--seeds", "4", "--jobs", "3"),
        lasts_s=2.5,
        files=RUN.files,
    ),
    Scenario(
        name="run, report",
        weight=4,
        command=(LONGFAT, "run", "study.yaml", "--out", "out"),
        lasts_s=5.0,
        files=RUN.files,
    ),
    Scenario(
        name="exec",
        weight=16,
        command=(
            *(LONGFAT, "exec", "--kernel", "6.1", "--memory", "128MB", "--bind", "out:/out:rw"),
            *("--", "sh", "-c", _WRITER.format("/run")),
        ),
        lasts_s=1.8,
        ends=False,
    ),
    Scenario(
        name="network",
        weight=16,
        command=(sys.executable, "-c", _NETWORK),
        lasts_s=2.0,
        ends=False,
    ),
    Scenario(
        name="shell",
        weight=8,
        command=(LONGFAT, "shell", "study.yaml"),
        lasts_s=2.2,
        ends=False,
        files=RUN.files,
        terminal=True,
    ),
    Scenario(
        name="studio",
        weight=6,
        command=(sys.executable, "-c", _STUDIO),
        lasts_s=3.0,
        ends=False,
        files={"static/index.html": "<!doctype html><title>studio</title>"},
        out="out/runs/mine",
        drive=_post_job,
    ),
    Scenario(
        name="pytest",
        weight=8,
        command=(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_net.py"),
        lasts_s=3.5,
        files={"test_net.py": _TEST, "pytest.ini": "[pytest]\n"},
    ),
    Scenario(
        name="kernel build",
        weight=2,
        command=(LONGFAT, "kernel", "build", "6.1", "--jobs", "2", *_SOURCE),
        lasts_s=14.0,
        ends=False,
        own_cache=True,
    ),
)
"""All that are killed."""
