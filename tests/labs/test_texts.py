"""Lab texts and their studies say the same: lines, commands, cases and form.

A code block's info string says who types it. `sh root` and `sh h1 h2` are lines
at nodes, and must stand in the study in these very words, but for what only a network that
goes on needs: what puts things back between two cases, and servers in the background.
The lines of the network itself are not typed, but what they set may be looked at.
A case with another network than the drawn one is run as a whole, by a command that the text gives.
`sh variation` is a deliberate exception: lines that the text only proposes. Plain `sh` is the
reader's own shell, with `longfat` commands. That the lines work in their order is
tests/labs/test_by_hand.py's business.
"""

from __future__ import annotations

import re
import shlex
from functools import cache
from pathlib import Path
from typing import Any

import click
import pytest
from markdown_it import MarkdownIt

from longfat.cli.main import commands
from longfat.model.case import Case
from longfat.model.network import ROOT_NAMESPACE, Network
from longfat.model.probes import Capture
from longfat.model.traffic.bulk import Bulk
from longfat.study import Study, read_study
from longfat.study.labs import StudyFolder, all_labs, find_lab
from longfat.study.text import ENGLISH, VARIATION, nodes_of_block

pytestmark = pytest.mark.parametrize("lab", all_labs(), ids=lambda lab: lab.name)

_UNDONE = re.compile(r"sleep 1|tc qdisc del dev \S+ .+|nft delete table .+")
_CHANGED = re.compile(r"^tc (qdisc|class) (?:change|replace)\b")
_SYSCTL = re.compile(r"sysctl -w (?P<key>\S+?)=.*|sysctl (?P<shown>[^\s=]+)")
_CLIENT = re.compile(r"iperf3 -c (?P<address>\S+) .+")
_PORT = re.compile(r" -p 520\d\b")
_INTERFACE = re.compile(r"\b[a-z]+\d+-eth\d+\b")
_RUN = re.compile(r"(?P<case>[\w-]+)-seed\d+")


def test_every_lab_has_a_text(lab: StudyFolder) -> None:
    text = _text(lab)
    assert text.startswith(f"# {_study(lab).title}\n")


def test_the_network_is_placed_once(lab: StudyFolder) -> None:
    text = _text(lab)
    assert text.count("[network]") == 1
    assert "\n\n[network]\n\n" in text


def test_the_drawing_names_all_interfaces_and_addresses(lab: StudyFolder) -> None:
    network = _study_network(lab)
    drawing = next(lines for info, lines in _blocks(lab) if info == "text")
    drawn = "\n".join(drawing)
    assert set(_INTERFACE.findall(drawn)) == {end for pair in network.interfaces() for end in pair}
    for host in network.hosts:
        assert network.host_addresses()[host.name] in drawn


def test_answers_are_folded_away(lab: StudyFolder) -> None:
    text = _text(lab).partition("\n## Questions\n")[2]
    opened = re.findall(r"^<details><summary>Answer</summary>\n\n\S", text, re.MULTILINE)
    closed = re.findall(r"\S\n\n</details>$", text, re.MULTILINE)
    questions = re.findall(r"^\*\*\d+\. .+?\*\*\n\n<details>", text, re.MULTILINE | re.DOTALL)
    assert 6 <= len(opened) <= 10
    counts = {
        text.count("<details>"),
        text.count("</details>"),
        len(opened),
        len(closed),
        len(questions),
    }
    assert counts == {len(opened)}
    assert [int(n) for n in re.findall(r"^\*\*(\d+)\. ", text, re.MULTILINE)] == list(
        range(1, len(opened) + 1)
    )


def test_every_exercise_has_an_answer(lab: StudyFolder) -> None:
    """It is folded away at the end of the exercise, or in a list of solutions."""
    exercises, _, solutions = _section(lab, "Exercises").partition("\n### Solutions\n")
    if "Solutions are at the end of the page." in exercises:
        solutions = _section(lab, "Solutions to the exercises")
    items = _numbered_items(exercises)
    assert 3 <= len(items) <= 6
    if solutions:
        assert len(_numbered_items(solutions)) == len(items)
        assert "<details>" not in exercises
        return
    for item in items:
        assert re.search(r"^   <details><summary>Answer</summary>\n\n   \S", item, re.MULTILINE)
        assert item.rstrip().endswith("\n\n   </details>")
        assert item.count("<details>") == item.count("</details>") == 1


def test_nothing_before_the_exercises_is_folded_away(lab: StudyFolder) -> None:
    assert "<details>" not in _text(lab).partition("\n## Exercises\n")[0]


def test_lines_at_nodes_are_the_study_s(lab: StudyFolder) -> None:
    study = _study(lab)
    known = {
        (command.node, command.line)
        for planned in study.cases.values()
        for command in planned.case.setup
    }
    known |= {line for planned in study.cases.values() for line in _traffic_lines(planned.case)}
    names = {ROOT_NAMESPACE, *(host.name for host in _study_network(lab).hosts)}
    found = 0
    for info, lines in _blocks(lab):
        if info.split()[0] != "sh" or info.split()[1:] == [VARIATION]:
            continue
        nodes = nodes_of_block(info)
        assert set(nodes) <= names, f"{info!r} names no node of the study"
        for line in lines:
            if nodes:
                missing = [node for node in nodes if not _is_known(node, line, known, study)]
                assert not missing, f"{line!r} is typed at {missing} in no case of the study"
                found += 1
            else:
                assert line.startswith("longfat "), f"{line!r}: say at which node, or `variation`"
    assert found


def test_every_line_of_the_study_is_in_the_text(lab: StudyFolder) -> None:
    typed = {
        (node, _added(line))
        for info, lines in _blocks(lab)
        for node in nodes_of_block(info)
        for line in lines
    }
    network = _study_network(lab)
    named = _named_cases(lab)
    for name, planned in _study(lab).cases.items():
        if not _is_same(planned.case.network, network):
            assert name in named, f"no command of the text runs {name}"
            continue
        for command in planned.case.setup[planned.network_lines :]:
            assert (command.node, _added(command.line)) in typed


def test_longfat_commands_exist(lab: StudyFolder) -> None:
    found = [
        line
        for info, lines in _blocks(lab)
        if info.split() == ["sh"]
        for line in lines
        if line.startswith("longfat ")
    ]
    found += re.findall(r"`(longfat [^`]+)`", _text(lab))
    words = [shlex.split(line.partition(" > ")[0], comments=True) for line in found]
    assert any(word[1:3] == ["run", lab.name] for word in words)
    for argv in words:
        _check_command(argv, lab)


def _check_command(argv: list[str], lab: StudyFolder) -> None:
    line = shlex.join(argv)
    command = commands.get_command(click.Context(commands), argv[1])
    assert command is not None, f"{line}: there is no such subcommand"
    if len(argv) == 2:
        return  # only its name is mentioned
    try:
        given = command.make_context(argv[1], argv[2:]).params
    except click.ClickException as error:
        pytest.fail(f"{line}: {error.format_message()}")
    for study in _values(given, "studies", "study"):
        cases = _study(_meant(str(study), lab)).cases
        for name in given.get("names", ()):
            assert name in cases, f"{line}: {study} has no case {name!r}"
    if given.get("lab"):
        find_lab(str(given["lab"]))
    for run in (Path(word) for word in argv[2:] if word.startswith("runs/")):
        cases = _study(find_lab(run.parts[1])).cases
        if len(run.parts) == 2:
            continue
        match = _RUN.fullmatch(run.parts[2])
        assert match, f"{line}: {run} is not CASE-seedN"
        assert match["case"] in cases, f"{line}: {run.parts[1]} has no case {match['case']!r}"
        flows = {flow.name for flow in cases[match["case"]].case.flows}
        named = _values(given, "flows", "flow")
        assert set(named) <= flows, f"{line}: the case has the flows {sorted(flows)}"


def _values(given: dict[str, Any], several: str, one: str) -> list[Any]:
    """Return what was given for a parameter, be it a repeatable one or not."""
    return [*given.get(several, ()), *([given[one]] if given.get(one) else [])]


def _meant(name: str, lab: StudyFolder) -> StudyFolder:
    # mine.yaml is the copy of the study that the text has just had made.
    return lab if name == "mine.yaml" else find_lab(name)


def _is_known(node: str, line: str, known: set[tuple[str, str]], study: Study) -> bool:
    """Tell whether a line stands in the study, as it is or as a network that goes on needs it."""
    if _UNDONE.fullmatch(line):
        return True
    if line.startswith("iperf3 -s -D"):
        return any(node == at for at, _ in _bulk_ends(study, servers=True))
    if (key := _key(line)) is not None:  # another value, that puts it back; or a look at it
        return any(at == node and _key(there) == key for at, there in known)
    plain = _PORT.sub("", _added(line))
    if (node, plain) in {(at, _added(there)) for at, there in known}:
        return True
    # The study's own bulk transfer is typed as iperf3, which people know.
    client = _CLIENT.fullmatch(plain)
    return client is not None and (node, client["address"]) in _bulk_ends(study)


def _bulk_ends(study: Study, *, servers: bool = False) -> set[tuple[str, str]]:
    """Return who sends bulk traffic to which address, or who serves it."""
    found = set()
    for planned in study.cases.values():
        addresses = planned.case.network.host_addresses()
        for flow in planned.case.flows:
            if isinstance(flow, Bulk):
                for source, target in ((flow.source, flow.target), (flow.target, flow.source)):
                    found.add((target if servers else source, addresses[target]))
    return found


def _added(line: str) -> str:
    """Return the line that adds what another changes."""
    return _CHANGED.sub(r"tc \1 add", line)


def _key(line: str) -> str | None:
    setting = _SYSCTL.fullmatch(line)
    return None if setting is None else setting["key"] or setting["shown"]


def _traffic_lines(case: Case) -> set[tuple[str, str]]:
    """Return what a person would type for the traffic: without what is for machines only."""
    addresses = case.network.host_addresses()
    found: set[tuple[str, str]] = set()
    for flow in case.flows:
        found.update(flow.lines_at)
        for process in flow.processes(address=addresses[flow.target], port=5201):
            words = shlex.join(process.argv)
            # A ping's interval is of the experiment, that of iperf3's report is not.
            interval = (r" -i [\d.]+(?= |$)",) if process.argv[0] == "iperf3" else ()
            for machine in (r" -p 5201\b", r" -1\b", r" -J\b", *interval):
                words = re.sub(machine, "", words)
            found.add((process.host, words))
    for probe in case.probes:
        if isinstance(probe, Capture):
            interface = probe.of
            found.add((interface.partition("-")[0], f"tcpdump -i {interface} -n {probe.filter}"))
    return found


def _blocks(lab: StudyFolder) -> list[tuple[str, list[str]]]:
    return [
        (token.info.strip(), [line.strip() for line in token.content.splitlines() if line.strip()])
        for token in MarkdownIt("commonmark").parse(_text(lab))
        if token.type == "fence"
    ]


def _section(lab: StudyFolder, title: str) -> str:
    _, heading, rest = _text(lab).partition(f"\n## {title}\n")
    assert heading, f"no section {title!r}"
    return rest.partition("\n## ")[0]


def _numbered_items(section: str) -> list[str]:
    items = re.split(r"^(?=\d+\. )", section, flags=re.MULTILINE)[1:]
    numbers = [int(item.partition(".")[0]) for item in items]
    assert numbers == list(range(1, len(items) + 1))
    return items


def _text(lab: StudyFolder) -> str:
    assert lab.text_files, f"{lab.name} has no text"
    return lab.text_files[ENGLISH].read_text(encoding="utf-8")


@cache  # of a value that nobody can change
def _study(lab: StudyFolder) -> Study:
    return read_study(lab.study_file)


def _study_network(lab: StudyFolder) -> Network:
    """Return the network that is drawn: that of most cases.

    Cases may differ in what nodes and links do to packets.
    """
    networks = [planned.case.network for planned in _study(lab).cases.values()]
    first = networks[0]
    assert sum(_is_same(network, first) for network in networks) > len(networks) / 2
    return first


def _is_same(network: Network, other: Network) -> bool:
    """Return whether two networks have the same nodes, interfaces and addresses."""
    return (
        network.interfaces() == other.interfaces()
        and network.host_addresses() == other.host_addresses()
    )


def _named_cases(lab: StudyFolder) -> set[str]:
    """Return the cases that a command of the text runs by name."""
    lines = [line for info, lines in _blocks(lab) if info == "sh" for line in lines]
    runs = [shlex.split(line, comments=True) for line in lines if line.startswith("longfat run ")]
    options = [(argv, place) for argv in runs for place in range(len(argv) - 1)]
    return {argv[place + 1] for argv, place in options if argv[place] == "--case"}
