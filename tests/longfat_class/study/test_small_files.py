"""Answers, rosters, Gradescope's metadata, and the traffic that scripts type."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest

from longfat.errors import InputError
from longfat.model.metric import Unit
from longfat.model.traffic import Iperf3
from longfat.study.formats.mininet import Typed
from longfat_class.study import read_answers
from longfat_class.study.answers import of_kind, parse_answers
from longfat_class.study.roster import read_metadata, read_roster
from longfat_class.study.traffic import script_traffic
from tests.mutations.class_files import metadata

HOSTS = {"h1": "10.0.0.1", "h2": "10.0.0.2", "h3": "10.0.0.3"}


def write(folder: Path, text: str) -> Path:
    path = folder / "file"
    path.write_text(text)
    return path


def test_answers_have_units(tmp_path: Path) -> None:
    found = read_answers(
        write(tmp_path, "a: 38.2 mbit\nb: 4\nc:\nd: about 3\ne: 1,234.5 kbit\nf: '3,5 ms'\n")
    )
    assert [name for name, answer in found.items() if answer.is_blank] == ["c"]
    assert found["a"].quantity == (38.2e6, Unit.BPS)
    assert found["b"].quantity == (4, Unit.COUNT)
    assert found["d"].quantity is None
    assert found["e"].quantity == (1234500, Unit.BPS)
    assert "write a point" in found["f"].problem


def test_an_answer_that_cannot_be_read_is_kept_as_it_was_typed() -> None:
    answers = parse_answers(b"bdp: 6,25 MB\nrtt:\nlist: [1]\n", file="answers.yaml")
    assert (answers["bdp"].text, answers["bdp"].quantity) == ("6,25 MB", None)
    assert "write a point" in answers["bdp"].problem
    assert answers["list"].text == ""
    assert answers["rtt"].is_blank


GOOD = "bdp: 6.25 MB\nrtt: 20 ms  # of the path\n"


@pytest.mark.parametrize(
    ("bad", "name", "words"),
    [
        ("loss: [1, 2\n", "loss", "line 3: not YAML"),
        ("loss: 3 mbit: 4\n", "loss", "write it as loss: 38.2 mbit"),
        ('loss: "3 mbit\n', "loss", "line 3: "),
        ("loss: {a: 1\n", "loss", "line 3: "),
        ("loss: *none\n", "loss", "line 3: "),
        ("loss: !!int 3\n", "loss", "line 3: tags"),
        ("loss: |\n  3 mbit\n- x\n", "loss", "line 4: an answer is one line"),
        ("loss 3 mbit\n", "loss", "line 3: an answer is one line"),
        ("loss:3 mbit\n", "loss", "line 3: an answer is one line"),
        ("loss: 3 mbit\nloss: 4 mbit\n", "loss", "line 4: loss is answered in line 3 already"),
        ("loss: 3 furlongs\n", "loss", "line 3: "),
        ("loss: 3 @\n\n@\n", "loss", "line 3: "),
        ("loss: \x01 3\n", "loss", "line 3: "),
    ],
)
def test_a_mistake_costs_one_answer(bad: str, name: str, words: str) -> None:
    for text in (GOOD + bad, GOOD + bad + "late: 4\n"):
        answers = parse_answers(text.encode(), file="answers.yaml")
        assert answers["bdp"].quantity == (6.25 * 2**20, Unit.BYTES)
        assert answers["rtt"].quantity == (0.02, Unit.SECONDS)
        assert answers[name].quantity is None
        assert words in answers[name].problem
        if "late" in text:
            assert answers["late"].quantity == (4, Unit.COUNT)


def test_bytes_that_are_no_text_cost_their_line() -> None:
    answers = parse_answers(GOOD.encode() + b"loss: \xff 3\nlate: 4\n", file="answers.yaml")
    assert answers["bdp"].quantity == (6.25 * 2**20, Unit.BYTES)
    assert answers["late"].quantity == (4, Unit.COUNT)
    assert answers["loss"].quantity is None


def test_what_stands_between_answers_costs_none() -> None:
    text = "- x\n" + GOOD + "=====\nbdp, what is that?\n\tloss: 3 mbit\n---\nlate: 4\n"
    answers = parse_answers(text.encode(), file="answers.yaml")
    assert answers["bdp"].quantity == (6.25 * 2**20, Unit.BYTES)
    assert answers["rtt"].quantity == (0.02, Unit.SECONDS)
    assert answers["loss"].quantity == (3e6, Unit.BPS)
    assert answers["late"].quantity == (4, Unit.COUNT)


def test_a_blank_line_of_the_handout_is_no_second_answer() -> None:
    answers = parse_answers(b"bdp:\nrtt: 20 ms\nbdp: 6 MB\nrtt:\n", file="answers.yaml")
    assert answers["bdp"].quantity == (6 * 2**20, Unit.BYTES)
    assert answers["rtt"].quantity == (0.02, Unit.SECONDS)


@pytest.mark.parametrize("text", ["- [", "[1, 2", "{a: 1, b", "7\n", "\x00\x01", "x" * 300_000])
def test_what_has_no_answers_is_refused_as_a_whole(text: str) -> None:
    with pytest.raises(InputError):
        parse_answers(text.encode(), file="answers.yaml")


def test_an_answer_is_of_one_kind(tmp_path: Path) -> None:
    answer = read_answers(write(tmp_path, "a: 20 ms\n"))["a"].quantity
    assert answer is not None
    assert of_kind(answer, Unit.SECONDS) == 0.02
    assert of_kind(answer, Unit.BPS) is None


def test_a_roster(tmp_path: Path) -> None:
    text = "folder,seed,submitted,name\na,7,2026-11-30T17:55+01:00,Alice A\n\nb,,,\n"
    found = read_roster(write(tmp_path, text))
    assert found["a"].seed == 7
    assert found["a"].name == "Alice A"
    assert found["a"].submitted == datetime.fromisoformat("2026-11-30T17:55+01:00")
    assert found["b"].seed is None


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("folder,sed\n", ":1:1", "unknown column 'sed'; did you mean 'seed'"),
        ("name\nx\n", ":1:1", "and folder"),
        ("folder,seed\na,x\n", ":2:1: seed", "a whole number"),
        ("folder,submitted\na,2026-11-30T17:55\n", ":2:1: submitted", "no offset from UTC"),
        ("folder,submitted\na,yesterday\n", ":2:1: submitted", "a date and time"),
        ("folder\na\na\n", ":3:1: folder", "is here twice"),
    ],
)
def test_a_roster_that_is_wrong(tmp_path: Path, text: str, place: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        read_roster(write(tmp_path, text))
    assert str(caught.value.place).endswith(place)
    assert message in caught.value.message


def test_gradescopes_metadata(tmp_path: Path) -> None:
    found = read_metadata(write(tmp_path, metadata()[0].decode()))
    assert found.student == "Student User"
    assert found.submitted == datetime.fromisoformat("2018-07-01T14:22:32.365935-07:00")
    assert found.deadline == datetime.fromisoformat("2018-07-31T23:00-07:00")


def typed(*lines: tuple[str, str] | tuple[str, str, bool]) -> list[Typed]:
    return [
        Typed(node=line[0], text=line[1], at=(number, 1), waits=line[2] if len(line) > 2 else True)
        for number, line in enumerate(lines, start=1)
    ]


def test_a_script_waits_for_a_test_that_is_not_in_the_background() -> None:
    found = script_traffic(
        typed(
            ("h2", "iperf3 -s &", False),
            ("h1", "iperf3 -c 10.0.0.2 -t 5 -J > a.json"),
            ("h1", "sleep 2"),
            ("h1", "iperf3 -t10 --client=10.0.0.3 -P 4 &", False),
            ("h2", "iperf3 -c 10.0.0.3 -n 1M -R"),
        ),
        HOSTS,
    )
    first, second, third = found.flows
    assert isinstance(first, Iperf3)
    assert (first.time_s, first.after, first.start_s) == (5, None, 0)
    assert (second.after, second.start_s, second.target) == ("flow1", 2, "h3")
    assert isinstance(second, Iperf3)
    assert second.parallel == 4
    assert (third.after, third.start_s, third.reverse) == ("flow1", 2, True)
    assert found.labels["flow1"] == "a.json"


def test_what_a_script_waits_for() -> None:
    lines = [
        Typed(node="h1", text="iperf3 -c 10.0.0.2 -t 5", at=(1, 1), waits=False, number=0),
        Typed(node="h2", text="iperf3 -c 10.0.0.3 -t 2", at=(2, 1), waits=False, number=1, at_s=1),
        Typed(node="h1", text="", at=(3, 1), number=2, at_s=1, awaits=0),
        Typed(node="h2", text="", at=(4, 1), number=3, at_s=1, awaits=1),
        Typed(node="h2", text="iperf3 -c 10.0.0.3 -t 2 &", at=(5, 1), waits=False, at_s=1.5),
        Typed(node="h2", text="wait", at=(6, 1), at_s=1.5),
        Typed(node="h1", text="iperf3 -c 10.0.0.2", at=(7, 1), at_s=1.5),
    ]
    found = script_traffic(lines, HOSTS)
    begins = [(flow.after, flow.start_s) for flow in found.flows]
    assert begins == [(None, 0), (None, 1), ("flow1", 0.5), ("flow3", 0)]


def test_an_algorithm_is_set_for_what_comes_after() -> None:
    control = "sysctl -w net.ipv4.tcp_congestion_control="
    found = script_traffic(
        typed(
            ("h1", f"{control}reno"),
            ("h1", "iperf3 -c 10.0.0.2"),
            ("h1", f"{control}bbr"),
            ("h1", "iperf3 -c 10.0.0.2"),
            ("h2", "iperf3 -c 10.0.0.3"),
            ("h1", "iperf3 -c 10.0.0.2 -C vegas"),
            ("h1", "iperf3 -c 10.0.0.2 -u -b 1M"),
        ),
        HOSTS,
    )
    names = [flow.congestion for flow in found.flows if isinstance(flow, Iperf3)]
    assert names == ["reno", "bbr", None, "vegas", None]


def test_a_line_that_cannot_be_played_is_reported() -> None:
    found = script_traffic(
        typed(
            ("h1", "iperf3 -c 10.9.9.9"),
            ("h1", "iperf3 -c 10.0.0.2 -t soon"),
            ("h1", "iperf3 -c 10.0.0.2 --bidir"),
            ("h1", "iperf3 -c 'unclosed"),
        ),
        HOSTS,
    )
    assert found.flows == ()
    assert [note.partition(":")[0] for note in found.notes] == [
        "line 1",
        "line 2",
        "line 3",
        "line 4",
    ]
    assert "10.9.9.9" in found.notes[0]
    assert "--bidir" in found.notes[2]
