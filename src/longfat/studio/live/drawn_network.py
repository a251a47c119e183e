"""The drawing of a live session, and which of its changes a running network can apply."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from longfat.common.suggest import listed, nearest
from longfat.errors import InputError
from longfat.model.fields import fields_of
from longfat.model.network import Link
from longfat.studio.study_reader import STUDIO_LIMITS
from longfat.study.drawing import Drawing
from longfat.study.file_reader import FileReader, no_files
from longfat.study.read import parse_study

if TYPE_CHECKING:
    from collections.abc import Mapping

    from longfat.model.case import Case
    from longfat.model.network import Network
    from longfat.study import Planned


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """A drawing, read.

    Attributes:
        planned: the case: network, set-up lines and flows, and the positions of the lines.
        name: the name of the study's case; None for the bare network of a lab.
        beside: reads the files that the study names, when it is read again.
        title: the study's title.
        layout: the positions of nodes, in pixels.
        drawing: notes, groups and colours.
    """

    planned: Planned
    name: str | None
    beside: FileReader = no_files
    title: str = ""
    layout: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    drawing: Drawing = field(default_factory=Drawing)

    @property
    def case(self) -> Case:
        """The case to run."""
        return self.planned.case


def read_drawing(text: str, *, name: str, case: str | None, beside: FileReader = no_files) -> Drawn:
    """Read a drawing.

    Args:
        text: the text of a study.
        name: its name in messages.
        case: the case; None for the only one, or else for the network without a case's set-up:
            see `Study.by_hand`.
        beside: reads the files that the study names.

    Raises:
        InputError: the text is not a study, or there is no such case.
    """
    study = parse_study(text, name=name, beside=beside, limits=STUDIO_LIMITS)

    def drawn(planned: Planned, called: str | None) -> Drawn:
        return Drawn(
            planned=planned,
            name=called,
            beside=beside,
            title=study.title,
            layout=study.layout,
            drawing=study.drawing,
        )

    if case is not None:
        if case not in study.cases:
            raise InputError(
                f"there is no case {case!r}{nearest(case, study.cases)} "
                f"(there are: {listed(study.cases)})"
            )
        return drawn(study.cases[case], case)
    if len(study.cases) == 1:
        ((only, planned),) = study.cases.items()
        return drawn(planned, only)
    return drawn(study.by_hand(), None)


def cannot_take(now: Drawn, new: Drawn) -> list[str]:
    """Return the changes of a drawing that a running network cannot apply; empty if none.

    It can apply link properties, additions, and other flows; of another case, only its flows.

    Args:
        now: the running drawing.
        new: the new drawing.
    """
    if now.name != new.name and (now.case.network, now.case.files, now.case.setup) != (
        new.case.network,
        new.case.files,
        new.case.setup,
    ):
        called = "the network to work in by hand" if new.name is None else f"the case {new.name}"
        return [f"{called} has another set-up"]
    return _changes(now.case, new.case)


def _changes(now: Case, new: Case) -> list[str]:
    reasons = []
    if (now.kernel, now.seed, now.memory_bytes) != (new.kernel, new.seed, new.memory_bytes):
        reasons.append("the kernel, the seed or the memory was changed")
    for one in ("hosts", "switches"):
        ours, theirs = (
            {node.name: node for node in getattr(case.network, one)} for case in (now, new)
        )
        kind = one.removesuffix("s").removesuffix("e") if one == "switches" else "host"
        for name, node in ours.items():
            if name not in theirs:
                reasons.append(f"the {kind} {name} was removed")
            elif theirs[name] != node:
                reasons.append(f"the {kind} {name} has different addresses, routes or timing")
    if now.network.frames != new.network.frames:
        reasons.append("frames was changed")
    if now.network.testbed != new.network.testbed:
        reasons.append("the testbed's timing was changed")
    reasons += _link_changes(now.network, new.network)
    if new.files != now.files:
        reasons.append("the files of the machine were changed")
    if new.setup[: len(now.setup)] != now.setup:
        reasons.append("set-up lines that have run were changed")
    return reasons


def _link_changes(now: Network, new: Network) -> list[str]:
    for index, link in enumerate(now.links):
        if index >= len(new.links) or _ends(new.links[index]) != _ends(link):
            return [f"the link from {link.a} to {link.b} was removed or moved"]
    return []


def _ends(link: object) -> tuple[object, ...]:
    own = (field.name for field in fields_of(Link).values())
    return tuple(getattr(link, name) for name in ("a", "b", "a_address", "b_address", *own))
