"""Tables of studies with many flows, and addresses: at 80 columns nothing is cut off."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.command import longfat

FLOWS = [f"bulk-flow-number-{number}" for number in range(1, 6)]
STUDY = """\
title: Many flows
kernel: "6.1"
memory: 256MB
network:
  hosts: [h1, h2]
  routers: [r1]
  links:
    - [h1, r1]
    - [r1, h2, {rate: 20mbit, delay: 5ms, queue: 60KB}]
flows:
""" + "".join(f"  {name}: {{transfer: h1 -> h2, time: 2s}}\n" for name in FLOWS)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("flows")
    (folder / "many.yaml").write_text(STUDY)
    done = longfat("run", "many.yaml", "--no-report", cwd=folder)
    assert done.returncode == 0, done.stderr
    (folder / "run.txt").write_text(done.stdout)
    return folder


def test_each_flow_is_a_row(folder: Path) -> None:
    text = (folder / "run.txt").read_text()
    measured = text[text.index("Measured") : text.index("Window arithmetic")]
    for name in FLOWS:
        rows = [line for line in measured.splitlines() if line.startswith(name)]
        assert "bit/s" in rows[0]
        assert len(rows) <= 3
    # What the path has is there once, and not for each flow.
    assert text.count("BDP = bottleneck x RTT") == 1
    lines = text[: text.index("\nFiles")].splitlines()
    assert max(map(len, lines)) <= 80
    assert len(lines) < 50
    assert "…" not in text


def test_a_diagnosis_begins_with_all_flows(folder: Path) -> None:
    run = "runs/many/default-seed1"
    text = longfat("diagnose", run, cwd=folder).stdout
    table = text[: text.index("\n\n")].splitlines()
    assert {line.split()[0] for line in table[1:]} == set(FLOWS)
    rates = [float(line.split()[1]) for line in table[1:] if "Mbit/s" in line]
    assert rates == sorted(rates)
    causes = {line.split("  ")[-1].strip() for line in table[1:]}
    assert text.count("What would help") == len(causes)
    data = json.loads(longfat("diagnose", run, "--json", cwd=folder).stdout)
    assert len(data["flows"]) == len(FLOWS)


def test_addresses_are_shown(folder: Path) -> None:
    text = longfat("show", "many.yaml", "--addresses", cwd=folder).stdout
    assert (
        text
        == """\
Many flows

Addresses
host  interface  address        towards
h1    h1-eth0    10.0.1.1/24    r1
h2    h2-eth0    10.0.2.1/24    r1
r1    r1-eth0    10.0.1.254/24  h1
      r1-eth1    10.0.2.254/24  h2

Routes
host  to       via         router
h1    default  10.0.1.254  r1
h2    default  10.0.2.254  r1
"""
    )
    done = longfat("show", "many.yaml", "--addresses", "--json", cwd=folder)
    h1 = json.loads(done.stdout)["hosts"][0]
    assert h1["interfaces"][0]["address"] == "10.0.1.1/24"
    assert h1["routes"][0] == {
        "to": "default",
        "via": ["10.0.1.254"],
        "routers": ["r1"],
        "is_written": False,
    }
    done = longfat("show", "many.yaml", "--json", cwd=folder)
    assert done.returncode == 2
    assert "--case and --json need --addresses" in done.stderr
    done = longfat("show", "many.yaml", "--addresses", "--case", "defualt", cwd=folder)
    assert "there is no case 'defualt'; did you mean 'default'?" in done.stderr


def test_written_addresses_are_marked_and_networks_of_cases_chosen(tmp_path: Path) -> None:
    (tmp_path / "two.yaml").write_text(
        """\
title: Two networks
network: {hosts: {h1: 10.0.0.7/8, h2: }, links: [[h1, h2]]}
cases:
  one:
  two: {network: {hosts: [h1, h2], links: [[h1, h2]], addresses: ipv6}}
"""
    )
    done = longfat("show", "two.yaml", "--addresses", cwd=tmp_path)
    assert done.returncode == 2
    assert "its cases have different networks: name one with --case" in done.stderr
    text = longfat("show", "two.yaml", "--addresses", "--case", "one", cwd=tmp_path).stdout
    assert "h1    h1-eth0    10.0.0.7/8  h2       written\n" in text
    assert "h2    h2-eth0    10.0.0.2/8  h1\n" in text
    text = longfat("show", "two.yaml", "--addresses", "--case", "two", cwd=tmp_path).stdout
    assert "fd00::1/64" in text
