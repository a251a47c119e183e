"""The published experiments: each can be read, names its source and has a text."""

from __future__ import annotations

import pytest

from longfat.errors import InputError
from longfat.study import read_study
from longfat.study.labs import StudyFolder, all_experiments, find_experiments

WITHOUT_AN_ADDRESS = {"ten-flows"}
"""Experiments whose data have no public address that is known."""


@pytest.mark.parametrize("experiment", all_experiments().values(), ids=lambda one: one.name)
def test_an_experiment_names_its_source(experiment: StudyFolder) -> None:
    study = read_study(experiment.study_file)
    assert study.name == experiment.name
    assert study.published is not None
    assert study.published.source
    assert study.published.figures
    assert study.claims
    if experiment.name not in WITHOUT_AN_ADDRESS:
        assert study.published.address
        assert study.published.authors
        assert study.published.place
        assert experiment.text_files


def test_experiments_are_found_by_name() -> None:
    names = list(all_experiments())
    assert names == sorted(names)
    found = find_experiments(("hystart-80ms", "dctcp-queue", "hystart-80ms"))
    assert [one.name for one in found] == ["hystart-80ms", "dctcp-queue"]
    with pytest.raises(InputError, match=r"no published experiment 'dctcp'.*did you mean"):
        find_experiments(("dctcp",))
