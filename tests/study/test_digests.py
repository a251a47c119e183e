from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longfat.common import resources
from longfat.errors import InputError
from longfat.study.digests import FILE, LabDigests, digests_text, read_digests
from longfat.study.labs import all_labs

ONE = LabDigests(toolset=64 * "a", kernel="6.1.192", runs={"default-seed1": 64 * "b"})


@given(
    runs=st.dictionaries(
        st.sampled_from(["a-seed1", "b-seed1", "c"]), st.just(64 * "c"), min_size=1
    )
)
def test_what_is_written_is_read(
    runs: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    file = tmp_path_factory.mktemp("digests") / FILE
    digests = {"lab01": ONE, "lab02": LabDigests(toolset=64 * "d", kernel="7.2", runs=runs)}
    file.write_text(digests_text(digests))
    assert read_digests(file) == digests


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("kernel", "kernal"), "unknown field 'kernal'"),
        (('  kernel: "6.1.192"\n', ""), "the field kernel is missing"),
        ((64 * "b", "b"), "found 'b', expected a digest of 64 hexadecimal digits"),
    ],
)
def test_mistakes_are_named(change: tuple[str, str], message: str, tmp_path: Path) -> None:
    file = tmp_path / FILE
    file.write_text(digests_text({"lab01": ONE}).replace(*change))
    with pytest.raises(InputError, match=message):
        read_digests(file)


def test_the_recorded_runs_are_those_of_the_labs() -> None:
    labs = {lab.name: lab for lab in all_labs()}
    recorded = read_digests(resources.folder("labs") / FILE)
    assert recorded.keys() <= labs.keys()
    assert len({one.toolset for one in recorded.values()}) == 1
