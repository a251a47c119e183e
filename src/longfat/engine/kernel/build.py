"""Building a kernel, once, even if requested several times concurrently.

Of a series, it is the release that longfat is tested with, wherever that can be had; else the
nearest release that the patches apply to. Whether they apply is known before anything is
compiled.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from longfat.common.checksum import file_digest
from longfat.common.decoding import parse_json
from longfat.common.guard import Guarded
from longfat.engine.kernel import cache, locate, recipe, toolchain
from longfat.engine.kernel.cache import find, wheel_of
from longfat.engine.kernel.job import BUILD_LOG, PRODUCT, Job, Progress, Report, Step, check_release
from longfat.engine.kernel.manifest import Kernel
from longfat.engine.kernel.sources import Source
from longfat.engine.kernel.steps import DoesNotApplyError
from longfat.engine.kernel.version import check_version, matches, series, split_variant
from longfat.errors import HostError, InputError

_WORKER = "longfat.engine.kernel.worker"
# The maximum size of the unpacked and compiled tree, measured, plus a margin.
_SCRATCH_BYTES = 1_000_000_000


def build(
    version: str,
    *,
    source: Path | None = None,
    sha256: str = "",
    patches: Sequence[Path] = (),
    answers: Sequence[str] = (),
    refresh: bool = False,
    jobs: int | None = None,
    progress: Callable[[Progress], None],
) -> Kernel:
    """Build the kernel of a version, if it is not built already.

    Its source is `source`, or else of the release that longfat is tested with: an installed
    package, an earlier download, a package that apt-get can download, a tarball of kernel.org.
    Where none is to be had, or longfat's patches do not apply to it, it is of the nearest
    release to which they do. If it would have to be downloaded and a kernel of this version
    and the current recipe is built, that one is returned. So is one that pip has installed,
    wherever the source is: its purpose is to avoid the build, and it needs no compiler.

    Killing this process, even by SIGKILL, ends all of its descendants and leaves
    no half-built kernel.

    Args:
        version: such as `6.1`, `6.1.158`, or `6.1+mine` for a variant.
        source: the tarball or tree to build; searched for, if None.
        sha256: the SHA-256, in hex, of `source` or of the tarball of kernel.org to build;
            any, if empty.
        patches: patches of the caller's own, applied in this order; they need a variant.
        answers: answers to Kconfig, such as `CONFIG_TCP_CONG_MINE=y`; likewise.
        refresh: look for the newest source of a series, even if one was downloaded before.
        jobs: how many compilers run at once; one for each CPU, if None.
        progress: called with the progress of the build.

    Raises:
        InputError: `version` is not a kernel version, or not that of `source`; or a patch or
            an answer is invalid.
        HostError: the host lacks a program, the source or space, or
            the build failed.
    """

    def report(step: Step, done: int = 0, total: int = 0, *, words: str = "") -> None:
        progress(Progress(version=version, step=step, done=done, total=total, words=words))

    plain, variant = split_variant(check_version(version))
    own = _own_digests(variant, patches, answers)
    has_recipe = _check_variant(version, own=bool(own), source=source)
    reference = recipe.reference_release(series(plain))
    # Of a series that no patches are for, other releases need not be tried.
    is_fixed = bool(source or sha256 or plain != series(plain) or not reference)
    wanted = "" if is_fixed or refresh else reference
    here = locate.here(wanted or plain, path=source, sha256=sha256, refresh=refresh)
    if (
        not (source or refresh or sha256 or own)
        and (kernel := _ready(version))
        and (here is None or wheel_of(kernel))
    ):
        return kernel
    toolchain.check()
    tried: list[str] = []
    while True:
        found = here or locate.find(
            plain, sha256=sha256, refresh=refresh, wanted=wanted, exclude=tried, report=report
        )
        if source is not None and sha256 not in ("", digest := found.digest()):
            raise InputError(f"{source} has the SHA-256 {digest}, not {sha256}")
        request = _Request(
            version=version,
            source=found,
            own=own,
            has_recipe=has_recipe,
            patches=tuple(str(path.absolute()) for path in patches),
            answers=tuple(answers),
            jobs=jobs or len(os.sched_getaffinity(0)),
        )
        try:
            return _build(request, report=report)
        except DoesNotApplyError as error:
            if is_fixed or error.release in tried:
                raise _unfit(error, version=plain) from None
            tried.append(error.release)
            report(Step.SEARCH, words=f"{error.message}\nAnother release is tried.")
            here = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Request:
    """What to build from which source.

    Attributes:
        version: the requested version, with its variant.
        source: its source.
        own: what names the caller's own variant.
        has_recipe: whether the recipe defines the variant.
        patches: the caller's own patches.
        answers: the caller's own answers.
        jobs: how many compilers run at once.
    """

    version: str
    source: Source
    own: tuple[str, ...]
    has_recipe: bool
    patches: tuple[str, ...]
    answers: tuple[str, ...]
    jobs: int


def _build(request: _Request, *, report: Report) -> Kernel:
    """Build a kernel from a source, unless it is built.

    Raises:
        DoesNotApplyError: longfat's patches are for another release.
    """
    version, found = request.version, request.source
    plain, variant = split_variant(version)
    own_recipe = recipe.load(series(version), variant=variant)
    source_digest, tools = found.digest(), toolchain.lines()
    of_recipe = (f"variant {variant}",) if request.has_recipe else ()
    made_by = (*tools, *request.own, *of_recipe)
    digest = recipe.build_digest(own_recipe.digest, source_digest=source_digest, tools=made_by)
    binary_key = recipe.build_digest(
        own_recipe.binary_digest, source_digest=source_digest, tools=made_by
    )

    if kernel := cache.get(digest):
        return _asked_for(kernel, version=version, source=found)
    with cache.lock(digest, on_wait=lambda: report(Step.WAIT)):
        if kernel := cache.get(digest):  # built while this process waited
            return _asked_for(kernel, version=version, source=found)
        report(Step.SOURCE, words=f"{found.path}, {found.origin}")
        _check_space(cache.kernels_folder())
        with cache.building(digest) as scratch:
            job = Job(
                version=plain,
                digest=digest,
                binary_key=binary_key,
                twin=_twin(binary_key),
                recipe_digest=own_recipe.digest,
                source=str(found.path),
                source_digest=source_digest,
                tools=tools,
                scratch=str(scratch),
                log=str(cache.log_file(digest)),
                jobs=request.jobs,
                variant=variant,
                patches=request.patches,
                answers=request.answers,
            )
            return _run(job, report=report)


def _unfit(error: DoesNotApplyError, *, version: str) -> HostError:
    """Return an error that says what can be built instead of a release."""
    tested = recipe.reference_releases()
    own = recipe.reference_release(series(version))
    if not own:
        message = f"{error.message}\n  they are for {', '.join(map(series, tested))}"
        return HostError(message, hint=f"longfat kernel build {tested[-1]}")
    if matches(own, error.release):
        hint = f"longfat kernel build {own} --source TARBALL, with the source of Linux as released"
        return HostError(error.message, hint=hint)
    hint = f"longfat kernel build {own}, with which longfat is tested, or another release of "
    hint += f"{series(version)} by --source TARBALL"
    return HostError(error.message, hint=hint)


def _check_variant(version: str, *, own: bool, source: Path | None) -> bool:
    """Check that a variant is defined; return whether the recipe defines it."""
    plain, variant = split_variant(version)
    known = recipe.variant_series(variant)
    if known and own:
        raise InputError(
            f"{variant} is a variant of longfat's own: use another name for a kernel with your "
            f"patches or answers, such as {plain}+mine"
        )
    if series(version) in known:
        return True
    if known:
        raise InputError(
            f"there is no variant {variant} of {plain}; available: "
            f"{', '.join(f'{each}+{variant}' for each in known)}"
        )
    if variant and not (own or source):
        raise InputError(
            f"{version} is a variant, which differs from {plain} by a patch, an answer or a source "
            "of its own: specify one"
        )
    return False


def _own_digests(variant: str, patches: Sequence[Path], answers: Sequence[str]) -> tuple[str, ...]:
    """Check the inputs of a variant; return what names it, nothing if there are none."""
    for answer in answers:
        if not recipe.parse_answers(answer):
            raise InputError(f"{answer!r} is not an answer to Kconfig: write CONFIG_NAME=y")
    try:
        digests = [file_digest(path) for path in patches]
    except OSError as error:
        raise InputError(f"{error.filename}: cannot be read: {error.strerror}") from None
    own = (*digests, *answers)
    if own and not variant:
        raise InputError(
            "a kernel with patches or answers of your own is a variant and needs a name, after "
            "its version: 6.12+mine"
        )
    return (f"variant {variant}", *own) if own else ()


def _ready(version: str) -> Kernel | None:
    """Return a built kernel that machines would boot; None if there is none."""
    try:
        return find(version)
    except HostError:
        return None


def _asked_for(kernel: Kernel, *, version: str, source: Source) -> Kernel:
    check_release(kernel.release, version=version, source=source.path)
    return kernel


def _twin(binary_key: str) -> str:
    """Return the folder of a built kernel with the same binary; "" if there is none."""
    return next(
        (str(folder) for folder, found in cache.manifests() if found.binary_key == binary_key), ""
    )


def _check_space(folder: Path) -> None:
    free = shutil.disk_usage(folder).free
    if free < _SCRATCH_BYTES:
        raise HostError(
            f"building a kernel needs {_SCRATCH_BYTES / 1e9:.1f} GB in {folder}, "
            f"but only {free / 1e9:.1f} GB are free; LONGFAT_CACHE sets another cache folder"
        )


def _run(job: Job, *, report: Report) -> Kernel:
    """Run the worker under a guard, and publish its result."""
    scratch = Path(job.scratch)
    near, far = os.pipe()
    with os.fdopen(near, "rb", buffering=0) as pipe:
        try:
            # -P: a folder in the current directory with the name of a module must not be imported.
            command = [sys.executable, "-P", "-m", _WORKER, job.to_json()]
            guarded = Guarded(command, scratch=scratch, stdout=far)
        finally:
            os.close(far)
        with guarded:
            for message in _messages(pipe.fileno(), guarded):
                match message:
                    case {"progress": {"step": step, "done": done, "total": total}}:
                        report(Step(step), done, total)
                    case {"failed": {"kind": "patch", "message": text, "release": release}}:
                        raise DoesNotApplyError(text, release=release)
                    case {"failed": {"kind": kind, "message": text, "hint": hint}}:
                        _keep_log(job, text)
                        raise (InputError(text) if kind == "input" else HostError(text, hint=hint))
                    case {"done": _}:
                        return cache.put(scratch / PRODUCT, digest=job.digest)
    raise AssertionError("the worker's messages ended without an end")


def _keep_log(job: Job, message: str) -> None:
    """Keep the log of a failed build, if the message names it.

    The worker does not: when longfat is killed, its compiler dies first, and a log would stay.
    """
    if job.log in message:
        Path(job.log).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(Path(job.scratch) / BUILD_LOG, job.log)


def _messages(fd: int, guarded: Guarded) -> Iterator[dict[str, Any]]:
    """Yield the worker's messages, for as long as it lives.

    Raises:
        HostError: it ended without a final message.
    """
    stray = []
    for line in guarded.lines(fd):
        if line.startswith(b"{"):
            yield parse_json(line, where="a message of the build", error=HostError)
        else:
            stray.append(line.decode(errors="replace"))
    last = "".join(f"\n    {line}" for line in stray[-12:])
    raise HostError(f"the build ended with status {guarded.wait()}{last}")
