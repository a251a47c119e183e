"""Commands at nodes: output, input, exit codes, signals, and timeouts in virtual time."""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Callable

import pytest

from longfat.errors import InputError, LongfatError
from longfat.live import CommandFailed, LiveHost, Network, RejectedError, TimedOut
from tests.live.conftest import host, two_hosts

MakeNetwork = Callable[..., Network]


@pytest.fixture
def h1(net: Network) -> LiveHost:
    return host(net, "h1")


def test_output_and_errors_are_apart_and_the_exit_code_is_the_commands(h1: LiveHost) -> None:
    done = h1.run("echo out; echo err >&2; exit 7")
    assert (done.stdout, done.stderr, done.returncode) == ("out\n", "err\n", 7)
    assert done.args == done.line == "echo out; echo err >&2; exit 7"
    with pytest.raises(CommandFailed, match=r"exited with status 7: err"):
        done.check_returncode()
    assert h1.run(["printf", "%s|", "a b", "$HOME"]).stdout == "a b|$HOME|"
    assert h1.run("kill -9 $$").returncode == -signal.SIGKILL


def test_a_checked_command_that_fails_is_an_error_of_subprocess_and_of_longfat(
    h1: LiveHost,
) -> None:
    with pytest.raises(CommandFailed, match="`false` exited with status 1") as caught:
        h1.run("false", check=True)
    assert isinstance(caught.value, subprocess.CalledProcessError)
    assert isinstance(caught.value, LongfatError)
    assert caught.value.returncode == 1


def test_a_command_that_is_not_there(h1: LiveHost) -> None:
    assert h1.run("porridge").returncode == 127
    with pytest.raises(RejectedError, match="porridge: command not found") as caught:
        h1.run(["porridge", "-v"])
    assert caught.value.status == 127
    assert isinstance(caught.value, InputError)
    h1.run("printf 'no\\0program' > /tmp/data; chmod +x /tmp/data", check=True)
    with pytest.raises(RejectedError, match="/tmp/data: Exec format error") as caught:
        h1.run(["/tmp/data"])
    assert caught.value.status == 126
    with pytest.raises(RejectedError, match="No such file"):
        h1.run("true", cwd="/nowhere")
    assert h1.run("true").returncode == 0


def test_the_environment_is_what_was_asked_for_and_not_the_hosts(
    h1: LiveHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LF_TEST_LEAK", "leaked")
    shown = h1.run("env; pwd", env={"COLOUR": "blue and red"}, cwd="/tmp").stdout
    assert "COLOUR=blue and red\n" in shown
    assert "leaked" not in shown
    assert shown.endswith("\n/tmp\n")
    assert "COLOUR" not in h1.run("env").stdout


def test_input_is_read_to_its_end(h1: LiveHost) -> None:
    assert h1.run("wc -c", input=b"x" * 1_000_000).stdout == "1000000\n"
    assert h1.run("cat", input="äöü\n").stdout == "äöü\n"
    assert h1.run("cat").stdout == ""  # there is none, and no waiting for it
    assert h1.run("cat", input="").stdout == ""
    echoed = h1.run("cat", input="y" * 3_000_000).stdout
    assert len(echoed) == 3_000_000


@pytest.mark.slow
def test_a_timeout_is_virtual_time_and_costs_none_of_ours(h1: LiveHost) -> None:
    began_s = time.monotonic()
    with pytest.raises(TimedOut, match=r"`sleep 9e9` did not end within 86400 s") as caught:
        h1.run("sleep 9e9", timeout=86400)
    assert isinstance(caught.value, subprocess.TimeoutExpired)
    assert time.monotonic() - began_s < 90
    with pytest.raises(TimedOut) as caught:
        h1.run("echo so far; sleep 10", timeout="1s")
    assert caught.value.output == b"so far\n"
    assert h1.run("pgrep -x sleep").returncode == 1  # it was killed
    assert h1.run("sleep 5", timeout=6).returncode == 0
    with pytest.raises(InputError, match="a time cannot be less than 0"):
        h1.run("true", timeout=-1)


def test_times_are_the_commands_own(net: Network, h1: LiveHost) -> None:
    net.build()
    before_s = net.clock.now
    done = h1.run("sleep 2.5")
    assert done.started_s == before_s
    assert done.ended_s == net.clock.now
    assert done.took_s == pytest.approx(2.5, abs=1e-3)


def test_output_is_streamed_as_it_comes(net: Network, h1: LiveHost) -> None:
    seen: list[tuple[float, str]] = []

    def take(text: str) -> None:
        seen.append((net.clock.now, text))

    done = h1.run("for i in 1 2 3; do echo $i; sleep 1; done; echo end >&2", on_output=take)
    assert [text for _, text in seen] == ["1\n", "2\n", "3\n", "end\n"]
    assert done.stdout == "1\n2\n3\n"
    assert done.stderr == "end\n"


def test_a_process_goes_on_while_time_passes(net: Network, h1: LiveHost) -> None:
    ticking = h1.spawn("while :; do echo tick; sleep 1; done")
    assert ticking.stdout == "tick\n"  # as far as it can at this moment
    assert ticking.poll() is None
    net.sleep(3.5)
    assert ticking.stdout == "tick\n" * 4
    host(net, "h2").run("sleep 2")
    assert ticking.stdout == "tick\n" * 6
    ticking.terminate()
    assert ticking.wait(1) == -signal.SIGTERM
    assert ticking.returncode == -signal.SIGTERM
    assert ticking.complete().stdout == "tick\n" * 6
    ticking.kill()  # it is gone, and that is no error


def test_lines_come_at_their_times(net: Network, h1: LiveHost) -> None:
    counting = h1.spawn("for i in 1 2 3; do sleep 1; echo $i; done; printf rest")
    began_s = net.clock.now
    found = []
    for line in counting.lines():
        found.append((line, round(net.clock.now - began_s)))
    assert found == [("1", 1), ("2", 2), ("3", 3), ("rest", 3)]
    silent = h1.spawn("sleep 100")
    with pytest.raises(TimedOut, match="wrote no line within 5 s"):
        next(silent.lines(timeout=5))


def test_a_dialogue(h1: LiveHost) -> None:
    shell = h1.spawn("read name; echo hello $name; read name; echo bye $name")
    shell.write("Ada\n")
    shell.expect("hello Ada", timeout=1)
    shell.write("Ada\n")
    shell.close_input()
    assert shell.wait() == 0
    assert shell.stdout == "hello Ada\nbye Ada\n"
    with pytest.raises(TimedOut, match="ended without writing 'more'"):
        shell.expect("more")
    with pytest.raises(TimedOut, match=r"did not write 'x' within 0\.5 s"):
        h1.spawn("sleep 10").expect("x", timeout="500ms")
    with pytest.raises(TimedOut, match=r"'ready'; its last line on standard error: .*not found$"):
        h1.spawn("no-such-program").expect("ready")


def test_signals_reach_the_whole_group(h1: LiveHost) -> None:
    trapping = h1.spawn("trap 'echo caught; exit 3' USR1; while :; do sleep 0.1; done")
    trapping.send_signal(signal.SIGUSR1)
    assert trapping.wait(1) == 3
    assert trapping.stdout == "caught\n"
    stubborn = h1.spawn("trap '' TERM; sleep 1000 & wait; sleep 1000")
    stubborn.terminate()
    with pytest.raises(TimedOut):
        stubborn.wait(2)
    stubborn.kill()
    assert stubborn.wait() == -signal.SIGKILL
    assert h1.run("pgrep -x sleep").returncode == 1


def test_a_server_listens_when_spawn_returns(net: Network, h1: LiveHost) -> None:
    server = h1.spawn("python3 -m http.server 8000")
    fetch = "import urllib.request as u; print(u.urlopen('http://h1:8000/').status)"
    done = host(net, "h2").run(["python3", "-c", fetch], check=True)
    assert done.stdout == "200\n"
    server.kill()
    assert server.wait() == -signal.SIGKILL


def test_bytes_that_are_sent_end_a_typed_iperf3(h1: LiveHost, net: Network) -> None:
    h1.spawn("iperf3 -s -1")
    assert host(net, "h2").run("iperf3 -c 10.0.0.1 -n 1M", timeout=60).returncode == 0


def test_what_outlives_its_command_continues(net: Network, h1: LiveHost) -> None:
    h1.run("(sleep 5; touch /tmp/late) > /dev/null 2>&1 &", check=True)
    net.sleep(1)
    assert h1.run("test -e /tmp/late").returncode == 1
    net.sleep(5)
    assert h1.run("test -e /tmp/late").returncode == 0


@pytest.mark.parametrize(("kernel", "calls"), [("6.1", 100), ("6.12", 1000)])
def test_calls_take_no_time_but_the_commands_own(
    kernel: str, calls: int, make_network: MakeNetwork
) -> None:
    net = two_hosts(make_network(kernel=kernel))
    h1 = host(net, "h1")
    h1.run("true")
    before_s = net.clock.now
    runs = [h1.run("true") for _ in range(calls)]
    assert all(one.returncode == 0 for one in runs)
    # Each starts when the one before has ended, to the nanosecond.
    ends = [before_s, *(one.ended_s for one in runs)]
    assert [one.started_s for one in runs] == ends[:-1]
    assert net.clock.now == ends[-1]
    # And each takes what a shell takes that is started inside, without us: its start has a few
    # system calls that fail, which take a microsecond each. The agent has two or three of its own.
    took_s = (net.clock.now - before_s) / calls
    inside = "import subprocess as s, time as t; n = t.monotonic_ns()\n"
    inside += "for _ in range(20): s.run(['/bin/sh', '-c', 'true'])\n"
    inside += "print((t.monotonic_ns() - n) / 20e9)"
    assert took_s <= float(h1.run(["python3", "-c", inside], check=True).stdout) + 3e-6


def test_a_call_is_quick(h1: LiveHost) -> None:
    h1.run("true")
    own_s, wall_s = time.process_time(), time.monotonic()
    for _ in range(100):
        h1.run("true")
    own_s, wall_s = time.process_time() - own_s, time.monotonic() - wall_s
    print(f"{wall_s * 10:.2f} ms a call, of them {own_s * 10:.2f} ms ours")
    # The machine's own part depends on how busy its CPU is; ours does not.
    assert own_s < 0.2


def test_measured_traffic_that_continues(net: Network, h1: LiveHost) -> None:
    bulk = h1.start("iperf3", "h2", time=5, rate="10mbit", congestion="reno")
    other = host(net, "h2").start("iperf3", h1, time=3, udp=True, rate="1mbit", reverse=True)
    rtt = h1.ping("h2", count=3, interval="200ms", size=100)
    assert rtt["received"] == 3
    assert not bulk.is_over
    assert bulk.result()["receiver_bps"] == pytest.approx(10e6, rel=0.05)
    assert bulk.is_over
    assert other.result()["receiver_bps"] == pytest.approx(1e6, rel=0.05)
    assert h1.iperf3("h2", bytes=1_000_000, parallel=2)["sent_bytes"] >= 1_000_000
    with pytest.raises(CommandFailed, match="iperf3"):
        h1.iperf3("h2", time=1, args=("--porridge",))
    assert host(net, "h2").run("pgrep iperf3").returncode == 1  # its server is gone, too


def test_what_no_program_can_be_given_is_refused_and_the_machine_lives(
    net: Network, h1: LiveHost
) -> None:
    for line in ("echo a\0b", "echo \ud800"):
        with pytest.raises(RejectedError, match="NUL character, or half of a surrogate pair"):
            h1.run(line)
    with pytest.raises(RejectedError, match="NUL character"):
        h1.run("ls", cwd="/\0")
    for name in ("/tmp/a\0b", "/tmp/\ud800"):
        with pytest.raises(RejectedError, match="NUL character"):
            net.write_file(name, "x")
        with pytest.raises(RejectedError, match="NUL character"):
            net.read_file(name)
    assert h1.run("echo on").stdout == "on\n"


def test_whoever_waits_can_be_told_to_stop(make_network: MakeNetwork) -> None:
    class Enough(Exception):  # noqa: N818
        pass

    asked: list[float] = []

    def check() -> None:
        if asked and time.monotonic() > asked[0] + 0.5:
            raise Enough

    net = two_hosts(make_network(on_wait=check))
    h1 = host(net, "h1")
    h1.run("true")
    asked.append(time.monotonic())
    with pytest.raises(Enough):
        h1.run("while :; do :; done")
    assert time.monotonic() - asked[0] < 2
