"""How a running network becomes what is drawn now, as far as it can."""

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
    """What is drawn, as the network is by now; for the room's thread.

    Args:
        network: the network, built.
        drawn: what was drawn when it was built.

    Attributes:
        drawn: what is drawn now, and is so in the network.
        changes: what was changed in the network the last time, in a few words each.
        done: the same as events, whose times are seconds of virtual time since boot; nodes and
            links that were added are in none of them.
        stale: what of the last drawing the network could not take: then `drawn` is still
            what it was before that, but for what could be taken of it.
    """

    def __init__(self, network: Network, drawn: Drawn) -> None:
        self._network = network
        self.drawn = drawn
        self.stale: list[str] = []
        self.changes: list[str] = []
        self.done: list[Change] = []
        self._broken: list[str] = []

    def take(self, new: Drawn, *, looking: ProbeReader) -> bool:
        """Let the network become what is drawn now; the machine is held.

        Args:
            new: what is drawn.
            looking: the probes, which have to look at what is new, too.

        Returns:
            Whether nodes or links have come.

        Raises:
            MachineError: the machine has ended.
        """
        before = self._network.model
        self.changes, self.done = [], []
        self.stale = self._broken or cannot_take(self.drawn, new) or self._change(new, looking)
        return self._network.model != before

    def give_up(self, reason: str) -> None:
        """Take the network for one that can take no drawing any more."""
        self._broken = [*self._broken, reason]
        self.stale = self._broken

    def _change(self, new: Drawn, looking: ProbeReader) -> list[str]:
        """Change what is to be changed; return what could not be, in words."""
        network = self._network
        model = new.case.network
        for index, (old, link) in enumerate(zip(network.model.links, model.links, strict=False)):
            if (old.a_to_b, old.b_to_a) != (link.a_to_b, link.b_to_a):
                before, now_s = network.model, network.clock.now
                try:
                    network.reshape_link(index, a_to_b=link.a_to_b, b_to_a=link.b_to_a)
                except CommandFailed as failed:
                    # It does what it did before, so another drawing can be taken.
                    return [f"the link from {link.a} to {link.b}: {failed.message}"]
                self.done.append(link_change(before, network.model, link=index, at_s=now_s))
                words = "; ".join(link.summary()) or "no properties"
                self.changes.append(f"{link.a} - {link.b}: {words}")
        if model != network.model:
            looking.end()
            self.changes.append("nodes or links were added")
            try:
                network.grow(model)
            except LongfatError as error:
                network.session.run_pending()  # tells whether it was the machine that has ended
                # Half of it may stand there.
                self.give_up(str(error))
                return self.stale
            finally:
                looking.begin()
        return self._type_new_lines(new)

    def _type_new_lines(self, new: Drawn) -> list[str]:
        """Type the set-up lines that were not typed yet, up to the first one that fails."""
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
