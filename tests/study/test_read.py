"""Each kind of error in a study file and its settings: its message, line, column and field.

Networks, flows and published figures have files of their own.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from longfat.errors import ExitCode, InputError
from longfat.study import read_study
from tests.study.messages import BASE, error, read

TOP = [
    ("", "1:1", "the file is empty: a study needs at least a title"),
    ("[a]", "1:1", "found a sequence, expected a study (a mapping of fields)"),
    ("kernel: '6.1'", "1:1", "the study has no title: write the field title"),
    ("title:\n", "1:1: title", "found nothing, expected a title"),
    ("title: ''", "1:8: title", "found an empty text, expected a title"),
    ("title: |\n  a\n  b\n", "1:8: title", "found several lines, expected a title"),
    ("title: x", "1:1", "there is no network: write the field network, with hosts and links"),
    (
        "titel: x",
        "1:1: titel",
        "unknown field 'titel'; did you mean 'title'? (there are: title, course, kernel, seed, "
        "seeds, memory, network, files, setup, flows, probes, events, packages, "
        "cases, claims, figures, published, layout, drawing)",
    ),
]

YAML = [
    ("title: 1\nb: 2\ntitle: 3\n", "3:1", "'title' is written twice here, first in line 1"),
    (
        "title: !!python/name:os.system x",
        "1:8",
        "tags, such as !!python/object, have no use in a study",
    ),
    ("title: *b", "1:8", "the alias *b refers to nothing: there is no &b"),
    ("title: &a [*a]", "1:12", "the alias *a is inside its own anchor"),
    ("title: 1\n---\nb: 1", "2:1", "a study file holds one document, and here a second starts"),
    (
        "title: b: c",
        "1:9",
        "not YAML: mapping values are not allowed in this context; a text that holds a colon and "
        "a space, such as a tc line with 'handle 1: netem', must be quoted, or in a block of lines "
        "below `|`",
    ),
    (
        "title: [b",
        "1:10",
        "not YAML: while parsing a flow sequence, did not find expected ',' or ']'",
    ),
    (
        "title: x\nflows:\n  - 1\n b: 2",
        "4:2",
        "not YAML: while parsing a block mapping, did not find expected key; is the line indented "
        "as those above it, and does it have a key and a colon?",
    ),
    (
        "title: x\nflows:\n\tb: c",
        "3:1",
        "not YAML: while scanning for the next token, found character '\\t' that cannot start any "
        "token; lines are indented with spaces, not tabs",
    ),
    ("title: " + "[" * 16, "1:23", "nested more than 16 deep"),
    ('title: "\\0"', "1:8", "a text holds the control character U+0000"),
    ("title: b\nc: \x01", "2:4", "the file holds a character that YAML does not allow"),
    (
        "title: é\nc: é\u2028d",
        "2:5",
        "the file holds the line separator U+2028; break lines by newlines alone",
    ),
    ("title: \ufeff\nc: é\x01", "2:5", "the file holds a character that YAML does not allow"),
    (
        'title: "\\U99999999"',
        "1:11",
        "not YAML: while parsing a quoted scalar, found invalid Unicode character escape code",
    ),
    (
        f"%YAML {'9' * 500}.1\n---\ntitle: a",
        "1:16",
        "not YAML: while scanning a %YAML directive, found extremely long version number",
    ),
    ("title: x\n{a: b}: c", "2:1", "a mapping cannot be a key; keys are names"),
    (
        "title: x\n<<: {a: b}",
        "2:1",
        "merge keys (<<) are not used here; cases extend the common fields",
    ),
]


@pytest.mark.parametrize(("text", "place", "message"), TOP + YAML)
def test_the_document(text: str, place: str, message: str, tmp_path: Path) -> None:
    assert error(text, tmp_path) == (place, message)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"#include <stdio.h>\n\nint main(void) {\n    return 0;\n}\n", " (it is one text): "),
        (b'import sys\n\ndef run(x: int) -> None:\n    """It: this."""\n', " (not YAML: "),
        (b"\x7fELF\x02\x01\x01\0\0\0", ": a study is"),
        (b'{"name": 1, "private": 2}', " (its fields are name, private): a study is"),
        (b"image: a:1\nstages: [b]\n", " (its fields are image, stages): "),
    ],
)
def test_what_is_no_study_at_all_is_one_mistake(content: bytes, why: str, tmp_path: Path) -> None:
    path = tmp_path / "else"
    path.write_bytes(content)
    with pytest.raises(InputError) as raised:
        read_study(path)
    (mistake,) = raised.value.mistakes
    assert str(mistake).startswith(f"{path}:1:1: this is not a study{why}")
    assert "`longfat new` prints one" in str(mistake)


def test_what_is_no_file_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.yaml")
    with pytest.raises(InputError, match=r"pipe\.yaml: it is not a regular file"):
        read_study(tmp_path / "pipe.yaml")


SETTINGS = [
    (
        "kernel: '6'",
        "9:9: kernel",
        'found \'6\', expected a kernel version (such as "6.1" or "6.12.3") or newest',
    ),
    ("seed: -1", "9:7: seed", "-1 is outside of what is allowed: at least 0"),
    ("seed: 1.5", "9:7: seed", "found '1.5', expected a whole number"),
    ("seeds: 0", "9:8: seeds", "0 is outside of what is allowed: 1 to 1000"),
    ("seeds: 1001", "9:8: seeds", "1001 is outside of what is allowed: 1 to 1000"),
    ("seeds: [1, 2]", "9:8: seeds", "found a sequence, expected a whole number"),
    (
        "cases: {a: {seeds: many}}",
        "9:20: cases.a.seeds",
        "found 'many', expected a whole number",
    ),
    (
        "cases: {a: {seeds: 2, seed: 9223372036854775807}}",
        "9:12: cases.a",
        "2 seeds from 9223372036854775807 on pass the largest seed, 9223372036854775807",
    ),
    ("memory: 64MB", "9:9: memory", "64MB is outside of what is allowed: 128MB to 1TB"),
    (
        "unheard: {}",
        "9:1: unheard",
        "unknown field 'unheard' (there are: title, course, kernel, seed, seeds, memory, network, "
        "files, setup, flows, probes, events, packages, cases, claims, figures, "
        "published, layout, drawing)",
    ),
    (
        "setup: {h1: ls}",
        "9:8: setup",
        "found a mapping, expected a list of NODE: LINE (such as h1: sysctl -w "
        "net.ipv4.tcp_sack=0)",
    ),
    (
        "setup: [{h1: ls, h2: ls}]",
        "9:9: setup[0]",
        "an entry is one NODE: LINE (such as h1: sysctl -w net.ipv4.tcp_sack=0), and here are 2: "
        "start each with a hyphen",
    ),
    (
        "setup: [{s1: ls}]",
        "9:10: setup[0].s1",
        "'s1' is a switch: switches live in the root namespace, so type it at root",
    ),
    (
        "setup: [{[h1, h4]: ls}]",
        "9:10: setup[0].[h1, h4]",
        "there is no host 'h4' (there are: root, h1, h2, h3)",
    ),
    (
        "setup: [{h1: [ls, ]}, {h2: }]",
        "9:24: setup[1].h2",
        "found nothing, expected a line to type",
    ),
    ("setup: [{h1: []}]", "9:14: setup[0].h1", "there is no line"),
    ("setup:\n  - h1: |\n\n", "10:9: setup[0].h1", "there is no line"),
    (
        "setup:\n  - h1: >\n      ls\n\n      ls\n",
        "10:9: setup[0].h1",
        "found several lines, expected a line to type",
    ),
    ("cases: {}", "9:8: cases", "there are no cases: leave the field out to have one case"),
    (
        "cases: {a b: }",
        "9:9: cases.a b",
        "'a b' cannot be a name: write a letter, then up to 63 letters, digits, - or _",
    ),
    (
        "cases: {source: }",
        "9:9: cases.source",
        "no case can be called 'source': published has a field of that name",
    ),
    (
        "cases: {explained: }",
        "9:9: cases.explained",
        "no case can be called 'explained': published has a field of that name",
    ),
    (
        "cases: {a: {claims: []}}",
        "9:13: cases.a.claims",
        "unknown field 'claims' (there are: title, kernel, seed, seeds, memory, network, files, "
        "setup, flows, probes, events, packages)",
    ),
    (
        "cases: {a: {flows: {rtt: }}}",
        "9:21: cases.a.flows.rtt",
        "the flow 'rtt' has no value, which leaves out a common flow, and there is none of that "
        "name",
    ),
    (
        "cases: {a: {flows: {ping: {time: 5}}}}",
        "9:28: cases.a.flows.ping.time",
        "unknown field 'time' (there are: count, interval, size, start, start_spread, after, "
        "expect, limit, address, args)",
    ),
    (
        "cases: {a: {flows: {rtt: {count: 5}}}}",
        "9:26: cases.a.flows.rtt",
        "the flow 'rtt' names no tool: write one of iperf3, transfer, ping, requests, cbr, video, "
        "program",
    ),
    (
        "cases: {a: , b: {network: {hosts: {h1: 10.0.0.1/8}}}}",
        "7:22: flows.ping.ping",
        "in the case 'b': there is no host 'h2' (there are: h1)",
    ),
]


@pytest.mark.parametrize(("line", "place", "message"), SETTINGS)
def test_settings_and_cases(line: str, place: str, message: str, tmp_path: Path) -> None:
    assert error(f"{BASE}{line}\n", tmp_path) == (place, message)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    for path in (tmp_path / "none.yaml", tmp_path, tmp_path / ("x" * 300), Path("/dev/null")):
        with pytest.raises(InputError) as caught:
            read_study(path)
        assert caught.value.exit_code is ExitCode.BAD_INPUT
        assert str(path) in str(caught.value)


def test_a_file_that_is_not_utf_8(tmp_path: Path) -> None:
    file = tmp_path / "study.yaml"
    file.write_bytes("title: é\nkernel: ".encode() + b"\xff\n")
    with pytest.raises(InputError) as caught:
        read_study(file)
    assert str(caught.value) == f"{file}:2:9: the file is not UTF-8: byte 0xff"


def test_a_file_that_is_too_large(tmp_path: Path) -> None:
    assert error("#" * 300_000, tmp_path) == (
        "1:1",
        "the file is larger than 256 KB, too large for a study",
    )


def test_a_study_is_named_by_its_folder_or_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "lab99"
    folder.mkdir()
    assert read(BASE, folder).name == "lab99"
    assert read_study(folder).name == "lab99"
    monkeypatch.chdir(folder)
    assert read_study(Path("study.yaml")).name == "lab99"
    (folder / "other.yaml").write_text(BASE)
    assert read_study(Path("other.yaml")).name == "other"


def test_a_block_of_lines_is_one_entry_a_line(tmp_path: Path) -> None:
    block = """\
setup:
  - root: |
      # what the WAN is

      tc qdisc add dev s1-eth1 root handle 1: netem delay 20ms
      tc qdisc add dev s1-eth1 parent 1: handle 2: tbf \\
          rate 1gbit burst 500000 \\
          limit 26214400
  - [h1, h2]:
      - "echo one"
      - |
        echo two
          echo three
"""
    (planned,) = read(BASE + block, tmp_path).cases.values()
    root, *others = [(command.node, command.line) for command in planned.case.setup]
    assert root == ("root", "tc qdisc add dev s1-eth1 root handle 1: netem delay 20ms")
    tbf = "tc qdisc add dev s1-eth1 parent 1: handle 2: tbf rate 1gbit burst 500000 limit 26214400"
    words = [("root", tbf)]
    words += [(node, f"echo {n}") for n in ("one", "two", "three") for node in ("h1", "h2")]
    assert others == words
    places = [(place.line, place.column) for place in planned.places.setup]
    first = BASE.count("\n") + 1
    assert places[:2] == [(first + 4, 7), (first + 5, 7)]
    assert places[2::2] == [(first + 9, 9), (first + 11, 9), (first + 12, 11)]
