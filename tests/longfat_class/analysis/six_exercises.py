"""Six exercises, honest solutions in different ways, and attempts to have the points without one.

A hand-in is one file (or some) of one exercise. `HONEST` and `CHEATS` are by exercise; a cheat
names its kind, and all cheats of an exercise begin at something that gives no points by itself.
"""

# ruff: noqa: E501  lines for a shell are written as they are typed

from __future__ import annotations

import json

STUDY = """\
title: Six exercises
memory: 256MB
network:
  hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8}
  switches: [s1, s2]
  links: [[h1, s1], [s1, s2], [h2, s2]]
flows:
  ping: {ping: h1 -> h2, count: 5, interval: 100ms}
  bulk: {iperf3: h1 -> h2, time: 3s, after: ping}
cases:
  bare: {title: no shaping}
  far:
    title: a long link
    network:
      hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8}
      switches: [s1, s2]
      links: [[h1, s1], [s1, s2, {rate: 100mbit, delay: 200ms, queue: 5MB}], [h2, s2]]
    flows: {bulk: {time: 2s, omit: 5s}}
  contest:
    title: two algorithms
    network:
      hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8, h3: 10.0.0.3/8}
      switches: [s1, s2]
      links: [[h1, s1], [s1, s2, {rate: 20mbit, delay: 10ms, queue: 100KB}], [h2, s2], [h3, s1]]
    flows:
      bulk: null
      reno: {iperf3: h1 -> h2, time: 2s, after: ping}
      cubic: {iperf3: h3 -> h2, time: 2s, after: ping}
  ways: {title: a path of routers}
  bloated:
    title: a queue that is too long
    network:
      hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8}
      switches: [s1, s2]
      links: [[h1, s1], [s1, s2, {rate: 20mbit, delay: 10ms, queue: 1MB}], [h2, s2]]
    flows: {ping: {count: 20, start: 1s}, bulk: {after: null}}
  carried:
    title: a program
    network:
      hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8}
      switches: [s1, s2]
      links: [[h1, s1], [s1, s2, {rate: 20mbit, delay: 10ms, queue: 50KB}], [h2, s2]]
    flows:
      ping: null
      bulk: null
      move: {program: h1 -> h2, run: "false", serve: "false", ready: tcp 4000}
    probes: {rate: {of: s2-eth1, every: 100ms}}
"""

GRADING = """\
title: Six exercises
study: study.yaml
limits: {time: 20s}
parts:
  path: {setup: path.yaml, case: bare, rate: 20mbit}
  far: {study: far.yaml, rate: 100mbit, takes: [setup, files]}
  contest: {study: contest.yaml, rate: 20mbit, takes: [setup, congestion, times]}
  routed: {network: routed.yaml, case: ways, rate: 20mbit}
  queue: {setup: queue.yaml, case: bloated, rate: 20mbit}
  carried: {study: carried.yaml, takes: [files, programs]}
exercises:
  path:
    part: path
    points: 1
    claim: {a ping takes 40 ms: "within(path.ping.min, 40ms, 5%) and path.bulk.receiver > 14mbit"}
    checks: [shaper, rate]
  far:
    part: far
    points: 1
    claim: {the link is filled: far.bulk.receiver > 80% * 100mbit}
    checks: [shaper, buffers, rate]
    cases: far
  contest:
    part: contest
    points: 1
    claim: {both had a share: contest.reno.receiver > 2mbit and contest.cubic.receiver > 2mbit}
    checks: [algorithm, overlap, shaper, rate]
    cases: contest
  routed:
    part: routed
    points: 1
    claim: {40 ms by routers: "within(routed.ping.min, 40ms, 5%) and routed.bulk.receiver > 14mbit"}
    checks: [shaper, rate]
  queue:
    part: queue
    points: 1
    claim: {full and fast: queue.ping.avg < 60ms and queue.bulk.receiver > 15mbit}
    checks: [shaper, rate]
  carried:
    part: carried
    points: 1
    claim: {a megabyte soon: "carried.move.elapsed < 1.2s and carried.rate.rx > 6mbit"}
"""

EXERCISES = ("path", "far", "contest", "routed", "queue", "carried")
FILES = {"path": "path.yaml", "far": "far.yaml", "contest": "contest.yaml"} | {
    "routed": "routed.yaml",
    "queue": "queue.yaml",
    "carried": "carried.yaml",
}


def lines(*typed: str, node: str = "root") -> str:
    """Return a file of set-up lines; one with a node before it is of that node."""
    items = []
    for line in typed:
        at, colon, rest = line.partition(": ")
        at, rest = (at, rest) if colon and " " not in at else (node, line)
        items.append(f"- {at}: {json.dumps(rest)}\n")
    return "".join(items)


def study(case: str, *, setup: str = "", more: str = "", top: str = "") -> str:
    """Return a student's study of one case.

    Args:
        case: its name.
        setup: its set-up lines, as `lines` returns them.
        more: lines of YAML of the case.
        top: lines of YAML of the study.
    """
    text = STUDY[: STUDY.index("cases:")] + top + "cases:\n"
    cases = STUDY[STUDY.index(f"  {case}:\n") if f"  {case}:\n" in STUDY else 0 :]
    own = cases.split("\n")
    block = [own[0], *_until_next(own[1:])]
    text += "\n".join(block) + "\n"
    if setup:
        text += "    setup:\n" + "".join(f"      {line}\n" for line in setup.splitlines())
    return text + more


def _until_next(rows: list[str]) -> list[str]:
    block = []
    for row in rows:
        if row and not row.startswith("    "):
            break
        block.append(row)
    return block


# ------------------------------------------------------------------ honest ways

TBF = "tc qdisc add dev s1-eth2 root handle 1: netem delay 40ms limit 10000"
CHILD = "tc qdisc add dev s1-eth2 parent 1: handle 2: tbf rate 20mbit burst 20kb limit 200kb"
RATE = "tc qdisc add dev s1-eth2 root tbf rate 20mbit burst 20kb limit 200kb"
RMEM = "sysctl -w net.ipv4.tcp_rmem='4096 131072 33554432'"
WMEM = "sysctl -w net.ipv4.tcp_wmem='4096 131072 33554432'"
BUFFERS = lines(f"h2: {RMEM}", f"h1: {WMEM}")

ROUTERS = """\
title: Two routers
network:
  hosts:
    h1: {address: 10.0.0.1/24, routes: {default: 10.0.0.254}}
    h2: {address: 10.0.2.2/24, routes: {default: 10.0.2.254}}
    r1: {forwards: yes, routes: {10.0.2.0/24: 10.0.1.2}}
    r2: {forwards: yes, routes: {10.0.0.0/24: 10.0.1.1}}
  links:
    - [h1, r1, {addresses: {r1: 10.0.0.254/24}}]
    - [r1, r2, {addresses: {r1: 10.0.1.1/24, r2: 10.0.1.2/24}, rate: 20mbit, delay: 20ms, queue: 200KB}]
    - [r2, h2, {addresses: {r2: 10.0.2.254/24}}]
"""

SERVE = "python3 /srv/take.py"
TAKE = """\
import socket, threading
def take(connection):
    while connection.recv(65536):
        pass
server = socket.create_server(("", 4000), backlog=16)
while True:
    threading.Thread(target=take, args=(server.accept()[0],), daemon=True).start()
"""
SEND = """\
import socket
with socket.create_connection(("h2", 4000)) as sender:
    sender.sendall(bytes(1_000_000))
    sender.shutdown(socket.SHUT_WR)
    sender.recv(1)
"""


def program(
    run: str, *, serve: str = SERVE, files: dict[str, str] | None = None, setup: str = ""
) -> str:
    """Return a student's study whose flow is programs of theirs."""
    given = {"/srv/take.py": TAKE, "/srv/send.py": SEND, **(files or {})}
    top = "files:\n" + "".join(
        f"  {path}: {{text: {json.dumps(text)}, executable: yes}}\n" for path, text in given.items()
    )
    text = study("carried", setup=setup, top=top)
    text = text.replace('run: "false"', f"run: {json.dumps(run)}")
    return text.replace('serve: "false"', f"serve: {json.dumps(serve)}")


PARALLEL = """\
import socket, threading
def send():
    with socket.create_connection(("h2", 4000)) as sender:
        sender.sendall(bytes(250_000))
        sender.shutdown(socket.SHUT_WR)
        sender.recv(1)
threads = [threading.Thread(target=send) for _ in range(4)]
[one.start() for one in threads]
[one.join() for one in threads]
"""
DATAGRAMS = """\
import socket, sys, time
if sys.argv[1] == "take":
    ready = socket.create_server(("", 4000))
    taker = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    taker.bind(("", 4001))
    while True:
        data, sender = taker.recvfrom(2000)
        taker.sendto(data[:4], sender)
sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sender.connect(("h2", 4001))
sender.settimeout(0.1)
missing = set(range(800))
while missing:
    for number in sorted(missing):
        sender.send(number.to_bytes(4, "big") + bytes(1246))
        time.sleep(0.00055)
    try:
        while missing:
            missing.discard(int.from_bytes(sender.recv(4), "big"))
    except TimeoutError:
        pass
"""

HONEST: dict[str, dict[str, str]] = {
    "path": {
        "tbf below netem": lines(TBF, CHILD),
        "netem alone": lines(
            "tc qdisc add dev s1-eth2 root netem delay 40ms rate 20mbit limit 200"
        ),
        "delay on the way back": lines(RATE, "tc qdisc add dev s2-eth1 root netem delay 40ms"),
        "half of it each way": lines(
            TBF.replace("40ms", "20ms"), CHILD, "tc qdisc add dev s2-eth1 root netem delay 20ms"
        ),
        "in a loop": lines(
            "for d in s1-eth2 s2-eth1; do tc qdisc add dev $d root handle 1: netem delay 20ms; done",
            "d=s1-eth2; tc qdisc add dev $d parent 1: tbf rate 20mbit burst 20kb limit 200kb",
        ),
        "at the host": lines(
            "h1: tc qdisc add dev h1-eth0 root tbf rate 20mbit burst 20kb limit 200kb",
            "h2: tc qdisc add dev h2-eth0 root netem delay 40ms",
        ),
        "cake": lines(
            "tc qdisc add dev s1-eth2 root cake bandwidth 20mbit besteffort",
            "tc qdisc add dev s2-eth1 root netem delay 40ms",
        ),
    },
    "far": {
        "what is needed": study("far", setup=BUFFERS),
        "both at both": study(
            "far", setup=lines(*(f"{host}: {one}" for host in ("h1", "h2") for one in (RMEM, WMEM)))
        ),
        "in a script": study(
            "far",
            setup=lines("h1: sh /opt/tune.sh", "h2: sh /opt/tune.sh"),
            top=f"files: {{/opt/tune.sh: {{text: {json.dumps(f'{RMEM}{chr(10)}{WMEM}{chr(10)}')}}}}}\n",
        ),
        "by /proc": study(
            "far",
            setup=lines(
                "h2: echo 4096 131072 40000000 > /proc/sys/net/ipv4/tcp_rmem",
                "h1: echo 4096 131072 40000000 > /proc/sys/net/ipv4/tcp_wmem",
            ),
        ),
        "by a file of sysctl": study(
            "far",
            setup=lines("h1: sysctl -q -p /opt/net.conf", "h2: sysctl -q -p /opt/net.conf"),
            top="files: {/opt/net.conf: {text: "
            + json.dumps(
                "net.ipv4.tcp_rmem = 4096 131072 33554432\nnet.ipv4.tcp_wmem = 4096 65536 33554432\n"
            )
            + "}}\n",
        ),
    },
    "contest": {
        "by name": study("contest").replace(
            "reno: {iperf3: h1 -> h2,", "reno: {iperf3: h1 -> h2, congestion: reno,"
        ),
        "by sysctl": study(
            "contest", setup=lines("h1: sysctl -w net.ipv4.tcp_congestion_control=reno")
        ),
        "by a route": study(
            "contest", setup=lines("h1: ip route replace 10.0.0.0/8 dev h1-eth0 congctl reno")
        ),
        "one a little later": study(
            "contest", setup=lines("h1: sysctl -w net.ipv4.tcp_congestion_control=reno")
        ).replace("cubic: {iperf3: h3 -> h2,", "cubic: {iperf3: h3 -> h2, start: 300ms,"),
        "in a loop": study(
            "contest",
            setup=lines(
                "h1: for a in cubic reno; do sysctl -w net.ipv4.tcp_congestion_control=$a; done"
            ),
        ),
    },
    "routed": {
        "two routers": ROUTERS,
        "a delay each way": ROUTERS.replace("delay: 20ms", "delay: 15ms").replace(
            "- [r2, h2, {", "- [r2, h2, {delay: 5ms, "
        ),
        "routes typed": ROUTERS.replace(", routes: {10.0.2.0/24: 10.0.1.2}", "").replace(
            ", routes: {10.0.0.0/24: 10.0.1.1}", ""
        )
        + "setup:\n"
        + lines(
            "r1: ip route add 10.0.2.0/24 via 10.0.1.2", "r2: ip route add 10.0.0.0/24 via 10.0.1.1"
        ),
        "shaped by lines": ROUTERS.replace(", rate: 20mbit, delay: 20ms, queue: 200KB", "")
        + "setup:\n"
        + lines(
            "r1: tc qdisc add dev r1-eth1 root handle 1: netem delay 40ms limit 1000",
            "r1: tc qdisc add dev r1-eth1 parent 1: tbf rate 20mbit burst 20kb limit 200kb",
        ),
        "one router and a switch": """\
title: One router
network:
  hosts:
    h1: {address: 10.0.0.1/24, routes: {default: 10.0.0.254}}
    h2: {address: 10.0.2.2/24, routes: {default: 10.0.2.254}}
    r1: {forwards: yes}
  switches: [s1]
  links:
    - [h1, s1, {rate: 20mbit, delay: 20ms, queue: 200KB}]
    - [s1, r1, {addresses: {r1: 10.0.0.254/24}}]
    - [r1, h2, {addresses: {r1: 10.0.2.254/24}}]
""",
    },
    "queue": {
        "a short queue": lines(
            "tc qdisc del dev s1-eth2 root",
            "tc qdisc add dev s1-eth2 root handle 1: netem delay 10ms",
            "tc qdisc add dev s1-eth2 parent 1: tbf rate 20mbit burst 20kb limit 60kb",
        ),
        "fq_codel": lines(
            "tc qdisc del dev s1-eth2 root",
            "tc qdisc add dev s1-eth2 root handle 1: netem delay 10ms",
            "tc qdisc add dev s1-eth2 parent 1: handle 2: tbf rate 20mbit burst 20kb limit 1mb",
            "tc qdisc add dev s1-eth2 parent 2: fq_codel",
        ),
        "codel": lines(
            "tc qdisc del dev s1-eth2 root",
            "tc qdisc add dev s1-eth2 root handle 2: tbf rate 20mbit burst 20kb limit 1mb",
            "tc qdisc add dev s1-eth2 parent 2: codel",
            "tc qdisc add dev s1-eth1 root netem delay 10ms",
        ),
        "cake": lines("tc qdisc replace dev s1-eth2 root cake bandwidth 20mbit rtt 20ms"),
        "pie": lines(
            "tc qdisc del dev s1-eth2 root",
            "tc qdisc add dev s1-eth2 root handle 2: tbf rate 20mbit burst 20kb limit 1mb",
            "tc qdisc add dev s1-eth2 parent 2: pie target 10ms",
        ),
        "bbr": lines(
            "h1: sysctl -w net.ipv4.tcp_congestion_control=bbr",
            "h1: tc qdisc replace dev h1-eth0 root fq",
        ),
    },
    "carried": {
        "sockets": program("python3 /srv/send.py"),
        "four connections": program("python3 /srv/p.py", files={"/srv/p.py": PARALLEL}),
        "a shell": program(
            "bash -c 'exec 3<>/dev/tcp/10.0.0.2/4000; head -c 1000000 /dev/zero >&3'; sleep 0.5"
        ),
        "datagrams": program(
            "python3 /srv/d.py send",
            serve="python3 /srv/d.py take",
            files={"/srv/d.py": DATAGRAMS},
        ),
        "a line": program(
            "python3 -c \"import socket; s = socket.create_connection(('10.0.0.2', 4000));"
            ' s.sendall(bytes(1100000)); s.shutdown(1); s.recv(1)"'
        ),
    },
}
