"""iperf3 in a machine, with longfat's changes, ends in each way as the host's without them.

Each scenario runs in a machine as `longfat exec` runs it, and on the host's loopback
interface. Compared are exit statuses, messages, the rows of each output, and the keys of JSON;
not the numbers of a measurement. The next test on the same server is part of each scenario.
"""

from __future__ import annotations

import json
import re
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.live.exec.command import run

_CONTROL = Path(__file__).with_name("iperf3_control.py")

# $A and $B start a command at the client's and at the server's host.
_FUNCTIONS = r"""
D=$(mktemp -d)
serve() {
    $B iperf3 -s -p $PORT "$@" >>$D/server 2>>$D/server.errors &
    server=$!
    sleep 0.5
}
client() {
    name=$1; shift
    timeout --foreground 60 $A iperf3 -c $ADDRESS -p $PORT "$@" >$D/$name 2>&1
    echo "status $?" >>$D/$name
}
interrupted() {
    signal=$1; shift
    timeout --foreground --preserve-status -s $signal 1.7 \
        $A iperf3 -c $ADDRESS -p $PORT "$@" >$D/client 2>&1
    echo "status $?" >>$D/client
}
misbehave() {
    $1 $PYTHON $CONTROL $ADDRESS $PORT $2 "$3" >$D/$2.py 2>&1
    echo "status $?" >>$D/$2.py
}
ended() {
    wait $server
    echo "status $?" >>$D/server
}
finish() {
    sleep 0.3; client next -b 1M -t 1 "$@"
    sleep 0.3; kill -TERM $server; ended
}
show() {
    echo "@@@@ $1"
    for file in $D/*; do
        echo "#### ${file##*/}"; cat $file
    done
    rm $D/*
}
"""

_MACHINE = """
ip netns add a; ip netns add b
ip link add near netns a type veth peer name far netns b
ip -n a addr add 10.0.0.1/24 dev near; ip -n b addr add 10.0.0.2/24 dev far
ip -n a link set lo up; ip -n b link set lo up
ip -n a link set near up; ip -n b link set far up
tc -n a qdisc add dev near root netem delay 5ms rate 20mbit
tc -n b qdisc add dev far root netem delay 5ms rate 20mbit
A="ip netns exec a"; B="ip netns exec b"; ADDRESS=10.0.0.2; PORT=5201
"""


def _complete(*options: str, server: str = "") -> dict[str, str]:
    return {
        f"{option} | {server}": f"serve {server}\nclient client -b 1M -t 1 {option}\nfinish\n"
        for option in options
    }


def _interrupted_client(option: str) -> dict[str, str]:
    return {
        f"{signal} {option}": f"serve\ninterrupted {signal} -b 1M -t 30 {option}\nfinish\n"
        for signal in ("INT", "TERM", "HUP", "KILL")
    }


def _interrupted_server(option: str, server: str = "") -> dict[str, str]:
    return {
        f"{signal} {option} | {server}": f"""
serve {server}
(sleep 1.7; kill -{signal} $server) &
client client -b 1M -t 30 {option}
ended
serve
finish
"""
        for signal in ("INT", "TERM", "KILL")
    }


def _misbehaving_clients(*names: str) -> dict[str, str]:
    # A server that waits for the client's next message does so for the time of --rcv-timeout.
    lines = "serve --rcv-timeout 3000\nmisbehave \"$A\" client '{}'\nsleep 0.5\nfinish\n"
    return {name: lines.format(name) for name in names}


def _misbehaving_servers(*names: str) -> dict[str, str]:
    lines = "misbehave \"$B\" server '{}' &\nsleep 0.5\nclient client -b 1M -t 10 {}\nwait $!\n"
    return {
        f"{name} {option}": lines.format(name, option) for name in names for option in ("", "-J")
    }


def _busy(*options: str) -> dict[str, str]:
    return {
        option: f"""
serve
client first -b 1M -t 3 {option} & first=$!
sleep 1.2
client second -b 1M -t 1
client third -b 1M -t 1 -J
wait $first
finish
"""
        for option in options
    }


_COMMON = {
    **_complete("", "-R", "-J"),
    "killed": "serve\ninterrupted KILL -b 1M -t 30\nfinish\n",
    "server interrupted": _interrupted_server("")["INT  | "],
}

_GROUPS = {
    "streams and directions": _complete(
        "-P 4", "--bidir", "-P 2 -R", "-P 2 --bidir", "-4", "-N", "-Z", "-Z -P 2"
    ),
    "UDP": _complete("-u", "-u -R", "-u --bidir", "-u -P 2", "-u -P 2 -R", "-u -J", "-u -R -J"),
    "JSON": _complete("-J -R", "-J --bidir", "-J -P 3", "-J -O 1", "--get-server-output -J"),
    "intervals": _complete("-i 0", "-i 0 -R", "-i 0.5", "-i 5", "-O 1", "-O 1 -R", "-f m", "-T t"),
    "end": _complete("-n 200K", "-n 200K -R", "-k 2", "-u -k 20", "-u -n 20K", "-n 200K -J"),
    "sockets": _complete(
        *("-w 64K", "-M 1000", "-C reno", "-l 1K", "-S 0x10", "--fq-rate 1M"),
        *("--cport 4000", "--rcv-timeout 3000 -R", "--snd-timeout 3000", "--connect-timeout 1000"),
    ),
    "server": {
        **_complete("--get-server-output", "--get-server-output -R"),
        **_complete("", "-R", server="-J"),
        **_complete("", "-R", server="-i 0"),
        **_complete("", server="--idle-timeout 3"),
        **_complete("", server="--rcv-timeout 3000"),
    },
    "one-off server": {
        **_complete("", "-R", "-J", "-u", server="-1"),
        "its client is killed": "serve -1\ninterrupted KILL -b 1M -t 30\nfinish\n",
        "its client is interrupted": "serve -1\ninterrupted INT -b 1M -t 30\nfinish\n",
    },
    **{
        f"interrupted client {option}": _interrupted_client(option)
        for option in ("-R", "--bidir", "-P 4", "-u", "-u -R", "-J", "-O 3", "-n 100M", "-i 0")
    },
    "interrupted client without an end": {
        "INT": "serve\ninterrupted INT -b 1M -t 0\nfinish\n",
        "KILL": "serve\ninterrupted KILL -b 1M -t 0 -R\nfinish\n",
    },
    **{
        f"interrupted server {option}": _interrupted_server(option)
        for option in ("", "-R", "--bidir", "-P 4", "-u", "-J")
    },
    "interrupted server with JSON": _interrupted_server("-J", "-J"),
    "one after another": {
        "ways": """
serve
client c1 -b 1M -t 1; client c2 -b 1M -t 1 -R; client c3 -u -b 1M -t 1
client c4 -P 3 -b 1M -t 1; client c5 --bidir -b 1M -t 1
finish
""",
        "interrupted": """
serve
interrupted KILL -b 1M -t 30; interrupted INT -R -b 1M -t 30; interrupted KILL -u -b 1M -t 30
finish
""",
    },
    "busy": _busy("", "-R", "-P 3", "-u", "--bidir", "-u -R"),
    "no server": {
        "refused": "client c1; client c2 -J; client c3 -u; client c4 -R\n",
        "bad options": """
client c1 -t -1; client c2 -n 1 -k 1; client c3 -u -Z; client c4 -R --bidir; client c5 -P 200
client c6 -M 99999; client c7 -t 100000
""",
    },
    "misbehaving client": _misbehaving_clients(
        *("connected, closes", "connected, resets", "short cookie", "zero bytes"),
        *("parameters are no JSON", "cookie of another test", "parameters, closes"),
    ),
    "misbehaving client in a test": _misbehaving_clients(
        *("running, closes", "running, closes data", "running, terminates"),
        *("running, unknown state", "running, starts again", "reversed, resets"),
        *("ended, closes", "ended, results are no JSON"),
    ),
    "misbehaving server": _misbehaving_servers(
        *("closes", "denies", "unknown state", "error", "closes after parameters"),
        *("closes during the test", "terminates"),
    ),
}


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def _run_on_host(name: str, lines: str) -> str:
    head = f"A=; B=; ADDRESS=127.0.0.1; PORT={_free_port()}\n"
    head += f"PYTHON={sys.executable}; CONTROL={_CONTROL}\n"
    script = f"{_FUNCTIONS}{head}{lines}\nshow '{name}'\nrmdir $D\n"
    done = subprocess.run(
        ["sh", "-c", script], capture_output=True, text=True, timeout=120, check=True
    )
    return done.stdout


def _run_in_machine(scenarios: dict[str, str]) -> str:
    head = f"{_FUNCTIONS}{_MACHINE}PYTHON=/usr/bin/python3; CONTROL={_CONTROL}\n"
    # A subshell each: a scenario may set variables.
    script = head + "".join(f"(\n{lines})\nshow '{name}'\n" for name, lines in scenarios.items())
    done = run("--bind", str(_CONTROL.parent), "sh", given=script.encode())
    assert done.returncode == 0, done.stderr
    return done.stdout.decode()


# Headings and rulers, which are repeated if an interval begins as the test does; an interval of
# no length at the end; and what 3.12 says of a length that it did not read.
_INTERVAL = re.compile(r"\b(\d+\.\d+)-(\d+\.\d+) sec")
_NO_RESULT = re.compile(
    r"\[ ID\].*|[- ]*|.* (\d+)-\1 sec .*|WARNING: Size of data read .*|.*Server listening .*"
)


def _normalised(text: str) -> list[object]:
    """Return an output without what a measurement determines: lines, and the keys of JSON."""
    parts: list[object] = []
    while text.lstrip().startswith("{"):
        text = text.lstrip()
        value, end = json.JSONDecoder().raw_decode(text)
        parts.append(_keys(value))
        text = text[end:]
    for printed in text.splitlines():
        line = _INTERVAL.sub(_rounded, re.sub(r"\s+", " ", printed)).strip()
        if not _NO_RESULT.fullmatch(line):
            parts.append(line if line.startswith("status") else _without_numbers(line))
    return parts


def _rounded(interval: re.Match[str]) -> str:
    return f"{float(interval[1]):.0f}-{float(interval[2]):.0f} sec"


def _without_numbers(line: str) -> str:
    line = re.sub(r"(\d+-\d+ sec)|\d+(\.\d+)*", lambda match: match[1] or "N", line)
    return re.sub(r"\b[KMG](?=Bytes|bits)", "", line)


def _keys(value: object) -> object:
    if isinstance(value, dict):
        return {
            key: _without_numbers(str(part)) if key == "error" else _keys(part)
            for key, part in value.items()
        }
    if isinstance(value, list):
        return [_keys(part) for part in value]
    return "text" if isinstance(value, str) else "number"


def _split(printed: str) -> dict[str, dict[str, list[object]]]:
    scenarios = {}
    for part in printed.split("@@@@ ")[1:]:
        name, _, rest = part.partition("\n")
        files = (file.partition("\n") for file in rest.split("#### ")[1:])
        scenarios[name] = {file: _normalised(text) for file, _, text in files}
    return scenarios


def _compare(scenarios: dict[str, str]) -> None:
    with ThreadPoolExecutor(len(scenarios) + 1) as executor:
        machine = executor.submit(_run_in_machine, scenarios)
        on_host = "".join(executor.map(_run_on_host, scenarios, scenarios.values()))
    expected, measured = _split(on_host), _split(machine.result())
    assert list(measured) == list(scenarios)
    for name in scenarios:
        assert measured[name] == expected[name], name


def test_the_most_common_ends_are_those_of_the_host() -> None:
    _compare(_COMMON)


@pytest.mark.parametrize("group", _GROUPS)
def test_all_ends_are_those_of_the_host(group: str) -> None:
    _compare(_GROUPS[group])


def _last_lines(script: str) -> dict[str, str]:
    """Run a scenario in a machine; return the last line but the status of each output."""
    (outputs,) = _split(_run_in_machine({"scenario": script})).values()
    return {name: str(["", *lines][-2]) for name, lines in outputs.items() if lines}


@pytest.mark.parametrize("option", ["", "-R", "--bidir", "-P 2"])
def test_sctp(option: str) -> None:
    # Not compared with the host, whose kernel may not have it.
    ends = _last_lines(f"""
serve
client whole --sctp -b 1M -t 1 {option}
for signal in INT KILL; do interrupted $signal --sctp -b 1M -t 30 {option}; done
finish --sctp
""")
    assert (ends["whole"], ends["next"]) == ("iperf Done.", "iperf Done.")


@pytest.mark.parametrize("option", ["", "-R", "--bidir", "-P 2", "-u"])
def test_a_link_that_is_down_for_a_second(option: str) -> None:
    ends = _last_lines(f"""
serve
(sleep 1; ip -n b link set far down; sleep 1; ip -n b link set far up) &
client whole -b 1M -t 4 {option}
finish
""")
    assert (ends["whole"], ends["next"]) == ("iperf Done.", "iperf Done.")


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("--snd-timeout 2000", "unable to write to stream socket: Connection timed out"),
        ("--rcv-timeout 2000 -R", "idle timeout for receiving data"),
    ],
)
def test_a_link_that_goes_down(option: str, message: str) -> None:
    ends = _last_lines(f"""
serve --rcv-timeout 3000
(sleep 1; ip -n b link set far down) &
client client -b 1M -t 30 {option}
sleep 10; ip -n b link set far up; sleep 5
finish
""")
    assert ends["client"].endswith(message)
    assert ends["next"] == "iperf Done."


@pytest.mark.parametrize("option", ["", "-R", "--bidir", "-P 2", "-u"])
def test_connections_that_are_reset(option: str) -> None:
    ends = _last_lines(f"""
serve
(sleep 1; $A ss -K dport = :5201 >/dev/null) &
client client -b 1M -t 30 {option}
finish
""")
    assert "error" in ends["client"]
    assert ends["next"] == "iperf Done."


def test_a_connection_that_times_out() -> None:
    ends = _last_lines("ADDRESS=10.0.0.3\nclient client --connect-timeout 1500\n")
    assert ends["client"].endswith("unable to connect to server: Connection timed out")
