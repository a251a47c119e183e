"""The error for a command of a case that failed in the guest, with hints on how to fix it.

Such as: a missing program or file, or the names of interfaces.
"""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from longfat.errors import FlowFailedError, InputError, MachineError
from longfat.model.host_root import NETWORK_TOOLS, ROOTS
from longfat.model.network import typed_part
from longfat.model.typed_line import mentions

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from longfat.errors import LongfatError, Place
    from longfat.execution.guest_outcome import FailedCommand
    from longfat.execution.runs import Run
    from longfat.model.case import Case, CasePlaces

# The exit status of a shell when a program is missing, or cannot be run.
_NOT_RUN = (126, 127)
_NO_FILE = "No such file"
_NOT_FOUND = 127
_NO_PROGRAM = (
    "\n  hint: a machine has the pinned tools (`longfat tools list`), the programs of this "
    "computer's /usr and the files in `files`"
)


def failure_of(case: Case, failed: FailedCommand, places: CasePlaces) -> LongfatError:
    """Return the error for a failed command of the guest.

    Args:
        case: the case.
        failed: the command.
        places: where the case's parts were written.
    """
    if failed.step == "files":
        return InputError(f"files: {failed.path} cannot be written in the machine: {failed.words}")
    line, words, status = failed.line, failed.words, failed.status
    ending = f"exited with status {status}" if status is not None else "was killed"
    if failed.step == "probe":
        (probe,) = (probe for probe in case.probes if probe.name == failed.probe)
        kind = InputError if probe.is_refused(words) else MachineError
        return kind(f"probe {probe.name!r}: `{line}` {ending}: {words or 'it printed nothing'}")
    if failed.step == "network":
        if part := typed_part(case.network, line):
            return InputError(f"{part}: `{line}`: {words}")
        return MachineError(f"the network could not be built: `{line}` {ending}: {words}")
    index = failed.index or 0
    if failed.step == "event":
        place = _at(places.events, index)
        what = f"`{line}` {ending}: " if line else f"{case.events[index].summary()}: "
        hint = _no_program_hint(case, line) if status == _NOT_FOUND and "chroot" in line else ""
        return InputError(f"{what}{words or 'it printed nothing'}{hint}", place=place)
    rooted = case.setup[index].node in case.network.roots
    place = _at(places.setup, index)
    hint = _missing_file_hint(case, index, status=status, words=words, place=place)
    hint = hint or _interface_hint(case, case.setup[index].line)
    if status == _NOT_FOUND and (rooted or not hint):
        hint = _no_program_hint(case, line)
    return InputError(f"`{line}` {ending}: {words or 'it printed nothing'}{hint}", place=place)


def unexpected_end(run: Run, places: CasePlaces) -> InputError | None:
    """Return the error for a flow that did not end as its `expect` says; None without one.

    Args:
        run: the run of its case.
        places: where the case's parts were written.
    """
    if not run.unexpected:
        return None
    (name, problem), *others = run.unexpected.items()
    (index,) = (n for n, flow in enumerate(run.case.flows) if flow.name == name)
    failure = run.flow_failures.get(name)
    kind: type[InputError] = FlowFailedError
    hint = ""
    if failure is not None and failure.status in _NOT_RUN and run.case.flows[index].lines:
        kind, hint = InputError, _no_program_hint(run.case, failure.line)
    more = "".join(f"\n  flow {other!r}: {text}" for other, text in others)
    return kind(
        f"case {run.name!r}: flow {name!r}: {problem}{hint}{more}\n  its run is {run.folder}",
        place=_at(places.flows, index),
    )


def _missing_file_hint(
    case: Case, index: int, *, status: int | None, words: str, place: Place | None
) -> str:
    """Return a hint to list a file in `files`, or nothing where that would not help.

    Args:
        case: the case.
        index: which of its set-up lines failed.
        status: the line's exit status; None if a signal ended it.
        words: its output.
        place: its location in the study's file.
    """
    if status not in _NOT_RUN and _NO_FILE not in words:
        return ""
    paths = list(_paths(case.setup[index].line))
    files = {file.path: file for file in case.files}
    for path in paths:
        if path in files and not files[path].executable:
            return f"\n  hint: write `executable: true` at {path} in `files`"
    if place is None:
        return ""
    folder = Path(place.file).parent
    for path in paths:
        if path not in files and (beside := _beside(folder, path)):
            return (
                f"\n  hint: {beside} is beside the study, and the machine has only what `files` "
                f"names, such as `files: {{/opt/{Path(beside).name}: {beside}}}`"
            )
    return ""


def _interface_hint(case: Case, line: str) -> str:
    """Return a hint to write the short names of the interfaces that a line contains.

    Args:
        case: the case.
        line: the line.
    """
    short = {long: name for name, long in case.network.full_interface_names().items()}
    found = [name for name in short if mentions(line, name)]
    if not found:
        return ""
    pairs = " and ".join(f"{short[name]} for {name}" for name in found)
    return f"\n  hint: most programs accept an interface's short name only: write {pairs}"


def _paths(line: str) -> Iterator[str]:
    """Yield the words of a line that may be paths."""
    try:
        words = shlex.split(line)
    except ValueError:
        words = line.split()
    for word in words:
        path = word.lstrip("<>").rstrip(";&|")
        if path and not path.startswith("-"):
            yield path


def _beside(folder: Path, path: str) -> str | None:
    """Return a file of a folder by its relative path; None if there is no such file in it."""
    try:
        whole = (folder / path).resolve()
        return str(whole.relative_to(folder.resolve())) if whole.is_file() else None
    except (OSError, ValueError):  # ValueError: outside of the folder, or a NUL
        return None


def _no_program_hint(case: Case, line: str) -> str:
    """Return a hint about a program that was not found."""
    for host, root in case.network.roots.items():
        if f"chroot {ROOTS}/{host} " in line:
            tools = ", ".join(sorted(NETWORK_TOOLS))
            return (
                f"\n  hint: {host} has only the programs of {root.image}, except for a line "
                f"that is one command of {tools}"
            )
    return _NO_PROGRAM


def _at(places: Sequence[Place], index: int) -> Place | None:
    return places[index] if index < len(places) else None
