from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from longfat.engine.kernel import Kernel, find, fits, named
from longfat.errors import HostError, InputError

Plant = Callable[..., Kernel]


def test_the_newest_release_is_found(plant: Plant) -> None:
    for number, release in enumerate(["6.1.9", "6.1.10", "6.1.8", "6.12.99"]):
        plant(release, digest=f"{number}" * 64)
    assert find("6.1").release == "6.1.10"
    assert find("6.1.9").release == "6.1.9"
    assert find("6.12").release == "6.12.99"
    assert find("newest").release == "6.12.99"


def test_of_one_release_the_one_built_last_is_found(plant: Plant) -> None:
    plant("6.1.9", digest="b" * 64)
    time.sleep(0.01)
    last = plant("6.1.9", digest="a" * 64)
    assert find("6.1") == last


def test_a_kernel_of_an_older_recipe_is_passed_over(plant: Plant) -> None:
    ready = plant("6.1.9", digest="a" * 64)
    older = plant("6.1.10", digest="b" * 64, old=True)
    assert find("6.1") == find("newest") == ready
    assert fits(ready)
    assert not fits(older)


@pytest.mark.parametrize("version", ["6.1", "newest"])
def test_an_older_recipe_is_said_to_be_the_reason(plant: Plant, version: str) -> None:
    plant("6.1.10", digest="b" * 64, old=True)
    with pytest.raises(HostError, match=r"6\.1\.10 was built from other answers") as caught:
        find(version)
    assert caught.value.hint == "longfat kernel build 6.1"


def test_the_built_ones_are_named(plant: Plant) -> None:
    plant("6.12.99", digest="a" * 64)
    with pytest.raises(HostError, match=r"6\.1 is not built; built: 6\.12\.99") as caught:
        find("6.1")
    assert caught.value.hint == "longfat kernel build 6.1"


@pytest.mark.usefixtures("empty_cache")
@pytest.mark.parametrize("version", ["6.1", "newest"])
def test_nothing_is_built(version: str) -> None:
    with pytest.raises(HostError, match="no kernel is built") as caught:
        find(version)
    assert caught.value.hint == "longfat kernel build 6.1"


@pytest.mark.parametrize("version", ["", "new", "6", "../.."])
def test_what_is_no_version_is_refused(version: str) -> None:
    with pytest.raises(InputError):
        find(version)


def test_finding_is_quick(plant: Plant) -> None:
    for number in range(16):
        plant(f"6.1.{number}", digest=f"{number:x}" * 64)
    find("6.1")
    times_s = []
    for _ in range(5):
        begin_s = time.process_time()
        find("6.1")
        times_s.append(time.process_time() - begin_s)
    assert min(times_s) < 0.05


def test_a_person_may_name_a_version_or_a_digest(plant: Plant) -> None:
    one, two = plant("6.1.9", digest="abcdef" + "0" * 58), plant("6.1.10", digest="1" * 64)
    assert named("abcdef") == [one]
    assert named("6.1") == [one, two]
    for name in ("6.12", "fedcba"):
        with pytest.raises(InputError, match=r"built: 6\.1\.9, 6\.1\.10"):
            named(name)
    with pytest.raises(InputError, match="not a kernel version"):
        named("abc")
