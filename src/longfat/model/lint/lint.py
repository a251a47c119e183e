"""All warnings of a case, or of one typed line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from longfat.model.case import Case
from longfat.model.lint.case_facts import facts_of
from longfat.model.lint.devices import (
    device_problem,
    device_warnings,
    ip_warnings,
    replace_warnings,
)
from longfat.model.lint.machine_state import MachineState, Origin
from longfat.model.lint.neighbours import neighbour_warnings
from longfat.model.lint.no_effect import no_effect_warnings
from longfat.model.lint.queues import queue_warnings
from longfat.model.lint.shapers import shaper_warnings
from longfat.model.lint.shell_words import command_line
from longfat.model.lint.sysctls import (
    case_sysctl_warnings,
    is_plain_kernel,
    sysctl_warnings,
)
from longfat.model.lint.tc_command import parse_tc
from longfat.model.lint.units import unit_warnings

_IS_MEANT = re.compile(r"(?:^|\s)#\s*lint: off\b")
"""A comment at the end of a line that is meant as it is."""


@dataclass(frozen=True, slots=True)
class LintWarning:
    """A line or field that does not do what it says.

    Attributes:
        origin: where it is from.
        text: what tc or the kernel makes of it, and what was probably meant.
    """

    origin: Origin
    text: str


def lint_case(case: Case) -> list[LintWarning]:
    """Return the warnings about a case's typed lines and its links' qdiscs.

    Args:
        case: the case.

    Returns:
        The warnings, each once, in the order of lines.
    """
    meant = {
        Origin(setup=index)
        for index, command in enumerate(case.setup)
        if _IS_MEANT.search(command.line)
    }
    warnings = [
        LintWarning(origin, text) for origin, text in _warnings(case) if origin not in meant
    ]
    order = {one: index for index, one in enumerate(dict.fromkeys(warnings))}
    return sorted(order, key=lambda one: (_rank(one.origin), order[one]))


def _rank(origin: Origin) -> tuple[int, int]:
    for kind, number in enumerate((origin.link, origin.setup, origin.event, origin.flow)):
        if number is not None:
            return kind, number
    return 4, 0


def _warnings(case: Case) -> Iterator[tuple[Origin, str]]:
    facts = facts_of(case)
    for typed in facts.commands:
        if typed.tc is not None:
            for text in unit_warnings(typed.tc):
                yield typed.origin, text
    for device in MachineState(case).devices.values():
        for entry in device.qdiscs.values():
            if entry.is_typed:
                for text in unit_warnings(entry.command):
                    yield entry.origin, text
    yield from replace_warnings(case)
    yield from device_warnings(facts)
    yield from shaper_warnings(facts)
    yield from queue_warnings(facts)
    yield from case_sysctl_warnings(facts)
    yield from ip_warnings(facts)
    yield from neighbour_warnings(facts)
    yield from no_effect_warnings(facts)


def lint_line(
    node: str, line: str, *, kernel: str = "", devices: Mapping[str, str] | None = None
) -> list[str]:
    """Return the warnings about one line that is typed, whatever came before it.

    Args:
        node: where it is typed.
        line: the line, or a block of lines.
        kernel: the machine's kernel; one of longfat's own, if empty.
        devices: the node of each interface; None if they are not known.
    """
    texts: list[str] = []
    if _IS_MEANT.search(line):
        return texts
    for command in command_line(node, line).commands:
        tc = parse_tc(command.words)
        if tc is not None:
            texts += unit_warnings(tc)
        texts += sysctl_warnings(command, is_own_kernel=not kernel or is_plain_kernel(kernel))
        if devices is not None and (problem := device_problem(command, devices)):
            texts.append(problem)
    return list(dict.fromkeys(texts))
