"""Files that shells make, and the programs for plots: typed on real terminals, kept on the disk."""

from __future__ import annotations

import csv
import json
import re
import subprocess
from pathlib import Path

import pytest

from longfat.engine.sandbox.sandbox import SANDBOXES, VARIABLE
from tests.cli.test_shell import Open, cwd, longfat, terminal  # noqa: F401

sandboxes = pytest.mark.parametrize("sandbox", [sandbox.name for sandbox in SANDBOXES])

QUEUE = """\
title: A queue that fills
kernel: "6.1"
memory: 512MB
network:
  hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8}
  switches: [s1]
  links: [[h1, s1], [h2, s1]]
setup:
  - root: tc qdisc add dev s1-eth2 root tbf rate 20mbit burst 10000 limit 200000
"""

FIGURES = {"throughput", "RTT", "RTT_Var", "cwnd", "retransmits", "bytes", "MTU"}


@pytest.fixture
def queue(cwd: Path) -> Path:  # noqa: F811
    (cwd / "queue.yaml").write_text(QUEUE)
    return cwd


def made(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir()}


def words_of(pdf: Path) -> str:
    """Return the text of a PDF."""
    done = subprocess.run(["pdftotext", str(pdf), "-"], capture_output=True, text=True, check=True)
    return done.stdout


def test_lines_of_a_lab_leave_their_plots_on_the_disk(queue: Path, terminal: Open) -> None:  # noqa: F811
    shell = terminal("shell", "queue.yaml", "h1")
    shell.read(r"files that you make are kept in runs/shell-queue-1")
    shell.prompt("h1")
    shell.type("mkdir Drop_Tail && cd Drop_Tail\r")
    shell.prompt("h1")
    shell.type("at h2 iperf3 -s -D\r")
    shell.prompt("h1")
    shell.type("iperf3 -c 10.0.0.2 -t 6 -J > out.json\r")
    assert 6 <= shell.prompt("h1") < 7
    shell.type("plot_iperf.sh out.json && cd results\r")
    shell.read("results: .*throughput.pdf")
    assert shell.prompt("h1") < 0.1  # drawing takes no time
    shell.type("ls; xdg-open throughput.pdf\r")
    folder = queue / "runs" / "shell-queue-1" / "Drop_Tail"
    shell.read(re.escape(f"file://{folder}/results/throughput.pdf"))
    shell.prompt("h1")
    shell.type("exit 3\r")
    assert shell.end() == 3
    assert "files are in runs/shell-queue-1" in shell.said

    figures = {f"results/{name}.pdf" for name in FIGURES}
    assert made(folder) == {"out.json", "iperf.csv", "results/1.dat", *figures}
    assert "Throughput" in words_of(folder / "results" / "throughput.pdf")
    assert "out.json" in words_of(folder / "results" / "RTT.pdf")
    rows = [one["streams"][0] for one in json.loads((folder / "out.json").read_text())["intervals"]]
    table = [line.split() for line in (folder / "results" / "1.dat").read_text().splitlines()]
    assert len(table) == len(rows) >= 6
    for row, line in zip(rows, table, strict=True):
        assert [float(text) for text in line[1:]] == pytest.approx(
            [
                *(row["start"], row["end"], row["bytes"] / 2**20, row["bits_per_second"] / 1e6),
                *(row["retransmits"], row["snd_cwnd"] / 1024, row["rtt"], row["rttvar"]),
                *(row["pmtu"], 0),
            ],
            abs=1e-5,
        )
    with (folder / "iperf.csv").open() as file:
        assert [float(line["bytes"]) for line in csv.DictReader(file)] == [
            row["bytes"] for row in rows
        ]


@pytest.mark.parametrize("key", ["s", "\x03"])
def test_a_queue_is_drawn_until_a_key_and_then_saved(queue: Path, terminal: Open, key: str) -> None:  # noqa: F811
    shell = terminal("shell", "queue.yaml")
    shell.prompt()
    shell.type("h2 iperf3 -s -D; h1 iperf3 -c h2 -t 100 > /dev/null &\r")
    shell.prompt()
    shell.type("plot_q.sh s1-eth2\r")
    shell.read(r"Queue of s1-eth2 \(tbf\)")
    shell.read(r"KB in \d+ packets")
    shell.read(r"└0 s─+[4-9](\.\d)? s")  # the axis
    shell.type(key)
    shell.read(r"s1-eth2: \d+ samples in .* peak (19|20)\d KB")
    folder = queue / "runs" / "shell-queue-1"
    shell.read("s1-eth2-queue.dat, s1-eth2-queue.png, s1-eth2-queue.pdf")
    shell.read(re.escape(str(folder)))
    shell.prompt()
    shell.type("stty -a | grep -o -e '-*icanon' -e '-*echo\\b'\r")
    shell.read(r"[\r\n]icanon")
    shell.prompt()
    shell.type("exit\r")
    assert shell.end() == 0
    assert made(folder) == {"s1-eth2-queue.dat", "s1-eth2-queue.png", "s1-eth2-queue.pdf"}
    lines = (folder / "s1-eth2-queue.dat").read_text().splitlines()[1:]
    samples = [[float(text) for text in line.split()] for line in lines]
    assert [sample[0] for sample in samples] == [
        pytest.approx(0.1 * index) for index in range(len(samples))
    ]
    assert len(samples) > 30
    assert 180_000 < max(sample[1] for sample in samples) <= 200_000
    assert "s1-eth2 (tbf)" in words_of(folder / "s1-eth2-queue.pdf")
    assert (folder / "s1-eth2-queue.png").read_bytes().startswith(b"\x89PNG")


def test_nothing_is_left_of_a_shell_that_made_no_file(queue: Path, terminal: Open) -> None:  # noqa: F811
    shell = terminal("shell", "queue.yaml")
    shell.prompt()
    assert list((queue / "runs").iterdir()) == [queue / "runs" / "shell-queue-1"]
    shell.type("mkdir x; rmdir x; exit\r")
    assert shell.end() == 0
    assert "files are in" not in shell.said
    assert not (queue / "runs").exists()


def test_shells_at_all_nodes_and_terminals_that_attach_share_the_folder(
    queue: Path,
    terminal: Open,  # noqa: F811
) -> None:
    (queue / "runs" / "shell-queue-1").mkdir(parents=True)  # of an earlier session
    shell = terminal("shell", "queue.yaml")
    shell.prompt()
    shell.type("echo root > at-root; h1 pwd; s1 pwd\r")
    shell.read("/lab\r\n/lab\r\n")
    shell.prompt()
    other = terminal("attach", "queue", "h2")
    other.prompt("h2")
    other.type("cat at-root > at-h2; echo is ''written\r")
    other.read("is written")
    other.prompt("h2")
    other.type("exit\r")
    assert other.end() == 0
    shell.type("exit\r")
    assert shell.end() == 0
    folder = queue / "runs" / "shell-queue-2"
    assert {path.name: path.read_text() for path in folder.iterdir()} == {
        "at-root": "root\n",
        "at-h2": "root\n",
    }


@sandboxes
def test_scripts_have_the_folder_and_folders_of_bind(
    queue: Path, sandbox: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, sandbox)
    (queue / "given").mkdir()
    (queue / "given" / "text").write_text("given\n")
    script = "pwd; cat /in/text | tee copy; echo no > /in/text; plot_q.sh s1-eth2 1\n"
    done = longfat("shell", "queue.yaml", "--bind", "given:/in", cwd=queue, script=script)
    assert done.stdout.startswith("/lab\ngiven\ns1-eth2: 11 samples in 1.0 s"), done.stderr
    assert "Read-only file system" in done.stderr
    assert "longfat: files are in runs/shell-queue-1" in done.stderr
    folder = queue / "runs" / "shell-queue-1"
    assert made(folder) == {"copy", *(f"s1-eth2-queue.{form}" for form in ("dat", "png", "pdf"))}

    done = longfat(
        *("shell", "queue.yaml", "--bind", "given:/out:rw"),
        cwd=queue,
        script="pwd; echo more > more; xdg-open more\n",
    )
    assert done.stdout.startswith("/out\n")
    assert done.stdout.endswith(f"\n{queue}/given/more\n"), done.stderr
    assert made(queue / "given") == {"text", "more"}
    assert sorted(path.name for path in (queue / "runs").iterdir()) == ["shell-queue-1"]


def test_mistakes_in_what_is_typed_are_named(queue: Path) -> None:
    script = """\
plot_q.sh s1-eth9; echo $?
h1 plot_q.sh s1-eth2
plot_q.sh
plot_q.sh s1-eth2 soon
plot_iperf.sh nothing.json
echo text > text; plot_iperf.sh text; echo $?
xdg-open nothing.pdf; echo $?
xdg-open http://example.org/; echo $?
xdg-open /etc/hosts; echo $?
"""
    done = longfat("shell", "queue.yaml", cwd=queue, script=script)
    assert done.stdout.split() == ["2", "2", "2", "3", "4"]
    for message in (
        "plot_q.sh: there is no interface 's1-eth9' at root; there are: .*s1-eth1, s1-eth2",
        "there is no interface 's1-eth2' at h1; there are: h1-eth0",
        r"usage: plot_q.sh INTERFACE \[SECONDS\]",
        "'soon' is no positive number of seconds",
        "plot_iperf.sh: nothing.json: no such file",
        "plot_iperf.sh: text: not JSON",
        "xdg-open: file 'nothing.pdf' does not exist",
        "no browser",
        "/etc/hosts is in the machine's memory, which has no screen; copy it to /lab",
    ):
        assert re.search(message, done.stderr), (message, done.stderr)
    assert "Traceback" not in done.stderr


@sandboxes
def test_a_guest_reaches_nothing_by_links_in_the_folder(
    queue: Path, sandbox: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, sandbox)
    secret = queue / "secret"
    secret.mkdir()
    (secret / "out.json").write_text("a secret of the host")
    before = secret.stat().st_mtime_ns
    outside = queue / "runs" / "shell-queue-1"
    script = f"""\
ln -s {secret}/out.json out.json; ln -s {secret} results
cat out.json; plot_iperf.sh out.json
xdg-open out.json
ln -s ../../secret sideways; ls sideways/
mv /lab /elsewhere; rmdir /lab; cd /; rm -rf /lab; ln -s {secret} /lab
"""
    done = longfat("shell", "queue.yaml", cwd=queue, script=script)
    assert "secret of" not in done.stdout + done.stderr
    assert done.stdout == ""
    assert "plot_iperf.sh: out.json: no such file" in done.stderr
    assert "xdg-open: file 'out.json' does not exist" in done.stderr
    assert [path.name for path in secret.iterdir()] == ["out.json"]
    assert secret.stat().st_mtime_ns == before
    assert not outside.is_symlink()


def test_where_no_folder_can_be_made_the_shell_still_works(queue: Path) -> None:
    (queue / "runs").write_text("not a folder")
    done = longfat("shell", "queue.yaml", cwd=queue, script="pwd\n")
    assert (done.returncode, done.stdout) == (0, "/root\n")
    assert "warning: files that shells make are not kept" in done.stderr


def test_a_queue_is_saved_when_its_terminal_is_closed(queue: Path) -> None:
    script = "plot_q.sh s1-eth2 > /dev/null & sleep 2; kill -HUP $!; wait; wc -l < *.dat\n"
    done = longfat("shell", "queue.yaml", cwd=queue, script=script)
    assert 20 <= int(done.stdout) <= 22, done.stderr
