"""A lab whose instructor's files have a marker in every text that students do not get.

Each marker begins with `zq`, so that one search finds them all.
"""

from __future__ import annotations

from pathlib import Path

MARKER = "zq"

STUDY = """\
title: Two hosts and a switch
memory: 256MB
network:
  hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8}
  switches: [s1]
  links: [[h1, s1], [h2, s1, {delay: 5ms, rate: 20mbit}]]
flows:
  rtt: {ping: h1 -> h2, count: 2}
cases: {given: {}}
"""
"""What students get."""

INSTRUCTOR = """\
title: zqstudytitle
memory: 256MB
network:
  hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8}
  switches: [s1]
  links: [[h1, s1], [h2, s1, {delay: 5ms, rate: 20mbit}]]
flows:
  rtt: {ping: h1 -> h2, count: 2}
  zqbulkflow: {iperf3: h1 -> h2, time: 1s, after: rtt}
  zqprogramflow:
    program: h1 -> h2
    run: sh -c 'echo zqprogramtext && ping -c 1 -W 1 10.0.0.2 >/dev/null'
    after: zqbulkflow
files:
  /opt/zqfolder/zqfile: {text: zqfilecontent}
setup:
  - h1: sysctl -w net.ipv4.tcp_mtu_probing=1 && test -d /sys/class/net/h1-eth0 # zqsetupline
events:
  - {at: 100ms, h1: ip link show h1-eth0 >/dev/null && test -n zqeventline}
  - {at: 200ms, root: tc qdisc show dev s1-eth2 >/dev/null && test -n zqroottext}
probes:
  zqprobe: {kind: tcp, of: zqbulkflow, every: 100ms}
claims:
  - zqclaimname: given.zqbulkflow.receiver > 1mbit
cases:
  given: {title: zqcasetitle}
  zqbarecase: {title: zqbaretitle}
  zqkeycase: {title: zqkeytitle}
"""

GRADING = """\
# zqcomment
title: A lab with markers
study: study.yaml
limits: {time: 60s}
parts:
  lines: {setup: lines.yaml, case: zqbarecase}
  net: {network: net.yaml, case: zqbarecase}
  own: {study: study.yaml}
  answers: {answers: answers.yaml}
exercises:
  lines_work:
    title: Lines
    part: lines
    points: 1
    claim:
      the lines let a ping through: lines.rtt.loss == 0 and lines.zqbulkflow.receiver > 0.1mbit
    checks: [shaper, buffers, figures, rate]
  net_works:
    title: A network
    part: net
    points: 1
    claim: net.rtt.min > 9ms and net.zqprogramflow.elapsed < 10s
    checks: [shaper, rate, overlap, algorithm]
  own_works:
    title: A study
    part: own
    points: 1
    claim:
      it is as fast as the instructor's:
        given.zqbulkflow.receiver >= 0.5 * key-zqkeycase.zqbulkflow.receiver
    checks: [shaper, buffers, figures, rate, overlap, algorithm]
  question:
    title: A figure
    part: answers
    points: 1
    answer: key-zqkeycase.zqbulkflow.receiver
    unit: mbit
  zqhidden:
    title: zqhiddentitle
    part: own
    points: 1
    hidden: yes
    claim: {zqhiddenclaim: given.zqbulkflow.receiver > 10000mbit}
    checks: [shaper, rate]
  zqhiddenquestion:
    title: zqhiddenquestiontitle
    part: answers
    points: 1
    hidden: yes
    answer: 12345.6789 * 1mbit
    unit: mbit
"""

LINES = "- h1: sysctl -w net.ipv4.tcp_sack=1\n"
NETWORK = STUDY.replace("flows:\n  rtt: {ping: h1 -> h2, count: 2}\ncases: {given: {}}\n", "")
ANSWERS = "question: 9 mbit\n"

GOOD = {"lines.yaml": LINES, "net.yaml": NETWORK, "study.yaml": STUDY, "answers.yaml": ANSWERS}
"""What a student hands in who makes no mistake but the answer."""

DOWN = "ip link set h1-eth0 down"
GONE = "ip link del h1-eth0"

MISTAKES: dict[str, dict[str, str]] = {
    "nothing but the answer": {},
    "a set-up line that fails": {"lines.yaml": f"{LINES}- h1: tc nonsense\n"},
    "a set-up line at no node": {"lines.yaml": "- h9: ls\n"},
    "lines that are no YAML": {"lines.yaml": "- [\n"},
    "an interface that is down": {
        "lines.yaml": f"- h1: {DOWN}\n",
        "study.yaml": f"{STUDY}setup: [{{h1: {DOWN}}}]\n",
    },
    "an interface that is gone": {
        "lines.yaml": f"- h1: {GONE}\n",
        "study.yaml": f"{STUDY}setup: [{{h1: {GONE}}}]\n",
    },
    "a network without the switch": {
        "net.yaml": NETWORK.replace("switches: [s1]", "switches: [s2]").replace("s1", "s2"),
        "study.yaml": STUDY.replace("s1", "s2"),
    },
    "a network without a host": {
        "net.yaml": NETWORK.replace("h2", "h3"),
        "study.yaml": STUDY.replace("h2", "h3"),
    },
    "a network without a limit": {
        "net.yaml": NETWORK.replace(", {delay: 5ms, rate: 20mbit}", ""),
        "study.yaml": STUDY.replace(", {delay: 5ms, rate: 20mbit}", ""),
    },
    "other addresses": {
        "net.yaml": NETWORK.replace("10.0.0.2", "10.9.0.2"),
        "study.yaml": STUDY.replace("10.0.0.2", "10.9.0.2").replace("/8", "/24"),
    },
    "a study without the case": {"study.yaml": STUDY.replace("given", "mine")},
    "a study without flows": {
        "study.yaml": STUDY.replace("flows:\n  rtt: {ping: h1 -> h2, count: 2}\n", "")
    },
    "a study that is invalid": {"study.yaml": STUDY.replace("10.0.0.1/8", "10.0.0.300/8")},
    "tools that fail": {
        "study.yaml": STUDY + "files: {/usr/local/bin/iperf3: "
        '{text: "#!/bin/sh\\necho my text >&2; exit 7\\n", executable: true}}\n'
    },
    "a loss of everything": {
        "lines.yaml": "- root: tc qdisc add dev s1-eth1 root netem loss 100%\n",
        "net.yaml": NETWORK.replace("delay: 5ms", "delay: 5ms, loss: 100%"),
        "study.yaml": STUDY.replace("delay: 5ms", "delay: 5ms, loss: 100%"),
    },
    "a rate that is another": {
        "net.yaml": NETWORK.replace("20mbit", "100kbit"),
        "study.yaml": STUDY.replace("20mbit", "100kbit"),
    },
    "answers of another kind": {"answers.yaml": "question: 3 ms\nzqhiddenquestionx: 1\n"},
    "too much memory": {"study.yaml": STUDY.replace("256MB", "64GB")},
    "no files": dict.fromkeys(GOOD, ""),
}
"""What students hand in, by their mistake: files beside those of `GOOD`."""


def put_lab(folder: Path, *, instructor: str = INSTRUCTOR) -> Path:
    """Write the lab; return its folder."""
    for name, text in (
        ("instructor/grading.yaml", GRADING),
        ("instructor/study.yaml", instructor),
        ("student/study.yaml", STUDY),
        ("student/lines.yaml", "# Your lines.\n"),
        ("student/net.yaml", "# Your network.\n"),
        ("student/answers.yaml", "question:\n"),
        ("student/text.md", "# A lab\n"),
    ):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def hand_in(folder: Path, mistake: str) -> Path:
    """Write a student's submission; return its folder."""
    folder.mkdir(parents=True)
    for name, text in (GOOD | MISTAKES[mistake]).items():
        if text:
            (folder / name).write_text(text)
    return folder
