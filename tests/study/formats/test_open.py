"""A network to work in, from a study or a MiniEdit file."""

from __future__ import annotations

from pathlib import Path

import pytest

from longfat.errors import InputError
from longfat.model.case import Command
from longfat.study import read_study
from longfat.study.formats.open import open_network
from tests.paths import TESTS

DATA = TESTS / "data" / "miniedit"

NETWORK = "network: {hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8}, links: [[h1, h2]]}"
STUDY = f"""\
title: x
seed: 7
{NETWORK}
setup: [{{h1: common}}]
flows: {{x: {{ping: h1 -> h2}}}}
cases:
  a: {{setup: [{{h2: own}}], memory: 512MB}}
  b: {{network: {{hosts: {{h1: 10.0.0.1/8, h2: 10.0.0.2/8, h3: 10.0.0.3/8}}, links: [[h1, h2]]}}}}
"""


@pytest.fixture
def study(tmp_path: Path) -> Path:
    (tmp_path / "study.yaml").write_text(STUDY)
    return tmp_path


def test_what_the_cases_have_in_common(study: Path) -> None:
    opened = open_network(study)
    assert [host.name for host in opened.network.hosts] == ["h1", "h2"]
    assert opened.setup == (Command(node="h1", line="common"),)
    assert (opened.kernel, opened.seed, opened.memory_bytes) == (None, 7, None)
    assert opened.warnings == ()


def test_a_case(study: Path) -> None:
    opened = open_network(study / "study.yaml", case="a")
    assert [command.line for command in opened.setup] == ["common", "own"]
    assert (opened.kernel, opened.seed, opened.memory_bytes) == ("newest", 7, 512 << 20)
    assert len(open_network(study, case="b").network.hosts) == 3
    with pytest.raises(InputError, match=r"there is no case 'c' \(there are: a, b\)"):
        open_network(study, case="c")


def test_cases_without_a_common_network(tmp_path: Path) -> None:
    file = tmp_path / "own.yaml"
    file.write_text(f"title: x\ncases:\n  a: {{{NETWORK}}}\n  b: {{{NETWORK}}}\n")
    with pytest.raises(InputError, match=r"name a case \(there are: a, b\)"):
        open_network(file)
    assert open_network(file, case="b").network.links


def test_lines_of_a_network_stay_with_it(tmp_path: Path) -> None:
    file = tmp_path / "own.yaml"
    own = NETWORK[:-1] + ", setup: [{[h1, h2]: part of it}]}"
    cases = f"cases:\n  a: {{setup: [{{h1: own}}]}}\n  b: {{{NETWORK}}}\n"
    file.write_text(f"title: x\n{own}\nsetup: [{{h2: common}}]\n{cases}")
    both = [Command(node="h1", line="part of it"), Command(node="h2", line="part of it")]
    assert list(open_network(file, by_hand=True).setup) == both
    assert list(read_study(file).by_hand().case.setup) == both
    common = Command(node="h2", line="common")
    assert list(open_network(file).setup) == [*both, common]
    assert list(open_network(file, case="a").setup) == [
        *both,
        common,
        Command(node="h1", line="own"),
    ]
    assert list(open_network(file, case="b").setup) == [common]  # another network


@pytest.mark.parametrize(
    ("setup", "message"),
    [
        ("[{h3: a line}]", "there is no host 'h3'"),
        ("[a line]", "NODE: LINE"),
    ],
)
def test_wrong_lines_of_a_network(tmp_path: Path, setup: str, message: str) -> None:
    file = tmp_path / "own.yaml"
    file.write_text(
        f"title: x\n{NETWORK[:-1]}, setup: {setup}}}\nflows: {{x: {{ping: h1 -> h2}}}}\n"
    )
    with pytest.raises(InputError, match=message):
        read_study(file)


def test_a_grid_has_the_lines_of_its_network(tmp_path: Path) -> None:
    file = tmp_path / "own.yaml"
    own = NETWORK[:-1] + ", setup: [{h1: sysctl a=$<size>}]}"
    flows = "flows: {x: {ping: h1 -> h2}}"
    file.write_text(f"title: x\ngrid: {{size: [1, 2]}}\n{own}\n{flows}\n")
    lines = [planned.case.setup[0].line for planned in read_study(file).cases.values()]
    assert lines == ["sysctl a=1", "sysctl a=2"]
    assert [one.line for one in read_study(file).by_hand().case.setup] == ["sysctl a=1"]


def test_the_network_to_work_in_by_hand_has_no_set_up(study: Path, tmp_path: Path) -> None:
    opened = open_network(study, by_hand=True)
    assert [host.name for host in opened.network.hosts] == ["h1", "h2"]
    assert opened.setup == ()
    assert opened.seed == 7
    assert open_network(study, case="a", by_hand=True).setup  # what was asked for
    own = tmp_path / "own.yaml"
    own.write_text(
        f"title: x\ncases:\n  a: {{{NETWORK}, setup: [{{h1: own}}]}}\n  b: {{{NETWORK}}}\n"
    )
    assert open_network(own, by_hand=True).network.links
    assert open_network(own, by_hand=True).setup == ()
    only = tmp_path / "only.yaml"
    only.write_text(
        f"title: x\n{NETWORK}\nsetup: [{{h1: own}}]\nflows: {{x: {{ping: h1 -> h2}}}}\n"
    )
    assert len(open_network(only, by_hand=True).setup) == 1


def test_a_layout_of_nodes_that_are_there(study: Path) -> None:
    with (study / "study.yaml").open("a") as file:
        file.write("layout: {h1: [1, 2], h3: [3, 4]}\n")
    assert open_network(study).layout == {"h1": (1, 2)}
    assert open_network(study, case="b").layout == {"h1": (1, 2), "h3": (3, 4)}


def test_what_is_wrong_in_one_case_is_reported(study: Path) -> None:
    file = study / "study.yaml"
    file.write_text(STUDY.replace("{h2: own}", "{h9: own}"))
    with pytest.raises(InputError, match="there is no host 'h9'"):
        open_network(study)


def test_a_drawing() -> None:
    opened = open_network(DATA / "everything.mn")
    assert opened.setup
    assert opened.warnings
    assert opened.kernel is None
    assert open_network(DATA / "dumbbell.mn").layout["h3"] == (560.0, 210.0)
    with pytest.raises(InputError, match="a MiniEdit file has no cases"):
        open_network(DATA / "everything.mn", case="a")
