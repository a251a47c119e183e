"""Open a network from a study, MiniEdit's `.mn` file or a Mininet script.

For users of the network and its settings without the flows: live sessions and `longfat convert`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from longfat.common.suggest import listed, nearest
from longfat.errors import InputError
from longfat.study.document import find_document
from longfat.study.drawing import Drawing
from longfat.study.expand import Settings, plan_case, read_settings
from longfat.study.file_reader import folder_reader
from longfat.study.formats.miniedit.nodes import BACKGROUND
from longfat.study.read import STUDY_FILE, open_study, read_study

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from longfat.model.case import Case, Command, File
    from longfat.model.network import Network
    from longfat.model.packages import PinnedPackage
    from longfat.study.file_reader import FileReader
    from longfat.study.formats.mininet import ScriptRun
    from longfat.study.model import Study

MINIEDIT_SUFFIX = ".mn"
SCRIPT_SUFFIX = ".py"


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A network and what belongs to it.

    Attributes:
        network: the network.
        files: the files to put into its machine, by path.
        packages: the Python packages that its programs may import.
        setup: the lines to type in it, in their order.
        kernel: the version of the kernel; None if the file has none.
        title: what the network is; None if the file has none.
        seed: the random seed; None if the file has none.
        memory_bytes: the machine's memory; None if the file has none.
        layout: positions of nodes in a drawing, in pixels, as far as the file has them.
        drawing: the other contents of the drawing.
        warnings: what of the file could not be carried over.
        runs: of a script, what it does in each of its networks.
    """

    network: Network
    files: tuple[File, ...] = ()
    packages: tuple[PinnedPackage, ...] = ()
    setup: tuple[Command, ...] = ()
    kernel: str | None = None
    title: str | None = None
    seed: int | None = None
    memory_bytes: int | None = None
    layout: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    drawing: Drawing = field(default_factory=Drawing)
    warnings: tuple[str, ...] = ()
    runs: tuple[ScriptRun, ...] = ()


def open_network(
    path: Path,
    *,
    case: str | None = None,
    by_hand: bool = False,
    beside: FileReader | None = None,
    arguments: Sequence[str] = (),
) -> Opened:
    """Read the network of a study, of MiniEdit's `.mn` file, or of a script for Mininet (`.py`).

    A script is run in a machine of its own: see `longfat.study.formats.mininet`.

    Args:
        path: the file, or a folder with a `study.yaml`.
        case: of a study, the case whose network and lines they are; without it,
            what all cases have in common.
        by_hand: it is to be worked in by hand: of a study with several cases, without `case`,
            leave the set-up lines out, but those of its network, and where the cases have no
            network in common, take that of the first.
        beside: of a study, reads the files that it names; those in its folder, if None.
        arguments: of a script, its command-line arguments.

    Raises:
        InputError: it cannot be read, or something in it is wrong; there is no such
            case; or the cases have no network in common, none is named and it is not for
            working by hand.
        HostError: of a script, no kernel is built, or the host lacks what a sandbox needs.
        MachineError: of a script, its machine failed.
    """
    if arguments and path.suffix != SCRIPT_SUFFIX:
        raise InputError(f"{path}: only a Mininet script (.py) takes arguments: {arguments[0]!r}")
    kind = {MINIEDIT_SUFFIX: "MiniEdit file", SCRIPT_SUFFIX: "Mininet script"}.get(path.suffix)
    if kind is not None and case is not None:
        raise InputError(f"{path}: a {kind} has no cases, so there is no {case!r}")
    if path.suffix == SCRIPT_SUFFIX:
        # All commands read studies, and few of them other files.
        from longfat.study.formats.mininet import read_mininet  # noqa: PLC0415

        script, warnings = read_mininet(path, arguments=arguments)
        return Opened(
            network=script.network,
            # Mininet ignores how a line ends, and a session that is worked in by hand would not.
            setup=tuple(map(tolerant, script.setup)) if by_hand else script.setup,
            title=script.title,
            warnings=warnings,
            runs=script.runs,
        )
    if path.suffix == MINIEDIT_SUFFIX:
        from longfat.study.formats.miniedit import read_miniedit  # noqa: PLC0415

        drawn, warnings = read_miniedit(path)
        return Opened(
            network=drawn.network,
            setup=drawn.setup,
            layout=drawn.positions,
            warnings=warnings,
        )
    if case is None:
        beside = beside or folder_reader(find_document(path, STUDY_FILE).parent)
        return _common(path, by_hand=by_hand, beside=beside)
    study = read_study(path, beside=beside)
    if case not in study.cases:
        raise InputError(
            f"{study.file}: there is no case {case!r}{nearest(case, study.cases)} "
            f"(there are: {listed(study.cases)})"
        )
    return _of_case(study, study.cases[case].case)


def tolerant(command: Command) -> Command:
    """Return a command whose exit status is ignored; one in the background has none."""
    if BACKGROUND.search(command.line):
        return command
    return replace(command, line=f"{command.line} || true")


def _of_case(study: Study, case: Case) -> Opened:
    return Opened(
        network=case.network,
        files=case.files,
        packages=case.packages,
        setup=case.setup,
        kernel=case.kernel,
        seed=case.seed,
        memory_bytes=case.memory_bytes,
        layout=_of_nodes(study.layout, case.network),
        drawing=study.drawing,
    )


def _common(path: Path, *, by_hand: bool, beside: FileReader) -> Opened:
    """Return what all cases of a study have in common."""
    study = read_study(path, beside=beside)  # so that every error in it is reported
    if by_hand and study.common is None:
        return _of_case(study, study.by_hand().case)
    if study.grid is not None:
        raise InputError(
            f"{study.file}: the study has a grid, whose cases may have different networks: name a "
            f"case (there are: {listed(study.cases)})"
        )
    root, fields = open_study(find_document(path, STUDY_FILE))
    settings = read_settings(fields, Settings(), beside=beside)
    if settings.network is None:
        raise root.error(
            "the study has no network that its cases have in common: name a case "
            f"(there are: {listed(study.cases)})"
        )
    bare = read_settings(
        {
            name: fields[name]
            for name in ("network", "files", "packages", "setup")
            if name in fields
        },
        Settings(),
        beside=beside,
    )
    planned = plan_case("", bare, title="", node=root)
    case = planned.case
    return Opened(
        network=case.network,
        files=case.files,
        packages=case.packages,
        setup=case.setup[: planned.network_lines if by_hand and len(study.cases) > 1 else None],
        kernel=settings.kernel if "kernel" in fields else None,
        seed=settings.seed if "seed" in fields else None,
        memory_bytes=settings.memory_bytes if "memory" in fields else None,
        layout=_of_nodes(study.layout, case.network),
        drawing=study.drawing,
    )


def _of_nodes(
    layout: Mapping[str, tuple[float, float]], network: Network
) -> dict[str, tuple[float, float]]:
    """Return the places of a network's own nodes."""
    return {name: place for name, place in layout.items() if name in network.node_names()}
