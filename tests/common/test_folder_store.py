from __future__ import annotations

import multiprocessing
from pathlib import Path

import pytest

from longfat.common.folder_store import FolderStore


@pytest.fixture
def store(tmp_path: Path) -> FolderStore:
    return FolderStore(folder=tmp_path / "store", prefix=".partial-", removal_prefix=".removal-")


def _names(store: FolderStore) -> list[str]:
    return sorted(path.name for path in store.folder.iterdir())


def test_a_folder_is_published_whole(store: FolderStore) -> None:
    with store.new_folder("a-") as partial:
        (partial / "file").write_text("content")
        assert _names(store) == [partial.name]
        assert partial.name.startswith(".partial-a-")
        store.publish(partial, store.folder / "a")
    assert _names(store) == ["a"]
    assert (store.folder / "a" / "file").read_text() == "content"


def test_an_unpublished_folder_is_removed(store: FolderStore) -> None:
    with store.new_folder() as partial:
        (partial / "file").write_text("content")
    assert _names(store) == []


def test_publishing_keeps_what_is_there_and_replacing_does_not(store: FolderStore) -> None:
    path = store.folder / "a"
    for text in ("first", "second"):
        with store.new_folder() as partial:
            (partial / "file").write_text(text)
            store.publish(partial, path)
        assert (path / "file").read_text() == "first"
    with store.new_folder() as partial:
        (partial / "file").write_text("third")
        store.replace(partial, path)
    assert (path / "file").read_text() == "third"
    assert _names(store) == ["a"]


def test_a_folder_cannot_be_published_over_a_file(store: FolderStore) -> None:
    with store.new_folder() as partial:
        (store.folder / "a").write_text("a file")
        with pytest.raises(OSError, match="cannot be put into"):
            store.publish(partial, store.folder / "a")


def test_a_removed_folder_is_gone_and_may_have_been_gone(store: FolderStore) -> None:
    path = store.folder / "a"
    (path / "inner").mkdir(parents=True)
    store.remove(path)
    store.remove(path)
    assert _names(store) == []


def test_leftovers_without_a_lock_are_swept(store: FolderStore) -> None:
    for name in (".partial-x", ".removal-y", "kept", ".other"):
        (store.folder / name).mkdir(mode=0o700, parents=True)
    with store.new_folder() as partial:
        store.sweep()
        assert _names(store) == sorted([".other", "kept", partial.name])


def _lock(folder: Path, digest: str, answers: multiprocessing.Queue[str]) -> None:
    store = FolderStore(folder=folder, prefix=".partial-")
    with store.lock(digest, on_wait=lambda: answers.put("waits")):
        answers.put("has it")


def test_a_lock_is_of_one_digest(store: FolderStore) -> None:
    first, second = "a" * 64, "b" * 64
    context = multiprocessing.get_context("spawn")
    answers = context.Queue()
    with store.lock(first, on_wait=pytest.fail):
        for digest, answer in ((second, "has it"), (first, "waits")):
            process = context.Process(target=_lock, args=(store.folder, digest, answers))
            process.start()
            assert answers.get(timeout=60) == answer
    assert answers.get(timeout=60) == "has it"
    process.join()
