"""The drawing of a live session, and the application of its changes to the running network."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from longfat.common.suggest import listed, nearest
from longfat.errors import InputError, LongfatError
from longfat.live.process import CommandFailed
from longfat.model.fields import fields_of
from longfat.model.network import Link
from longfat.studio.live.commands import run_line
from longfat.studio.live.replay import Change, line_change, link_change
from longfat.studio.threads import STUDIO_LIMITS
from longfat.study.drawing import Drawing
from longfat.study.file_reader import FileReader, no_files
from longfat.study.read import parse_study

if TYPE_CHECKING:
    from collections.abc import Mapping

    from longfat.live import Network
    from longfat.model.case import Case
    from longfat.model.network import Network as NetworkModel
    from longfat.studio.live.probe_reader import ProbeReader
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


_OF_NETWORK = {
    "frames": "frames was changed",
    "tunnels": "the tunnels were changed",
    "bonds": "the bonds were changed",
    "testbed": "the testbed's timing was changed",
    "shared_kernel": "shared_kernel was changed",
}


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
    reasons += [
        words
        for name, words in _OF_NETWORK.items()
        if getattr(now.network, name) != getattr(new.network, name)
    ]
    reasons += _link_changes(now.network, new.network)
    if new.files != now.files:
        reasons.append("the files of the machine were changed")
    if new.setup[: len(now.setup)] != now.setup:
        reasons.append("set-up lines that have run were changed")
    return reasons


def _link_changes(now: NetworkModel, new: NetworkModel) -> list[str]:
    for index, link in enumerate(now.links):
        if index >= len(new.links) or _ends(new.links[index]) != _ends(link):
            return [f"the link from {link.a} to {link.b} was removed or moved"]
    return []


def _ends(link: object) -> tuple[object, ...]:
    own = (field.name for field in fields_of(Link).values())
    addresses = ("a_address", "b_address", "a_vlan_addresses", "b_vlan_addresses")
    return tuple(getattr(link, name) for name in ("a", "b", *addresses, *own))


class Reconciliation:
    """The drawing that the network corresponds to; for the session's thread.

    Args:
        network: the network, built.
        drawn: the drawing when it was built.

    Attributes:
        drawn: the drawing as applied to the network.
        changes: short descriptions of the last changes.
        done: the same as events, with times in seconds of virtual time since boot, without
            added nodes and links.
        stale: the changes of the last drawing that could not be applied: then `drawn` has only
            those that could.
    """

    def __init__(self, network: Network, drawn: Drawn) -> None:
        self._network = network
        self.drawn = drawn
        self.stale: list[str] = []
        self.changes: list[str] = []
        self.done: list[Change] = []
        self._broken: list[str] = []

    def take(self, new: Drawn, *, probe_reader: ProbeReader) -> bool:
        """Apply a drawing to the network; the machine is held.

        Args:
            new: the drawing.
            probe_reader: the probes, which have to sample new nodes, too.

        Returns:
            Whether nodes or links were added.

        Raises:
            MachineError: the machine has ended.
        """
        before = self._network.model
        self.changes, self.done = [], []
        self.stale = self._broken or cannot_take(self.drawn, new) or self._change(new, probe_reader)
        return self._network.model != before

    def give_up(self, reason: str) -> None:
        """Mark the network as unable to apply further drawings."""
        self._broken = [*self._broken, reason]
        self.stale = self._broken

    def _change(self, new: Drawn, probe_reader: ProbeReader) -> list[str]:
        """Apply the changes; return descriptions of those that failed."""
        network = self._network
        model = new.case.network
        for index, (old, link) in enumerate(zip(network.model.links, model.links, strict=False)):
            if (old.a_to_b, old.b_to_a) != (link.a_to_b, link.b_to_a):
                before, now_s = network.model, network.clock.now
                try:
                    network.reshape_link(index, a_to_b=link.a_to_b, b_to_a=link.b_to_a)
                except CommandFailed as failed:
                    # It is unchanged, so another drawing can be applied.
                    return [f"the link from {link.a} to {link.b}: {failed.message}"]
                self.done.append(link_change(before, network.model, link=index, at_s=now_s))
                words = "; ".join(link.summary()) or "no properties"
                self.changes.append(f"{link.a} - {link.b}: {words}")
        if model != network.model:
            probe_reader.end()
            self.changes.append("nodes or links were added")
            try:
                network.grow(model)
            except LongfatError as error:
                network.session.run_pending()  # raises if the machine has ended
                # The change may be half done.
                self.give_up(str(error))
                return self.stale
            finally:
                probe_reader.begin()
        return self._type_new_lines(new)

    def _type_new_lines(self, new: Drawn) -> list[str]:
        """Run the new set-up lines, up to the first one that fails."""
        done = len(self.drawn.case.setup)
        reasons: list[str] = []
        for command in new.case.setup[done:]:
            if problem := run_line(self._network, command.node, command.line).problem:
                reasons = [problem]
                break
            self._network.add_setup(command.node, command.line)
            self.changes.append(f"{command.node}: {command.line}")
            self.done.append(line_change(command, at_s=self._network.clock.now))
            done += 1
        case = replace(new.case, setup=new.case.setup[:done])
        self.drawn = replace(new, planned=replace(new.planned, case=case))
        return reasons
