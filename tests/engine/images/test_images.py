"""Images are found in every form, unpacked as their layers say, and refused where they harm."""

from __future__ import annotations

import gzip
import json
import os
import tarfile
from pathlib import Path
from typing import Any

import pytest

from longfat.engine.images import find_image, image_folder, layers, store, tree
from longfat.errors import HostError, InputError
from longfat.model.host_root import HostRoot
from tests.engine.images.made import (
    Entry,
    config,
    digest,
    docker,
    docker_files,
    folder,
    hard_link,
    layer,
    link,
    oci,
    oci_files,
    packed,
    put,
)
from tests.paths import TESTS

ELF = b"\x7fELF\x02\x01" + bytes(12) + b"\x3e\x00" + bytes(40)
SETTINGS: dict[str, Any] = {
    "Env": ["A=b"],
    "WorkingDir": "/app",
    "Entrypoint": ["/bin/x"],
    "Cmd": ["-v"],
}


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give each test a cache of images of its own."""
    place = tmp_path / "cache"
    monkeypatch.setattr(store, "cache_root", lambda: place)
    return place


def found(content: bytes, tmp_path: Path, name: str = "image.tar") -> HostRoot:
    (tmp_path / name).write_bytes(content)
    return find_image(tmp_path / name, name=name)


def unpacked(content: bytes, tmp_path: Path) -> dict[str, str]:
    """Return what is in the unpacked image: texts of files, targets of links."""
    place = image_folder(found(content, tmp_path))
    return {
        path.relative_to(place).as_posix(): (
            f"-> {path.readlink()}"
            if path.is_symlink()
            else "folder"
            if path.is_dir()
            else path.read_text()
        )
        for path in sorted(place.rglob("*"))
    }


def refused(content: bytes, tmp_path: Path) -> str:
    with pytest.raises(InputError) as caught:
        found(content, tmp_path)
    assert not [one for one in tmp_path.rglob("*") if one.name.startswith(("1-", ".making"))]
    return caught.value.message


def file(path: str, text: str = "", mode: int = 0o644) -> Entry:
    return Entry(path=path, content=text.encode(), mode=mode)


LOWER = layer(
    folder("a", 0o750),
    file("a/kept", "kept"),
    file("a/gone", "gone"),
    file("a/changed", "before"),
    folder("deep/er"),
    file("deep/er/one", "1"),
    file("deep/er/two", "2"),
    link("to-a", "/a"),
    file("b", "b", 0o4755),
    hard_link("b-too", "b"),
)


def test_every_form_of_an_image_has_the_same_digest_and_content(tmp_path: Path) -> None:
    upper = layer(file("a/changed", "after"))
    put(oci_files([LOWER, upper], **SETTINGS), tmp_path / "layout")
    ways = [
        found(docker([LOWER, upper], **SETTINGS), tmp_path, "docker.tar"),
        found(oci([LOWER, upper], **SETTINGS), tmp_path, "oci.tar"),
        found(oci([LOWER, upper], compress=False, **SETTINGS), tmp_path, "plain-layers.tar"),
        find_image(tmp_path / "layout", name="layout"),
    ]
    assert len({one.digest for one in ways}) == 1
    assert ways[0].digest == digest(json.dumps(config([LOWER, upper], **SETTINGS)).encode())[7:]
    for one in ways:
        assert (one.environment, one.folder, one.command) == (("A=b",), "/app", ("/bin/x", "-v"))
        assert (image_folder(one) / "a/changed").read_text() == "after"
    # What `docker save` has written since version 25 is both at once.
    both = {**oci_files([LOWER], **SETTINGS), **docker_files([LOWER], **SETTINGS)}
    assert found(packed(both), tmp_path, "both.tar").command == ("/bin/x", "-v")


def test_whiteouts_take_away_what_lies_below_and_nothing_else(tmp_path: Path) -> None:
    upper = layer(
        file("a/.wh.gone"),
        file("a/changed", "after"),
        file("deep/er/new", "new"),
        file("deep/er/.wh..wh..opq"),
        file(".wh.b"),
        file("to-a/through", "the link"),
        file(".wh..wh.plnk/x"),
    )
    assert unpacked(docker([LOWER, upper]), tmp_path) == {
        "a": "folder",
        "a/changed": "after",
        "a/kept": "kept",
        "a/through": "the link",
        "b-too": "b",
        "deep": "folder",
        "deep/er": "folder",
        "deep/er/new": "new",
        "to-a": "-> /a",
    }


def test_a_folder_that_is_replaced_in_one_layer_has_only_what_that_brings(tmp_path: Path) -> None:
    upper = layer(folder("deep"), file("deep/new", "n"), file(".wh.deep"), file("a", "a file now"))
    found = unpacked(docker([LOWER, upper]), tmp_path)
    assert {name for name in found if name.startswith("deep")} == {"deep", "deep/new"}
    assert found["a"] == "a file now"
    assert "a/kept" not in found


def test_rights_times_and_hard_links_come_along_and_set_user_id_does_not(tmp_path: Path) -> None:
    node = Entry(path="dev/sda", kind=tarfile.BLKTYPE)
    pipe = Entry(path="pipe", kind=tarfile.FIFOTYPE)
    image = found(docker([LOWER, layer(node, pipe, file("secret", "s", 0))]), tmp_path)
    place = image_folder(image)
    assert (place / "b").stat().st_mode & 0o7777 == 0o755
    assert (place / "a").stat().st_mode & 0o7777 == 0o750
    assert (place / "secret").stat().st_mode & 0o7777 == 0o400  # for a machine to read it
    assert (place / "b").samefile(place / "b-too")
    assert (place / "b").stat().st_mtime == 1_000_000_000
    assert not (place / "dev/sda").exists()
    assert not (place / "pipe").exists()
    assert image.left_out == (
        "1 device nodes, 1 pipes and other special files, 1 set-user-ID and set-group-ID bits"
    )


HOSTILE: list[tuple[bytes, str]] = [
    (layer(file("../../etc/x", "x")), "contains .., which would lead out of the image"),
    (layer(file("/etc/x", "x")), "is an absolute path, which would lead out of the image"),
    (
        layer(link("out", "../../.."), file("out/tmp/x", "x")),
        "goes through a symbolic link that leads out of the image",
    ),
    (layer(link("a", "b"), link("b", "a"), file("a/x")), "symbolic links without an end"),
    (layer(hard_link("x", "../../etc/passwd")), "contains .., which would lead out of the image"),
    (layer(hard_link("x", "nothing")), "is a hard link to 'nothing', which is no earlier file"),
    (layer(file("f"), file("f/x")), "is below a file, not a folder"),
    (layer(file("x/.wh...")), "is a whiteout of no file"),
    (layer(file("n" * 256)), "has a name of more than 255 bytes"),
    (layer(file("/".join("d" * 201))), "is too long, or nested too deep"),
    (layer(Entry(path="s", pax={"GNU.sparse.major": "1"})), "is a sparse file"),
    (layer(Entry(path="x", pax={"comment": "y" * (2 << 20)})), "an extended header of"),
]


@pytest.mark.parametrize(("content", "why"), HOSTILE, ids=[why[:30] for _, why in HOSTILE])
def test_hostile_layers_are_refused_with_the_cause(
    content: bytes, why: str, tmp_path: Path
) -> None:
    message = refused(docker([content]), tmp_path)
    assert message.startswith(f"image.tar: layer {digest(content)[:19]}")
    assert why in message


def test_an_absolute_link_leads_to_the_image_s_own_files(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.mkdir()
    inner = layer(link("out", str(victim)), file("out/x", "inside"))
    assert unpacked(docker([inner]), tmp_path)[f"{victim}/x"[1:]] == "inside"
    assert not list(victim.iterdir())


def test_bombs_are_refused_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    many = layer(*(file(str(number)) for number in range(50)))
    large = layer(file("zeros", "\0" * (1 << 20)))
    monkeypatch.setattr(tree, "MAX_ENTRIES", 20)
    assert "more than 20 files and folders" in refused(oci([many]), tmp_path)
    monkeypatch.setattr(tree, "MAX_ENTRIES", 1000)
    monkeypatch.setattr(tree, "MAX_BYTES", 1 << 19)
    assert "its files are larger than" in refused(oci([large]), tmp_path)
    monkeypatch.setattr(layers, "MAX_BYTES", 1 << 10)
    assert "larger than longfat unpacks" in refused(oci([large]), tmp_path)
    claimed = bytearray(layer(Entry(path="huge", content=b"x")))
    claimed[124:136] = b"77777777777\0"  # of 8 GB, of which nothing is there
    assert "cannot be read" in refused(docker([bytes(claimed)]), tmp_path)


def test_damage_is_found_by_the_digests(tmp_path: Path) -> None:
    files = oci_files([LOWER])
    blob = max((name for name in files if "blobs" in name), key=lambda name: len(files[name]))
    stored = gzip.compress(gzip.decompress(files[blob]).replace(b"kept", b"KEPT"))
    assert "it was damaged or changed" in refused(packed({**files, blob: stored}), tmp_path)
    other = docker_files([LOWER])
    name = next(one for one in other if one.endswith("layer.tar"))
    wrong = {**other, name: other[name].replace(b"gone", b"GONE")}
    assert "it was damaged or changed" in refused(packed(wrong), tmp_path)
    config_name = next(one for one in other if len(one) == 69)
    wrong = {**other, config_name: other[config_name].replace(b"linux", b"linux ")}
    assert "it was damaged or changed" in refused(packed(wrong), tmp_path)
    missing = {one: content for one, content in other.items() if one != name}
    assert "is not in the image, which is incomplete" in refused(packed(missing), tmp_path)


def test_what_is_no_image_is_told_with_what_was_found(tmp_path: Path) -> None:
    exported = layer(folder("etc"), folder("usr"), file("etc/passwd"))
    assert "this is a tar that contains etc, usr (a root file system" in refused(exported, tmp_path)
    assert "a tar that contains notes" in refused(layer(file("notes")), tmp_path)
    assert "and this is not a tar" in refused(b"some text\n" * 100, tmp_path)
    assert "and this is not a tar" in refused(b"", tmp_path)
    assert "compressed by gzip" in refused(gzip.compress(docker([LOWER])), tmp_path)
    arm = docker([LOWER], architecture="arm64")
    message = "image.tar: a machine runs linux/amd64, but the image is for linux/arm64"
    assert refused(arm, tmp_path) == message
    files = docker_files([LOWER])
    files["manifest.json"] = json.dumps(2 * json.loads(files["manifest.json"])).encode()
    assert "it contains 2 images (small:1, small:1)" in refused(packed(files), tmp_path)
    files["manifest.json"] = b"[{]"
    assert "manifest.json in it: not JSON" in refused(packed(files), tmp_path)


def test_of_an_index_the_image_for_machines_is_taken(tmp_path: Path) -> None:
    files = oci_files([LOWER])
    index = json.loads(files["index.json"])
    (own,) = index["manifests"]
    others = [
        {**own, "digest": digest(b"x"), "platform": {"os": "linux", "architecture": "arm64"}},
        {**own, "platform": {"os": "linux", "architecture": "amd64"}},
    ]
    inner = json.dumps({"manifests": others}).encode()
    files[f"blobs/sha256/{digest(inner)[7:]}"] = inner
    kind = "application/vnd.oci.image.index.v1+json"
    files["index.json"] = json.dumps({"manifests": others[:1]}).encode()
    assert "the image is for linux/arm64" in refused(packed(files), tmp_path)
    chosen = {"digest": digest(inner), "mediaType": kind}
    files["index.json"] = json.dumps({"manifests": [chosen]}).encode()
    assert found(packed(files), tmp_path).digest == found(oci([LOWER]), tmp_path, "b").digest


def root_folder(place: Path) -> Path:
    (place / "bin").mkdir(parents=True)
    (place / "bin/tool").write_bytes(ELF)
    (place / "bin/tool").chmod(0o755)
    (place / "bin/sh").symlink_to("/bin/tool")
    return place


def test_a_folder_is_copied_and_has_a_digest_of_its_content(tmp_path: Path) -> None:
    one, two = root_folder(tmp_path / "one"), root_folder(tmp_path / "two")
    os.utime(two / "bin/tool", (1, 1))
    first = find_image(one, name="one")
    assert first.digest == find_image(two, name="two").digest
    assert first.digest == find_image(one, name="one").digest
    assert (image_folder(first) / "bin/sh").readlink() == Path("/bin/tool")
    (two / "bin/tool").write_bytes(ELF + b"1")
    changed = find_image(two, name="two")
    assert changed.digest != first.digest
    assert (image_folder(first) / "bin/tool").read_bytes() == ELF
    (two / "bin/tool").chmod(0o700)
    assert find_image(two, name="two").digest != changed.digest


def test_a_folder_without_programs_or_for_another_processor_is_refused(tmp_path: Path) -> None:
    place = root_folder(tmp_path / "arm")
    (place / "bin/tool").write_bytes(ELF[:18] + b"\xb7\x00" + bytes(30))
    with pytest.raises(InputError, match="bin/tool is for another architecture"):
        find_image(place, name="arm")
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/README").write_text("text")
    with pytest.raises(InputError, match="no program in this folder, which contains README"):
        find_image(tmp_path / "docs", name="docs")


def test_an_image_is_unpacked_once_and_one_that_is_gone_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    image = found(docker([LOWER]), tmp_path)

    def never(*_: object, **__: object) -> None:
        raise AssertionError

    with monkeypatch.context() as patch:
        patch.setattr(store, "_unpack", never)
        assert found(docker([LOWER]), tmp_path) == image
    with pytest.raises(HostError, match="is not unpacked in the cache"):
        image_folder(HostRoot(image="x.tar", digest="0" * 64))


def test_a_layer_compressed_by_zstd_is_read(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    sink = pyarrow.BufferOutputStream()
    with pyarrow.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(LOWER)
    stored = sink.getvalue().to_pybytes()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gzip, "compress", lambda *_args, **_more: stored)
        content = oci([LOWER])
    assert unpacked(content, tmp_path)["a/kept"] == "kept"


@pytest.mark.parametrize("name", ["skopeo-docker.tar", "skopeo-oci-zstd.tar"])
def test_what_skopeo_wrote_is_read(name: str) -> None:
    image = find_image(TESTS / "data/images" / name, name=name)
    assert image.digest == "5d1693d757a6ccb344b24ac6990a4bd8fa61e97b83662de8895005e012221e65"
    assert (image.environment, image.folder, image.command) == (("FOO=bar",), "/etc", ("/bin/ls",))
    assert [path.name for path in (image_folder(image) / "etc").iterdir()] == ["motd"]
