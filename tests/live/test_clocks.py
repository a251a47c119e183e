"""Hosts whose clocks are wrong, as real programs see them."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from longfat.errors import InputError
from longfat.live import Network
from longfat.live.nodes import LiveHost
from tests.kernels import CLOCK_KERNEL
from tests.live.conftest import host

# Their kernel is a variant of its own.
pytestmark = pytest.mark.slow

MakeNetwork = Callable[..., Network]

DAY_S = 86_400
# The kernel's coarse clock goes by ticks.
TICK_S = 0.01

# Each prints what it found as JSON, by names of its own.
C_LIBRARY = """\
import ctypes, json, os, struct, time
libc = ctypes.CDLL(None, use_errno=True)
class Spec(ctypes.Structure):
    _fields_ = [("s", ctypes.c_long), ("ns", ctypes.c_long)]
def spec(at_s):
    return Spec(int(at_s), int(at_s % 1 * 1e9))
def took(do):
    before_s = time.monotonic()
    do()
    return time.monotonic() - before_s
"""


@pytest.fixture
def net(make_network: MakeNetwork) -> Network:
    net = make_network(kernel=CLOCK_KERNEL, seed=1, memory="512MB")
    h1, h2 = net.host("h1", clock={"offset": "3s", "drift": "100ppm"}), net.host("h2")
    net.link(h1, h2, rate="100mbit", delay="10ms")
    net.build()
    return net


def python(host: LiveHost, script: str) -> Any:
    done = host.run(["python3", "-c", C_LIBRARY + script], check=True)
    return json.loads(done.stdout)


def ahead_s(net: Network, name: str) -> float:
    """Return how far a host's clock is ahead of the machine's."""
    script = "print(json.dumps([time.time(), time.monotonic()]))"
    (here_s, now_s), (there_s, then_s) = python(host(net, name), script), python_at_root(net)
    return float((here_s - now_s) - (there_s - then_s))


def python_at_root(net: Network) -> Any:
    script = "import json, time; print(json.dumps([time.time(), time.monotonic()]))"
    return json.loads(net.run(["python3", "-c", script], check=True).stdout)


def test_programs_see_the_time_of_their_host(net: Network) -> None:
    assert ahead_s(net, "h1") == pytest.approx(3, abs=1e-3)
    assert ahead_s(net, "h2") == pytest.approx(0, abs=1e-5)
    net.sleep(1000)
    assert ahead_s(net, "h1") == pytest.approx(3.1, abs=1e-3)
    there, here = (float(net[name].run("date +%s.%N").stdout) for name in ("h1", "h2"))
    assert there - here == pytest.approx(3.1, abs=0.01)
    shown = host(net, "h1").sysctl("net.host_clock.offset_ns")
    assert int(shown) == pytest.approx(3.1e9, abs=2e6)


def test_every_call_that_asks_for_the_time_agrees(net: Network) -> None:
    found = python(
        host(net, "h1"),
        """
tv = (ctypes.c_long * 2)()
libc.gettimeofday(tv, None)
timex = ctypes.create_string_buffer(256)
state = libc.adjtimex(timex)
second, micro = struct.unpack_from("qq", timex, 72)
print(json.dumps({
    "clock_gettime": time.clock_gettime(time.CLOCK_REALTIME),
    "coarse": time.clock_gettime(5),
    "gettimeofday": tv[0] + tv[1] / 1e6,
    "time": libc.time(None),
    "adjtimex": second + micro / 1e6,
}))
""",
    )
    first = found.pop("clock_gettime")
    assert found.pop("time") == pytest.approx(first, abs=1 + TICK_S)
    assert found.pop("coarse") == pytest.approx(first, abs=2 * TICK_S)
    assert found == pytest.approx(dict.fromkeys(found, first), abs=1e-3)


def test_what_measures_time_is_right(net: Network) -> None:
    host(net, "h1").set_clock(drift="10000ppm")
    script = """
before_s = time.time()
slept_s = took(lambda: time.sleep(10))
print(json.dumps([slept_s, time.time() - before_s]))
"""
    slept_s, counted_s = python(host(net, "h1"), script)
    assert slept_s == pytest.approx(10, abs=1e-3)
    assert counted_s == pytest.approx(10.1, abs=1e-3)


def test_ping_measures_by_its_hosts_time_of_day(net: Network) -> None:
    # It sends the time of day, and takes the time of receipt from the kernel: both are the host's.
    assert "time=20.0 ms" in host(net, "h1").run("ping -c 3 h2").stdout
    assert "time=20.0 ms" in host(net, "h2").run("ping -c 3 h1").stdout
    host(net, "h1").set_clock(drift="10000ppm")
    assert "time=20.2 ms" in host(net, "h1").run("ping -c 3 h2").stdout


WAITS = {
    "clock_nanosleep": "libc.clock_nanosleep(0, 1, ctypes.byref(spec(time.time() + 5)), None)",
    "semaphore": """\
sem = ctypes.create_string_buffer(32); libc.sem_init(sem, 0, 0)
libc.sem_timedwait(sem, ctypes.byref(spec(time.time() + 5)))""",
    "timerfd": """\
fd = libc.timerfd_create(0, 0)
until = spec(time.time() + 5)
libc.timerfd_settime(fd, 1, struct.pack("qqqq", 0, 0, until.s, until.ns), None)
os.read(fd, 8)""",
    "timer": """\
import signal
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])
timer = ctypes.c_void_p(); libc.timer_create(0, None, ctypes.byref(timer))
until = spec(time.time() + 5)
libc.timer_settime(timer, 1, struct.pack("qqqq", 0, 0, until.s, until.ns), None)
signal.sigwait([signal.SIGALRM])""",
}


@pytest.mark.parametrize("way", WAITS)
def test_waiting_until_a_time_of_day(net: Network, way: str) -> None:
    # The clock gains 1 %: it shows 5 s more after 4.95 s.
    host(net, "h1").set_clock(offset="-20s", drift="10000ppm")
    body = "\n    ".join(WAITS[way].splitlines())
    script = f"def wait():\n    {body}\nprint(json.dumps(took(wait)))"
    assert python(host(net, "h1"), script) == pytest.approx(5 / 1.01, abs=1e-3)
    assert python(host(net, "h2"), script) == pytest.approx(5, abs=1e-3)


def test_a_clock_is_set_while_the_network_lives(net: Network) -> None:
    h2 = host(net, "h2")
    h2.set_clock(offset="-1.5s")
    assert ahead_s(net, "h2") == pytest.approx(-1.5, abs=1e-4)
    h2.set_clock(drift="-200ppm")
    net.sleep(100)
    assert ahead_s(net, "h2") == pytest.approx(-1.52, abs=1e-3)
    assert ahead_s(net, "h1") == pytest.approx(3.01, abs=1e-3)
    h2.set_clock(offset=0, drift=0)
    assert ahead_s(net, "h2") == pytest.approx(0, abs=1e-4)


def test_setting_the_date_at_a_host_sets_its_own(net: Network) -> None:
    before_s = python_at_root(net)
    host(net, "h1").run("date -s 2030-01-01", check=True)
    assert host(net, "h1").run("date +%Y-%m-%d").stdout == "2030-01-01\n"
    assert "2023" in host(net, "h2").run("date +%Y").stdout
    after_s = python_at_root(net)
    assert after_s[0] - before_s[0] == pytest.approx(after_s[1] - before_s[1], abs=1e-3)


def test_a_program_disciplines_its_hosts_clock(net: Network) -> None:
    # As chrony and ntpd do: a step of -3 s, and a frequency that makes up for the drift.
    script = """
def adjust(modes, **words):
    timex = ctypes.create_string_buffer(256)
    struct.pack_into("I", timex, 0, modes)
    for at, value in words.values():
        struct.pack_into("q", timex, at, value)
    return libc.adjtimex(timex)
states = [
    adjust(0x0100, seconds=(72, -3), microseconds=(80, 0)),
    adjust(0x0002, frequency=(16, -100 * 65536)),
    adjust(0x0010, status=(40, 0)),
]
print(json.dumps(states))
"""
    assert python(host(net, "h1"), script) == [5, 5, 0]  # not synchronised, until it says so
    begin_s = ahead_s(net, "h1")
    assert begin_s == pytest.approx(0, abs=2e-3)
    net.sleep(1000)
    assert ahead_s(net, "h1") == pytest.approx(begin_s, abs=1e-4)


def test_a_slow_correction_is_refused(net: Network) -> None:
    script = """
delta = struct.pack("qq", 1, 0)
found = libc.adjtime(delta, None), ctypes.get_errno()
print(json.dumps(found))
"""
    assert python(host(net, "h1"), script) == [-1, 95]  # EOPNOTSUPP
    assert python(host(net, "h1"), "print(json.dumps(libc.adjtime(None, bytes(16))))") == 0


def test_packets_have_come_at_the_time_of_their_host(net: Network) -> None:
    script = """
import fcntl, socket
near = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
near.bind(("127.0.0.1", 5000))
def receive(option):
    if option: near.setsockopt(socket.SOL_SOCKET, option, 1)
    near.sendto(b"x", ("127.0.0.1", 5000))
    _, control, _, _ = near.recvmsg(10, 200)
    if option: near.setsockopt(socket.SOL_SOCKET, option, 0)
    return [struct.unpack_from("qq", data) for _, kind, data in control if kind == option]
((s, us),) = receive(29)  # SO_TIMESTAMP
((t, ns),) = receive(35)  # SO_TIMESTAMPNS
receive(0)
stamp = struct.unpack("qq", fcntl.ioctl(near, 0x8907, bytes(16)))  # SIOCGSTAMPNS
now = time.time()
print(json.dumps([now - s - us / 1e6, now - t - ns / 1e9, now - stamp[0] - stamp[1] / 1e9]))
"""
    assert python(host(net, "h1"), script) == pytest.approx([0, 0, 0], abs=1e-3)
    assert python(host(net, "h2"), script) == pytest.approx([0, 0, 0], abs=1e-3)


def test_a_certificate_that_is_not_yet_valid(net: Network) -> None:
    client, server = host(net, "h1"), host(net, "h2")
    server.run(
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1"
        " -subj /CN=h2 -addext subjectAltName=DNS:h2 -keyout /tmp/key -out /tmp/certificate",
        check=True,
    )
    server.spawn("openssl s_server -quiet -accept 4433 -key /tmp/key -cert /tmp/certificate")
    script = """
import socket, ssl
try:
    with socket.create_connection(("h2", 4433)) as plain:
        context = ssl.create_default_context(cafile="/tmp/certificate")
        context.wrap_socket(plain, server_hostname="h2").close()
    print(json.dumps("good"))
except ssl.SSLCertVerificationError as error:
    print(json.dumps(error.verify_message))
"""
    assert python(client, script) == "good"
    client.set_clock(offset=-60)
    assert python(client, script) == "certificate is not yet valid"
    client.set_clock(offset=2 * DAY_S)
    assert python(client, script) == "certificate has expired"


def test_a_kernel_with_one_clock_says_so(make_network: MakeNetwork) -> None:
    net = make_network(kernel="6.1")
    with pytest.raises(InputError, match=r"clock of h1.*one clock.*kernel: 6\.12\+clock"):
        net.host("h1", clock="3s")
    h2 = net.host("h2")
    with pytest.raises(InputError, match=r"longfat kernel build 6\.12\+clock"):
        h2.set_clock(offset="3s")


@pytest.mark.parametrize(
    ("clock", "words"),
    [
        ({"offset": "soon"}, "soon"),
        ({"drift": "3"}, "is not a drift, such as 100ppm"),
        ({"drift": "200000ppm"}, "-100000ppm to 100000ppm"),
        ({"ahead": "3s"}, "a clock has no 'ahead'"),
    ],
)
def test_what_is_no_clock(make_network: MakeNetwork, clock: object, words: str) -> None:
    net = make_network(kernel="6.1")
    with pytest.raises(InputError, match=words):
        net.host("h1", clock=clock)
