"""What `tools.matrix` and `tools.roots` make of words, and that nothing outlives them."""

import json
import os
import platform
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.paths import REPOSITORY
from tools import matrix, releases
from tools.bare import BareRoot
from tools.matrix import claims_in, counts_in
from tools.matrix_results import Cell, Name, differences, keep_result, read_results, table
from tools.releases import HostError, Source
from tools.roots import ORDINARY, Cache, Root, Watch, passed_on, preparation, run

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="makes namespaces as root")


def test_claims_are_counted() -> None:
    assert claims_in("Claims  15 of 15 hold") == (15, 15)
    assert claims_in("Claims  9 of 15 hold; 6 fail") == (9, 15)
    assert claims_in("holds  no ping is lost") is None


@pytest.mark.parametrize(
    ("line", "counts"),
    [
        (
            "===== 1 failed, 2030 passed, 4 skipped in 1204.11s (0:20:04) =====",
            {"failed": 1, "passed": 2030, "skipped": 4},
        ),
        ("== 3 passed in 0.51s ==", {"passed": 3}),
        ("==== test session starts ====", {}),
        ("==== short test summary info ====", {}),
    ],
)
def test_last_line_of_pytest_is_read(line: str, counts: dict[str, int]) -> None:
    assert counts_in(line) == counts


def test_runs_are_compared_between_cells() -> None:
    runs = {"lab01": {"routed-seed1": "a" * 64, "delayed-seed1": "b" * 64}}
    other = {"lab01": {"routed-seed1": "c" * 64}}
    here = Cell(runs=runs, versions={"kernel": "6.1.192"}, toolset="d" * 64)
    there = Cell(runs=other, versions={"kernel": "6.1.192"}, toolset="d" * 64)
    cells = {Name("trixie", "user", "wheels"): here, Name("bare", "user", "wheels"): there}
    assert differences(cells) == [
        "lab01, routed-seed1, kernel 6.1.192: aaaaaaaaaaaa in trixie-user-wheels;"
        " cccccccccccc in bare-user-wheels"
    ]
    there.toolset = "e" * 64
    assert differences(cells) == []
    assert here.lab_digest("lab01") != there.lab_digest("lab01")
    assert here.lab_digest("lab08") == ""


def test_archives_of_another_release() -> None:
    def of_trixie(suite: str) -> str | None:
        source = Source(site="http://mirror.test/debian", suite=suite, component="main")
        found = source.of("trixie", instead_of="bookworm")
        return found.suite if found else None

    assert of_trixie("bookworm") == "trixie"
    assert of_trixie("bookworm-security") == "trixie-security"
    assert of_trixie("bookworm-backports") is None
    assert of_trixie("stable") is None


def test_sources_are_the_hosts(monkeypatch: pytest.MonkeyPatch) -> None:
    def targets(*_command: str) -> str:
        return (
            "http://other.test/x\tnodistro\tmain\n"
            "http://mirror.test/security\tbookworm-security\tmain\n"
            "http://mirror.test/debian\tbookworm\tmain\n"
        )

    def have(distribution: str, release: str) -> None:
        about = {"ID": distribution, "VERSION_CODENAME": release}
        monkeypatch.setattr(platform, "freedesktop_os_release", lambda: about)

    monkeypatch.setattr(releases, "output_of", targets)
    have("debian", "bookworm")
    first, second = releases.sources_of("trixie", base=Path("unused"))
    keys = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
    assert first.line(keys) == f"deb [signed-by={keys}] http://mirror.test/debian trixie main"
    assert (second.site, second.suite) == ("http://mirror.test/security", "trixie-security")
    have("debian", "forky")
    with pytest.raises(HostError, match="no archive of forky"):
        releases.host_sources("trixie")
    have("ubuntu", "noble")
    assert releases.host_sources("trixie") == ()


def test_sources_of_another_distribution_are_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    about = {"ID": "debian", "VERSION_CODENAME": "bookworm"}
    monkeypatch.setattr(platform, "freedesktop_os_release", lambda: about)
    (tmp_path / "etc/apt").mkdir(parents=True)
    (tmp_path / "etc/apt/sources.list").write_text("deb http://mirror.test/ubuntu noble main\n")
    found = releases.sources_of("noble", base=tmp_path)
    assert {one.site for one in found} == {"http://mirror.test/ubuntu"}
    assert found[0].suite == "noble"
    assert found[0].component == "main"
    assert {one.suite for one in found} == {"noble", "noble-updates", "noble-security"}
    assert {one.component for one in found} == {"main", "universe"}


def test_variables_with_paths_that_a_root_lacks_stay_outside() -> None:
    host = {
        "HTTPS_PROXY": "http://proxy.test:3128",
        "PIP_INDEX_URL": "https://index.test/simple",
        "PIP_FIND_LINKS": "/opt/wheels",
        "SSL_CERT_FILE": "/etc/ssl/certs/ca-certificates.crt",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "PATH": "/usr/bin",
    }
    assert set(passed_on(host)) == {"HTTPS_PROXY", "PIP_INDEX_URL", "SSL_CERT_FILE"}


def test_ordinary_user_has_sudo_only_where_asked() -> None:
    assert "sudoers" not in preparation(ORDINARY, ["python3"], sudo=False)
    assert f"{ORDINARY} ALL=(ALL) NOPASSWD: ALL" in preparation(ORDINARY, ["git"], sudo=True)


def test_command_begins_with_a_clean_environment(tmp_path: Path) -> None:
    cache = Cache(folder=tmp_path, release="trixie")
    root = Root(cache=cache, user=ORDINARY, log=tmp_path / "log")
    command = root.command("make lab", user=ORDINARY)
    assert command[1:5] == [str(tmp_path), "bases/trixie", "scratch/trixie", "packages/trixie"]
    assert command[command.index("env") + 1] == "-i"
    assert f"HOME=/home/{ORDINARY}" in command
    assert "PATH=/usr/local/bin:/usr/bin:/bin" in command
    assert command[-1].endswith("\nmake lab")


def test_command_in_a_bare_root_needs_no_program_but_python(tmp_path: Path) -> None:
    cache = Cache(folder=tmp_path, release="bare")
    root = BareRoot(cache=cache, user=ORDINARY, log=tmp_path / "log")
    command = root.command("longfat run lab08", user=ORDINARY)
    assert "setpriv" not in command
    assert "SHELL=/bin/sh" in command
    assert "apt" not in root.preparation(["python3"], sudo=False)


def test_results_of_several_calls_make_one_table(tmp_path: Path) -> None:
    wheels = Cell(
        wall_s=62, first_table_s=37.61, steps={"pip install": (23.4, 20.0)}, claims=(15, 15)
    )
    keep_result(tmp_path, Name("trixie", "user", "wheels"), wheels)
    keep_result(tmp_path, Name("bookworm", "root", "lab"), Cell(failed="make lab: a|b"))
    keep_result(tmp_path, Name("bookworm", "root", "lab"), Cell(shared_kernels=True))
    found = read_results(tmp_path)
    assert found[Name("trixie", "user", "wheels")] == wheels
    _, _, first, second = table(found).splitlines()
    assert first.startswith("| lab | bookworm | root | passed, kernels of another cell | ")
    assert second.startswith(
        "| wheels | trixie | ordinary | passed | 62 | 0 | 37.6, after 23 of pip |"
    )
    assert "15 of 15 hold" in second


def test_what_passed_the_second_time_only_is_in_the_table(tmp_path: Path) -> None:
    cell = Cell(tests={"failed": 1, "passed": 6009, "warnings": 696}, again={"passed": 1})
    keep_result(tmp_path, Name("noble", "root", "test"), cell)
    row = table(read_results(tmp_path)).splitlines()[-1]
    assert "| 1 failed, 6009 passed; of these, once more: 1 passed |" in row


def test_results_of_another_version_are_read(tmp_path: Path) -> None:
    keep_result(tmp_path, Name("trixie", "root", "lab"), Cell(wall_s=3))
    path = tmp_path / "results.json"
    kept = json.loads(path.read_text())
    kept["cells"][0]["of_tomorrow"] = 1
    del kept["cells"][0]["sandbox"]
    path.write_text(json.dumps(kept))
    assert read_results(tmp_path) == {Name("trixie", "root", "lab"): Cell(wall_s=3)}


def test_a_bar_in_a_message_does_not_split_a_row() -> None:
    row = table({Name("trixie", "root", "lab"): Cell(failed="a | b")}).splitlines()[-1]
    assert "failed: a \\| b" in row


@pytest.mark.parametrize(
    "arguments", [["--release", "sarge"], ["--what", "lab,all"], ["--what", "wheels"]]
)
def test_wrong_use_ends_with_2(arguments: list[str], tmp_path: Path) -> None:
    with pytest.raises(SystemExit) as ended:
        matrix.main([*arguments, "--wheels", str(tmp_path), "--results", str(tmp_path)])
    assert ended.value.code == 2


def test_one_process_at_a_time_has_a_release(tmp_path: Path) -> None:
    cache = Cache(folder=tmp_path, release="trixie")
    with cache.reserved(), pytest.raises(HostError, match="another process"), cache.reserved():
        pass


def test_leftovers_of_a_kill_are_removed(tmp_path: Path) -> None:
    cache = Cache(folder=tmp_path, release="trixie")
    (cache.scratch / "upper").mkdir(parents=True)
    cache.base.with_suffix(".part").mkdir(parents=True)
    with cache.reserved():
        assert not cache.scratch.exists()
        assert not cache.base.with_suffix(".part").exists()


@as_root
def test_output_and_status_of_a_command(tmp_path: Path) -> None:
    heard: list[str] = []
    watch = Watch(most_s=30, waiting=lambda _: None, heard=lambda _, line: heard.append(line))
    script = "printf 'a\\rb\\nc'; exit 4"
    ended = run(["sh", "-c", script], log=tmp_path / "log", watch=watch)
    assert (ended.status, heard) == (4, ["a", "b", "c"])
    assert (tmp_path / "log").read_bytes() == b"a\rb\nc"


@as_root
def test_cpu_time_of_orphans_counts(tmp_path: Path) -> None:
    watch = Watch(most_s=60, waiting=lambda _: None)
    done = tmp_path / "done"
    busy = "python3 -c 'import time\nwhile time.process_time() < 1: pass'"
    script = f'(setsid sh -c "{busy}; touch {done}" &); while ! test -e {done}; do sleep 0.1; done'
    ended = run(["sh", "-c", script], log=tmp_path / "log", watch=watch)
    assert ended.cpu_s > 0.9


@as_root
def test_nothing_outlives_a_command_that_takes_too_long(tmp_path: Path) -> None:
    watch = Watch(most_s=2, waiting=lambda _: None)
    mark = f"{os.getpid()}.75"
    script = f"setsid sleep {mark} & sleep {mark}"
    assert run(["sh", "-c", script], log=tmp_path / "log", watch=watch).status is None
    assert not _running(mark)


@as_root
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_nothing_outlives_us(number: int, tmp_path: Path) -> None:
    mark = f"{os.getpid()}.5{number}"
    program = f"""
from pathlib import Path
from tools.roots import Watch, run
watch = Watch(most_s=60, waiting=lambda _: None)
command = ["sh", "-c", "setsid sleep {mark} & sleep {mark}"]
run(command, log=Path({str(tmp_path / "log")!r}), watch=watch)
"""
    process = subprocess.Popen([sys.executable, "-c", program], cwd=REPOSITORY)
    _await(lambda: len(_running(mark)) == 2)
    process.send_signal(number)
    process.wait()
    _await(lambda: not _running(mark))


def _running(mark: str) -> list[int]:
    """Return the `sleep` processes that have the mark for an argument."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if words[:2] == [b"sleep", mark.encode()]:
            found.append(int(folder.name))
    return found


def _await(true: Callable[[], bool]) -> None:
    end = time.monotonic() + 30
    while not true():
        assert time.monotonic() < end
        time.sleep(0.05)
