from __future__ import annotations

import shutil
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from longfat.common.checksum import write_sums
from longfat.engine.kernel import cache, manifest
from longfat.engine.kernel.manifest import Manifest
from longfat.engine.kernel.parcel import fingerprint, install
from longfat.errors import HostError

DIGEST = "a1" * 32


@pytest.fixture
def built(tmp_path: Path, make_manifest: Callable[..., Manifest]) -> Path:
    folder = tmp_path / "built"
    folder.mkdir()
    (folder / "linux").write_bytes(b"kernel")
    (folder / "entropy.so").write_bytes(b"shim")
    (folder / "config").write_bytes(b"answers")
    manifest.write(make_manifest(digest=DIGEST), folder)
    write_sums(folder)
    return folder


def copier(source: Path) -> Callable[[Path], None]:
    def copy(folder: Path) -> None:
        shutil.copytree(source, folder, dirs_exist_ok=True)

    return copy


def test_a_fingerprint_is_of_what_is_loaded(built: Path) -> None:
    first = fingerprint(built)
    (built / "config").write_bytes(b"other")
    (built / "manifest.json").write_bytes(b"other")
    assert fingerprint(built) == first
    (built / "entropy.so").write_bytes(b"other")
    assert fingerprint(built) != first


def test_many_at_once_put_it_there_once(built: Path, empty_cache: Path) -> None:
    content = fingerprint(built)
    unpacked, found = [], []

    def unpack(folder: Path) -> None:
        unpacked.append(folder)
        copier(built)(folder)

    def put() -> None:
        found.append(install(DIGEST, content=content, unpack=unpack))

    threads = [threading.Thread(target=put) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(unpacked) == 1
    assert [one.folder for one in found] == [empty_cache / "kernels" / DIGEST] * 4
    assert fingerprint(found[0].folder) == content
    assert [path.name for path in cache.kernels_folder().iterdir() if path.is_dir()] == [DIGEST]


def test_what_is_not_that_kernel_is_not_put_there(built: Path, empty_cache: Path) -> None:
    with pytest.raises(HostError, match="the received files are not the kernel a1a1a1a1a1a1"):
        install(DIGEST, content="other", unpack=copier(built))
    with pytest.raises(HostError, match="are not the kernel"):
        install("b2" * 32, content=fingerprint(built), unpack=copier(built))
    assert [path for path in (empty_cache / "kernels").iterdir() if path.is_dir()] == []


@pytest.mark.usefixtures("empty_cache")
def test_what_a_kill_left_is_removed(built: Path) -> None:
    lefts = [cache.kernels_folder() / f".{name}-b2b2b2-0" for name in ("build", "removal")]
    for left in lefts:
        left.mkdir(parents=True)
        (left / "linux").touch()
    install(DIGEST, content=fingerprint(built), unpack=copier(built))
    assert not any(left.exists() for left in lefts)


@pytest.mark.usefixtures("empty_cache")
def test_a_damaged_kernel_is_replaced(built: Path) -> None:
    content = fingerprint(built)
    kernel = install(DIGEST, content=content, unpack=copier(built))
    kernel.binary.write_bytes(b"changed")
    assert cache.get(DIGEST) is None
    install(DIGEST, content=content, unpack=copier(built))
    assert kernel.binary.read_bytes() == b"kernel"
    assert cache.get(DIGEST) == kernel


@pytest.mark.usefixtures("empty_cache")
def test_another_kernel_of_this_name(built: Path) -> None:
    content = fingerprint(built)
    kernel = install(DIGEST, content=content, unpack=copier(built))
    kernel.binary.write_bytes(b"changed")
    write_sums(kernel.folder)
    with pytest.raises(
        HostError, match="has other bytes than the kernel of the same name"
    ) as error:
        install(DIGEST, content=content, unpack=copier(built))
    assert error.value.hint == "longfat kernel remove a1a1a1a1a1a1"
