"""Finding a built kernel by its version, without building or downloading."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from longfat.engine.kernel import cache, recipe
from longfat.engine.kernel.installed import wheel_of
from longfat.engine.kernel.manifest import Kernel, Manifest
from longfat.engine.kernel.version import (
    NEWEST,
    USUAL,
    check_version,
    matches,
    series,
    sort_key,
    split_variant,
)
from longfat.errors import HostError, InputError

_DIGEST = re.compile("[0-9a-f]{6,64}")
_Entry = tuple[Path, Manifest]


def find(version: str) -> Kernel:
    """Return the built kernel of a version that matches the current recipe.

    Of several, it is the newest release, and of that the one built or installed last.

    Args:
        version: such as `6.1` or `6.1.158`, or `newest`.

    Raises:
        InputError: `version` is not a kernel version.
        HostError: no such kernel is built, or only from another
            recipe; the message lists those that are. Or it is damaged.
    """
    built = list(cache.manifests())
    candidates = _plain(built) if version == NEWEST else _of_version(version, built)
    kinds = {_kind(one.release) for _, one in candidates}
    wanted = {kind: recipe.load(kind[0], variant=kind[1]).digest for kind in kinds}
    fitting = [(path, one) for path, one in candidates if _fits(one, wanted)]
    if fitting:
        folder, found = max(
            fitting, key=lambda entry: (sort_key(entry[1].release), entry[0].stat().st_mtime_ns)
        )
        kernel = found.kernel(folder)
        if problem := cache.problem_of(found, folder):
            wheel = wheel_of(kernel)
            raise HostError(
                f"kernel {found.release} is damaged: {problem}",
                hint=f"pip uninstall {wheel}, and install it again"
                if wheel
                else f"longfat kernel build {version}",
            )
        return kernel
    if version == NEWEST:
        version = max((one.series for _, one in _plain(built)), key=sort_key, default=USUAL)
    raise HostError(
        _explanation(version, candidates=candidates, built=built),
        hint=f"longfat kernel build {version}",
    )


def _kind(release: str) -> tuple[str, str]:
    """Return the series of a release, and its variant, which decide its recipe."""
    return series(release), split_variant(release)[1]


def _fits(found: Manifest, wanted: Mapping[tuple[str, str], str]) -> bool:
    return found.recipe_digest == wanted[_kind(found.release)]


def _plain(built: list[_Entry]) -> list[_Entry]:
    return [entry for entry in built if not split_variant(entry[1].release)[1]]


def _of_version(version: str, built: list[_Entry]) -> list[_Entry]:
    check_version(version)
    return [entry for entry in built if matches(entry[1].release, version)]


def fits(kernel: Kernel) -> bool:
    """Return whether a built kernel is of the current recipe, so that `find` may return it."""
    about = cache.manifest_of(kernel)
    found, variant = _kind(kernel.release)
    return about.recipe_digest == recipe.load(found, variant=variant).digest


def named(name: str) -> list[Kernel]:
    """Return the built kernels that match a version or a digest.

    Args:
        name: a version, for all kernels of it, or at least six digits of a digest.

    Raises:
        InputError: it is neither, or no such kernel is built.
    """
    built = cache.kernels()
    if _DIGEST.fullmatch(name):
        found = [kernel for kernel in built if kernel.digest.startswith(name)]
    else:
        check_version(name)
        found = [kernel for kernel in built if matches(kernel.release, name)]
    if not found:
        releases = ", ".join(dict.fromkeys(kernel.release for kernel in built))
        raise InputError(f"no kernel {name} is built; built: {releases or 'none'}")
    return found


def _explanation(version: str, *, candidates: list[_Entry], built: list[_Entry]) -> str:
    if candidates:
        release = max((found.release for _, found in candidates), key=sort_key)
        return (
            f"kernel {release} was built from other answers, patches or shims than the current "
            "ones, and must be rebuilt"
        )
    if not built:
        return "no kernel is built"
    releases = sorted({found.release for _, found in built}, key=sort_key)
    return f"kernel {version} is not built; built: {', '.join(releases)}"
