"""From one file with a network to another: study, MiniEdit file, Mininet script."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from longfat.common.suggest import listed
from longfat.engine.kernel.version import NEWEST
from longfat.errors import InputError
from longfat.model.case import Case, Command
from longfat.model.events import TypedLine
from longfat.model.network.devices import MAX_INTERFACE_LENGTH
from longfat.study.formats.miniedit import miniedit_text
from longfat.study.formats.mininet.write import mininet_text
from longfat.study.formats.open import (
    MINIEDIT_SUFFIX,
    SCRIPT_SUFFIX,
    Opened,
    open_network,
    tolerant,
)
from longfat.study.formats.write import study_text
from longfat.study.read import read_study

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from longfat.model.network import Network
    from longfat.study.file_reader import FileReader
    from longfat.study.model import Planned, Study

_STUDY_SUFFIXES = (".yaml", ".yml")
SUFFIXES = (*_STUDY_SUFFIXES, MINIEDIT_SUFFIX, SCRIPT_SUFFIX)


@dataclass(frozen=True, slots=True, kw_only=True)
class Converted:
    """A file's text in another format.

    Attributes:
        text: the text.
        warnings: what could not be carried over, or means something else there.
    """

    text: str
    warnings: tuple[str, ...] = ()


def convert_text(
    source: Path,
    *,
    suffix: str,
    case: str | None = None,
    beside: FileReader | None = None,
    arguments: Sequence[str] = (),
    find_failing: Callable[[Case], Mapping[Command, str]] | None = None,
) -> Converted:
    """Return a file's contents in the format of another's suffix.

    Args:
        source: a study file, a folder with a `study.yaml`, a `.mn` file, or a script
            for Mininet (`.py`), which is run in a machine of its own.
        suffix: `.yaml` or `.yml` for a study, `.mn`, or `.py` for a Mininet script.
        case: of a study, the case.
        beside: of a study, reads the files that it names; those in its folder, if None.
        arguments: of a script, its command-line arguments.
        find_failing: of a script, tries the lines of a case, and returns those that fail with
            what they print; without it, all lines may fail. Mininet ignores how lines end.

    Raises:
        InputError: the source is wrong, the suffix is none of these, or a study
            of several cases is to be a study and none is named.
        HostError: as of `open_network`, like `MachineError`.
    """
    if suffix not in SUFFIXES:
        raise InputError(
            f"{suffix!r} is no format to convert to: write a file that ends in "
            ".yaml (a study), .mn (MiniEdit) or .py (a Mininet script)"
        )
    opened = open_network(source, case=case, beside=beside, arguments=arguments)
    title, planned, traffic = _content(source, case, opened, beside)
    if suffix in _STUDY_SUFFIXES and opened.runs:
        return _study_of_script(title, opened, find_failing)
    if suffix in _STUDY_SUFFIXES:
        whole = Case(kernel=NEWEST, network=opened.network, files=opened.files, setup=opened.setup)
        if planned is not None:
            whole = planned.case
        elif source.suffix not in {MINIEDIT_SUFFIX, SCRIPT_SUFFIX}:
            raise InputError(
                f"{source}: name the case that the study is to have "
                f"(there are: {listed(read_study(source, beside=beside).cases)})"
            )
        text = study_text(title=title, case=whole, layout=opened.layout, drawing=opened.drawing)
        return Converted(text=text, warnings=opened.warnings)
    warnings = list(opened.warnings)
    if opened.files:
        paths = listed(file.path for file in opened.files)
        warnings.append(f"{source}: files are left out, which set-up lines may need: {paths}")
    if traffic:
        warnings.append(f"{source}: {traffic} are left out: the network and its set-up remain")
    warnings += [f"{source}: {what}: Mininet has none" for what in _left_out(opened.network)]
    if drawn := opened.drawing.of_nodes(opened.network.node_names()).summary:
        warnings.append(f"{source}: {drawn} of the drawing are left out: {suffix} files have none")
    warnings += _long_names(opened.network, suffix, source)
    if suffix == SCRIPT_SUFFIX:
        text = mininet_text(title=title, network=opened.network, setup=opened.setup)
        return Converted(text=text, warnings=tuple(warnings))
    text, more = miniedit_text(opened.network, setup=opened.setup, layout=opened.layout)
    return Converted(text=text, warnings=(*warnings, *more))


def _study_of_script(
    title: str, opened: Opened, find_failing: Callable[[Case], Mapping[Command, str]] | None
) -> Converted:
    """Return the study of what a script does in each of its networks."""
    cases: dict[str, Case] = {}
    notes: list[str] = []
    files = {file.path: file for run in opened.runs for file in run.files}
    for run in opened.runs:
        case = Case(
            kernel=NEWEST,
            network=run.network,
            files=tuple(files.values()),
            setup=run.traffic.setup,
            flows=run.traffic.flows,
            probes=run.traffic.probes,
            events=run.traffic.events,
        )
        more: list[str] = []
        if find_failing is None:
            typed = [event for event in case.events if isinstance(event, TypedLine)]
            lines = [Command(node=event.node, line=event.line) for event in typed]
            case = _ignoring(case, (*case.setup, *lines))
        else:
            failing = find_failing(case)
            case = _ignoring(case, failing)
            more = [
                f"{command.node}: `{command.line}` fails ({words}), which is ignored, as in Mininet"
                for command, words in failing.items()
            ]
        cases[run.name] = case
        label = f"{run.name}: " if len(opened.runs) > 1 else ""
        notes += [f"{label}{note}" for note in (*run.notes, *more)]
    if len(cases) > 1:
        notes = _merged(notes, list(cases))
        notes.append(f"the script runs its network {len(cases)} times: the cases {listed(cases)}")
    repeats = {run.name: run.repeats for run in opened.runs}
    if (seeds := max(repeats.values())) > 1:
        times = ", ".join(f"{name} {count} times" for name, count in repeats.items())
        notes.append(f"the script repeats what it does ({times}): as many seeds, {seeds}")
    first = next(iter(cases.values()))
    text = study_text(title=title, case=first, cases=cases if len(cases) > 1 else None, seeds=seeds)
    return Converted(text=text, warnings=tuple(notes))


def _merged(notes: Sequence[str], names: Sequence[str]) -> list[str]:
    """Return notes, those that all cases have once."""
    counts = Counter(note.partition(": ")[2] for note in notes)
    merged = [
        text if counts[text := note.partition(": ")[2]] >= len(names) else note for note in notes
    ]
    return list(dict.fromkeys(merged))


def _ignoring(case: Case, commands: Iterable[Command]) -> Case:
    """Return a case in which the exit status of some lines is ignored."""
    chosen = set(commands)
    return replace(
        case,
        setup=tuple(tolerant(one) if one in chosen else one for one in case.setup),
        events=tuple(
            replace(event, line=tolerant(command).line)
            if isinstance(event, TypedLine)
            and (command := Command(node=event.node, line=event.line)) in chosen
            else event
            for event in case.events
        ),
    )


def _left_out(network: Network) -> Iterator[str]:
    """Yield what of a network Mininet does not have."""
    if roots := network.roots:
        yield f"the images of {listed(roots)} are left out"
    if network.has_timing:
        yield "the timing of hosts is left out"
    if wrong := [host.name for host in network.hosts if host.clock is not None]:
        yield f"the clocks of {listed(wrong)} are left out"


def _long_names(network: Network, suffix: str, source: Path) -> Iterator[str]:
    """Yield a warning where Mininet cannot make the interfaces of nodes with long names."""
    if suffix == SCRIPT_SUFFIX:  # which names the interfaces, but not the bridges
        names = [one.name for one in network.switches if len(one.name) > MAX_INTERFACE_LENGTH]
    else:
        long = {name.rpartition("-eth")[0] for name in network.full_interface_names().values()}
        names = [name for name in network.node_names() if name in long]
    if names:
        yield f"{source}: Mininet cannot make {listed(names)}: interface names become too long"


def _content(
    source: Path, case: str | None, opened: Opened, beside: FileReader | None
) -> tuple[str, Planned | None, str]:
    """Return the title, the one case of a study, and which of flows and probes there are."""
    if source.suffix in {MINIEDIT_SUFFIX, SCRIPT_SUFFIX}:
        return opened.title or f"The network of {source.stem}", None, ""
    study = read_study(source, beside=beside)
    planned = _the_case(study, case)
    if planned is None:
        return study.title, None, "cases, flows and probes"
    parts = [name for name in ("flows", "probes") if getattr(planned.case, name)]
    title = study.title if len(study.cases) == 1 else f"{study.title}: {planned.title}"
    return title, planned, " and ".join(parts)


def _the_case(study: Study, case: str | None) -> Planned | None:
    if case is not None:
        return study.cases[case]
    return next(iter(study.cases.values())) if len(study.cases) == 1 else None
