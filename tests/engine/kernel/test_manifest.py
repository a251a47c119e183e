from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from longfat.engine.kernel import manifest
from longfat.engine.kernel.manifest import Manifest

Make = Callable[..., Manifest]


def test_what_was_written_is_read(tmp_path: Path, make_manifest: Make) -> None:
    made = make_manifest(release="6.12.57")
    manifest.write(made, tmp_path)
    assert manifest.read(tmp_path) == made


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": 2}', '{"format": 2, "odd": 1}'])
def test_what_is_no_manifest_is_none(tmp_path: Path, text: str) -> None:
    (tmp_path / manifest.FILE).write_text(text)
    assert manifest.read(tmp_path) is None
    assert manifest.read(tmp_path / "none") is None


def test_another_format_is_none(tmp_path: Path, make_manifest: Make) -> None:
    manifest.write(make_manifest(), tmp_path)
    document = json.loads((tmp_path / manifest.FILE).read_text())
    (tmp_path / manifest.FILE).write_text(json.dumps({**document, "format": 999}))
    assert manifest.read(tmp_path) is None


def test_a_kernel_knows_its_files(tmp_path: Path, make_manifest: Make) -> None:
    kernel = make_manifest().kernel(tmp_path)
    assert kernel.binary == tmp_path / "linux"
    assert kernel.shims == ("entropy", "heap", "xstate")


@pytest.mark.parametrize(
    ("release", "seccomp"),
    [
        ("6.1.158", False),
        ("6.12.57", False),
        ("6.15.9", False),
        ("6.16.1", True),
        ("7.2.0", True),
    ],
)
def test_kernels_that_can_use_seccomp(
    tmp_path: Path, make_manifest: Make, release: str, seccomp: bool
) -> None:
    arguments = make_manifest(release=release).kernel(tmp_path).boot_arguments
    assert ("seccomp=on" in arguments) == seccomp
