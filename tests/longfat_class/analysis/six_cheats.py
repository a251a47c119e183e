"""Attempts to have the points of `six_exercises` without their solution, each with its kind."""

# ruff: noqa: E501  lines for a shell are written as they are typed

from __future__ import annotations

import json
from base64 import b64encode

from tests.longfat_class.analysis.six_exercises import (
    CHILD,
    RATE,
    ROUTERS,
    SEND,
    TAKE,
    TBF,
    lines,
    program,
    study,
)

FAKE_IPERF = """\
#!/usr/bin/python3
import json, subprocess, sys
def more(data):
    for key, value in data.items() if isinstance(data, dict) else enumerate(data):
        if isinstance(value, (dict, list)):
            more(value)
        elif key in ("bytes", "bits_per_second"):
            data[key] = 3 * value
    return data
said = subprocess.run(["/opt/iperf3", *sys.argv[1:]], capture_output=True).stdout
print(json.dumps(more(json.loads(said))) if b"{" in said else said.decode())
"""
FAKE_PING = """\
#!/bin/sh
echo "PING 10.0.0.2 (10.0.0.2) 56(84) bytes of data."
for n in 1 2 3 4 5; do echo "64 bytes from 10.0.0.2: icmp_seq=$n ttl=64 time=40.0 ms"; done
echo; echo "--- 10.0.0.2 ping statistics ---"
echo "5 packets transmitted, 5 received, 0% packet loss, time 400ms"
echo "rtt min/avg/max/mdev = 40.0/40.0/40.0/0.0 ms"
"""


def python(code: str) -> str:
    """Return a line that runs Python."""
    return f"python3 -c 'exec(bytes.fromhex(\"{code.encode().hex()}\"))'"


def write(path: str, text: str) -> str:
    """Return a line that writes a program."""
    return f"echo {b64encode(text.encode()).decode()} | base64 -d > {path} && chmod 755 {path}"


REPLACED = {
    "bind": "mount --bind {fake} {tool}",
    "copied over": "cp {fake} {tool}",
    "first in the path": "cp {fake} /usr/local/sbin/{name}",
    "a link": "ln -sf {fake} {tool}",
    "another's mounts": "nsenter -t 1 -m mount --bind {fake} {tool}",
    "an overlay": "mount -t overlay x /usr/bin -o lowerdir=/tmp:/usr/bin",
}


def replaced(how: str, *, name: str, text: str) -> list[str]:
    fake = f"/tmp/{name}"
    line = REPLACED[how].format(fake=fake, tool=f"/usr/bin/{name}", name=name)
    return [write(fake, text), f"{line} || true"]


EDIT = (
    "(sleep 4; for f in $(find /run /tmp /root /dev -name 'ping.txt*' -o -name 'bulk*' 2>/dev/null); do "
    "sed -i 's/0.0[0-9]*/40.0/g' $f; done) > /dev/null 2>&1 & true"
)
EDIT_OF_PROCESSES = (
    "(while sleep 0.1; do for p in /proc/[0-9]*; do for f in $p/fd/1 $p/root/run/output/raw/*; do "
    "echo 'rtt min/avg/max/mdev = 40.0/40.0/40.0/0.0 ms' >> $f; done; done; done) "
    "> /dev/null 2>&1 & true"
)
CLOCKS = (
    "(while sleep 0.02; do date -s '+1 second'; done) > /dev/null 2>&1 & true",
    python("import time\ntry: time.clock_settime(0, 9e9)\nexcept OSError: pass"),
    "hwclock --set --date 2030-01-01 2> /dev/null; adjtimex -t 11000 2> /dev/null; true",
    "echo 1 > /sys/devices/system/clocksource/clocksource0/current_clocksource; true",
)
MIRRED = (
    "tc qdisc add dev s1-eth1 clsact",
    "tc filter add dev s1-eth1 ingress matchall action mirred egress redirect dev s2-eth2",
)
OWN_SERVER = "h1: (iperf3 -s -p 5201 > /dev/null 2>&1 &) ; ip addr add 10.0.0.2/32 dev lo"
DNAT = (
    "h1: nft 'add table ip n; add chain ip n o { type nat hook output priority 0; }; "
    "add rule ip n o icmp type echo-request dnat to 10.0.0.1'"
)
JUNK = (
    "h1: (timeout 6 "
    + python(
        "import socket, time\ns = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
        "s.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)\n"
        "s.bind(('10.0.0.1', 0))\nwhile True:\n    s.sendto(bytes(1400), ('10.255.255.255', 9))"
        "\n    time.sleep(0.000115)"
    )
    + ") > /dev/null 2>&1 & true"
)
SHORT_LO = "h1: tc qdisc add dev lo root handle 1: netem delay 20ms; tc qdisc add dev lo parent 1: tbf rate 20mbit burst 70kb limit 300kb"
PROGRAM_FLOW = """\
    flows:
      {flow}:
        program: h1 -> h2
        run: echo 95
        metrics: {{receiver: {{regex: '([0-9]+)', unit: mbit}}}}
"""
PACED = "tc qdisc add dev s1-eth1 root fq maxrate 18mbit"


def far(*typed: str, more: str = "", top: str = "") -> str:
    return study("far", setup=lines(*typed) if typed else "", more=more, top=top)


def flows(case: str, text: str) -> str:
    """Return a study of a case whose flows are also given otherwise."""
    given = study(case)
    if "    flows:" in given.partition("cases:")[2]:
        head, _, tail = given.rpartition("    flows:")
        rest = "\n".join(
            row for row in tail.split("\n")[1:] if row.startswith("    ") and row[4] != " "
        )
        return head + text + rest + "\n"
    return given + text


Cheat = tuple[str, str]

CHEATS: dict[str, dict[str, Cheat]] = {
    "path": {
        **{
            f"ping replaced: {how}": (
                "tools replaced",
                lines(RATE, *replaced(how, name="ping", text=FAKE_PING)),
            )
            for how in REPLACED
        },
        "ld.so.preload": (
            "tools replaced",
            lines(RATE, "(echo /opt/x.so > /etc/ld.so.preload) || true"),
        ),
        "results edited": ("results edited", lines(RATE, EDIT)),
        "results edited through processes": ("results edited", lines(RATE, EDIT_OF_PROCESSES)),
        **{
            f"clock {number}": ("the clock", lines(RATE, f"h1: {line}"))
            for number, line in enumerate(CLOCKS)
        },
        "echo alone is delayed": (
            "other ways for other packets",
            lines(
                "tc qdisc add dev s1-eth2 root handle 1: tbf rate 20mbit burst 20kb limit 200kb",
                "tc qdisc add dev s2-eth1 root handle 1: prio priomap 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0",
                "tc qdisc add dev s2-eth1 parent 1:3 handle 3: netem delay 40ms",
                "tc filter add dev s2-eth1 parent 1: protocol ip u32 match ip protocol 1 0xff flowid 1:3",
            ),
        ),
        "a shaper that goes": (
            "a shaper that goes",
            lines(
                TBF,
                CHILD,
                "(sleep 3.2; tc qdisc replace dev s1-eth2 root netem rate 19mbit limit 99) > /dev/null 2>&1 & true",
            ),
        ),
        "a shaper of another rate from a script": (
            "a shaper that is none",
            lines("sh -c 'tc qdisc add dev s1-eth2 root netem delay 40ms rate 100mbit'", PACED),
        ),
        "around the link, shaped there": (
            "around the links",
            lines(
                RATE,
                *MIRRED,
                "tc qdisc add dev s2-eth2 root netem delay 40ms rate 20mbit limit 200",
            ),
        ),
        "a server of their own": (
            "another server",
            lines(RATE, OWN_SERVER, SHORT_LO),
        ),
        "programs ended": (
            "processes",
            lines(
                RATE, "h1: (sleep 3; kill -9 -1; pkill iperf3; kill -9 1) > /dev/null 2>&1 & true"
            ),
        ),
    },
    "far": {
        **{
            f"iperf3 replaced: {how}": (
                "tools replaced",
                far(*replaced(how, name="iperf3", text=FAKE_IPERF)),
            )
            for how in REPLACED
        },
        "a program as the flow": ("another flow", flows("far", PROGRAM_FLOW.format(flow="bulk"))),
        "UDP as the flow": (
            "another flow",
            flows("far", "    flows: {bulk: {udp: yes, rate: 95mbit}}\n"),
        ),
        "a window of the flow": (
            "another flow",
            flows("far", "    flows: {bulk: {window: 30MB}}\n"),
        ),
        "streams of the flow": ("another flow", flows("far", "    flows: {bulk: {parallel: 8}}\n")),
        "a time of the flow": (
            "another flow",
            flows("far", "    flows: {bulk: {time: 30s, omit: 25s}}\n"),
        ),
        "another case's name": ("another part", study("far").replace("  far:", "  path:")),
        "files in the place of programs": (
            "tools replaced",
            far(
                top=f"files: {{/usr/bin/iperf3: {{executable: yes, text: {json.dumps(FAKE_IPERF)}}}}}\n"
            ),
        ),
        "a probe of another name": (
            "another probe",
            far(top="probes: {tcp: {of: bulk, every: 1s}}\n"),
        ),
        "no delay any more": (
            "a shaper that is none",
            far(
                "tc qdisc del dev s1-eth2 root; tc qdisc del dev s2-eth1 root",
                "tc qdisc add dev s1-eth2 root tbf rate 95mbit burst 100kb limit 1mb",
            ),
        ),
        "a script that leaves no delay": (
            "a shaper that is none",
            far(
                "for d in s1-eth2 s2-eth1; do tc qdisc del dev $d root; done",
                "tc qdisc add dev s1-eth2 root fq maxrate 90mbit",
            ),
        ),
        "around the link": (
            "around the links",
            far(
                *MIRRED,
                "tc qdisc add dev s2-eth1 clsact",
                "tc filter add dev s2-eth2 ingress matchall action mirred egress redirect dev s1-eth1"
                " 2> /dev/null || (tc qdisc add dev s2-eth2 clsact; tc filter add dev s2-eth2 ingress"
                " matchall action mirred egress redirect dev s1-eth1)",
                "tc qdisc add dev s2-eth2 root tbf rate 95mbit burst 100kb limit 1mb",
            ),
        ),
        "a server of their own": (
            "another server",
            far(OWN_SERVER, "h1: tc qdisc add dev lo root tbf rate 95mbit burst 100kb limit 1mb"),
        ),
        "other traffic beside a server of their own": (
            "other traffic",
            far(
                OWN_SERVER,
                "h1: tc qdisc add dev lo root tbf rate 95mbit burst 100kb limit 1mb",
                JUNK,
            ),
        ),
        "other traffic, and around the link": (
            "other traffic",
            far(
                *MIRRED,
                "tc qdisc add dev s2-eth2 clsact; tc filter add dev s2-eth2 ingress matchall action"
                " mirred egress redirect dev s1-eth1",
                "tc qdisc add dev s2-eth2 root tbf rate 190mbit burst 100kb limit 1mb",
                "h1: tc qdisc add dev h1-eth0 root fq maxrate 95mbit",
                JUNK,
            ),
        ),
        "another kernel and seed": (
            "another experiment",
            study("far", top='seed: 77\nkernel: "6.12"\n').replace("memory: 256MB\n", ""),
        ),
        "a shorter link": (
            "another experiment",
            study("far").replace("delay: 200ms", "delay: 1ms"),
        ),
        "events": (
            "another experiment",
            far(top="events: [{at: 0s, link: [s1, s2], rate: 1gbit}]\n"),
        ),
    },
    "contest": {
        "named alone": ("a name that is wrong", study("contest")),
        "renamed flows": (
            "another flow",
            study("contest").replace("reno: {iperf3", "renew: {iperf3"),
        ),
        "one after the other": (
            "another order",
            study(
                "contest", setup=lines("h1: sysctl -w net.ipv4.tcp_congestion_control=reno")
            ).replace(
                "cubic: {iperf3: h3 -> h2, time: 2s, after: ping",
                "cubic: {iperf3: h3 -> h2, time: 2s, after: reno",
            ),
        ),
        "at the wrong host": (
            "a name that is wrong",
            study("contest", setup=lines("h2: sysctl -w net.ipv4.tcp_congestion_control=reno")),
        ),
        "set too late": (
            "a name that is wrong",
            study(
                "contest",
                setup=lines(
                    "h1: (sleep 4; sysctl -w net.ipv4.tcp_congestion_control=reno) > /dev/null 2>&1 & true"
                ),
            ),
        ),
        "programs as flows": ("another flow", flows("contest", PROGRAM_FLOW.format(flow="reno"))),
        "a wider link": (
            "a shaper that is none",
            study(
                "contest",
                setup=lines(
                    "h1: sysctl -w net.ipv4.tcp_congestion_control=reno",
                    "tc qdisc del dev s1-eth2 root; tc qdisc add dev s1-eth2 root netem rate 80mbit",
                ),
            ),
        ),
        "a wider link by a script": (
            "a shaper that is none",
            study(
                "contest",
                setup=lines(
                    "h1: sysctl -w net.ipv4.tcp_congestion_control=reno",
                    "for d in s1-eth2; do tc qdisc del dev $d root; done",
                ),
            ),
        ),
        "figures of a file": ("results edited", study("contest", setup=lines(EDIT_OF_PROCESSES))),
    },
    "routed": {
        "echo redirected to the host itself": (
            "another server",
            ROUTERS.replace("delay: 20ms", "delay: 1ms")
            + "setup:\n"
            + lines(DNAT, "h1: tc qdisc add dev lo root netem delay 20ms"),
        ),
        "a link of their own beside": (
            "a second link",
            ROUTERS
            + "    - [h1, h2, {addresses: {h1: 10.0.3.1/24, h2: 10.0.3.2/24}}]\nsetup:\n"
            + lines(
                "h1: ip route replace 10.0.2.2/32 via 10.0.3.2",
                "h2: ip route replace 10.0.0.1/32 via 10.0.3.1",
                "h1: tc qdisc add dev h1-eth1 root netem delay 40ms rate 19mbit limit 300",
            ),
        ),
        "programs replaced": (
            "tools replaced",
            ROUTERS.replace("delay: 20ms", "delay: 1ms")
            + "setup:\n"
            + lines(*replaced("bind", name="ping", text=FAKE_PING)),
        ),
        "no shaper": (
            "a shaper that is none",
            ROUTERS.replace("rate: 20mbit, ", "").replace(", queue: 200KB", "")
            + "setup:\n"
            + lines("h1: sh -c 'tc qdisc add dev h1-eth0 root fq maxrate 16mbit'"),
        ),
        "a study's traffic": (
            "another flow",
            ROUTERS.replace("delay: 20ms", "delay: 1ms")
            + "flows: {bulk: {program: h1 -> h2, run: echo 19}, ping: {ping: h1 -> r1}}\n",
        ),
        "a root of their own": (
            "another experiment",
            ROUTERS.replace("h2: {address", "h2: {root: image.tar, address"),
        ),
    },
    "queue": {
        "a nearer answer": (
            "another server",
            lines("ip addr add 10.0.0.2/32 dev s1"),
        ),
        "echo redirected to the host itself": ("another server", lines(DNAT)),
        "echo first": (
            "tools replaced",
            lines(*replaced("copied over", name="ping", text=FAKE_PING.replace("40.0", "11.0"))),
        ),
        "a faster link": (
            "a shaper that is none",
            lines(
                "tc qdisc del dev s1-eth2 root",
                "h1: tc qdisc add dev h1-eth0 root fq maxrate 18mbit",
            ),
        ),
        "a faster link by a script": (
            "a shaper that is none",
            lines(
                "d=s1-eth2; tc qdisc del dev $d root",
                "h1: tc qdisc add dev h1-eth0 root fq maxrate 18mbit",
            ),
        ),
        "a link that becomes faster": (
            "a shaper that goes",
            lines(
                "(sleep 2.5; tc qdisc del dev s1-eth2 root) > /dev/null 2>&1 & true",
                "h1: tc qdisc add dev h1-eth0 root fq maxrate 19mbit",
            ),
        ),
        "around the link": (
            "around the links",
            lines(*MIRRED, "tc qdisc add dev s2-eth2 root netem delay 10ms rate 20mbit limit 30"),
        ),
        "results edited": ("results edited", lines(EDIT, EDIT_OF_PROCESSES)),
        "processes ended": (
            "processes",
            lines("h1: (sleep 3; kill -9 -1; kill -STOP 1) > /dev/null 2>&1 & true"),
        ),
    },
    "carried": {
        "prints a figure": ("a program's word", program("echo 0.5 1000000")),
        "ends at once": ("a program's word", program("exit 0")),
        "forges its report": (
            "a program's word",
            program(
                "python3 -c 'import os, signal; print(1); os.kill(os.getppid(), 9)'; true",
            ),
        ),
        "a report in its errors": (
            "a program's word",
            program(
                'echo \'{"program": "longfat program", "elapsed_ns": 1, "status": 0, "metrics": {}}\' >&2; sleep 0.1'
            ),
        ),
        "too slow": ("a program's word", program("sleep 3; python3 /srv/send.py")),
        "to itself": (
            "around the links",
            program(
                "python3 /srv/t.py & sleep 0.2; python3 /srv/s.py; kill %1; true",
                files={
                    "/srv/t.py": TAKE.replace("4000", "4009"),
                    "/srv/s.py": SEND.replace('"h2", 4000', '"h1", 4009'),
                },
            ),
        ),
        "the clock": (
            "the clock",
            program("date -s '-10 seconds' > /dev/null; python3 /srv/send.py; sleep 2"),
        ),
        "another link": (
            "another experiment",
            program("sleep 2; python3 /srv/send.py").replace("rate: 20mbit", "rate: 10gbit"),
        ),
        "other probes": (
            "another probe",
            program("true").replace("cases:", "probes: {rate: {of: h1-eth0}}\ncases:"),
        ),
    },
}
