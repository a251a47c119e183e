"""The fields of a host's timing: its timers' latency and what its CPU's work costs."""

from __future__ import annotations

import re
from collections.abc import Mapping

from longfat.errors import InputError
from longfat.model.fields import fields_of, read_fields, written_fields
from longfat.model.network import (
    TIMING_KEYS,
    CpuCosts,
    HostTiming,
    profile_named,
    timing_with,
)
from longfat.study.document import parse_document
from longfat.study.node import Node

_TESTBED = "a mapping of one computer's timing (such as {timer_latency: 50us})"
_CPU = "a mapping of what a CPU's work costs (such as {syscall: 300ns, copy: 80ps/B})"
_PROFILE = "a profile's name (such as vm-2020)"


def read_testbed(node: Node) -> HostTiming | None:
    """Read the field `testbed` of a network.

    Returns:
        The timing; None for a computer that is infinitely fast.

    Raises:
        InputError: something in it is wrong; with its place.
    """
    if node.is_null:
        return None
    return read_timing(node.fields(_TESTBED, allowed=TIMING_KEYS))


def parse_testbed(text: str) -> HostTiming:
    """Return the testbed that a command line names.

    Args:
        text: a profile's name, or fields as a study has them: `{timer_latency: 50us}`.

    Raises:
        InputError: something in it is wrong; with its place.
    """
    if re.fullmatch(r"[\w-]+", text):
        return profile_named(text)
    node = Node(raw=parse_document(text.encode(), file="--testbed"), file="--testbed")
    return read_testbed(node) or HostTiming()


def format_testbed(timing: HostTiming) -> str:
    """Return what `parse_testbed` reads as this timing."""
    if timing.profile is not None:
        return timing.profile
    fields = written_fields(timing)
    if costs := written_fields(timing.cpu):
        fields["cpu"] = _flow(costs)
    return _flow(fields)


def _flow(fields: Mapping[str, object]) -> str:
    return "{" + ", ".join(f"{key}: {value}" for key, value in fields.items()) + "}"


def read_timing(fields: Mapping[str, Node]) -> HostTiming | None:
    """Read a host's timing fields.

    Args:
        fields: the host's fields, others among them. One without a value is as if it were
            not written.

    Returns:
        The timing; None for a host that is infinitely fast, or of which nothing is written.

    Raises:
        InputError: something in it is wrong; with its place.
    """
    given = {key: node for key, node in fields.items() if not node.is_null}
    timing = HostTiming()
    if "profile" in given:
        try:
            timing = profile_named(given["profile"].line(_PROFILE))
        except InputError as error:
            raise given["profile"].error(error.message) from None
    costs: dict[str, Node] = {}
    if "cpu" in given:
        costs = given["cpu"].fields(_CPU, allowed=tuple(fields_of(CpuCosts)))
        costs = {key: node for key, node in costs.items() if not node.is_null}
    return timing_with(timing, read_fields(HostTiming, given), read_fields(CpuCosts, costs))
