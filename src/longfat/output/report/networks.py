"""The networks of a page: which cases have which, and their drawings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from markupsafe import Markup

from longfat.output.drawing import MOST_NODES, draw_network, words_of
from longfat.output.report.templates import environment

if TYPE_CHECKING:
    from longfat.analysis.verdict import Verdict
    from longfat.model.network import Network


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnNetwork:
    """A network, and the cases that have it.

    Attributes:
        network: the network.
        cases: the cases' names.
        words: its size, as text.
        shaped: words of set-up lines, the interfaces that they name among them.
    """

    network: Network
    cases: tuple[str, ...]
    words: str
    shaped: frozenset[str]

    def svg(self, *, paper: bool) -> Markup | None:
        """Return its drawing; None where it would be too large."""
        if len(self.network.hosts) + len(self.network.switches) > MOST_NODES:
            return None
        return draw_network(self.network, shaped=self.shaped, with_style=paper)


def drawn_networks(verdict: Verdict) -> list[DrawnNetwork]:
    """Return the networks of the cases that were run, or of all where none was."""
    found: dict[Network, list[str]] = {}
    for name in verdict.runs or verdict.study.cases:
        found.setdefault(verdict.study.cases[name].case.network, []).append(name)
    drawn = []
    for network, cases in found.items():
        lines = [c.line for name in cases for c in verdict.study.cases[name].case.setup]
        drawn.append(
            DrawnNetwork(
                network=network,
                cases=tuple(cases),
                words=(
                    f"{len(network.hosts)} hosts, {len(network.switches)} switches, "
                    f"{len(network.links)} links; {network.packet_words}"
                ),
                shaped=words_of(lines),
            )
        )
    return drawn


def networks_html(networks: Sequence[DrawnNetwork], *, paper: bool) -> Markup:
    """Return the drawings of networks as a part of a page."""
    template = environment().get_template("network.html.j2")
    return Markup(template.render(networks=networks, paper=paper))
