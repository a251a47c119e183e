"""Applies changes of the drawing to the running network, as far as possible."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from longfat.errors import LongfatError
from longfat.live.process import CommandFailed
from longfat.studio.live.commands import run_line
from longfat.studio.live.drawn_network import Drawn, cannot_take
from longfat.studio.live.replay import Change, line_change, link_change

if TYPE_CHECKING:
    from longfat.live import Network
    from longfat.studio.live.probe_reader import ProbeReader


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
