"""What a student's study brings to the exercise's cases, and what it cannot."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from longfat.errors import InputError
from longfat.execution.tools import Toolbox
from longfat_class.analysis import Player, grade
from longfat_class.analysis.submission import Handed, Scripts, Submission, take_in
from longfat_class.study import read_grading
from tests.paths import REPOSITORY

TEMPLATE = REPOSITORY / "labs" / "templates" / "bdp" / "instructor"


def hand_in(tmp_path: Path, *edits: tuple[str, str], part: str = "study: study.yaml") -> Handed:
    """Hand in the solution's study with changes, to a lab whose part `buffers` is as given."""
    lab, folder, scratch = (tmp_path / name for name in ("lab", "mine", "scratch"))
    for each in (lab, scratch):
        each.mkdir()
    text = (TEMPLATE / "grading.yaml").read_text()
    given = "buffers: {study: study.yaml"
    assert given in text
    (lab / "grading.yaml").write_text(text.replace(given, f"buffers: {{{part}"))
    shutil.copy(TEMPLATE / "study.yaml", lab)
    shutil.copytree(TEMPLATE / "solution", folder)
    study = (folder / "study.yaml").read_text()
    for old, new in edits:
        assert old in study, old
        study = study.replace(old, new)
    (folder / "study.yaml").write_text(study)
    grading = read_grading(lab)
    submission = Submission(student="me", folder=folder, seed=7)
    return take_in(submission, grading.parts["buffers"], grading, scratch, Scripts())


def test_lines_and_networks_are_the_students_and_traffic_is_not(tmp_path: Path) -> None:
    handed = hand_in(
        tmp_path,
        ("time: 6s", "time: 9s"),
        ("interval: 200ms", "interval: 300ms"),
        ("every: 100ms", "every: 1ms"),
        ("16777216", "30000000"),
        ('kernel: "6.1"', 'kernel: "7.2"\nmemory: 3GB'),
    )
    assert handed.problem == ""
    lab = read_grading(TEMPLATE.parent).study.cases["tuned"].case
    case = next(one.case for one in handed.cases if one.name == "tuned")
    assert (case.flows, case.probes, case.kernel) == (lab.flows, lab.probes, "6.1")
    assert (case.memory_bytes, case.seed) == (lab.memory_bytes, 7)
    assert "30000000" in case.setup[-1].line
    assert "tuned: not taken from the study: the flows, the probes, the memory" in handed.unused


def test_a_flow_brings_its_algorithm_where_that_is_asked_for(tmp_path: Path) -> None:
    edits = ("time: 6s, after: ping", "time: 9s, start: 1s, congestion: reno")
    handed = hand_in(tmp_path, edits, part="study: study.yaml, takes: [setup, congestion]")
    flow = handed.cases[0].case.tcp_flows[0]
    assert (flow.congestion, flow.after, flow.start_s, flow.time_s) == ("reno", "ping", 0, 6)


def test_a_flow_brings_when_it_starts(tmp_path: Path) -> None:
    edits = ("time: 6s, after: ping", "time: 9s, start: 1s, congestion: reno")
    handed = hand_in(tmp_path, edits, part="study: study.yaml, takes: [setup, times]")
    flow = handed.cases[0].case.tcp_flows[0]
    assert (flow.congestion, flow.after, flow.start_s, flow.time_s) == (None, None, 1, 6)


def test_a_flow_cannot_wait_for_one_that_the_lab_lacks(tmp_path: Path) -> None:
    handed = hand_in(
        tmp_path,
        (
            "  ping: {ping: h1 -> h2,",
            "  other: {ping: h1 -> h2, count: 1}\n  ping: {ping: h1 -> h2,",
        ),
        ("after: ping", "after: other"),
        part="study: study.yaml, takes: [setup, times]",
    )
    assert "bulk starts after 'other', and the lab has no such flow" in handed.problem


def test_lines_are_taken_at_the_named_nodes_only(tmp_path: Path) -> None:
    part = "study: study.yaml, takes: setup, nodes: [h1, h2]"
    assert hand_in(tmp_path, part=part).problem == ""
    other = tmp_path / "other"
    other.mkdir()
    line = "      - root: tc qdisc del dev s1-eth2 root\n      - [h1, h2]:\n"
    handed = hand_in(other, ("      - [h1, h2]:\n", line), part=part)
    assert "the exercise takes no lines at root, only at h1, h2" in handed.problem
    assert "study.yaml:" in handed.problem


PROGRAM = """
title: Programs of students
network:
  hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8}
  links: [[h1, h2, {rate: 8mbit, delay: 5ms}]]
flows:
  move:
    program: h1 -> h2
    run: false
    serve: false
    port: 4000
    metrics: {rate: {regex: '([0-9]+)', unit: mbit}}
probes:
  rate: {of: h1-eth0, every: 100ms}
"""
SENDS = (
    "python3 -c \"import socket; s = socket.create_connection(('h2', 4000)); "
    's.sendall(bytes(10**6))"; echo 9'
)
TAKES = "python3 /srv/take.py"
TAKER = """\
import socket
server = socket.create_server(("", 4000))
while True:
    connection, _ = server.accept()
    while connection.recv(65536):
        pass
"""
GRADING = """\
title: A program that moves a megabyte
study: study.yaml
parts: {mine: {study: study.yaml, takes: [files, programs]}}
exercises:
  moved:
    part: mine
    points: 1
    claim: {it is there soon: default.move.elapsed < 2s}
"""


def test_a_program_of_a_students_runs_and_its_word_is_no_figure(tmp_path: Path) -> None:
    lab, mine = tmp_path / "lab", tmp_path / "mine"
    for each in (lab, mine):
        each.mkdir()
    (lab / "grading.yaml").write_text(GRADING)
    (lab / "study.yaml").write_text(PROGRAM)
    theirs = PROGRAM.replace("run: false", f"run: {json.dumps(SENDS)}")
    theirs = theirs.replace("serve: false", f"serve: {TAKES}")
    theirs += f"files: {{/srv/take.py: {{text: {json.dumps(TAKER)}}}}}\n"
    (mine / "study.yaml").write_text(theirs)
    player = Player(None, Toolbox())
    graded = grade(Submission(student="me", folder=mine, seed=7), read_grading(lab), player=player)
    assert graded.scores[0].reasons == ()
    slow = theirs.replace("10**6", "10**7")
    (mine / "study.yaml").write_text(slow)
    graded = grade(Submission(student="me", folder=mine, seed=7), read_grading(lab), player=player)
    # Ten times as much at 8 Mbit/s.
    assert re.search(r"default\.move\.elapsed: (9\.9\d|10\.\d) s", graded.scores[0].reasons[0])
    (lab / "grading.yaml").write_text(GRADING.replace("elapsed < 2s", "rate > 7mbit"))
    with pytest.raises(InputError, match="rate"):
        read_grading(lab)
