"""The launcher of this installation, for a kernel that somebody else built.

The launcher (kernel/launcher/confine.c) sets the limits of a machine and starts the kernel within
them, so it runs outside of them itself. A kernel of a stranger can be started, since it can do
no more than a guest that has taken over its kernel; the stranger's launcher cannot.
"""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

from longfat.common.guard import scratch_folder
from longfat.engine.kernel import recipe, steps
from longfat.engine.kernel.cache import fits, get, kernels
from longfat.errors import HostError

if TYPE_CHECKING:
    from pathlib import Path


def put_launcher(path: Path, *, series: str) -> None:
    """Write the launcher to a path: of a kernel that is built here, or compiled.

    Args:
        path: the file.
        series: the series of the kernel that it is to start.

    Raises:
        HostError: no kernel is built here, and there is no compiler.
    """
    for kernel in kernels():
        if fits(kernel) and get(kernel.digest) is not None:
            shutil.copyfile(kernel.launcher, path)
            path.chmod(0o700)
            return
    if shutil.which("gcc") is None:
        raise HostError(
            "a kernel of others is started by the launcher of this installation, which comes with"
            " a kernel of any series: none is here, and no compiler to build the launcher",
            hint=f"install a wheel of a kernel, or gcc, or run: longfat kernel build {series}",
        )
    with scratch_folder() as folder:
        log = steps.Log(folder / "log", kept_as=folder / "log", env=dict(os.environ))
        steps.compile_program(recipe.load(series).launcher, to=path, log=log)
