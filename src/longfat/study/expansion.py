"""How far a study may expand: a short text can make many cases, and each holds the whole study.

The cost of reading a study, in time and memory, grows with what its cases hold together. It is
counted in the values of the document (`longfat.study.document.MAX_NODES`) and the nodes and links
of networks, before the cases are made as far as it is known then, and while they are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from longfat.errors import InputError

if TYPE_CHECKING:
    from longfat.model.case import Case
    from longfat.study.node import Node

_VALUES_OF_EVENT = 10
"""An event costs so many times as much as a value, each time that it happens."""


def _do_nothing() -> None:
    pass


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpansionLimits:
    """How far a study may expand.

    Attributes:
        max_cases: how many cases it may have.
        max_values: how many values all of its cases may hold together.
        remedy: what to do about a study that is larger, for the message.
        on_case: called before each case is made; what it raises ends the reading.
    """

    max_cases: int = 100_000
    max_values: int = 2_000_000
    remedy: str = "leave some of them out, or split the study"
    on_case: Callable[[], None] = _do_nothing


DEFAULT_LIMITS = ExpansionLimits()
"""The limits of the command line."""


class TooLargeError(InputError):
    """A study expands too far."""


class Expansion:
    """Counts what the cases of a study hold together.

    Args:
        node: the field that makes the cases, for messages.
        limits: the limits.
    """

    def __init__(self, node: Node, limits: ExpansionLimits) -> None:
        self._node = node
        self._limits = limits
        self._values = 0

    def check(self, cases: int, *, values: int) -> None:
        """Check how many cases there will be.

        Args:
            cases: how many.
            values: how many values each of them holds at least.

        Raises:
            TooLargeError: too many.
        """
        limits = self._limits
        if cases > limits.max_cases:
            raise self._error(
                f"here are {cases:,} cases, and at most {limits.max_cases:,} are possible: "
                f"{limits.remedy}"
            )
        if cases * values > limits.max_values:
            raise self._error(
                f"here are {cases:,} cases of {values:,} values each, and all cases together may "
                f"hold at most {limits.max_values:,} values: {limits.remedy}"
            )

    def begin_case(self) -> None:
        """Note that a case is about to be made."""
        self._limits.on_case()

    def add(self, values: int, case: Case) -> None:
        """Count a case.

        Args:
            values: how many values of the document it holds.
            case: the case.

        Raises:
            TooLargeError: the cases hold too much by now.
        """
        network = case.network
        nodes = len(network.hosts) + len(network.switches)
        times = sum(event.times for event in case.events)
        self._values += values + nodes + len(network.links) + _VALUES_OF_EVENT * times
        if self._values > self._limits.max_values:
            raise self._error(
                "the cases hold together more values, nodes, links and events than the "
                f"{self._limits.max_values:,} that are possible: {self._limits.remedy}"
            )

    def _error(self, message: str) -> TooLargeError:
        return TooLargeError(message, place=self._node.place)


def check_work(node: Node, combinations: int, names: int) -> None:
    """Check how many values have to be computed for the combinations of a grid.

    Args:
        node: the field `grid`.
        combinations: how many combinations there are, before any is left out.
        names: how many names and conditions have a value in each.

    Raises:
        TooLargeError: too many.
    """
    maximum = DEFAULT_LIMITS.max_values
    if combinations * names > maximum:
        raise TooLargeError(
            f"here are {combinations:,} combinations with {names:,} parameters, derived values and "
            f"conditions in each, together more than {maximum:,}: leave some of them out",
            place=node.place,
        )
