"""The programs of the host that a result depends on: those that a case names and the toolset lacks.

A case names programs in its lines, by names or paths, and in the first lines of scripts among its
files. Programs that these start in turn are not found here.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from longfat.engine.toolset import COVERED_FOLDERS, HOST_PATH
from longfat.model.typed_line import without_sudo

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from longfat.engine.toolset import Toolset
    from longfat.execution.runs import Run
    from longfat.model.case import Case

_OWN_TOOLS = frozenset(("longfat", "toolset", "packages"))

# Where a shell expects a program; elsewhere `red` is not an editor but a qdisc.
_NAME = re.compile(r"(?:^|[|;&(`{!]|\b(?:do|then|else|exec|env|time|nice|xargs)\s)\s*([\w.+-]+)")
_PATH = re.compile(r"(?<![\w./-])/(?:usr/(?:local/)?)?s?bin/[\w.+-]+")
_FIRST_LINE = re.compile(rb"#! *(/[^\s]+)(?: +(?:-S +)?([\w.+-]+))?")


def host_programs(case: Case, *, toolset: Toolset) -> dict[str, Path]:
    """Return the host's programs that a case names, by their names or, if it names these, paths.

    Args:
        case: the case.
        toolset: the toolset of its machine.
    """
    programs = {}
    for name in _named(case):
        path = Path(name)
        if not path.is_absolute():
            installed = None if toolset.has(name) else program_on_host(name)
            if installed is not None:
                programs[name] = installed
        elif not (str(path.parent) in COVERED_FOLDERS and toolset.has(path.name)) and path.exists():
            programs[name] = path
    return programs


def program_on_host(name: str) -> Path | None:
    """Return the host's program of a name that a machine finds after its toolset; None if none."""
    path = shutil.which(name, path=HOST_PATH)
    return None if path is None else Path(path)


def host_programs_of(runs: Iterable[Run]) -> list[str]:
    """Return the host's programs, and packages of plug-ins, that manifests of runs name."""
    return sorted({name for run in runs for name in run.tools.keys() - _OWN_TOOLS})


def _named(case: Case) -> Iterator[str]:
    lines = [command.line for command in case.setup]
    lines += [line for flow in case.flows for line in flow.lines]
    for line in map(without_sudo, lines):
        yield from _NAME.findall(line)
        yield from _PATH.findall(line)
    for file in case.files:
        if file.executable and (first := _FIRST_LINE.match(file.content)):
            path, argument = (
                (part or b"").decode("utf-8", errors="replace") for part in first.groups()
            )
            yield path
            if path.endswith("/env"):
                yield argument
