from __future__ import annotations

import contextlib
import dataclasses
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

import pytest

from longfat.errors import FlowFailedError, HostError, InputError, MachineError, Place
from longfat.execution import Progress, run_case, run_cases
from longfat.model.case import Case, CasePlaces, Command
from longfat.model.network import ROOT_NAMESPACE, Host, Link, Network
from longfat.model.traffic import Iperf3, Ping, Program
from longfat.study import Planned
from tests.kernels import KERNELS

MakeCase = Callable[..., Case]
LOSSY = (
    "tc qdisc add dev s1-eth2 root handle 1: netem delay 10ms loss 1%",
    "tc qdisc add dev s1-eth2 parent 1: handle 2: tbf rate 50mbit burst 50000 limit 250000",
)


def bulk(**fields: object) -> Iperf3:
    return Iperf3(name="bulk", source="h1", target="h2", **fields)  # type: ignore[arg-type]


def ping(**fields: object) -> Ping:
    return Ping(name="rtt", source="h1", target="h2", **fields)  # type: ignore[arg-type]


@contextmanager
def every_cpu_busy() -> Iterator[None]:
    code = """
import os
for _ in range(os.cpu_count() * 2 - 1):
    if not os.fork():
        break
while True:
    pass
"""
    hog = subprocess.Popen([sys.executable, "-c", code], start_new_session=True)
    try:
        yield
    finally:
        subprocess.run(["pkill", "-9", "-g", str(hog.pid)], check=False)
        hog.wait()


def test_a_case_gives_its_metrics(tmp_path: Path, make_case: MakeCase) -> None:
    case = make_case(bulk(time_s=2.0, after="rtt"), ping(count=3), root=LOSSY)
    seen: list[Progress] = []
    run = run_case(case, name="lossy", out=tmp_path, on_progress=seen.append)
    assert run.metrics["rtt.min_s"] == pytest.approx(0.01, rel=0.01)
    assert 10e6 < run.metrics["bulk.receiver_bps"] < 50e6
    assert run.virtual_s > 6
    assert "iperf3 3.12" in run.tools["toolset"].version
    assert seen[-1].name == "lossy"
    assert seen[-1].expected_s == pytest.approx(6)
    assert sorted(path.name for path in run.folder.iterdir()) == [
        "commands.sh",
        "console.log",
        "manifest.json",
        "raw",
    ]


def test_the_same_case_gives_the_same_bytes(tmp_path: Path, make_case: MakeCase) -> None:
    def run(name: str, case: Case) -> str:
        return run_case(case, name="case", out=tmp_path / name).digest

    case = make_case(bulk(time_s=2.0), ping(count=3), root=LOSSY)
    first = run("a", case)
    assert run("another-folder-with-a-longer-name", case) == first
    with every_cpu_busy():
        assert run("busy", case) == first
    assert run("b", dataclasses.replace(case, seed=2)) != first


@pytest.mark.parametrize("version", KERNELS)
def test_the_number_of_jobs_decides_nothing(
    tmp_path: Path, make_case: MakeCase, version: str
) -> None:
    planned = {
        f"seed{seed}": Planned(
            case=make_case(bulk(time_s=1.0), root=LOSSY, seed=seed, kernel=version),
            title="",
        )
        for seed in range(1, 5)
    }
    one = run_cases(planned, out=tmp_path / "one", jobs=1)
    four = run_cases(planned, out=tmp_path / "four", jobs=4)
    assert list(one) == list(planned)
    digests = [[run.digest for run in runs] for runs in one.values()]
    assert digests == [[run.digest for run in runs] for runs in four.values()]
    assert len({digest for (digest,) in digests}) == 4


def test_flows_start_at_their_times(tmp_path: Path, make_case: MakeCase) -> None:
    flows = (
        Ping(name="first", source="h1", target="h2", count=2),
        Ping(name="late", source="h2", target="h1", count=2, start_s=5.0),
        Ping(name="next", source="h1", target="h2", count=1, after="first", start_s=0.5),
        Iperf3(name="a", source="h1", target="h2", time_s=1.0, rate_bps=1_000_000),
        Iperf3(name="b", source="h1", target="h2", time_s=1.0, rate_bps=1_000_000),
    )
    run = run_case(make_case(*flows), name="case", out=tmp_path)
    times = {}
    lines = (run.folder / "commands.sh").read_text().splitlines()
    for stamp, line in pairwise(lines):
        if stamp.startswith("# t=") and "> raw/" in line:
            times[line.partition("> raw/")[2].split()[0]] = float(stamp.removeprefix("# t="))
    assert times["first.txt"] == pytest.approx(2, abs=0.001)
    assert times["late.txt"] == pytest.approx(7, abs=0.001)
    assert times["next.txt"] == pytest.approx(3.5, abs=0.1)
    assert times["a.server.json"] == pytest.approx(1.5, abs=0.001)
    assert "-p 5202" in "\n".join(lines)
    assert run.metrics["a.sent_bytes"] > 0
    assert run.metrics["b.sent_bytes"] > 0


def test_the_script_of_a_run_does_it_again(tmp_path: Path, make_case: MakeCase) -> None:
    case = make_case(ping(count=3), root=("tc qdisc add dev s1-eth2 root netem delay 20ms",))
    case = dataclasses.replace(
        case, network=dataclasses.replace(case.network, cold_neighbours=True)
    )
    run = run_case(case, name="case", out=tmp_path)
    script = (run.folder / "commands.sh").read_text()
    hosts = Host(name="a", address="10.9.0.1/24"), Host(name="b", address="10.9.0.2/24")
    again = dataclasses.replace(
        case,
        network=Network(hosts=hosts, switches=(), links=(Link(a="a", b="b"),)),
        setup=(Command(node=ROOT_NAMESPACE, line=f"mkdir /tmp/x && cd /tmp/x\n{script}"),),
        flows=(Program(name="it", source="a", target="b", run="cat /tmp/x/raw/rtt.txt"),),
    )
    replayed = run_case(again, name="again", out=tmp_path)
    (replayed.raw / "it.client.txt").rename(replayed.raw / "rtt.txt")
    # Not to the byte: the script's processes run as set-up lines do, as ordinary ones.
    ours = [reply.rtt_s for reply in ping().replies(run.raw)]
    theirs = [reply.rtt_s for reply in ping().replies(replayed.raw)]
    assert len(theirs) == 3
    assert theirs == pytest.approx(ours, abs=50e-6)


@pytest.mark.parametrize("kernel", KERNELS)
def test_tc_computes_bursts_as_on_a_computer_that_runs(
    kernel: str, tmp_path: Path, make_case: MakeCase
) -> None:
    """In the first 10 ms after its boot Linux's timers tick, and tc's default bursts are large."""
    lines = (
        "tc qdisc add dev s1-eth2 root handle 5: htb default 1",
        "tc class add dev s1-eth2 parent 5: classid 5:1 htb rate 100mbit burst 15k",
        "tc class show dev s1-eth2",
    )
    case = dataclasses.replace(make_case(ping(count=1), root=lines), kernel=kernel)
    run = run_case(case, name="x", out=tmp_path)
    assert " cburst 1600b" in (run.folder / "commands.sh").read_text()


def test_a_line_that_fails_stops_the_case(tmp_path: Path, make_case: MakeCase) -> None:
    case = make_case(root=("true", "tc qdisc add dev s1-eth9 root netem delay 1ms"))
    places = (Place("lab.yaml", 3, 1), Place("lab.yaml", 4, 9, "setup[1].root"))
    with pytest.raises(InputError) as caught:
        run_case(case, name="red", out=tmp_path, places=CasePlaces(setup=places))
    assert str(caught.value) == (
        "lab.yaml:4:9: setup[1].root: case 'red': `tc qdisc add dev s1-eth9 root netem delay 1ms`"
        ' exited with status 1: Cannot find device "s1-eth9"'
    )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("fields", "line", "reason"),
    [
        ({"congestion": "nonesuch"}, "true", "TCP_CONGESTION"),
        ({}, "ip link set s1-eth2 down", "unable to connect"),
    ],
)
def test_a_flow_that_fails_says_so(
    fields: dict[str, str], line: str, reason: str, tmp_path: Path, make_case: MakeCase
) -> None:
    case = make_case(bulk(time_s=1.0, **fields), root=(line,))
    with pytest.raises(FlowFailedError, match=f"case 'c': flow 'bulk': .*{reason}"):
        run_cases({"c": Planned(title="", case=case)}, out=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["c-seed1"]


def test_a_missing_program_of_a_setup_line(tmp_path: Path, make_case: MakeCase) -> None:
    with pytest.raises(
        InputError, match=r"`tcc qdisc show` exited with status 127: .*not found\n.*pinned tools"
    ):
        run_case(make_case(root=("tcc qdisc show",)), name="c", out=tmp_path)


def test_a_kernel_that_is_not_built(tmp_path: Path, make_case: MakeCase) -> None:
    with pytest.raises(HostError, match=r"longfat kernel build 5\.4"):
        run_case(make_case(kernel="5.4"), name="c", out=tmp_path)


def test_one_bad_case_ends_the_others(tmp_path: Path, make_case: MakeCase) -> None:
    planned = {
        "long": Planned(case=make_case(bulk(time_s=3000.0), root=LOSSY), title=""),
        "bad": Planned(case=make_case(root=("false",)), title=""),
    }
    with pytest.raises(
        InputError, match="case 'bad': `false` exited with status 1: it printed noth"
    ):
        run_cases(planned, out=tmp_path, jobs=2)
    assert list(tmp_path.iterdir()) == []


def test_a_guest_that_tampers_is_told(tmp_path: Path, make_case: MakeCase) -> None:
    # The guest's root can end its machine; a run comes of it only if it says how it ended.
    line = "python3 -I -S -c 'import ctypes; ctypes.CDLL(None).reboot(0x4321FEDC)'"
    with pytest.raises(MachineError, match="ended without a report"):
        run_case(make_case(root=(line,)), name="c", out=tmp_path)


@pytest.mark.parametrize(
    "trap",
    [
        "ln -s {folder}/victim $R/manifest.json",
        "ln -s {folder}/victim /run/longfat/manifest.json || true",
        "chmod 300 $R; ln -s {folder}/victim $R/outcome.json",
        "mkdir -m 300 $R/series && ln -s {folder}/victim $R/series/q.parquet",
        "rm -rf $R/raw && ln -s {folder} $R/raw && mkdir -p {folder}",
        "ln -sf {folder}/victim $R/raw/rtt.txt.err",
        "mkfifo $R/raw/pipe; mknod $R/raw/null c 1 3; ln $R/commands.sh $R/raw/hard",
        "ln -sf {folder}/victim $R/commands.sh",
        "rm -rf $R/raw; mkdir -p $R/raw/rtt.txt.err",
        'python3 -c \'import os; [(os.mkdir("d"), os.chdir("d")) for _ in range(1300)]\'',
        "mount -t tmpfs none $R && mkdir $R/raw",
        "mount --bind / $R || true",
        "ln -s $R /run/longfat/run || true; rm -f /run/longfat/job/job.json || true",
        "! echo x > /dev/host_line",
        "! dd if=/dev/zero of=/dev/host_line count=1",
    ],
)
def test_a_guest_cannot_reach_out_through_its_folder(
    tmp_path: Path, make_case: MakeCase, trap: str
) -> None:
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        for name in ("victim", "empty.err"):
            Path(folder, name).write_text("")
        line = f"R=/run/output; cd $R; {trap.replace('{folder}', folder)}"
        # A run comes of it, or none; its files are those of any other.
        with contextlib.suppress(MachineError, InputError):
            run = run_case(make_case(ping(count=1), root=(line,)), name="c", out=tmp_path / "out")
            left = {str(path.relative_to(run.folder)) for path in run.folder.rglob("*")}
            own = {"commands.sh", "console.log", "manifest.json", "raw"}
            assert left <= {*own, "raw/rtt.txt", "raw/rtt.txt.err"}
            assert all(not path.is_symlink() for path in run.folder.rglob("*"))
        assert sorted(os.listdir(folder)) == ["empty.err", "victim"]
        assert Path(folder, "victim").read_text() == ""
