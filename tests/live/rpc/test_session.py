"""`longfat session`: calls, their errors, and what ends it."""

from __future__ import annotations

import base64
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from longfat.live.rpc.calls import CALLS
from longfat.live.rpc.requests import MAX_LINE_BYTES
from tests.command import run_command
from tests.live.rpc.conftest import Program
from tests.paths import LONGFAT

Start = Callable[..., Program]

SECTION = {
    "hosts": {"h1": "10.0.0.1/8", "h2": "10.0.0.2/8", "h3": "10.0.0.3/8"},
    "switches": ["s1"],
    "links": [["h1", "s1"], ["h2", "s1", {"delay": "10ms"}], ["h3", "s1"]],
}
QUIET_PING = "ping -c 1 -W 1 h2 > /dev/null"


def test_a_network_is_built_changed_and_used(start: Start) -> None:
    program = start("--seed", "3")
    assert program.messages[0]["params"]["seed"] == 3
    assert program.messages[0]["params"]["kernel"].startswith("6.1.")
    program.call("network.add", network=SECTION)
    assert program.call("network.host", name="h4") == "h4"
    link = program.call("network.link", a="h4", b="s1", rate="10mbit", delay=0.005)
    assert link == {"link": 4, "a": "h4-eth0", "b": "s1-eth4"}
    assert program.call("host.address", host="h4") == "10.0.0.4"
    assert program.call("host.ping", host="h4", target="h1", count=2)["metrics"]["min_s"] == (
        pytest.approx(0.01 + 2 * 98 * 8 / 10e6, rel=1e-4)
    )
    program.call("link.change", link=4, delay="50ms", reverse={"delay": "1ms"})
    measured = program.call("host.ping", host="h4", target="h1", count=2)
    assert measured["metrics"]["min_s"] == pytest.approx(0.051, rel=0.01)
    assert "2 received" in measured["raw"]["ping.txt"]
    before_s = program.call("clock.now")
    program.call("network.sleep", duration="1min")
    assert program.call("clock.now") - before_s == pytest.approx(60)
    assert "delay 50ms" in program.call("network.tc", interface="h4-eth0", line="qdisc show")
    bulk = program.call("host.start", host="h1", tool="transfer", target="h2", time=1)
    assert program.call("traffic.is_over", traffic=bulk["traffic"]) is False
    assert program.call("traffic.result", traffic=1)["metrics"]["receiver_bps"] > 1e6
    assert program.end() == 0


def test_commands_processes_and_files(start: Start) -> None:
    program = start()
    program.call("network.add", network=SECTION)
    done = program.call("node.run", node="h1", command="cat; echo b >&2; exit 3", input="a\n")
    assert (done["returncode"], done["stdout"], done["stderr"]) == (3, "a\n", "b\n")
    program.call("node.run", node="root", command=["true"], on_output=False)
    spawned = program.call("node.spawn", node="h1", command="read x; echo got $x; sleep 9; exit 4")
    assert spawned["process"] == 1
    program.call("process.write", process=1, data="it\n")
    program.call("process.expect", process=1, text="got it", timeout="1s")
    assert program.call("process.poll", process=1) is None
    assert program.call("process.wait", process=1, timeout=20) == 4
    assert program.call("process.stdout", process=1) == "got it\n"
    assert program.call("process.complete", process=1)["took_s"] == pytest.approx(9, abs=0.1)
    odd = base64.b64encode(b"\xff\0").decode()
    program.call("node.write_file", node="h1", path="/tmp/odd", data={"base64": odd}, mode=0o700)
    assert program.call("node.read_file", node="h2", path="/tmp/odd") == {"base64": odd}
    program.call("node.write_file", node="h1", path="/tmp/even", data="é")
    assert program.call("node.read_file", node="h2", path="/tmp/even") == "é"


def test_output_comes_as_messages_that_name_the_request(start: Start) -> None:
    program = start()
    program.call("network.add", network=SECTION)
    program.call(
        "node.run", node="h1", command="echo a; sleep 1; echo b", on_output=True, check=True
    )
    told = [one["params"] for one in program.messages if one.get("method") == "output"]
    assert told == [{"request": 2, "text": "a\n"}, {"request": 2, "text": "b\n"}]


def test_partitions_pauses_and_restarts(start: Start) -> None:
    program = start()
    program.call("network.add", network=SECTION)
    program.call("network.partition", groups=[["h1", "s1"], ["h2"]])
    assert program.call("node.run", node="h1", command=QUIET_PING)["returncode"] == 1
    assert "partition already" in program.fail("network.partition", groups=[["h3"]])["message"]
    program.call("network.heal")
    assert program.call("node.run", node="h1", command=QUIET_PING)["returncode"] == 0
    program.call("node.spawn", node="h1", command="while sleep 1; do echo x; done")
    program.call("host.pause", host="h1")
    program.call("network.sleep", duration=10)
    assert program.call("process.stdout", process=1) == ""
    program.call("host.resume", host="h1")
    program.call("network.sleep", duration=2.5)
    assert len(program.call("process.stdout", process=1)) >= 4
    (again,) = program.call("host.restart", host="h1")
    assert again["process"] == 2
    assert program.call("process.poll", process=1) == -signal.SIGKILL
    assert program.call("process.poll", process=2) is None


WRITE = {"node": "h1", "path": "/tmp/a", "data": ""}
MISTAKES: list[tuple[str, dict[str, Any], str, str, str]] = [
    ("network.link", {"a": "h1", "b": "h9"}, "invalid_params", "", "no node 'h9'"),
    ("network.link", {"a": "h1"}, "invalid_params", "params.b", "needs b"),
    ("network.link", {"a": "h1", "b": 2}, "invalid_params", "params.b", "found 2"),
    ("network.host", {"name": "h8", "nat": "x"}, "invalid_params", "params.nat", "home"),
    ("link.change", {"link": 1, "los": 1}, "invalid_params", "params", "mean 'loss'?"),
    ("link.change", {"link": 1, "loss": 2}, "invalid_params", "params.loss", "allowed"),
    ("link.down", {"link": 0}, "invalid_params", "", "no link 0"),
    ("host.ping", {"host": "s1", "target": "h1"}, "invalid_params", "", "no host 's1'"),
    ("process.kill", {"process": 7}, "invalid_params", "", "no process 7"),
    ("node.run", {"node": "h1", "command": "exit 9", "check": True}, "command_failed", "", "9"),
    ("node.run", {"node": "h1", "command": "sleep 9", "timeout": 1}, "timed_out", "", "1 s"),
    ("node.run", {"node": "h1", "command": ["/no"]}, "refused", "", "not found"),
    ("node.run", {"node": "h1", "command": []}, "invalid_params", "", "empty"),
    ("node.write_file", {**WRITE, "path": "/no/a"}, "refused", "", "No such file"),
    ("node.write_file", {**WRITE, "mode": 2**40}, "invalid_params", "", "permissions"),
    ("node.write_file", {**WRITE, "data": {"base64": "?"}}, "invalid_params", "params.data", "RFC"),
    (
        "network.add",
        {"network": {"hosts": {"h7": "10.0.0.7/99"}}},
        "invalid_params",
        "params.network.hosts.h7",
        "99",
    ),
    ("network.add", {"network": {"hosts": {"h1": "10.9.0.1/8"}}}, "invalid_params", "", "taken"),
    ("host.pings", {}, "no_method", "method", "did you mean 'host.ping'?"),
]


@pytest.fixture(scope="module")
def shared() -> Iterator[Program]:
    program = Program()
    program.read()
    program.call("network.add", network=SECTION)
    yield program
    assert program.end() == 0


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake[0])
def test_what_cannot_be_done_is_reported_and_the_session_continues(
    shared: Program, mistake: tuple[str, dict[str, Any], str, str, str]
) -> None:
    method, params, kind, where, words = mistake
    error = shared.fail(method, **params)
    assert (error["data"]["kind"], error["data"]["where"]) == (kind, where), error
    assert words in error["message"]
    assert shared.call("node.run", node="h1", command="echo on")["stdout"] == "on\n"


def test_lines_that_are_no_requests_are_reported_and_the_session_continues(start: Start) -> None:
    program = start()
    deep = b'{"jsonrpc":"2.0","id":7,"method":"network.add","params":{"network":'
    for line, kind, number in (
        (b"rubbish", "not_json", None),
        (b"\xff\xfe", "not_json", None),
        (b'{"id": 1, "id": 2}', "not_json", None),
        (b"[" * 100_000 + b"]" * 100_000, "not_json", None),
        (b"[1, 2]", "invalid_request", None),
        (b'{"jsonrpc": "2.0", "method": "clock.now"}', "invalid_request", None),
        (b'{"jsonrpc": "2.0", "id": 5, "method": "clock.now", "x": 1}', "invalid_request", 5),
        (b'{"jsonrpc": "1.0", "id": 5, "method": "clock.now"}', "invalid_request", 5),
        (b'{"jsonrpc": "2.0", "id": 5, "method": "clock.now", "params": []}', "invalid_params", 5),
        (deep + b"[" * 900 + b"]" * 900 + b"}}", "invalid_params", 7),
        (b"x" * (2 * MAX_LINE_BYTES), "invalid_request", None),
    ):
        program.write(line)
        answer = program.read()
        assert (answer["id"], answer["error"]["data"]["kind"]) == (number, kind), answer
    assert program.call("clock.now") > 2


def test_a_flood_is_answered_in_its_order(start: Start) -> None:
    program = start()
    for number in range(2000):
        program.write(b'{"jsonrpc":"2.0","id":%d,"method":"clock.now"}' % number)
        program.messages.clear()
        assert program.read()["id"] == number
    lines = b"rubbish\n" * 3000 + b'{"jsonrpc":"2.0","id":"last","method":"clock.now"}'
    writer = os.fork()
    if writer == 0:
        program.write(lines)
        os._exit(0)
    while (answer := program.read())["id"] is None:
        assert answer["error"]["data"]["kind"] == "not_json"
    os.waitpid(writer, 0)
    assert answer["id"] == "last"


def test_the_same_calls_give_the_same_bytes() -> None:
    lines = [
        (
            "network.add",
            {
                "network": {
                    **SECTION,
                    "links": [
                        ["h1", "s1"],
                        ["h2", "s1", {"delay": "10ms", "jitter": "5ms", "loss": "10%"}],
                    ],
                }
            },
        ),
        ("node.run", {"node": "h1", "command": "ping -i 0.1 -c 40 h2", "on_output": True}),
        ("host.kill", {"host": "h1"}),
        ("host.transfer", {"host": "h1", "target": "h2", "time": 1}),
        ("clock.now", {}),
    ]
    text = "".join(
        json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}) + "\n"
        for number, (method, params) in enumerate(lines)
    )
    ended = [
        run_command(
            *("longfat", "session", "--seed", seed, "--memory", "512MB", "--kernel", "6.1"),
            given=text,
        )
        for seed in ("1", "1", "2")
    ]
    assert [session.returncode for session in ended] == [0, 0, 0]
    first, again, other = (session.stdout for session in ended)
    assert first == again
    assert first.replace('"seed": 1', '"seed": 2') != other


def test_a_killed_parent_ends_a_machine_that_runs_for_ever(tmp_path: Path) -> None:
    parent = f"""
import subprocess, sys, time
child = subprocess.Popen([{LONGFAT!r}, "session", "--memory", "512MB"],
    stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
child.stdout.readline()
child.stdin.write('{{"jsonrpc":"2.0","id":1,"method":"network.host","params":{{"name":"h"}}}}\\n')
child.stdin.write('{{"jsonrpc":"2.0","id":2,"method":"node.run","params":{{"node":"h",'
    '"command":"while sleep 0.001; do :; done"}}}}\\n')
child.stdin.flush()
child.stdout.readline()
print(child.pid, flush=True)
time.sleep(100)
"""
    with subprocess.Popen(
        [sys.executable, "-c", parent], stdout=subprocess.PIPE, text=True, cwd=tmp_path
    ) as process:
        assert process.stdout is not None
        pid = int(process.stdout.readline())
        assert Path(f"/proc/{pid}").exists()
        process.kill()
    until_s = time.monotonic() + 20
    while _lives(pid):
        assert time.monotonic() < until_s
        time.sleep(0.1)


def _lives(pid: int) -> bool:
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


def test_what_cannot_be_opened_ends_it_with_the_status_of_bad_input() -> None:
    done = run_command("longfat", "session", "no-such-lab", given="")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("longfat: ")


def test_a_study_is_opened_with_its_case(start: Start) -> None:
    program = start("labs/lab08", "--case", "default")
    assert "netem" in program.call("network.tc", interface="s1-eth2", line="qdisc show")
    assert program.call("host.address", host="h1") == "10.0.0.1"


def test_every_call_says_what_it_does_and_what_it_takes() -> None:
    for call in CALLS.values():
        assert call.summary, call.name
        for parameter in call.parameters.values():
            assert parameter.help, (call.name, parameter.name)
