"""Images that are sent to another computer: what arrives is what was sent, or nothing."""

from __future__ import annotations

import dataclasses
import gzip
import os
from pathlib import Path

import pytest

from longfat.engine.images import find_image, image_folder, is_unpacked, unpacked_images
from longfat.engine.images.parcel import fingerprint, install_image, pack_image
from longfat.errors import HostError
from longfat.model.host_root import HostRoot
from tests.engine.images.made import Entry, docker, folder, hard_link, layer, link, small

MOST = 1 << 30


@pytest.fixture
def image(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> HostRoot:
    monkeypatch.setenv("LONGFAT_CACHE", str(tmp_path / "here"))
    more = layer(
        folder("etc", mode=0o711),
        folder("empty", mode=0o1777),
        Entry(path="etc/one", content=b"one\n", mode=0o600),
        hard_link("etc/two", "etc/one"),
        link("etc/three", "../etc/one"),
        link("outside", "/../../nowhere"),
    )
    (tmp_path / "image.tar").write_bytes(docker([small("sh"), more]))
    return find_image(tmp_path / "image.tar", name="image.tar")


def elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("LONGFAT_CACHE", str(tmp_path / "there"))


def test_what_arrives_is_what_was_sent(
    image: HostRoot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content, block = fingerprint(image_folder(image)), pack_image(image, most_bytes=MOST)
    assert pack_image(image, most_bytes=MOST) == block
    elsewhere(monkeypatch, tmp_path)
    assert not is_unpacked(image.digest)
    install_image(image, content=content, block=block)
    there = image_folder(image)
    assert fingerprint(there) == content
    assert (there / "etc/one").samefile(there / "etc/two")
    assert os.readlink(there / "outside") == "/../../nowhere"
    assert (there / "etc").stat().st_mode & 0o777 == 0o711
    (one,) = unpacked_images()
    assert (one.digest, one.source) == (image.digest, "")
    install_image(image, content=content, block=block)  # it is there already


@pytest.mark.parametrize("change", ["byte", "cut", "content", "bomb"])
def test_a_damaged_one_is_refused_and_leaves_nothing(
    image: HostRoot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    content, block = fingerprint(image_folder(image)), pack_image(image, most_bytes=MOST)
    match change:
        case "byte":
            plain = bytearray(gzip.decompress(block))
            plain[plain.index(b"one\n")] ^= 1
            block = gzip.compress(bytes(plain))
        case "cut":
            block = block[: len(block) // 2]
        case "content":
            content = "0" * 64
        case "bomb":
            block = gzip.compress(bytes(1 << 20))
    elsewhere(monkeypatch, tmp_path)
    with pytest.raises(HostError, match=r"the image image\.tar"):
        install_image(image, content=content, block=block)
    assert not is_unpacked(image.digest)
    assert not list((tmp_path / "there").glob("images/*"))


def test_a_large_one_is_not_sent(image: HostRoot) -> None:
    with pytest.raises(HostError, match=r"image\.tar has more than 0 MB packed"):
        pack_image(image, most_bytes=1000)


def test_one_that_is_not_unpacked_here(image: HostRoot) -> None:
    other = dataclasses.replace(image, digest="0" * 64)
    with pytest.raises(HostError, match="not unpacked in the cache"):
        pack_image(other, most_bytes=MOST)
