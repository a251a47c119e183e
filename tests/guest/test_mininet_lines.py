"""Lines that scripts type: their commands, and how long they take by their words."""

from __future__ import annotations

import json

import pytest

from longfat.guest.mininet.lines import Command, commands_of, duration_s, reply


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("timeout 9 iperf3 -s &", ["iperf3 -s"]),
        ("/usr/bin/iperf3 -c 10.0.0.2 -t 5", ["iperf3 -c 10.0.0.2 -t 5"]),
        ("cd /tmp; ping -c 3 10.0.0.2", ["cd /tmp", "ping -c 3 10.0.0.2"]),
        ("nohup ping -c 3 10.0.0.2 > /tmp/p 2>&1 &", ["ping -c 3 10.0.0.2"]),
        ("sudo -n -u root iperf3 -c h2", ["iperf3 -c h2"]),
        ("time -p nice -n 5 wget http://10.0.0.1/", ["wget http://10.0.0.1/"]),
        ("mptcpize run iperf3 -s", ["iperf3 -s"]),
        ("LANG=C env -u HOME A=b ping h2", ["ping h2"]),
        ("sh -c 'ping -c 3 h2; ls'", ["ping -c 3 h2", "ls"]),
        ("ping -c 2 h2 | tail -1", ["ping -c 2 h2"]),
        ("cat f | nc 10.0.0.1 500", ["nc 10.0.0.1 500"]),
        ("ls /none || true; ls", ["ls /none", "ls"]),
        ("printf 'a;b' > f", ["printf a;b"]),
        ("for i in 1 2; do ping -c1 h2; done", [""]),
        ("a=$(ls); b", [""]),
        ("# nothing", []),
        ("", []),
        ("echo 'unclosed", [""]),
        ("a\nb", ["a", "b"]),
    ],
)
def test_commands_of_a_line(text: str, words: list[str]) -> None:
    assert [" ".join(command.words) for command in commands_of(text)] == words


def only(text: str) -> Command:
    (command,) = commands_of(text)
    return command


def test_what_stands_around_a_command() -> None:
    command = only("cat f | sudo timeout 1m nc h2 5 > /tmp/out &")
    assert command.is_background
    assert command.reads_pipe
    assert command.limit_s == 60
    assert command.wrappers == ("sudo", "timeout")
    ping = only("ping h2 > /tmp/out 2>&1")
    assert (ping.file, ping.core) == ("/tmp/out", "ping h2 2>&1")


@pytest.mark.parametrize(
    ("text", "span_s"),
    [
        ("sleep 1.5", 1.5),
        ("sleep 1m", 60),
        ("ping -c 5 -i 0.2 h2", pytest.approx(0.8)),
        ("ping -w 3 h2", 3),
        ("ping h2", None),
        ("timeout 4 ping h2", 4),
        ("iperf3 -c h2", 10),
        ("iperf3 -c h2 -t 3", 3),
        ("iperf -t2 -c h2", 2),
        ("iperf3 -c h2 -n 1M", 0),
        ("iperf3 -s", None),
        ("iperf3 -s -D", 0),
        ("tcpdump -i h1-eth0", None),
        ("python3 -m http.server 80", None),
        ("while true; do date; sleep 1; done", None),
        ("nc -lk 5", None),
        ("tail -f x", None),
        ("ls", 0),
    ],
)
def test_how_long_a_command_takes(text: str, span_s: float | None) -> None:
    assert duration_s(only(text)) == span_s


def test_what_scripts_read_is_there() -> None:
    assert "3 packets transmitted, 3 received, 0% packet loss" in reply(only("ping -c 3 h2"))
    assert "Mbits/sec" in reply(only("iperf -c h2"))
    assert json.loads(reply(only("iperf3 -J -c h2")))["end"]["sum_received"]["bits_per_second"]
    assert reply(only("iperf3 -c h2 > f")) == ""
