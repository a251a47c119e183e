"""A class: what its students hand in, and what each of them is to get for it.

The submissions are made from the solution of the template of `longfat labs new`, by changes of
a line or a file. What is alike has equal runs, which the result cache shares.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from tests.paths import REPOSITORY, TESTS

TEMPLATE = REPOSITORY / "labs" / "templates" / "bdp"
SOLUTION = TEMPLATE / "instructor" / "solution"
REPORT = TESTS / "data" / "iperf3" / "tcp.json"

DEADLINE = datetime.fromisoformat("2026-11-30T18:00+01:00")
POINTS = {
    "path": 3.0,
    "fill": 4.0,
    "reason": 2.0,
    "contest": 4.0,
    "bdp": 2.0,
    "default_throughput": 2.0,
    "lossy_throughput": 2.0,
    "lossy_retransmits": 1.0,
    "real": 2.0,
}
ANSWERS = ("bdp", "default_throughput", "lossy_throughput", "lossy_retransmits")

Edit = Callable[[Path], None]
# A piece of a text, or several of which one is there: which buffer limits a default flow
# depends on iperf3's version.
Text = str | tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Student:
    """A submission.

    Attributes:
        edits: what is changed of the solution.
        lost: the exercises that give no points, with a piece of the reason.
        found: checks that find something, with a piece of what.
        late: how long after the deadline it comes.
        penalty: the share of the points that this costs.
        unused: a piece of what is said of parts that are not the student's to give.
        is_endless: it runs until its limit.
    """

    edits: tuple[Edit, ...] = ()
    lost: Mapping[str, Text] = field(default_factory=dict)
    found: Mapping[str, Text] = field(default_factory=dict)
    late: timedelta = timedelta(hours=-1)
    penalty: float = 0.0
    unused: str = ""
    is_endless: bool = False


def change(name: str, old: str, new: str, *, count: int = -1) -> Edit:
    def edit(folder: Path) -> None:
        text = (folder / name).read_text()
        assert old in text, old
        (folder / name).write_text(text.replace(old, new, count))

    return edit


def answer(name: str, text: str) -> Edit:
    def edit(folder: Path) -> None:
        file = folder / "answers.yaml"
        given, count = re.subn(f"^{name}: .*", f"{name}: {text}", file.read_text(), flags=re.M)
        assert count == 1, name
        file.write_text(given)

    return edit


def put(name: str, content: str | bytes) -> Edit:
    def edit(folder: Path) -> None:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        data = content.encode() if isinstance(content, str) else content
        (folder / name).write_bytes(data)

    return edit


def add(name: str, text: str) -> Edit:
    def edit(folder: Path) -> None:
        (folder / name).write_text((folder / name).read_text() + text)

    return edit


def link(name: str, target: str) -> Edit:
    def edit(folder: Path) -> None:
        (folder / name).unlink()
        (folder / name).symlink_to(target)

    return edit


def remove(*names: str) -> Edit:
    def edit(folder: Path) -> None:
        for name in names:
            (folder / name).unlink()

    return edit


def report(alter: Callable[[dict[str, Any]], None]) -> Edit:
    def edit(folder: Path) -> None:
        data = json.loads((folder / "real.json").read_text())
        alter(data)
        (folder / "real.json").write_text(json.dumps(data))

    return edit


def scaled(factor: float) -> Callable[[dict[str, Any]], None]:
    """Multiply all that a report says of bytes and rates."""

    def walk(data: Any) -> None:
        for key, value in data.items() if isinstance(data, dict) else enumerate(data):
            if isinstance(value, dict | list):
                walk(value)
            elif key in ("bytes", "bits_per_second"):
                data[key] = value * factor

    return walk


def total_only(data: dict[str, Any]) -> None:
    """Change the end of a report, and nothing of its intervals."""
    for name in ("sum_sent", "sum_received"):
        data["end"][name]["bytes"] *= 3
        data["end"][name]["bits_per_second"] *= 3


def make_solution(folder: Path, answers: Mapping[str, str]) -> None:
    """Write a submission that gets all points.

    Args:
        folder: where.
        answers: those that the solution leaves to the key.
    """
    folder.mkdir()
    for path in SOLUTION.iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    (folder / "real.json").write_bytes(REPORT.read_bytes())
    for name, text in answers.items():
        answer(name, text)(folder)


_SENDS = 'h1.cmd(f"iperf3 -c {h3.IP()} -t 5 -C cubic > cubic.txt &")'
_TUNED_LINES = """      - [h1, h2]:
          - sysctl -w net.ipv4.tcp_rmem='10240 87380 16777216'
          - sysctl -w net.ipv4.tcp_wmem='10240 87380 16777216'
"""
_TUNED_SCRIPT = """\
sysctl -w net.ipv4.tcp_rmem='10240 87380 16777216'
sysctl -w net.ipv4.tcp_wmem='10240 87380 16777216'
"""
_UNSET = ("no line sets tcp_rmem of h2", "no line sets tcp_wmem of h1")
_LIMITED = ("the receive window limited bulk", "the send buffer limited bulk")
_TBF = "parent 1: handle 2: tbf rate 500mbit"
_FAKE = """
    files:
      /usr/bin/iperf3:
        executable: yes
        text: |
          #!/bin/sh
          echo '{"start": {}, "intervals": [], "end": {"sum_received": {"bits_per_second": 9e9}}}'
"""
_DOUBLING = """
    files:
      /opt/fake/iperf3:
        executable: yes
        text: |
          #!/usr/bin/python3
          import json, subprocess, sys
          def double(data):
              for key, value in data.items() if isinstance(data, dict) else enumerate(data):
                  if isinstance(value, (dict, list)):
                      double(value)
                  elif key in ("bytes", "bits_per_second"):
                      data[key] = 2 * value
              return data
          said = subprocess.run(["/run/real", *sys.argv[1:]], capture_output=True).stdout
          print(json.dumps(double(json.loads(said))))
"""
_MANY_EVENTS = "".join(
    f"  - {{at: {n}ms, every: 1ms, times: 800, h1: 'true'}}\n" for n in range(1, 25)
)
_YAML_BOMB = "\n".join(
    ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 9)]
)


def lost(text: Text, *names: str) -> dict[str, Text]:
    return dict.fromkeys(names, text)


BUFFERS = ("fill", "reason", "default_throughput")
"""The exercises that need the part `buffers`."""

STUDENTS: Mapping[str, Student] = {
    # -- good
    "good": Student(),
    "good-other-units": Student(
        edits=(
            change("answers.yaml", "6.25 MB", "6104 KB"),
            change("answers.yaml", "212.6 mbit", "0.2126 Gbit/s"),
        )
    ),
    "good-with-rubbish": Student(
        edits=(put("notes/plan.txt", "x"), put("study.png", b"\0\1"), put(".hidden", "y"))
    ),
    "good-other-lines": Student(
        edits=(change("study.yaml", "16777216", "20000000"), put("contest.log", "")),
    ),
    "good-popen": Student(
        edits=(
            change("contest.py", _SENDS, 'h1.popen("iperf3", "-c", h3.IP(), "-t5", "-C", "cubic")'),
        )
    ),
    "good-by-sysctl": Student(
        edits=(
            change("contest.py", " -C reno", ""),
            change(
                "contest.py",
                _SENDS,
                f'h2.cmd("sysctl -w net.ipv4.tcp_congestion_control=reno")\n{_SENDS}',
            ),
        )
    ),
    "good-with-a-script": Student(
        edits=(
            put("tune.sh", _TUNED_SCRIPT),
            change("study.yaml", _TUNED_LINES, "      - [h1, h2]: sh /opt/tune.sh\n"),
            change("study.yaml", "flows:\n", "files: {/opt/tune.sh: tune.sh}\n\nflows:\n", count=1),
        ),
    ),
    # -- late
    "late-in-grace": Student(late=timedelta(minutes=14)),
    "late-an-hour": Student(late=timedelta(hours=1), penalty=0.2),
    "late-three-days": Student(late=timedelta(days=2, hours=1), penalty=0.6),
    "late-after-the-end": Student(late=timedelta(days=8), penalty=1.0),
    # -- wrong in silence: the algorithm
    "no-algorithm": Student(
        edits=(change("contest.py", " -C reno", ""),),
        lost=lost("ran with cubic", "contest"),
        found={"algorithm": "flow2 is called reno, and ran with cubic"},
    ),
    "algorithm-at-the-switch": Student(
        edits=(
            change("contest.py", " -C reno", ""),
            change(
                "contest.py",
                _SENDS,
                f"net.get('s1').cmd('sysctl -w net.ipv4.tcp_congestion_control=reno')\n{_SENDS}",
            ),
        ),
        lost=lost("the algorithm was never set", "contest"),
        found={"algorithm": "ran with cubic"},
    ),
    # -- flows that did not overlap
    "one-after-the-other": Student(
        edits=(change("contest.py", 'cubic.txt &")', 'cubic.txt")'),),
        lost=lost("one after the other", "contest"),
        found={"overlap": "one after the other"},
    ),
    "popen-and-wait": Student(
        edits=(
            change(
                "contest.py",
                _SENDS,
                'first = h1.popen("iperf3", "-c", h3.IP(), "-t5", "-C", "cubic")\nfirst.wait()',
            ),
        ),
        lost=lost("one after the other", "contest"),
        found={"overlap": "one after the other"},
    ),
    "sleeps-between": Student(
        edits=(change("contest.py", _SENDS, f"import time\n{_SENDS}\ntime.sleep(4)"),),
        lost=lost("they ran together for", "contest"),
        found={"overlap": "only"},
    ),
    "hardly-together": Student(
        edits=(change("contest.py", _SENDS, f'{_SENDS}\nh2.cmd("sleep 4")'),),
        lost=lost("they ran together for", "contest"),
        found={"overlap": "only"},
    ),
    # -- the shaper
    "no-shaper-in-the-script": Student(
        edits=(change("contest.py", "cls=TCLink, bw=50, ", "cls=TCLink, "),),
        lost=lost("nothing limits the rate of flow1", "contest"),
        found={"shaper": "nothing limits", "rate": "the lab's link carries 50.0 Mbit/s"},
    ),
    "no-tclink": Student(
        edits=(change("contest.py", "cls=TCLink, ", ""),),
        lost=lost("Mininet ignores that without TCLink", "contest"),
        found={"shaper": "without TCLink"},
    ),
    "wrong-rate": Student(
        edits=(change("contest.py", "bw=50", "bw=80"),),
        lost=lost("has 80.0 Mbit/s, and the lab's 50.0", "contest"),
        found={"shaper": "80.0 Mbit/s", "rate": "flow1 and flow2 together"},
    ),
    "shaper-off-the-path": Student(
        edits=(change("path.yaml", "s1-eth2", "s2-eth1"),),
        lost=lost("is for another interface", "path"),
        found={"shaper": "its data leaves through h1-eth0, s1-eth2"},
    ),
    "shaper-replaced": Student(
        edits=(
            change(
                "path.yaml",
                'limit 6250000"\n',
                'limit 6250000"\n- root: tc qdisc replace dev s1-eth2 root netem delay 100ms\n',
            ),
        ),
        lost=lost("is no longer in force", "path"),
        found={"shaper": "no longer in force"},
    ),
    "path-too-short": Student(
        edits=(change("path.yaml", "100ms", "50ms"),),
        lost=lost("it does not hold that a ping takes 100 ms", "path"),
    ),
    # -- the buffers
    "buffers-untouched": Student(
        edits=(change("study.yaml", _TUNED_LINES, ""),),
        lost=lost(_UNSET, "fill"),
        found={"buffers": _LIMITED},
    ),
    "buffers-at-the-wrong-ends": Student(
        edits=(
            change(
                "study.yaml",
                _TUNED_LINES,
                "      - h1: sysctl -w net.ipv4.tcp_rmem='10240 87380 16777216'\n"
                "      - h2: sysctl -w net.ipv4.tcp_wmem='10240 87380 16777216'\n",
            ),
        ),
        lost=lost(("it is set at h1", "it is set at h2"), "fill"),
        found={"buffers": "where it has no part in this"},
    ),
    "buffers-too-small": Student(
        edits=(change("study.yaml", "16777216", "4194304"),),
        lost=lost("tuned.bulk.receiver: ", "fill"),
    ),
    "default-case-changed": Student(
        edits=(change("study.yaml", _TBF, "parent 1: handle 2: tbf rate 100mbit", count=1),),
        lost={
            "reason": "has 100 Mbit/s, and the lab's 500",
            "default_throughput": "'212.6 mbit' is not within 2 %",
        },
        found={"shaper": "and the lab's 500", "figures": "'212.6 mbit'"},
    ),
    # -- figures
    "invented-figure": Student(
        edits=(change("answers.yaml", "212.6 mbit", "467 mbit"),),
        lost=lost("no run gave this figure", "default_throughput"),
        found={"figures": "'467 mbit' is none of the figures of any run"},
    ),
    "bits-for-bytes": Student(
        edits=(change("answers.yaml", "212.6 mbit", "26.57 mbit"),),
        lost=lost("bits and bytes may be mixed up", "default_throughput"),
    ),
    "no-units": Student(
        edits=(
            change("answers.yaml", "212.6 mbit", "212.6"),
            change("answers.yaml", "6.25 MB", "50 ms"),
        ),
        lost={
            "default_throughput": "of another kind than the question needs",
            "bdp": "of another kind",
        },
    ),
    "a-neighbours-figures": Student(
        # Those of another seed: right there, and wrong here.
        edits=(
            answer("lossy_throughput", "3.33 mbit"),
            answer("lossy_retransmits", "999"),
        ),
        lost=lost("no run gave this figure", "lossy_throughput", "lossy_retransmits"),
        found={"figures": "'3.33 mbit'"},
    ),
    "not-answered": Student(
        edits=(put("answers.yaml", "bdp:\n"),), lost=lost("not answered", *ANSWERS)
    ),
    # -- reports of real machines
    "above-the-link": Student(
        edits=(report(scaled(40)),),
        lost=lost("and the lab's link carries", "real"),
        found={"rate": "the lab's link carries"},
    ),
    "forged-report": Student(
        edits=(report(total_only),),
        lost=lost("its intervals add up to", "real"),
        found={"figures": "its end reports"},
    ),
    "no-json": Student(
        edits=(put("real.json", "Connecting to host 10.0.0.2, port 5201\n"),),
        lost=lost("iperf3's output for people, not JSON", "real"),
    ),
    # -- mistakes of form
    "broken-yaml": Student(
        edits=(change("study.yaml", "title:", "titel:", count=1),),
        lost=lost("unknown field 'titel'; did you mean 'title'", *BUFFERS),
    ),
    "missing-file": Student(
        edits=(remove("contest.py"),), lost=lost("there is no such file", "contest")
    ),
    "wrong-case-name": Student(
        edits=(change("study.yaml", "  tuned:", "  tunned:"),),
        lost=lost("the study has no case 'tuned'", "fill"),
    ),
    # -- what is not theirs to give
    "program-in-the-flows-place": Student(
        edits=(
            change("study.yaml", _TUNED_LINES, ""),
            change(
                "study.yaml",
                "  tuned:\n",
                "  tuned:\n    flows: {bulk: {program: h1 -> h2, run: echo 450,"
                " metrics: {receiver: {regex: '([0-9]+)', unit: mbit}}}}\n",
            ),
        ),
        lost=lost(_UNSET, "fill"),
        found={"buffers": _LIMITED},
        unused="tuned: not taken from the study: the flows",
    ),
    "window-in-place-of-buffers": Student(
        edits=(
            change("study.yaml", _TUNED_LINES, ""),
            change(
                "study.yaml",
                "  tuned:\n",
                "  tuned:\n    flows: {bulk: {window: 16MB}}\n",
            ),
        ),
        lost=lost(_UNSET, "fill"),
        found={"buffers": _LIMITED},
        unused="tuned: not taken from the study: the flows",
    ),
    "case-called-as-a-part": Student(
        edits=(
            add("study.yaml", "\n  path:\n    title: an easier path\n"),
            change("path.yaml", "100ms", "50ms"),
        ),
        lost=lost("it does not hold that a ping takes 100 ms", "path"),
        unused="path: the lab has no case of this name",
    ),
    "own-probes": Student(
        edits=(
            change("study.yaml", "probes:\n", "probes:\n  queue: {of: s1-eth2, every: 10ms}\n"),
        ),
        unused="not taken from the study: the probes",
    ),
    # -- hostile
    "forged-results": Student(
        edits=(
            change("study.yaml", _TUNED_LINES, ""),
            put("runs/study/tuned-seed1/manifest.json", '{"metrics": {"bulk.receiver_bps": 5e8}}'),
            put("verdict.json", '{"claims": [{"holds": true}]}'),
            put("grades.json", '{"points": 1000}'),
        ),
        lost=lost(_UNSET, "fill"),
        found={"buffers": _UNSET},
    ),
    "forged-tool": Student(
        edits=(change("study.yaml", "  tuned:\n", "  tuned:" + _FAKE),),
        lost=lost("/usr/bin/iperf3, where programs are", "fill"),
        found={"figures": "where programs are"},
    ),
    "forged-while-it-runs": Student(
        # A program in iperf3's place, which doubles what the real one reports.
        edits=(
            change(
                "study.yaml",
                _TUNED_LINES,
                "      - root:\n"
                "          - cp /usr/bin/iperf3 /run/real\n"
                "          - mount --bind /opt/fake/iperf3 /usr/bin/iperf3\n",
            ),
            change("study.yaml", "  tuned:\n", "  tuned:" + _DOUBLING),
        ),
        lost=lost("exited with status 32", "fill"),
    ),
    "root-file-system": Student(
        edits=(change("study.yaml", "h2: 10.0.0.2/8", "h2: {address: 10.0.0.2/8, root: big.tar}"),),
        lost=lost("a submission cannot bring a root file system", *BUFFERS),
    ),
    "endless-script": Student(
        edits=(put("contest.py", "while True: pass\n"),),
        lost=lost("does not end", "contest"),
        is_endless=True,
    ),
    "fork-bomb-in-the-script": Student(
        edits=(put("contest.py", "import os\nwhile True: os.fork()\n"),),
        lost=lost("does too much, or does not end", "contest"),
        is_endless=True,
    ),
    "fork-bomb-in-the-set-up": Student(
        edits=(add("path.yaml", '- root: "f() { f | f & f; }; f"\n'),),
        lost=lost("path: ", "path"),
        is_endless=True,
    ),
    "a-gigabyte": Student(
        edits=(
            change(
                "study.yaml",
                "  tuned:\n",
                "  tuned:\n    flows: {noise: {program: h1 -> h2, "
                "run: head -c 1000000000 /dev/zero, output_limit: 1GB}}\n",
            ),
        ),
        unused="not taken from the study: the flows",
    ),
    "sleeps-for-ever": Student(
        edits=(add("path.yaml", '- h1: "sleep infinity"\n'),),
        lost=lost("path: ", "path"),
        is_endless=True,
    ),
    "a-year-of-traffic": Student(
        edits=(change("study.yaml", "time: 6s", "time: 86400s"),),
        unused="not taken from the study: the flows",
    ),
    "much-memory": Student(
        edits=(change("study.yaml", "title: buffers of", "memory: 64GB\n    title: buffers of"),),
        unused="tuned: not taken from the study: the memory",
    ),
    "links": Student(
        edits=(link("study.yaml", "/etc/passwd"), link("answers.yaml", "../good/answers.yaml")),
        lost=lost("symbolic link", *BUFFERS, *ANSWERS),
    ),
    "path-traversal": Student(
        edits=(
            change(
                "study.yaml", "  tuned:\n", "  tuned:\n    files: {/opt/x/key: ../../key.yaml}\n"
            ),
        ),
        lost=lost("is outside of the study's folder", *BUFFERS),
    ),
    "bombs": Student(
        edits=(
            put("answers.yaml", _YAML_BOMB),
            put("path.yaml", "[" * 100_000),
            put("real.json", "[" * 1_000_000),
            put("study.yaml", "x" * 5_000_000),
        ),
        lost={
            **lost("more than 20000 values", *(set(ANSWERS) - {"default_throughput"})),
            "path": "nested",
            "real": "nested too deep",
            **lost("larger than 4.00 MB", *BUFFERS[:2]),
            "default_throughput": "",
        },
    ),
    "events-without-end": Student(
        edits=(
            change("study.yaml", "probes:\n", f"events:\n{_MANY_EVENTS}\nprobes:\n", count=1),
            add("study.yaml", "".join(f"\n  more{n}: {{}}" for n in range(16))),
        ),
        lost=lost("than the 2,000,000 that are possible", *BUFFERS),
    ),
    "a-hundred-thousand-cases": Student(
        edits=(
            put(
                "study.yaml",
                "title: x\ngrid: {a: {from: 1, to: 300, steps: 300}, b: {from: 1, to: 300, "
                "steps: 300}}\nnetwork: {hosts: {h1: 10.0.0.1/8}}\n",
            ),
        ),
        lost=lost("and no grid", *BUFFERS),
    ),
    "empty": Student(
        edits=(remove("path.yaml", "study.yaml", "contest.py", "answers.yaml", "real.json"),),
        lost=lost("there is no such file", *POINTS),
    ),
}
