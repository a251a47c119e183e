from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longfat.engine.kernel.version import (
    by_preference,
    check_version,
    matches,
    nearest,
    series,
    sort_key,
    split_variant,
)
from longfat.errors import InputError

_NUMBERS = st.lists(st.integers(0, 999), min_size=2, max_size=4)


@pytest.mark.parametrize("text", ["6.1", "6.1.158", "7.3-rc1", "6.12.57-rt20", "5.10.0"])
def test_versions_are_taken_as_they_are(text: str) -> None:
    assert check_version(text) == text


@pytest.mark.parametrize(
    "text", ["", "6", "six", "v6.1", "6.1.", "../6.1", "6.1 ", "6.1/x", "-1.2"]
)
def test_what_is_no_version_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="is not a kernel version"):
        check_version(text)


@pytest.mark.parametrize(
    ("version", "expected"), [("6.1.158", "6.1"), ("6.12", "6.12"), ("7.3-rc1", "7.3")]
)
def test_series(version: str, expected: str) -> None:
    assert series(version) == expected


def test_a_series_is_content_with_its_own_releases_only() -> None:
    assert matches("6.1.158", "6.1")
    assert matches("6.1.158", "6.1.158")
    assert matches("7.3-rc1", "7.3")
    assert not matches("6.12.5", "6.1")
    assert not matches("6.1.158", "6.1.15")
    assert not matches("6.1", "6.1.158")


def test_releases_sort_from_old_to_new() -> None:
    releases = ["5.10.9", "6.1.9", "6.1.10", "6.12-rc3", "6.12", "6.12.1", "7.0"]
    for first in (releases, releases[::-1]):
        assert sorted(first, key=sort_key) == releases


@given(_NUMBERS, _NUMBERS)
def test_order_is_that_of_the_numbers(one: list[int], other: list[int]) -> None:
    texts = [".".join(map(str, numbers)) for numbers in (one, other)]
    assert (sort_key(texts[0]) < sort_key(texts[1])) == (one < other)


def test_nearest() -> None:
    assert nearest("6.5", ["6.1", "6.12"]) == "6.1"
    assert nearest("6.11", ["6.1", "6.12"]) == "6.12"
    assert nearest("7.9", ["6.12", "7.2"]) == "7.2"
    assert nearest("6.1", []) is None


def test_the_nearest_release_comes_first() -> None:
    offered = ["6.1.170-3", "6.1.187-1", "6.1.192-2", "6.1.192-10", "6.1.197-1", "6.1.200-1"]
    assert by_preference(offered, "6.1.192") == [
        *("6.1.192-2", "6.1.192-10", "6.1.197-1", "6.1.187-1", "6.1.200-1", "6.1.170-3")
    ]
    assert by_preference(offered, "6.1")[:2] == ["6.1.200-1", "6.1.197-1"]
    assert by_preference(["7.2-1", "7.2.9-1~bpo13+1"], "7.2.3") == ["7.2-1", "7.2.9-1~bpo13+1"]
    assert by_preference([], "6.1") == []


def test_a_variant_is_given_to_who_asks_for_it_alone() -> None:
    assert matches("6.12.9+bbr3", "6.12+bbr3")
    assert matches("6.12.9+bbr3", "6.12.9+bbr3")
    assert not matches("6.12.9+bbr3", "6.12")
    assert not matches("6.12.9", "6.12+bbr3")
    assert not matches("6.12.9+bbr3", "6.12+bbr")
    assert series("6.12+bbr3") == series("6.12.9+bbr3") == "6.12"
    assert sort_key("6.12.9+bbr3") == sort_key("6.12.9")
    # A plus elsewhere belongs to the release.
    assert split_variant("6.12.10-1~bpo12+1") == ("6.12.10-1~bpo12+1", "")
    assert matches("7.2.0-custom+", "7.2")


@pytest.mark.parametrize("text", ["6.12+", "6.12+a+b", "6.12+a b", "+a", "6.12+" + "x" * 21])
def test_what_names_no_variant(text: str) -> None:
    with pytest.raises(InputError, match="is not a kernel version"):
        check_version(text)
