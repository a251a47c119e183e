"""The programs of `longfat.output.programs` in a machine: what they need, and their executables.

A machine gets the Python packages that they import, read-only, at paths that do not depend on
the host. The interpreter itself is visible to every machine (`longfat.engine.sandbox.view`).
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import shlex
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from longfat.common.atomic import write_whole
from longfat.common.folder_store import cache_root
from longfat.common.guard import scratch_folder
from longfat.engine.machine import INTERPRETER, is_visible
from longfat.engine.sandbox.access import check_access
from longfat.engine.toolset import SEARCH_PATH as TOOLS_PATH
from longfat.errors import HostError
from longfat.live.folders import SharedFolder
from longfat.model.case import File

if TYPE_CHECKING:
    from collections.abc import Sequence

    from longfat.live.session import Session

FOLDER = "/run/bin"
"""The folder of the executables in a machine."""

SEARCH_PATH = f"{FOLDER}:{TOOLS_PATH}"
"""The search path of a shell."""

PROGRAMS = {"plot_iperf.sh": "plot_iperf", "plot_q.sh": "plot_queue", "xdg-open": "open_file"}
"""The modules of `longfat.output.programs` by the names of their executables."""

_PACKAGES = "/opt/longfat"
_OWN = "longfat"
# What longfat's drawing and terminal modules import, with what these import.
_IMPORTED = (
    *("PIL", "contourpy", "cycler", "dateutil", "fontTools", "kiwisolver", "markdown_it"),
    *("matplotlib", "mdurl", "mpl_toolkits", "numpy", "packaging", "pygments", "pyparsing"),
    *("rich", "six"),
)
# matplotlib looks through all fonts of a system when it is first used, for half a second. Figures
# use the font that it brings itself, so a list of its own fonts is enough.
_FONTS = f"{FOLDER}/matplotlib"
_LIST_FONTS = """\
import sys
from pathlib import Path
import matplotlib
from matplotlib import font_manager as fonts
own = Path(matplotlib.get_data_path())
manager = fonts.fontManager
manager.ttflist = [font for font in manager.ttflist if Path(font.fname).is_relative_to(own)]
manager.afmlist = []
fonts.json_dump(manager, Path(sys.argv[1], f"fontlist-v{fonts.FontManager.__version__}.json"))
"""

# Not PYTHONPATH for the shell's other programs: it is set here only. -B: the folders are
# read-only; -P, -S and -s: no modules of the working directory, no other packages.
_EXECUTABLE = """\
#!/bin/sh
PYTHONPATH={path} MPLCONFIGDIR={fonts} MPLBACKEND=agg LONGFAT_FOLDERS={folders} \\
exec {python} -B -P -S -s -m longfat.output.programs.{module} "$@"
"""

_UNAVAILABLE = """\
#!/bin/sh
printf '%s: cannot run in this machine: %s\\n' "${{0##*/}}" {problem} >&2
exit 3
"""


@functools.cache
def package_folders() -> tuple[SharedFolder, ...]:
    """Return the folders of packages that the programs need, for a machine to see.

    There are none if a machine may not read one of them: then the programs print why.
    """
    if _problem():
        return ()
    return tuple(folder for folder, _ in _packages() if not is_visible(folder.path))


@functools.cache
def _problem() -> str:
    """Return why a machine cannot read the packages; "" if it can.

    For example, a machine of root's has no access to packages in another user's home.
    """
    try:
        check_access(folder.path for folder, _ in _packages())
    except HostError as error:
        return error.message
    return ""


@functools.cache
def _packages() -> tuple[tuple[SharedFolder, str], ...]:
    """Return folders of packages, and for each what to add to Python's path in a machine."""
    parents: dict[Path, None] = {}
    for name in _IMPORTED:
        for folder in _spec_folders(name):
            parents[Path(folder).resolve().parent] = None
    packages = []
    for number, path in enumerate(parents):
        place = str(path) if is_visible(path) else f"{_PACKAGES}/{number}"
        packages.append((SharedFolder(place=place, path=path), place))
    own = Path(_spec_folders(_OWN)[0]).resolve()
    if own.parent not in parents:
        # An editable installation: what is beside the package is the user's.
        place = str(own) if is_visible(own) else f"{_PACKAGES}/own/{_OWN}"
        packages.insert(0, (SharedFolder(place=place, path=own), str(Path(place).parent)))
    return tuple(packages)


def install_programs(session: Session, folders: Sequence[SharedFolder]) -> None:
    """Write the executables into a machine that sees `package_folders`.

    Hosts with roots of their own do not get them: an image has another Python, or none. It
    takes some microseconds of virtual time.

    Args:
        session: the machine.
        folders: the folders of the user's computer in which people work.
    """
    if problem := _problem():
        text = _UNAVAILABLE.format(problem=shlex.quote(problem))
        files = [_executable(name, text) for name in PROGRAMS]
        session.put_files(files, in_roots=False)
        return
    outside = json.dumps({folder.place: str(folder.path) for folder in folders})
    files = [
        File(path=f"{_FONTS}/{name}", content=content) for name, content in _font_list().items()
    ]
    for name, module in PROGRAMS.items():
        text = _EXECUTABLE.format(
            path=shlex.quote(":".join(path for _, path in _packages())),
            fonts=_FONTS,
            folders=shlex.quote(outside),
            python=shlex.quote(str(INTERPRETER)),
            module=module,
        )
        files.append(_executable(name, text))
    session.put_files(files, in_roots=False)


def _executable(name: str, text: str) -> File:
    return File(path=f"{FOLDER}/{name}", content=text.encode(), executable=True)


def _spec_folders(name: str) -> list[str]:
    """Return the folders of a package, or a path in the folder of a module; none if absent."""
    spec = find_spec(name)
    if spec is None:
        return []
    if spec.submodule_search_locations:
        return list(spec.submodule_search_locations)
    return [spec.origin] if spec.origin is not None else []


def _font_list() -> dict[str, bytes]:
    """Return matplotlib's file about its own fonts, by its name; empty if it cannot be made.

    It is made by another process, since this one does without matplotlib, and cached.
    """
    spec = find_spec("matplotlib")
    if spec is None or spec.origin is None:
        return {}
    about = f"{sys.version}\0{spec.origin}\0{os.stat(spec.origin).st_mtime_ns}\0{_LIST_FONTS}"  # noqa: PTH116
    cached = cache_root() / "fonts" / hashlib.sha256(about.encode()).hexdigest()[:32]
    try:
        names = [path.name for path in cached.iterdir()]
        return {name: (cached / name).read_bytes() for name in names}
    except OSError:
        pass
    try:
        with scratch_folder() as folder:
            subprocess.run(
                [sys.executable, "-c", _LIST_FONTS, str(folder)],
                env={**os.environ, "MPLCONFIGDIR": str(folder / "config")},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                check=True,
            )
            files = {path.name: path.read_bytes() for path in folder.glob("*.json")}
        cached.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            write_whole(cached / name, content)
    except (OSError, subprocess.CalledProcessError):
        return {}  # then the first figure takes half a second longer
    return files
