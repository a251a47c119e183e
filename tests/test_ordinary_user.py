"""All of longfat as an ordinary user: no rights of root's, no account, umask 077, a home of 0700.

When root runs the tests, these drop to such a user, who has a copy of the package, of the
kernels and of the labs. Else whoever runs the tests is one already.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import httpx
import pytest
from websockets.sync.client import connect
from websockets.typing import Origin

from longfat.engine import kernel as kernels
from longfat.engine import toolset as toolsets
from longfat.engine.sandbox.sandbox import SANDBOXES, VARIABLE
from tests.kernels import MAIN_KERNEL
from tests.paths import REPOSITORY, TESTS
from tests.traps import TRAPS

# So that the copies are made once.
pytestmark = pytest.mark.xdist_group("ordinary user")

_NOBODYS = 54321  # has no line in /etc/passwd
_UMASK = 0o077
_COMMAND = "from longfat.cli.main import main; main()"

STUDY = """\
title: All kinds of flows and probes
kernel: "6.1"
memory: 512MB
network:
  hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8}
  switches: [s1]
  links: [[h1, s1], [h2, s1, {delay: 10ms, rate: 20mbit, loss: 0.1%}]]
flows:
  rtt: {ping: h1 -> h2, count: 2}
  bulk: {iperf3: h1 -> h2, time: 1s, after: rtt}
  file: {transfer: h1 -> h2, time: 1s, after: bulk}
probes:
  queue: {of: s1-eth2, every: 100ms}
  tcp: {of: bulk, every: 100ms}
  rate: {of: h1-eth0, every: 100ms}
  packets: {kind: capture, of: h1-eth0}
"""

ISOLATION_TESTS = (
    "tests/common/guard",
    "tests/engine/machine",
    "tests/engine/sandbox",
    "tests/execution/test_run_case.py",
    "tests/execution/runs",
    "tests/guest/test_apart.py",
)
"""They also run as whoever runs the suite."""

sandboxes = pytest.mark.parametrize("sandbox", [one.name for one in SANDBOXES])


@dataclass(frozen=True)
class User:
    """Somebody with a home.

    Attributes:
        home: it; only they may look into it.
        prefix: the command that makes a process theirs.
        environment: all that their processes have.
        python: an interpreter that has longfat.
    """

    home: Path
    prefix: tuple[str, ...]
    environment: Mapping[str, str]
    python: str

    def with_quota(self, quota: str) -> User:
        """Return the user with quotas of machines in their environment."""
        return replace(self, environment={**self.environment, "LONGFAT_QUOTA": quota})

    def start(
        self, *argv: str, cwd: Path | None = None, sandbox: str | None = None
    ) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [*self.prefix, self.python, *argv],
            cwd=cwd or self.home,
            env={**self.environment, **({VARIABLE: sandbox} if sandbox else {})},
            umask=_UMASK,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(
        self, *argv: str, cwd: Path | None = None, sandbox: str | None = None
    ) -> subprocess.CompletedProcess[str]:
        with self.start(*argv, cwd=cwd, sandbox=sandbox) as process:
            output, words = process.communicate()
        return subprocess.CompletedProcess(argv, process.returncode, output, words)

    def longfat(
        self, *arguments: str, sandbox: str | None = None
    ) -> subprocess.CompletedProcess[str]:
        return self.run("-c", _COMMAND, *arguments, sandbox=sandbox)

    def write(self, name: str, text: str) -> Path:
        path = self.home / name
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text(text)
        if self.prefix:
            subprocess.run(["chown", "-R", str(_NOBODYS), str(self.home)], check=True)
        return path


@pytest.fixture(scope="module")
def user() -> Iterator[User]:
    with tempfile.TemporaryDirectory(dir="/var/tmp", prefix="longfat-user-") as name:
        place = Path(name)
        place.chmod(0o755)
        home = place / "home"
        for data in ("src", "kernel", "labs", "tests", "toolset"):
            shutil.copytree(
                REPOSITORY / data, home / data, ignore=shutil.ignore_patterns("__pycache__")
            )
        cache = home / ".cache" / "longfat"
        shutil.copy(REPOSITORY / "pyproject.toml", home)
        kernel = kernels.find(MAIN_KERNEL)
        shutil.copytree(kernel.folder, cache / "kernels" / kernel.digest)
        tools = toolsets.find().folder
        shutil.copytree(tools, cache / "toolsets" / tools.name, symlinks=True)
        prefix: tuple[str, ...] = ()
        python = sys.executable
        if os.getuid() == 0:
            # Python and its packages are the administrator's, as on a computer of many.
            shutil.copytree(sys.prefix, place / "venv", symlinks=True, copy_function=_link)
            python = f"{place}/venv/bin/python"
            subprocess.run(["chmod", "-R", "a+rX", f"{place}/venv"], check=True)
            subprocess.run(["chown", "-R", f"{_NOBODYS}:{_NOBODYS}", str(home)], check=True)
            numbers = ("--reuid", str(_NOBODYS), "--regid", str(_NOBODYS))
            prefix = ("setpriv", *numbers, "--clear-groups")
        subprocess.run(["chmod", "-R", "go-rwx", str(home)], check=True)
        environment = {
            "PATH": "/usr/bin:/bin",
            "HOME": str(home),
            "PYTHONPATH": f"{home}/src",
            "LONGFAT_CACHE": str(cache),
        }
        yield User(home, prefix, environment, python)


def _link(source: str, target: str) -> None:
    """Copy a file, and not its bytes where all may read them in its place."""
    with contextlib.suppress(OSError):
        if os.stat(source).st_mode & stat.S_IROTH:
            os.link(source, target)
            return
    shutil.copy2(source, target)


@pytest.mark.slow
def test_a_study_with_all_kinds_gives_the_bytes_that_root_gets(user: User, tmp_path: Path) -> None:
    path = user.write("all.yaml", STUDY)
    digests = set()
    for sandbox in SANDBOXES:
        arguments = ("run", "all.yaml", "--no-cache", "--json", "--out", f"{sandbox.name}")
        done = user.longfat(*arguments, sandbox=sandbox.name)
        assert done.returncode == 0, done.stderr
        (run,) = json.loads(done.stdout)["cases"]["default"]["runs"]
        digests.add(run["digest"])
        assert stat.S_IMODE((user.home / sandbox.name).stat().st_mode) == 0o700
        (folder,) = (user.home / sandbox.name).glob("*-seed1")
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    shutil.copy(path, tmp_path / "all.yaml")
    argv = [sys.executable, "-c", _COMMAND, "run", "all.yaml", "--no-cache", "--json"]
    ours = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, check=True)
    (run,) = json.loads(ours.stdout)["cases"]["default"]["runs"]
    assert digests == {run["digest"]}


def test_a_lab_by_its_name_with_plots_and_report(user: User) -> None:
    done = user.longfat("run", "lab08", "--case", "default")
    assert "Traceback" not in done.stderr
    assert done.returncode == 0, done.stderr
    # Claims that need other cases than the one that was run are not judged.
    assert "fails" not in done.stdout
    runs = user.home / "runs" / "lab08"
    assert (runs / "report.html").stat().st_size > 100_000
    assert (runs / "report.pdf").read_bytes().startswith(b"%PDF")
    assert (runs / "default-seed1" / "raw" / "window.pcap").stat().st_size > 1_000_000


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("tests", ISOLATION_TESTS)
def test_the_tests_of_isolation_pass_for_an_ordinary_user(user: User, tests: str) -> None:
    if not user.prefix:
        pytest.skip("whoever runs the tests is one")
    options = ("-q", "-p", "no:cacheprovider", "--timeout", "300")
    done = user.run("-m", "pytest", *options, tests)
    assert done.returncode == 0, done.stdout[-20_000:] + done.stderr
    assert re.search(r"\b\d+ passed", done.stdout)


@pytest.mark.slow
@sandboxes
def test_lines_of_a_study_reach_no_file_of_the_user(user: User, sandbox: str) -> None:
    victim = user.write("victims/victim", "precious")
    kernels_folder = user.home / ".cache" / "longfat" / "kernels"
    before = _files(victim.parent, kernels_folder)
    cases = "".join(
        f"  trap{number}:\n    setup:\n"
        f"      - root: {json.dumps(_trap(line, victim))}\n"
        f"      - h1: {json.dumps(_trap(line, victim))}\n"
        for number, line in enumerate(TRAPS)
    )
    probe = "  rate: {of: h1-eth0, every: 100ms}\n"
    flow = "  rtt: {ping: h1 -> h2, count: 2}\n"
    head = STUDY.partition("flows:")[0]
    user.write("traps.yaml", f"{head}flows:\n{flow}probes:\n{probe}cases:\n{cases}")
    arguments = ("traps.yaml", "--no-cache", "--no-report", "--keep-going", "--out", f"t-{sandbox}")
    user = user.with_quota("processes=200")
    done = user.longfat("run", *arguments, sandbox=sandbox)
    assert done.returncode in (0, 3), done.stderr
    assert "longfat/cli/" not in done.stderr  # a traceback of ours; the guest's may be in a message
    assert victim.read_text() == "precious"
    assert _files(victim.parent, kernels_folder) == before
    runs = list((user.home / f"t-{sandbox}").glob("trap*"))
    assert runs
    for run in runs:
        left = {str(path.relative_to(run)): path for path in run.rglob("*")}
        assert not any(path.is_symlink() for path in left.values())
        own = {"commands.sh", "console.log", "manifest.json", "series", "series/rate.parquet"}
        assert left.keys() <= {*own, "raw", "raw/rtt.txt", "raw/rtt.txt.err", "raw/rate.samples"}


@sandboxes
def test_no_mount_shows_a_file_of_the_users(user: User, sandbox: str) -> None:
    """Not even its size: by paths that climb, nor by links that a guest makes."""
    victim = user.write("victims/victim", "precious")
    up = "/.." * 20
    lines = (
        f"for place in / /.. {up} /tmp{up} /dev/shm{up}; do umount /mnt",
        "mount -t hostfs none /mnt -o $place",
        f"stat /mnt{victim} && echo seen by $place; done",
        "mount -t hostfs none /media -o /tmp",
        f"ln -s {victim.parent} /media/l; ln -s / /media/m",
        "umount /mnt; mount -t hostfs none /mnt -o /tmp/l; stat /mnt/victim && echo seen by l",
        f"umount /mnt; mount -t hostfs none /mnt -o /tmp/m; stat /mnt{victim} && echo seen by m",
        "ls /media; echo end",
    )
    command = ("sh", "-c", "\n".join(lines))
    done = user.longfat("exec", "--kernel", "6.1", "--", *command, sandbox=sandbox)
    assert done.returncode == 0, done.stderr
    assert "seen by" not in done.stdout
    assert done.stdout.endswith("end\n")


def _files(*folders: Path) -> dict[Path, tuple[int, int, int]]:
    """Return what is in folders, with modes, sizes and times of change in nanoseconds."""
    stats = {path: path.lstat() for folder in folders for path in (folder, *folder.rglob("*"))}
    return {path: (one.st_mode, one.st_size, one.st_mtime_ns) for path, one in stats.items()}


def _trap(line: str, victim: Path) -> str:
    """Return a set-up line that always succeeds, and tries to write to a file of the host's."""
    attempt = line.replace("VICTIM", str(victim)).replace("HOME", str(victim.parent))
    return f"R=/run/output; ({attempt}) > /dev/null 2>&1 || true"


@sandboxes
def test_the_guest_has_users_of_its_own(user: User, sandbox: str) -> None:
    """Programs drop to other users in the guest; the host's modes must not stand in the way."""
    inside = "id -un; head -1 /etc/passwd; ls -ld / /etc /etc/ssl /etc/passwd /home; ls /etc/ssl"
    drop = "setpriv --reuid 65534 --regid 65534 --clear-groups"
    done = user.longfat("exec", "--", "sh", "-c", f"{drop} sh -c '{inside}'", sandbox=sandbox)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[:2] == ["nobody", "root:x:0:0:root:/root:/bin/bash"]
    modes = {line.split()[-1]: line.split()[0] for line in lines[2:7]}
    folders = dict.fromkeys(["/", "/etc", "/etc/ssl", "/home"], "drwxr-xr-x")
    assert modes == {**folders, "/etc/passwd": "-rw-r--r--"}


@sandboxes
def test_what_else_the_user_runs_is_no_part_of_a_machines_quota(user: User, sandbox: str) -> None:
    """Linux counts all processes of a user for `RLIMIT_NPROC`, threads too."""
    threads = "import threading, time; wait = threading.Event().wait"
    many = (
        f"{threads}; [threading.Thread(target=wait).start() for _ in range(150)]; print(flush=True)"
    )
    user = user.with_quota("processes=100")
    with user.start("-c", many) as others:
        try:
            assert others.stdout is not None
            others.stdout.readline()
            done = user.longfat("exec", "--", "sh", "-c", "true; true", sandbox=sandbox)
        finally:
            others.kill()
    assert done.returncode == 0, done.stderr


@sandboxes
def test_too_many_processes_end_the_machine_with_that_cause(user: User, sandbox: str) -> None:
    user = user.with_quota("processes=100")
    many = "for n in $(seq 150); do sleep 1000 & done; wait"
    done = user.longfat("exec", "--", "sh", "-c", many, sandbox=sandbox)
    assert done.returncode == 3, done.stderr
    assert "but its quota is 100" in done.stderr


@sandboxes
def test_what_a_guest_writes_is_the_users(user: User, sandbox: str) -> None:
    folder = user.write(f"{sandbox}/there", "seen").parent
    lines = (
        "ip link add v type veth peer w; ip link set v up; ip link set w up",
        "ip addr add 10.0.0.1/24 dev v; ip addr add 10.0.0.2/24 dev w",
        "cd /m; cat there; tcpdump -Z root -i v -c 1 -w v.pcap 2> words || cat words",
        "install -m 600 there mine; umask 027; mkdir inner; echo x > inner/file",
    )
    command = ("sh", "-c", "\n".join(lines))
    done = user.longfat("exec", "--bind", f"{folder}:/m:rw", "--", *command, sandbox=sandbox)
    assert (done.returncode, done.stdout) == (0, "seen"), done.stderr
    names = ("v.pcap", "mine", "inner", "inner/file")
    found = {name: (folder / name).stat() for name in names}
    assert {one.st_uid for one in found.values()} == {_NOBODYS if user.prefix else os.getuid()}
    modes = {name: stat.S_IMODE(one.st_mode) for name, one in found.items()}
    assert modes == {"v.pcap": 0o644, "mine": 0o600, "inner": 0o750, "inner/file": 0o640}


@pytest.mark.slow
@sandboxes
def test_a_mininet_script_is_converted_and_run(user: User, sandbox: str) -> None:
    text = (TESTS / "data/mininet/scripts/harmless.py").read_text(encoding="utf-8")
    folder = user.write(f"{sandbox}-script/net.py", text).parent
    known = files_of(user.home, but=folder)
    out = str(folder / "net.yaml")
    done = user.longfat("convert", str(folder / "net.py"), out, sandbox=sandbox)
    assert done.returncode == 0, done.stderr
    done = user.longfat(
        *("run", out, "--no-report", "--no-cache", "--out", str(folder / "runs")), sandbox=sandbox
    )
    assert done.returncode == 0, done.stderr
    assert {path.name for path in folder.iterdir()} == {"net.py", "net.yaml", "runs"}
    if shutil.which("mn") is not None and shutil.which("ovs-vsctl") is not None:
        words = ("--ovs", "--bind", str(folder), "--", "python3", str(folder / "net.py"))
        done = user.longfat("exec", *words, sandbox=sandbox)
        assert done.returncode == 0, done.stderr
        assert {path.name for path in folder.iterdir()} == {"net.py", "net.yaml", "runs"}
    assert files_of(user.home, but=folder) == known


def files_of(folder: Path, *, but: Path) -> set[Path]:
    """Return the files below a folder that are in no cache and in no other one."""
    return {
        path
        for path in folder.rglob("*")
        if path.is_file()
        and not {".cache", "__pycache__"} & set(path.parts)
        and but not in path.parents
    }


@pytest.mark.slow
@sandboxes
def test_a_shell_draws_and_keeps_files(user: User, sandbox: str) -> None:
    user.write(
        f"{sandbox}-shell/lines.sh",
        "h2 iperf3 -s -D; h1 iperf3 -c h2 -t 2 -J > out.json\n"
        "plot_iperf.sh out.json; plot_q.sh s1-eth2 1; xdg-open results/cwnd.pdf\n",
    )
    typed = f"import os; os.dup2(os.open('lines.sh', os.O_RDONLY), 0); {_COMMAND}"
    home = user.home / f"{sandbox}-shell"
    done = user.run("-c", typed, "shell", "--kernel", "6.1", cwd=home, sandbox=sandbox)
    folder = home / "runs" / "shell-plain-1"
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith(f"\n{folder}/results/cwnd.pdf\n"), done.stderr
    for name in ("results/cwnd.pdf", "results/throughput.pdf", "s1-eth2-queue.pdf"):
        assert (folder / name).read_bytes().startswith(b"%PDF")
        assert (folder / name).stat().st_uid == (_NOBODYS if user.prefix else os.getuid())


def test_root_is_informed_whose_folder_a_machine_cannot_reach(user: User, tmp_path: Path) -> None:
    if not user.prefix:
        pytest.skip("root only: whoever has no rights meets this as with any program")
    user.write("all.yaml", STUDY)
    argv = [sys.executable, "-c", _COMMAND]
    bound = [*argv, "exec", "--bind", ".", "--", "true"]
    done = subprocess.run(bound, cwd=user.home, capture_output=True, text=True, check=False)
    assert done.returncode == 3
    assert f"{user.home} belongs to user {_NOBODYS} and has mode 0700" in done.stderr
    assert "hint" in done.stderr
    # The machine of a run sees no folder of the user's.
    ran = [*argv, "run", "all.yaml", "--no-cache", "--out", str(tmp_path / "out")]
    done = subprocess.run(ran, cwd=user.home, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_live_network_captures(user: User) -> None:
    user.write(
        "live.py",
        """\
from longfat import Network

with Network(kernel="6.1") as network:
    h1, h2 = network.host("h1"), network.host("h2")
    network.link(h1, h2, delay="5ms")
    with network.probe(capture=["h1-eth0"], tcp=["h1"]) as seen:
        h1.run("ping -c 2 10.0.0.2")
        h1.iperf3(h2, time="1s", rate="1mbit")
    h1.run("tcpdump -w /tmp/own.pcap -i h1-eth0 -c 1 & sleep 0.5; ping -c 1 10.0.0.2; wait")
    print(len(seen.captures["h1-eth0"]) > 1000, seen.tcp.num_rows > 0)
    print(len(h1.run("cat /tmp/own.pcap | wc -c").stdout) > 1)
""",
    )
    done = user.run("live.py")
    assert (done.returncode, done.stdout.split()) == (0, ["True"] * 3), done.stderr


def test_the_pytest_plugin(user: User) -> None:
    user.write(
        "theirs/test_theirs.py",
        """\
import pytest

@pytest.mark.longfat(kernel="6.1", capture=True)
def test_ping(network):
    h1, h2 = network.host("h1"), network.host("h2")
    network.link(h1, h2)
    assert " 0% packet loss" in h1.run("ping -c 2 10.0.0.2").stdout
    assert False, "so that it keeps all"
""",
    )
    (user.home / "theirs" / "pytest.ini").write_text("[pytest]\n")
    done = user.run("-m", "pytest", "-p", "no:cacheprovider", cwd=user.home / "theirs")
    assert "so that it keeps all" in done.stdout, done.stdout + done.stderr
    (kept,) = (user.home / "theirs" / ".longfat").iterdir()
    assert (kept / "h1-eth0.pcap").stat().st_size > 500


@pytest.mark.slow
def test_the_studio_runs_cases_and_live_sessions(user: User) -> None:
    user.write("space/all.yaml", STUDY)
    with user.start("-c", _COMMAND, "studio", "space/all.yaml", "--no-browser") as studio:
        try:
            assert studio.stderr is not None
            line = studio.stderr.readline()
            base, token = re.findall(r"(http://[^/]+)/.*[?&]token=([^&\s]+)", line)[0]
            headers = {"Authorization": f"Bearer {token}", "Origin": base}
            with httpx.Client(base_url=base, headers=headers, timeout=60) as client:
                _run_a_job(client)
                _play_live(client, headers)
        finally:
            studio.terminate()
            studio.communicate(timeout=30)


def _run_a_job(client: httpx.Client) -> None:
    body: dict[str, object] = {"name": "all.yaml", "text": STUDY}
    body |= {"lab": None, "cases": [], "seeds": None}
    started = client.post("/api/jobs", json=body)
    assert started.status_code == 201, started.text
    job = started.json()
    end_s = time.monotonic() + 60
    while job["state"] == "running":
        assert time.monotonic() < end_s, job
        time.sleep(0.1)
        job = next(one for one in client.get("/api/jobs").json() if one["id"] == job["id"])
    assert job["state"] == "done", job["problem"]


def _play_live(client: httpx.Client, headers: Mapping[str, str]) -> None:
    body: dict[str, object] = {"name": "all.yaml", "text": STUDY, "case": None}
    started = client.post("/api/sessions", json=body)
    assert started.status_code == 201, started.text
    address = f"{client.base_url}/ws/sessions/{started.json()['id']}".replace("http:", "ws:")
    others = {"Authorization": headers["Authorization"]}
    with connect(address, origin=Origin(headers["Origin"]), additional_headers=others) as socket:
        socket.send(json.dumps({"do": "run", "flows": ["rtt"]}))
        state = ""
        while state != "done":
            said = socket.recv(timeout=60)
            found = json.loads(said) if isinstance(said, str) else {}
            for flow in found.get("recording", {}).get("flows", ()):
                assert flow["state"] != "failed", flow
                state = flow["state"]
