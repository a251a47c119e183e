"""Where the source of a built kernel is, for those who get the binary: what the GPL requires."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from longfat.common import resources
from longfat.engine.kernel import recipe
from longfat.engine.kernel.version import series, split_variant

if TYPE_CHECKING:
    from pathlib import Path

    from longfat.engine.kernel.manifest import Manifest

LICENCE = "patches/COPYING"
"""The text of the GPL, version 2, in the recipe's folder."""

# What of the patches' folder is of no series.
_ALWAYS = ("patches/README.md", LICENCE)


def recipe_files(release: str) -> dict[str, Path]:
    """Return the files of a kernel's recipe by their names in the recipe's folder.

    Raises:
        HostError: the installation is incomplete.
    """
    folder = resources.folder("kernel")
    own = recipe.load(series(release), variant=split_variant(release)[1])
    variant = () if own.variant_answers is None else (own.variant_answers,)
    files = (own.answers, *variant, *own.patches, *own.shims, own.launcher)
    return {path.relative_to(folder).as_posix(): path for path in files} | {
        name: folder / name for name in _ALWAYS
    }


def source_text(about: Manifest, *, folder: str, what: str) -> str:
    """Return where the source of a kernel is and how to build it, in Markdown.

    Args:
        about: the kernel's manifest.
        folder: the folder with the files of its recipe.
        what: what contains the kernel, such as `wheel`.
    """
    patches = "\n".join(
        f"- kernel/{name}" for name in recipe_files(about.release) if name.endswith(".patch")
    )
    version = "+".join(filter(None, (about.series, split_variant(about.release)[1])))
    return f"""\
## Source

All that `linux` was built of:

- the source `{about.source_name}` of Linux {about.release}, with the SHA-256
  `{about.source_digest}`: {_origin(about)};
- the patches in `{folder}`, in this order:

{patches}

- the answers in `kernel/answers.config` there; `config` beside `linux` is the whole
  configuration that came of them.

The sources of the launcher and the libraries are in `kernel/launcher` and `kernel/shims` there.

Who passes this {what} on passes on a program under the GPL, and has to give that source
as well, from the same place.

## To build it again

    longfat kernel build {version} --source {about.source_name} --sha256 {about.source_digest}

By these, it gives the same bytes:

- {about.tools[0]}
- {about.tools[1]}
- the recipe of longfat with the digest `{about.recipe_digest}`
"""


def _origin(about: Manifest) -> str:
    name = about.source_name
    if match := re.fullmatch(r"(linux-source-[\d.]+)\.tar\.\w+", name):
        return (
            f"the file of that name in the package `{match[1]}` of Debian or Ubuntu, in the"
            f" version of it that begins with {about.release}; Debian's snapshot archive keeps"
            " all versions"
        )
    if re.fullmatch(r"linux-[\d.]+(-rc\d+)?\.tar\.\w+", name):
        return "the file of that name at kernel.org"
    return "a tree of whoever passed the kernel on, who has to give it to you"
