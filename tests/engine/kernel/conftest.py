from __future__ import annotations

import shutil
import socket
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from longfat.common.checksum import write_sums
from longfat.engine.kernel import cache, kernel_org, manifest, recipe
from longfat.engine.kernel.job import Step
from longfat.engine.kernel.manifest import Kernel, Manifest
from tests.engine.kernel.archive import Key, end_agent, make_key


@pytest.fixture
def make_manifest() -> Callable[..., Manifest]:
    """Make manifests that tell what the caller cares about."""

    def make(**given: str) -> Manifest:
        release = given.get("release", "6.1.5")
        fields: dict[str, Any] = {
            "digest": "0" * 64,
            "release": release,
            "series": ".".join(release.split(".")[:2]),
            "binary_sha256": "b" * 64,
            "binary_key": "c" * 64,
            "recipe_digest": "today",
            "source_name": "linux.tar.xz",
            "source_digest": "d" * 64,
            "tools": ("gcc 1", "ld 1"),
            "patches": (),
            "shims": ("entropy.c",),
            "unknown_answers": (),
            "refused_answers": (),
            "lines": 1,
        }
        return Manifest(**{**fields, **given})

    return make


@pytest.fixture
def offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A host with no archive in apt's list, and no kernel.org."""
    configuration = tmp_path / "apt.conf"
    configuration.write_text(
        f'Dir::Etc::sourcelist "{tmp_path}/none.list";\nDir::Etc::sourceparts "{tmp_path}/none";\n'
    )
    monkeypatch.setenv("APT_CONFIG", str(configuration))
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    monkeypatch.setenv(kernel_org.MIRROR, f"http://127.0.0.1:{port}")


@pytest.fixture
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("LONGFAT_CACHE", str(folder))
    # Nor is there one that somebody has installed beside the tests.
    monkeypatch.setattr(cache, "WHEEL_PACKAGE", "longfat_kernels_of_tests")
    return folder


@pytest.fixture
def plant(empty_cache: Path, make_manifest: Callable[..., Manifest]) -> Callable[..., Kernel]:
    """Put kernels into the cache that are manifests and nothing else."""

    def put(release: str, *, digest: str, old: bool = False) -> Kernel:
        series = ".".join(release.split(".")[:2])
        wanted = "an older one" if old else recipe.load(series).digest
        product = empty_cache / "product"
        product.mkdir(parents=True)
        cache.kernels_folder().mkdir(exist_ok=True)
        made = make_manifest(release=release, digest=digest, recipe_digest=wanted)
        manifest.write(made, product)
        write_sums(product)
        return cache.put(product, digest=digest)

    return put


class ReportLog:
    """Notes what a download reports."""

    def __init__(self) -> None:
        self.reports: list[tuple[Step, int, int, str]] = []

    def __call__(self, step: Step, done: int = 0, total: int = 0, *, words: str = "") -> None:
        self.reports.append((step, done, total, words))

    def words(self, step: Step) -> list[str]:
        return list(
            dict.fromkeys(words for reported, _, _, words in self.reports if reported is step)
        )


@pytest.fixture
def report_log() -> ReportLog:
    return ReportLog()


@pytest.fixture(scope="session")
def key() -> Iterator[Key]:
    # The agent's socket wants a short path.
    folder = Path(tempfile.mkdtemp(prefix="longfat-key-"))
    made = make_key(folder / "gnupg")
    try:
        yield made
    finally:
        end_agent(made)
        shutil.rmtree(folder, ignore_errors=True)
