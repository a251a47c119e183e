"""What the guest's kernel had installed, as the guest sent it; it is untrusted."""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from longfat.common.decoding import decode, parse_json, read_bytes
from longfat.errors import MachineError
from longfat.execution.runs.run import INSTALLED
from longfat.model.flow_path.installed import (
    MTU_BYTES,
    QUEUE_PACKETS,
    InstalledInterface,
    InstalledNode,
    differences,
)
from longfat.model.flow_path.tc_messages import parse_class, parse_filter, parse_qdisc
from longfat.model.probes.samples import UNREADABLE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

_MAX_BYTES = 1 << 24
# Starting a process takes some clock reads, each of nanoseconds.
_MAX_LINES_S = 1e-3


@dataclass(frozen=True, slots=True, kw_only=True)
class _Interface:
    """What the guest sends of an interface: messages of the kernel in base64."""

    index: int
    mtu: int
    txqlen: int
    qdiscs: list[str] = field(default_factory=list)
    classes: list[str] = field(default_factory=list)
    filters: list[tuple[int, list[str]]] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Node:
    """A line of the guest's file; an interface or a sysctl that is not there any more is None."""

    at_ns: int
    node: str
    interfaces: dict[str, _Interface | None]
    sysctls: dict[str, str | None]


def read_installed(
    folder: Path, *, events_s: Sequence[float] = ()
) -> tuple[InstalledNode, ...] | None:
    """Read what the guest's kernel had installed.

    Args:
        folder: the run's folder.
        events_s: when events began, in seconds after the traffic's start: what was read as soon as
            the lines of one had run has its time.

    Returns:
        It, in the order of times; None if the guest sent nothing.

    Raises:
        MachineError: it is invalid.
    """
    try:
        content = read_bytes(folder / INSTALLED, most_bytes=_MAX_BYTES)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise _foreign(f"{INSTALLED}: {error}") from None
    values = (parse_json(line, where=INSTALLED, error=_foreign) for line in content.splitlines())
    lines = [decode(_Node, value, where=INSTALLED, error=_foreign) for value in values]
    names: dict[str, dict[int, str]] = {}
    try:
        parts = [_node(line, names.setdefault(line.node, {})) for line in lines]
    except (*UNREADABLE, binascii.Error) as error:
        message = f"{INSTALLED}: a message of the kernel cannot be read: {error}"
        raise _foreign(message) from None
    parts = [replace(part, at_s=event_time(part.at_s, events_s)) for part in parts]
    return tuple(differences(sorted(parts, key=lambda part: part.at_s)))


def event_time(at_s: float, events_s: Sequence[float]) -> float:
    """Return the time of the event after which something was read, if its lines took no time.

    Args:
        at_s: when it was read, in seconds after the traffic's start.
        events_s: when events began, likewise.
    """
    return max((time_s for time_s in events_s if 0 <= at_s - time_s <= _MAX_LINES_S), default=at_s)


def _node(line: _Node, names: dict[int, str]) -> InstalledNode:
    names |= {each.index: name for name, each in line.interfaces.items() if each is not None}
    return InstalledNode(
        at_s=line.at_ns / 1e9,
        node=line.node,
        interfaces=tuple(
            InstalledInterface(name=name) if each is None else _interface(name, each, names)
            for name, each in line.interfaces.items()
        ),
        sysctls={name: text or "" for name, text in line.sysctls.items()},
    )


def _interface(name: str, sent: _Interface, names: Mapping[int, str]) -> InstalledInterface:
    filters = [
        parse_filter(_message(text), parent=parent, names=names)
        for parent, texts in sent.filters
        for text in texts
    ]
    return InstalledInterface(
        name=name,
        # The loopback has one of its own, and nobody's path leads over it.
        mtu_bytes=MTU_BYTES if name == "lo" else sent.mtu,
        queue_packets=sent.txqlen if sent.qdiscs else QUEUE_PACKETS,
        qdiscs=tuple(parse_qdisc(_message(text)) for text in sent.qdiscs),
        classes=tuple(parse_class(_message(text)) for text in sent.classes),
        filters=tuple(each for each in filters if each is not None),
    )


def _message(text: str) -> memoryview:
    return memoryview(base64.b64decode(text, validate=True))


def _foreign(message: str) -> MachineError:
    return MachineError(f"the guest's report is invalid: {message}")
