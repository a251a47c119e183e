"""Builds of a make-believe kernel: all is real but what make does."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tarfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from longfat.engine.kernel import (
    Kernel,
    Progress,
    Step,
    cache,
    find,
    manifest,
    manifest_of,
    recipe,
    sources,
)
from longfat.engine.kernel.build import build
from longfat.errors import HostError, InputError
from tests.kernels import RELEASES

# A kernel in five lines. It notes each compilation in a file next to its source.
_MAKEFILE = """\
kernelversion:
	@echo 6.1.5
allnoconfig:
	@cp $(KCONFIG_ALLCONFIG) .config
mrproper:
	@rm -rf include
linux:
	@echo '  CC      one.o'; echo '  LD      linux'; echo made >> NOTES
	@mkdir -p include/config; echo 6.1.5 > include/config/kernel.release
	@printf 'a kernel' > linux; chmod 755 linux
"""

Make = Callable[..., Path]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    tree = tmp_path / "tree"
    (tree / "arch/um").mkdir(parents=True)
    (tree / "Kconfig").write_text("config NET\n")
    (tree / "Makefile").write_text(_MAKEFILE.replace("NOTES", str(tmp_path / "notes")))
    for name, lines in _wanted([path.read_text() for path in recipe.load("6.1").patches]).items():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text("".join(f"{line}\n" for line in lines))
    return tree


def _wanted(patches: list[str]) -> dict[str, list[str]]:
    """Return the lines that patches, one after the other, want to find in which files."""
    first: dict[str, list[str]] = {}
    now: dict[str, list[str]] = {}
    for patch in patches:
        for part in re.split(r"^--- ", patch, flags=re.MULTILINE)[1:]:
            name = part.split(maxsplit=1)[0].partition("/")[2]
            if part.startswith("/dev/null"):  # it makes the file, which a later one may change
                made = re.search(r"^\+\+\+ b/(\S+)", part, re.MULTILINE)
                assert made is not None
                hunks = part.partition("@@\n")[2]
                now[made[1]] = re.findall(r"^\+(.*)$", hunks, re.MULTILINE)
                continue
            lines = now.setdefault(name, [])
            for hunk in re.split(r"^@@.*@@\n", part, flags=re.MULTILINE)[1:]:
                old = re.findall(r"^[ -](.*)$", hunk, re.MULTILINE)
                new = re.findall(r"^[ +](.*)$", hunk, re.MULTILINE)
                places = [at for at in range(len(lines)) if lines[at : at + len(old)] == old]
                if not places:  # an earlier patch has not made them
                    first.setdefault(name, []).extend(old)
                    places = [len(lines)]
                    lines += old
                lines[places[0] : places[0] + len(old)] = new
    return first


@pytest.fixture
def tarball(tree: Path, tmp_path: Path) -> Path:
    with tarfile.open(tmp_path / "linux.tar.xz", "w:xz") as tar:
        tar.add(tree, "linux-6.1.5")
    return tmp_path / "linux.tar.xz"


def _notes(tmp_path: Path) -> list[str]:
    return (tmp_path / "notes").read_text().split()


def _build(version: str, source: Path, report_log: list[Progress] | None = None) -> Kernel:
    report_log = [] if report_log is None else report_log
    return build(version, source=source, jobs=1, progress=report_log.append)


def _left(folder: Path) -> set[str]:
    return {path.name for path in (folder / "kernels").iterdir()}


def test_a_kernel_is_built_once(empty_cache: Path, tarball: Path, tmp_path: Path) -> None:
    report_log: list[Progress] = []
    kernel = _build("6.1", tarball, report_log)
    steps = [Step.SOURCE, Step.UNPACK, Step.CONFIGURE, Step.COMPILE]
    assert [report.step for report in report_log if report.done == 0] == steps
    assert report_log[0].words == f"{tarball}, as --source says"
    assert (kernel.release, kernel.series) == ("6.1.5", "6.1")
    assert kernel.binary.read_text() == "a kernel"
    assert kernel.binary.stat().st_mode & 0o111
    assert (kernel.folder / "entropy.so").exists()
    assert find("6.1") == find("6.1.5") == kernel
    assert _left(empty_cache) == {".lock", kernel.digest}

    report_log.clear()
    assert _build("6.1.5", tarball, report_log) == kernel
    assert report_log == []
    assert _notes(tmp_path) == ["made"]


def test_the_manifest_tells_what_went_in(empty_cache: Path, tarball: Path) -> None:
    about = manifest_of(_build("6.1", tarball))
    assert empty_cache.exists()
    assert about.source_name == "linux.tar.xz"
    assert about.refused_answers == ()
    assert "CONFIG_INET=y" not in about.unknown_answers  # the copied .config has it
    assert about.lines == 2
    assert "entropy.c" in about.shims


@pytest.mark.skipif(shutil.which("ccache") is None, reason="this host has no ccache")
def test_a_variant_takes_object_files_from_the_kernel_it_resembles(
    empty_cache: Path, tree: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("CCACHE_DIR", str(tmp_path / "theirs"))
    (tree / "one.h").write_text("int one(void);\n")
    (tree / "one.c").write_text('#include "one.h"\nint one(void) { return 1; }\n')
    makefile = tree / "Makefile"
    makefile.write_text(makefile.read_text() + "\t@$(CC) -c one.c -o one.o\n")
    _build("6.1", tree)
    makefile.write_text(makefile.read_text() + "# another source\n")
    _build("6.1+mine", tree)
    counts = subprocess.run(
        ["ccache", "--print-stats"],
        env={"PATH": os.environ["PATH"], "CCACHE_DIR": str(empty_cache / "objects")},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert {"cache_miss\t1", "direct_cache_hit\t1"} <= set(counts.splitlines())
    assert not (tmp_path / "theirs").exists()


@pytest.mark.usefixtures("empty_cache")
def test_a_refused_answer_is_in_the_manifest(tree: Path) -> None:
    makefile = tree / "Makefile"
    makefile.write_text(makefile.read_text().replace("cp $(KCONFIG_ALLCONFIG)", "touch"))
    about = manifest_of(_build("6.1", tree))
    assert about.refused_answers == ("CONFIG_NET=y",)
    assert "CONFIG_INET=y" in about.unknown_answers


@pytest.mark.usefixtures("empty_cache")
def test_a_tree_is_built_and_left_as_it_was(tree: Path, tmp_path: Path) -> None:
    before = sorted(tree.rglob("*"))
    kernel = _build("6.1", tree)
    assert sorted(tree.rglob("*")) == before
    elsewhere = tmp_path / "elsewhere"
    shutil.copytree(tree, elsewhere)
    assert _build("6.1", elsewhere) == kernel
    assert _notes(tmp_path) == ["made"]


def _age(kernel: Kernel, empty_cache: Path) -> None:
    """Make it a kernel that was built when the shims were others."""
    older = replace(manifest_of(kernel), digest="0" * 64, recipe_digest="1" * 64)
    kernel.folder.rename(empty_cache / "kernels" / older.digest)
    manifest.write(older, empty_cache / "kernels" / older.digest)
    with pytest.raises(HostError, match="must be rebuilt"):
        find(kernel.release)


def test_other_shims_need_no_new_binary(empty_cache: Path, tarball: Path, tmp_path: Path) -> None:
    kernel = _build("6.1", tarball)
    _age(kernel, empty_cache)
    assert _build("6.1", tarball) == kernel == find("6.1")
    assert kernel.binary.read_text() == "a kernel"
    assert _notes(tmp_path) == ["made"]


def test_a_source_of_another_version_is_refused(empty_cache: Path, tarball: Path) -> None:
    for _ in range(2):
        with pytest.raises(InputError, match=r"of kernel 6\.1\.5, not 6\.12"):
            _build("6.12", tarball)
        with pytest.raises(InputError, match=r"of kernel 6\.1\.5, not 6\.1\.6"):
            _build("6.1.6", tarball)
        _build("6.1", tarball)
    assert len(cache.kernels()) == 1
    assert empty_cache.exists()


@pytest.mark.parametrize("content", [b"no tarball at all", None])
def test_what_is_no_kernel_is_said_not_to_be_one(
    empty_cache: Path, tmp_path: Path, content: bytes | None
) -> None:
    source = tmp_path / "odd.tar.xz"
    if content is None:
        with tarfile.open(source, "w:xz") as tar:
            tar.add(Path(__file__), "odd/README")
    else:
        source.write_bytes(content)
    with pytest.raises(HostError, match=r"not a kernel|unpacking .*failed"):
        _build("6.1", source)
    assert _left(empty_cache) == {".lock"}


def test_a_checksum_of_another_source_is_refused(empty_cache: Path, tarball: Path) -> None:
    with pytest.raises(InputError, match=r"linux\.tar\.xz has the SHA-256"):
        build("6.1", source=tarball, sha256="0" * 64, progress=lambda _: None)
    assert not empty_cache.exists()


@pytest.mark.usefixtures("empty_cache")
def test_a_kernel_that_is_built_needs_no_download(
    tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    makefile = tree / "Makefile"
    makefile.write_text(makefile.read_text().replace("6.1.5", "5.99.5"))
    kernel = _build("5.99", tree)
    monkeypatch.setenv("APT_CONFIG", str(tmp_path / "none"))
    report_log: list[Progress] = []
    assert build("5.99", progress=report_log.append) == kernel
    assert report_log == []


def _outdate(tree: Path, release: str) -> None:
    """Make of a tree that of another release, to which the patches do not apply."""
    makefile = tree / "Makefile"
    makefile.write_text(makefile.read_text().replace("6.1.5", release))
    timer = tree / "arch/um/kernel/time.c"
    timer.write_text(timer.read_text().replace("local_irq_save(flags);", "local_irq_save(all);"))


def test_a_release_that_the_patches_are_not_for(empty_cache: Path, tree: Path) -> None:
    _outdate(tree, "6.1.6")
    with pytest.raises(HostError, match=r"patches do not apply to Linux 6\.1\.6; 40-") as caught:
        _build("6.1", tree)
    assert "arch/um/kernel/time.c" in caught.value.message
    (reference,) = (one for one in RELEASES if one.startswith("6.1."))
    assert caught.value.hint.startswith(f"longfat kernel build {reference}, with which longfat")
    assert "--source" in caught.value.hint
    assert _left(empty_cache) == {".lock"}
    assert not (empty_cache / "logs").exists()


@pytest.mark.usefixtures("offline")
def test_another_release_is_tried_if_the_patches_do_not_apply(
    empty_cache: Path, tree: Path, tarball: Path, tmp_path: Path
) -> None:
    """The nearest to the tested release is tried first, and nothing of it is left."""
    _keep(tarball, "6.1.5")
    _outdate(tree, "6.1.6")
    outdated = tmp_path / "outdated.tar.xz"
    with tarfile.open(outdated, "w:xz") as tar:
        tar.add(tree, "linux-6.1.6")
    _keep(outdated, "6.1.6")
    report_log: list[Progress] = []
    kernel = build("6.1", progress=report_log.append)
    assert kernel.release == "6.1.5"
    words = [report.words for report in report_log if report.words]
    assert "sources/6.1.6/" in words[0]
    assert "do not apply to Linux 6.1.6; 40-host-cpu.patch:" in words[1]
    assert "sources/6.1.5/" in words[2]
    assert "instead of 6.1." in words[2]
    assert _left(empty_cache) == {".lock", kernel.digest}
    # It is ready now: neither is there anything to search, nor to say.
    report_log.clear()
    assert build("6.1", progress=report_log.append) == kernel
    assert report_log == []
    with pytest.raises(HostError, match=r"patches do not apply to Linux 6\.1\.6; 40-"):
        build("6.1.6", progress=report_log.append)


def _keep(tarball: Path, name: str) -> None:
    with sources.downloading() as scratch:
        shutil.copy(tarball, scratch / "linux.tar.xz")
        sources.keep_download(scratch / "linux.tar.xz", name=name, origin="somewhere")


def test_when_make_fails_its_last_words_are_shown(empty_cache: Path, tree: Path) -> None:
    makefile = tree / "Makefile"
    makefile.write_text(makefile.read_text() + "\t@echo 'tcp.c: bad thing' >&2; exit 1\n")
    with pytest.raises(HostError, match=r"tcp\.c: bad thing") as caught:
        _build("6.1", tree)
    log = Path(caught.value.message.rpartition("log: ")[2])
    assert "compiling the kernel failed" in caught.value.message
    assert log.parent == empty_cache / "logs"
    assert "CC      one.o" in log.read_text()
    assert _left(empty_cache) == {".lock"}


def test_a_full_disk_is_named(empty_cache: Path, tree: Path) -> None:
    makefile = tree / "Makefile"
    makefile.write_text(
        makefile.read_text() + "\t@echo 'cc1: fatal: No space left on device' >&2; exit 1\n"
    )
    with pytest.raises(HostError, match="the disk is full"):
        _build("6.1", tree)
    assert _left(empty_cache) == {".lock"}


def test_little_space_is_seen_before(
    empty_cache: Path, tarball: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Usage:
        free = 200_000_000

    monkeypatch.setattr(shutil, "disk_usage", lambda path: Usage())  # noqa: ARG005
    with pytest.raises(HostError, match=r"0\.2 GB are free"):
        _build("6.1", tarball)
    assert empty_cache.exists()


def test_an_interruption_leaves_nothing(empty_cache: Path, tarball: Path) -> None:
    class Interruption(BaseException):
        pass

    def interrupt(progress: Progress) -> None:
        if progress.step is Step.COMPILE:
            raise Interruption

    with pytest.raises(Interruption):
        build("6.1", source=tarball, progress=interrupt)
    assert _left(empty_cache) == {".lock"}


def test_a_worker_that_dies_is_no_silence(empty_cache: Path, tree: Path) -> None:
    makefile = tree / "Makefile"
    # The parent of make is the worker.
    makefile.write_text(makefile.read_text() + "\t@kill -9 $$(ps -o ppid= $$PPID)\n")
    with pytest.raises(HostError, match="ended with status 137"):
        _build("6.1", tree)
    assert _left(empty_cache) == {".lock"}


def test_standing_in_a_folder_of_our_names_does_no_harm(
    empty_cache: Path, tarball: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here").mkdir()
    (tmp_path / "here/json.py").write_text("raise SystemExit('theirs')\n")
    (tmp_path / "here/longfat").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    assert _build("6.1", tarball).folder.is_relative_to(empty_cache)


def test_the_shell_is_not_asked_about_names(empty_cache: Path, tree: Path, tmp_path: Path) -> None:
    odd = tmp_path / "a; touch 'odd' $(b)"
    subprocess.run(["cp", "-r", tree, odd], check=True)
    assert _build("6.1", odd).release == "6.1.5"
    assert empty_cache.exists()


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A patch of somebody's own, which changes what is no part of arch/um."""
    text = "--- a/Kconfig\n+++ b/Kconfig\n@@ -1 +1,2 @@\n config NET\n+config MINE\n"
    (tmp_path / "own.patch").write_text(text)
    return tmp_path / "own.patch"


def _build_variant(tree: Path, own: Path) -> Kernel:
    return build(
        "6.1+mine", source=tree, patches=[own], answers=["CONFIG_MINE=y"], progress=lambda _: None
    )


def test_a_variant_has_patches_and_answers_of_its_own(
    empty_cache: Path, tree: Path, own: Path
) -> None:
    makefile = (tree / "Makefile").read_text()
    named = makefile.replace("echo 6.1.5 >", "echo 6.1.5$(LOCALVERSION) >")
    (tree / "Makefile").write_text(named)
    plain = build("6.1", source=tree, progress=lambda _: None)
    variant = _build_variant(tree, own)
    assert (plain.release, variant.release) == ("6.1.5", "6.1.5+mine")
    about = manifest_of(variant)
    assert about.patches[-1].startswith("own.patch ")
    assert "CONFIG_MINE=y" in (variant.folder / "config").read_text()
    # The question exists: its patch was applied.
    assert "CONFIG_MINE=y" not in about.unknown_answers
    assert find("6.1") == find("newest") == plain
    assert find("6.1+mine") == variant
    # Another patch is another kernel, and an equal one is not built again.
    assert _build_variant(tree, own) == variant
    # With other shims it takes its binary over, as any other.
    _age(variant, empty_cache)
    assert _build_variant(tree, own) == variant
    own.write_text(own.read_text().replace("MINE", "OTHER"))
    other = build("6.1+mine", source=tree, patches=[own], progress=lambda _: None)
    assert other.digest != variant.digest
    assert find("6.1+mine") == other


@pytest.mark.usefixtures("empty_cache")
def test_what_is_wrong_with_a_variant_is_told(tree: Path, own: Path) -> None:
    def wrong(version: str, **given: Any) -> str:
        with pytest.raises(InputError) as caught:
            build(version, source=tree, progress=lambda _: None, **given)
        return str(caught.value)

    assert "needs a name, after its version: 6.12+mine" in wrong("6.1", patches=[own])
    assert "'MINE' is not an answer to Kconfig" in wrong("6.1+x", answers=["MINE"])
    assert "no.patch: cannot be read" in wrong("6.1+x", patches=[own.parent / "no.patch"])
    own.write_text(own.read_text().replace(" config NET", "-config WHAT"))
    assert "own.patch does not apply to Linux 6.1.5" in wrong("6.1+x", patches=[own])
    with pytest.raises(InputError, match=r"differs from 6\.1 by a patch, an answer or a source"):
        build("6.1+x", progress=lambda _: None)
    assert "clock is a variant of longfat's own" in wrong("6.1+clock", patches=[own])
    with pytest.raises(InputError, match=r"no variant clock of 5\.15; available: 6\.1\+clock"):
        build("5.15+clock", progress=lambda _: None)
