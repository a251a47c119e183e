"""The schema takes every study that we have, and tells of what no study may say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from ruamel.yaml import YAML

from longfat.study.schema import study_schema
from tests.paths import REPOSITORY

STUDIES = sorted(
    [
        *REPOSITORY.glob("labs/*/study.yaml"),
        *REPOSITORY.glob("labs/templates/**/study.yaml"),
        *REPOSITORY.glob("studies/**/study.yaml"),
        *REPOSITORY.glob("studies/*.yaml"),
        # Those of data/typed are lists of what a student types, and one is a list of causes.
        *(
            path
            for path in REPOSITORY.glob("tests/**/*.yaml")
            if path.parent.name != "typed" and path.name != "pitfalls.yaml"
        ),
    ]
)
SCHEMA = study_schema()
VALIDATOR = Draft202012Validator(SCHEMA)


def problems(study: Any) -> list[str]:
    return [error.json_path for error in VALIDATOR.iter_errors(study)]


def test_the_schema_is_a_schema() -> None:
    Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("path", STUDIES, ids=lambda path: str(path.relative_to(REPOSITORY)))
def test_a_study_of_ours_is_good(path: Path) -> None:
    assert problems(YAML(typ="safe").load(path.read_text())) == []


def test_a_number_may_be_a_text() -> None:
    requests = {"requests": "h1 -> h2", "size": 100000}
    assert problems(study(flows={"web": requests})) == []


def study(**fields: Any) -> dict[str, Any]:
    network = {
        "hosts": {"h1": "10.0.0.1/8", "h2": "10.0.0.2/8"},
        "links": [["h1", "h2", {"rate": "1gbit"}]],
    }
    return {"title": "x", "network": network, **fields}


def link(**properties: str) -> dict[str, Any]:
    return {"hosts": {}, "links": [["a", "b", properties]]}


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"kernle": "6.1"}, "$"),
        ({"seeds": 0}, "$.seeds"),
        ({"network": link(rate="fast")}, "$.network.links[0][2].rate"),
        ({"network": link(lost="1%")}, "$.network.links[0][2]"),
        ({"flows": {"bulk": {"iperf3": "h1 -> h2", "parallel": 500, "count": 1}}}, "$.flows.bulk"),
        ({"flows": {"bulk": {"iperf3": "h1 to h2"}}}, "$.flows.bulk"),
        ({"probes": {"queue": {"every": "1ms"}}}, "$.probes.queue"),
    ],
)
def test_what_no_study_may_say(fields: dict[str, Any], path: str) -> None:
    assert problems(study()) == []
    assert path in problems(study(**fields))
