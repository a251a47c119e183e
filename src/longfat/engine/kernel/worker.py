"""The process that builds a kernel: unpack, patch, configure, compile.

`build` runs it under a guard, so that nothing it starts can outlive longfat
and its scratch folder is removed with it. It gets a `Job` as JSON on its command
line, and reports its progress on standard output in JSON, an object on each line:

    {"progress": {"step": ..., "done": ..., "total": ...}}
    {"failed": {"kind": "input" | "host" | "patch", "message": ..., "hint": ..., "release": ...}}
    {"done": {}}

The result is then in `product/` in the scratch folder, with its manifest.
"""

from __future__ import annotations

import contextlib
import errno
import json
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from longfat.common.checksum import file_digest, write_sums
from longfat.engine.kernel import cache, manifest, recipe, sources, steps, toolchain
from longfat.engine.kernel.job import BUILD_LOG, PRODUCT, Job, Step, check_release
from longfat.engine.kernel.sources import Source
from longfat.engine.kernel.steps import CommandFailedError, Log
from longfat.engine.kernel.version import series, split_variant
from longfat.errors import HostError, InputError, LongfatError


def main() -> None:
    """Execute the job on the command line."""
    job = Job.from_json(sys.argv[1])
    try:
        _build(job)
    except LongfatError as error:
        kind, release = "input" if isinstance(error, InputError) else "host", ""
        if isinstance(error, steps.DoesNotApplyError):
            kind, release = "patch", error.release
        _report("failed", kind=kind, message=error.message, hint=error.hint, release=release)
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        message = f"the disk is full: {job.scratch}" if full else f"the build failed: {error}"
        _report("failed", kind="host", message=message, hint="", release="")
    else:
        _report("done")


def _report(kind: str, /, **fields: object) -> None:
    print(json.dumps({kind: fields}), flush=True)


def _progress(step: Step, done: int, total: int) -> None:
    _report("progress", step=step, done=done, total=total)


@dataclass(frozen=True, slots=True)
class _Made:
    """The metadata of a binary."""

    release: str
    verdict: steps.RejectedAnswers
    lines: int


def _build(job: Job) -> None:
    scratch = Path(job.scratch)
    product, temporary = scratch / PRODUCT, scratch / "tmp"
    for folder in (product, temporary):
        folder.mkdir(parents=True)
    own_recipe = recipe.load(series(job.version), variant=job.variant)
    if own_recipe.digest != job.recipe_digest:
        raise HostError("the kernel recipe was changed during the build; build again")
    environment = toolchain.environment(temporary=temporary, objects=cache.objects_folder())
    log = Log(scratch / BUILD_LOG, kept_as=Path(job.log), env=environment)
    # Shims first: they take no time, and may fail to compile.
    for shim in own_recipe.shims:
        steps.compile_shim(shim, to=product / f"{shim.stem}.so", log=log)
    steps.compile_program(own_recipe.launcher, to=product / own_recipe.launcher.stem, log=log)
    twin = manifest.read(Path(job.twin)) if job.twin else None
    if twin is not None and not _is_undamaged(Path(job.twin) / "linux", twin.binary_sha256):
        twin = None
    made = _make(job, own_recipe, log=log) if twin is None else _take(job, twin)
    about = manifest.Manifest(
        digest=job.digest,
        release=made.release,
        series=series(made.release),
        binary_sha256=file_digest(product / "linux"),
        binary_key=job.binary_key,
        recipe_digest=job.recipe_digest,
        source_name=Path(job.source).name,
        source_digest=job.source_digest,
        tools=job.tools,
        patches=(*(path.name for path in own_recipe.patches), *map(_named, job.patches)),
        shims=tuple(path.name for path in own_recipe.shims),
        unknown_answers=made.verdict.unknown,
        refused_answers=made.verdict.refused,
        lines=made.lines,
    )
    manifest.write(about, product)
    write_sums(product)


def _named(patch: str) -> str:
    """Return the name of a user's patch with the first digits of its SHA-256."""
    return f"{Path(patch).name} {file_digest(Path(patch))[:12]}"


def _is_undamaged(binary: Path, digest: str) -> bool:
    try:
        return file_digest(binary) == digest
    except OSError:
        return False


def _take(job: Job, twin: manifest.Manifest) -> _Made:
    """Copy the binary of a kernel that differs in its shims alone."""
    in_source, _ = split_variant(twin.release)
    check_release(in_source, version=job.version, source=Path(job.source))
    product = Path(job.scratch) / PRODUCT
    for name in ("linux", "config"):
        shutil.copy(Path(job.twin) / name, product / name)
    _copy_modules(Path(job.twin), product)
    found = steps.RejectedAnswers(unknown=twin.unknown_answers, refused=twin.refused_answers)
    return _Made(twin.release, found, twin.lines)


def _copy_modules(folder: Path, product: Path) -> None:
    """Copy the list of modules that are built in, for which `modprobe` of a machine succeeds."""
    with contextlib.suppress(FileNotFoundError):
        shutil.copy(folder / "modules.builtin", product / "modules.builtin")


def _make(job: Job, own_recipe: recipe.Recipe, *, log: Log) -> _Made:
    """Build the binary from its source."""
    steps.check_patches(own_recipe.patches)
    scratch = Path(job.scratch)
    tree, product = scratch / "linux", scratch / PRODUCT
    tree.mkdir()
    _unpack(Source(Path(job.source)), tree, log=log, scratch=scratch)
    unpacked = steps.kernel_version(tree, log=log, source=job.source)
    check_release(unpacked, version=job.version, source=Path(job.source))
    for path in own_recipe.patches:
        try:
            log.run(steps.patch_command(path), cwd=tree, doing=f"applying {path.name}")
        except CommandFailedError as error:
            raise steps.DoesNotApplyError(
                f"longfat's patches do not apply to Linux {unpacked}; {path.name}:{error.last}",
                release=unpacked,
            ) from None
    for path in map(Path, job.patches):
        try:
            log.run(steps.patch_command(path, fuzz=2), cwd=tree, doing=f"applying {path.name}")
        except CommandFailedError as error:
            raise InputError(
                f"{path} does not apply to Linux {unpacked}: {error.message}"
            ) from None

    _progress(Step.CONFIGURE, 0, 0)
    answers = scratch / "answers.config"
    # Of two answers to a question Kconfig takes the last.
    files = (own_recipe.answers, *filter(None, (own_recipe.variant_answers,)))
    answers.write_text(
        "\n".join((*(path.read_text("utf-8") for path in files), *job.answers, "")), "utf-8"
    )
    steps.configure(tree, answers=answers, log=log)
    found = steps.rejected_answers(tree, answers=answers)

    expected = steps.expected_lines(series(job.version))
    _progress(Step.COMPILE, 0, expected)
    lines = steps.compile_kernel(
        tree,
        variant=job.variant,
        jobs=job.jobs,
        log=log,
        report=lambda done: _progress(Step.COMPILE, done, max(done, expected)),
    )
    shutil.copy(tree / "linux", product / "linux")
    shutil.copy(tree / ".config", product / "config")
    _copy_modules(tree, product)
    release = (tree / "include/config/kernel.release").read_text("utf-8").strip()
    return _Made(release, found, lines)


def _unpack(source: Source, tree: Path, *, log: Log, scratch: Path) -> None:
    """Put the relevant part of the source into `tree`."""
    _progress(Step.UNPACK, 0, 0)
    tarball = source.path
    if source.is_tree:
        tarball = scratch / "linux.tar"
        with tarball.open("wb") as out:
            log.run(sources.pack_command(source.path), cwd=tree, doing="packing the tree", out=out)
    total = sources.count_records(tarball)

    def report(line: str) -> None:
        if records := sources.records_read(line):
            _progress(Step.UNPACK, records, max(records, total))

    command = sources.unpack_command(tarball, into=tree)
    log.run(command, cwd=tree, doing=f"unpacking {source.path}", on_line=report)
    missing = [name for name in ("Makefile", "Kconfig", "arch/um") if not (tree / name).exists()]
    if missing:
        raise HostError(f"{source.path} is not a kernel's source: it has no {', '.join(missing)}")
    if source.is_tree:
        tarball.unlink()
        # It may have been used for a build for another processor.
        log.run(steps.make_command("mrproper"), cwd=tree, doing="cleaning the tree")


if __name__ == "__main__":
    main()
