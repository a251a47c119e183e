"""Mininet's scripts in their machine: its limits, what it shows, and what comes out."""

from __future__ import annotations

import os
import textwrap
from pathlib import Path

import pytest

from longfat.errors import HostError, InputError
from longfat.study.formats.mininet import MininetNetwork, machine, read_mininet
from longfat.study.formats.open import open_network
from tests.caches import share_toolset
from tests.paths import TESTS
from tests.study.formats.mininet_scripts import NET
from tests.study.formats.mininet_scripts import read as read_here
from tests.study.formats.test_mininet_read import ANY_PYTHON

DATA = TESTS / "data" / "mininet"


def read(text: str, folder: Path, *arguments: str) -> tuple[MininetNetwork, tuple[str, ...]]:
    file = folder / "net.py"
    file.write_text(textwrap.dedent(text), encoding="utf-8")
    return read_mininet(file, arguments=arguments)


def error(text: str, folder: Path) -> str:
    with pytest.raises(InputError) as caught:
        read(text, folder)
    assert "Traceback" not in str(caught.value)
    return str(caught.value).replace(f"{folder}/", "")


def test_a_script_is_run_with_its_arguments(tmp_path: Path) -> None:
    arguments = ("--racks", "2", "--seed", "7")
    found = read(ANY_PYTHON, tmp_path, *arguments)
    (tmp_path / "here").mkdir()
    assert found == read_here(ANY_PYTHON, tmp_path / "here", *arguments)
    assert len(open_network(tmp_path / "net.py", arguments=arguments).network.hosts) == 7
    with pytest.raises(InputError, match=r"status 2: net\.py: error: unrecognized arguments: --x"):
        open_network(tmp_path / "net.py", arguments=("--x",))
    (tmp_path / "net.yaml").touch()
    with pytest.raises(InputError, match=r"only a Mininet script \(\.py\) takes arguments: '--x'"):
        open_network(tmp_path / "net.yaml", arguments=("--x",))


def test_chance_falls_the_same_every_time(tmp_path: Path) -> None:
    text = """
        import os, random, sys, time, uuid
        from mininet.net import Mininet
        net = Mininet()
        names = {f"h{random.randrange(1000)}" for _ in range(20)}
        for name in names:  # in the order of their hash values
            net.addHost(name)
        h = net.addHost("last")
        h.cmd("echo", uuid.uuid4(), os.urandom(4).hex(), time.time(), __file__, sys.argv)
    """
    found = read(text, tmp_path)
    assert found == read(text, tmp_path)
    (command,) = found[0].setup
    assert command.line.endswith("/net.py ['net.py']")


def test_real_mininet_is_not_seen(tmp_path: Path) -> None:
    text = """
        import mininet, mininet.net, sys
        from mininet import *
        from mininet.net import *
        net = mininet.net.Mininet()
        h1 = net.addHost("h1")
        h1.cmd("echo", [one for one in sys.path if "longfat" in one], mininet.net.__file__)
    """
    assert "is not known" not in read(text.replace(", mininet.net.__file__", ""), tmp_path)[1]
    assert error(text, tmp_path).startswith("net.py:7:")


# Each tries something; what comes of it is at the end of the line that it types.
ATTEMPTS = {
    "the network": ("socket.create_connection(('192.0.2.1', 80), timeout=5)", "OSError"),
    "names": ("socket.getaddrinfo('example.org', 80)", "gaierror"),
    "the home folder": ("open({home!r} + '/.profile')", "FileNotFoundError"),
    "the folder of the script": ("os.listdir({folder!r})", "FileNotFoundError"),
    "programs": ("open('/usr/bin/env', 'ab')", "OSError"),
    "a file of the host": ("open({mark!r}, 'w')", "FileNotFoundError"),
    "its parent": ("os.kill(os.getppid(), signal.SIGKILL)", "done"),
    "a file of its own": ("open('mine', 'w').write('x')", "done"),
    "much output": ("print('x' * 5_000_000)", "done"),
}


@pytest.mark.parametrize("what", ATTEMPTS)
def test_what_it_reaches(what: str, tmp_path: Path) -> None:
    attempt, outcome = ATTEMPTS[what]
    mark = tmp_path / "mark"
    names = {"home": os.path.expanduser("~"), "folder": str(tmp_path), "mark": str(mark)}
    text = f"""
        import os, signal, socket
        from mininet.net import Mininet
        net = Mininet()
        h1 = net.addHost("h1")
        try:
            {attempt.format(**names)}
            outcome = "done"
        except OSError as error:
            outcome = type(error).__name__
        h1.cmd("echo", outcome)
    """
    found, _ = read(text, tmp_path)
    assert outcome in found.setup[0].line.split()
    assert not mark.exists()


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("while True:\n    pass", "net.py:11:5: it does not end: too many lines have been run"),
        ("while True:\n    time.sleep(1)", "it has not ended after 600 s of virtual time"),
        ("time.sleep(10**6)", "net.py:10:1: it has not ended after 600 s of virtual time"),
        ("while True:\n    try:\n        time.sleep(1)\n    except Exception:\n        pass",
         "it has not ended after 600 s of virtual time"),
        ("9 ** 9 ** 9", "net.py:1:1: the script does too much, or does not end: virtual time"),
        ("while True:\n    print('x' * 10**6)", "11:5: it prints, or writes to a file, more"),
        ("x = 'x' * 10**9", "net.py:10:5: MemoryError"),
        ("os._exit(0)", "net.py:1:1: the script ended its process (status 0) and left no network"),
        ("os.system('kill -9 -1')", "(status -9) and left no network"),
        ("import ctypes\nctypes.CDLL(None).reboot(0x4321FEDC)",
         "net.py:1:1: the script turned the machine off, in which it ran"),
        ("while True:\n    os.fork()", "the script does too much, or does not end: the machine"),
        ("open('/run/output/record.json', 'w').write('{}')\nos._exit(0)",
         "net.py:1:1: what was recorded of the script is damaged: the record: title: is missing"),
        ("open('/run/output/outcome.json', 'w').write('[')\nos.kill(os.getpid(), 9)",
         "(status -9) and left no network"),
        ("os.remove('/run/output/record.json')\n"
         "os.symlink({secret!r}, '/run/output/record.json')\nos._exit(0)",
         "(status 0) and left no network"),
        ("os.remove('/run/output/record.json')\n"
         "os.mkdir('/run/output/record.json')\nos._exit(0)",
         "(status 0) and left no network"),
    ],
)  # fmt: skip
def test_what_a_script_may_not(
    lines: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine, "_STALL_CPU_S", 8.0)
    secret = tmp_path / "secret.json"
    secret.write_text('{"password": 1}')
    said = error(NET + lines.replace("{secret!r}", repr(str(secret))), tmp_path)
    assert message in said
    assert "password" not in said


def test_a_script_that_waits_when_its_network_is_there(tmp_path: Path) -> None:
    found, warnings = read(f"{NET}net.start()\nwhile True:\n    time.sleep(1)\n", tmp_path)
    assert len(found.network.hosts) == 2
    forwarding, warning = warnings
    assert forwarding.startswith("s1: it forwards nothing in Mininet: it has no controller")
    assert "the script ends here: it has not ended after 600 s of virtual time" in warning


def test_without_a_kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    share_toolset(tmp_path / "cache")
    monkeypatch.setenv("LONGFAT_CACHE", str(tmp_path / "cache"))
    with pytest.raises(HostError, match="no kernel is built") as caught:
        read(NET, tmp_path)
    assert caught.value.hint.startswith("longfat kernel build")


def test_what_is_no_script(tmp_path: Path) -> None:
    (tmp_path / "latin.py").write_bytes(b"x = '\xe9'\n")
    with pytest.raises(InputError, match="not Python 3"):
        read_mininet(tmp_path / "latin.py")
    with pytest.raises(InputError, match="there is no such file"):
        read_mininet(tmp_path / "none.py")


# What each of Mininet's examples makes: hosts, switches, links.
EXAMPLES = {
    "bind": (10, 1, 10),
    "controllers": (4, 3, 6),
    "emptynet": (2, 1, 2),
    "intfoptions": (2, 1, 2),
    "linearbandwidth": (5, 4, 8),
    "linuxrouter": (4, 3, 6),
    "mobility": (3, 3, 5),
    "multilink": (2, 1, 4),
    "numberedports": (5, 1, 5),
    "popenpoll": (3, 1, 3),
    "multitest": (4, 3, 6),
    "simpleperf": (4, 1, 4),
    "treeping64": (64, 9, 72),
    "vlanhost": (6, 1, 6),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_examples_of_mininet(name: str) -> None:
    path = Path("/usr/share/doc/mininet/examples", f"{name}.py")
    if not path.exists():
        pytest.skip("Mininet's examples are not installed")
    network = read_mininet(path)[0].network
    assert (len(network.hosts), len(network.switches), len(network.links)) == EXAMPLES[name]
