"""`longfat check`: mistakes and their places, and a repair of what cannot be reached."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from tests.command import longfat
from tests.paths import LONGFAT

DRAWN = """\
title: A router   # as it is drawn

network:
  hosts:
    h1: 10.0.0.1/8
    r1: {forwards: yes}   # the router
    h2: 10.0.0.2/8
  links: [[h1, r1], [r1, h2, {rate: 10mbit}]]

# The traffic.
flows:
  bulk: {iperf3: h1 -> h2, time: 1s}
"""


def check(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return longfat("check", *arguments, cwd=cwd)


def test_mistakes_are_listed_with_their_places(tmp_path: Path) -> None:
    (tmp_path / "net.yaml").write_text("titel: x\nnetwork: {hosts: {h1: 10.0.0.1}}\nseed: no\n")
    done = check("net.yaml", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (2, "")
    found = [line.partition(" ")[0] for line in done.stdout.splitlines()]
    assert found == ["net.yaml:1:1:", "net.yaml:2:23:", "net.yaml:3:7:"]
    told = json.loads(check("net.yaml", "--json", cwd=tmp_path).stdout)
    assert [one["field"] for one in told] == ["titel", "network.hosts.h1", "seed"]
    assert check("gone.yaml", cwd=tmp_path).returncode == 2
    (tmp_path / "latin.yaml").write_bytes("title: x\n# für\n".encode("latin-1"))
    done = check("latin.yaml", cwd=tmp_path)
    assert done.stderr == "longfat: latin.yaml:2:4: the file is not UTF-8: byte 0xfc\n"


def test_parts_that_no_links_join_are_named(tmp_path: Path) -> None:
    (tmp_path / "net.yaml").write_text(
        "title: x\n"
        "network:\n"
        "  hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8, h3: 10.0.0.3/8, h4: 10.0.0.4/8}\n"
        "  switches: [s1, s2]\n"
        "  links: [[h1, s1], [h2, s1], [h3, s2], [h4, s2]]\n"
        "flows: {x: {ping: h1 -> h2}}\n"
    )
    done = check("net.yaml", cwd=tmp_path)
    assert done.returncode == 0
    assert "net.yaml:3:47: network.hosts.h3: warning: no links lead from h1 to h3 or h4" in (
        done.stdout
    )


def test_what_cannot_be_reached_is_repaired_and_runs(tmp_path: Path) -> None:
    file = tmp_path / "net.yaml"
    file.write_text(DRAWN)
    done = check("net.yaml", cwd=tmp_path)
    assert done.returncode == 2
    assert "the flow 'bulk' cannot pass" in done.stdout
    assert "longfat check --fix net.yaml" in done.stdout
    assert file.read_text() == DRAWN
    done = check("--fix", "net.yaml", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "")
    assert "h1 has the address 10.0.1.1/24" in done.stderr
    text = file.read_text()
    begin, end = DRAWN.index("network:"), DRAWN.index("# The traffic.")
    assert text.startswith(DRAWN[:begin])
    assert text.endswith(DRAWN[end:])
    assert "# the router" in text
    assert check("net.yaml", cwd=tmp_path).stdout == ""
    ran = longfat("run", "net.yaml", "--no-report", "--no-cache", cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr


def test_a_host_that_no_flow_needs_is_a_warning(tmp_path: Path) -> None:
    (tmp_path / "net.yaml").write_text(DRAWN.partition("# The")[0])
    done = check("net.yaml", cwd=tmp_path)
    assert done.returncode == 0
    assert "net.yaml:5:9: network.hosts.h1: warning: h1 cannot reach h2" in done.stdout


TYPED = """\
title: Lines as people type them
kernel: "6.1"
memory: 512MB
network:
  hosts: {h1: 10.0.0.1/24, h2: 10.0.0.2/24}
  links: [[h1, h2, {rate: 10mbit, qdisc: pie target 5}]]
setup:
  - h1: tc qdisc replace dev h1-eth0 root netem delay 20
flows:
  ping: {ping: h1 -> h2, count: 1}
"""


def test_lines_that_do_something_else_than_they_say_are_warnings(tmp_path: Path) -> None:
    (tmp_path / "net.yaml").write_text(TYPED)
    done = check("net.yaml", cwd=tmp_path)
    assert done.returncode == 0
    link, line = done.stdout.splitlines()
    assert link.startswith("net.yaml:6:11: network.links[0]: warning: `target 5`: tc reads")
    assert line.startswith("net.yaml:8:9: setup[0].h1: warning: `delay 20`: tc reads a time")
    told = json.loads(check("net.yaml", "--json", cwd=tmp_path).stdout)
    assert [(one["line"], one["field"], one["is_mistake"]) for one in told] == [
        (6, "network.links[0]", False),
        (8, "setup[0].h1", False),
    ]
    done = longfat("run", "net.yaml", "--no-report", cwd=tmp_path)
    assert done.returncode == 0
    assert "longfat: net.yaml:8:9: setup[0].h1: warning: `delay 20`" in done.stderr


def test_a_run_warns_of_its_own_cases(tmp_path: Path) -> None:
    setup = "setup:\n  - h1: tc qdisc replace dev h1-eth0 root netem delay 20\n"
    cases = "cases:\n  plain:\n  delayed:\n    setup: [h1: tc qdisc replace dev h1-eth0 root netem"
    text = TYPED.replace(setup, "").replace(", qdisc: pie target 5", "") + f"{cases} delay 20]\n"
    (tmp_path / "net.yaml").write_text(text)
    for case, has_warning in (("plain", False), ("delayed", True)):
        done = longfat("run", "net.yaml", "--no-report", "--case", case, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert ("warning: `delay 20`" in done.stderr) is has_warning


def test_a_pipe_is_read_and_what_is_no_text_is_one_line(tmp_path: Path) -> None:
    piped = subprocess.run(
        [LONGFAT, "check", "/dev/stdin"],
        input="titel: x\n",
        capture_output=True,
        text=True,
        check=False,
    )
    assert piped.stdout.startswith("/dev/stdin:1:1: titel: unknown field 'titel'")
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR")
    done = check("picture.png", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("longfat: picture.png:1:1: this is not a study: ")
    assert done.stderr.count("\n") == 1
    endless = check("/dev/zero", cwd=tmp_path)
    assert endless.returncode == 2
    assert "this is not a study" in endless.stderr
