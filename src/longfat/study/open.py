"""A network to work in, from whatever file has one: a study, or MiniEdit's `.mn`.

For who wants the network and what belongs to it, and no flows: live sessions
and `longfat convert`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from longfat.errors import InputError
from longfat.study.document import find_document
from longfat.study.expand import Settings, plan_case, read_settings
from longfat.study.miniedit import read_miniedit
from longfat.study.node import listed, nearest
from longfat.study.read import STUDY_FILE, open_study, read_study

if TYPE_CHECKING:
    from pathlib import Path

    from longfat.case import Command
    from longfat.network import Network

MINIEDIT_SUFFIX = ".mn"


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A network and what belongs to it.

    Attributes:
        network: the network.
        setup: the lines to type in it, in their order.
        kernel: the version of the kernel; None where the file does not say.
        seed: what decides random numbers; None where the file does not say.
        memory_bytes: the machine's memory; None where the file does not say.
        warnings: what of the file could not be carried over.
    """

    network: Network
    setup: tuple[Command, ...] = ()
    kernel: str | None = None
    seed: int | None = None
    memory_bytes: int | None = None
    warnings: tuple[str, ...] = ()


def open_network(path: Path, *, case: str | None = None) -> Opened:
    """Read the network of a study file, of a folder with a `study.yaml`, or of a `.mn` file.

    Args:
        path: the file or folder.
        case: of a study, the case whose network and lines they are; without it,
            what all cases have in common.

    Raises:
        InputError: it cannot be read, or something in it is wrong; there is no such
            case; or the cases have no network in common and none is named.
    """
    if path.suffix == MINIEDIT_SUFFIX:
        if case is not None:
            raise InputError(f"{path}: a MiniEdit file has no cases, so there is no {case!r}")
        drawn, warnings = read_miniedit(path)
        return Opened(network=drawn.network, setup=drawn.setup, warnings=warnings)
    if case is None:
        return _common(path)
    study = read_study(path)
    if case not in study.cases:
        raise InputError(
            f"{study.file}: there is no case {case!r}{nearest(case, study.cases)} "
            f"(there are: {listed(study.cases)})"
        )
    found = study.cases[case].case
    return Opened(
        network=found.network,
        setup=found.setup,
        kernel=found.kernel,
        seed=found.seed,
        memory_bytes=found.memory_bytes,
    )


def _common(path: Path) -> Opened:
    """Return what all cases of a study have in common."""
    study = read_study(path)  # so that what is wrong anywhere is told of
    root, fields = open_study(find_document(path, STUDY_FILE))
    settings = read_settings(fields, Settings())
    if settings.network is None:
        raise root.error(
            "the study has no network that its cases have in common: name a case "
            f"(there are: {listed(study.cases)})"
        )
    bare = read_settings(
        {name: fields[name] for name in ("network", "setup") if name in fields}, Settings()
    )
    case = plan_case("", bare, title="", node=root).case
    return Opened(
        network=case.network,
        setup=case.setup,
        kernel=settings.kernel if "kernel" in fields else None,
        seed=settings.seed if "seed" in fields else None,
        memory_bytes=settings.memory_bytes if "memory" in fields else None,
    )
