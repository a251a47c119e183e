"""The losses of a live network: what its kernel has dropped since its boot, or the last look.

The kernel counts from the boot on (`longfat.guest.drops`). Reading passes no virtual time.
"""

from __future__ import annotations

import base64
import binascii
import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING

from longfat.analysis.losses import Loss, live_losses
from longfat.errors import InputError, MachineError
from longfat.execution.runs.packet_drops import PacketDrop, QdiscDrops
from longfat.model.flow_path.installed import ROOT
from longfat.model.flow_path.tc_messages import parse_qdisc
from longfat.model.probes.queue import decode
from longfat.model.probes.samples import UNREADABLE, Message, Source, message_bodies

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from longfat.live.session import Session


@dataclass(frozen=True, slots=True, kw_only=True)
class _Interface:
    """What the agent sends of an interface: messages of the kernel in base64."""

    node: str
    interface: str
    index: int
    messages: str


class LossCounter:
    """Reads the losses of a machine, all of them or those since it was last read."""

    def __init__(self) -> None:
        self._seen: dict[tuple[object, ...], PacketDrop] = {}

    def read(self, session: Session, names: Mapping[str, str], *, new: bool) -> tuple[Loss, ...]:
        """Return losses, the most packets first; the flow of each is its hosts, `h1 -> h2`.

        Args:
            session: the machine.
            names: the hosts by their addresses.
            new: only those since the last call.

        Raises:
            InputError: the kernel does not count the packets that it drops.
            MachineError: the agent's answer is invalid.
        """
        answer = session.order("losses")
        if "drops" not in answer:
            raise InputError(
                f"the kernel {session.kernel.release} does not count the packets that it drops"
            )
        drops = answer.get("drops", tuple[PacketDrop, ...])
        try:
            qdiscs = [
                qdisc
                for each in answer.get("qdiscs", tuple[_Interface, ...])
                for qdisc in _qdiscs(each)
            ]
        except (*UNREADABLE, binascii.Error) as error:
            raise MachineError(f"a message of the kernel cannot be read: {error}") from None
        shown = [_growth(drop, self._seen.get(drop.kind)) for drop in drops] if new else drops
        self._seen = {drop.kind: drop for drop in drops}
        return live_losses((drop for drop in shown if drop is not None), qdiscs, names)


def _growth(drop: PacketDrop, before: PacketDrop | None) -> PacketDrop | None:
    """Return what was dropped since an earlier count; None if nothing was."""
    if before is None or drop.packets < before.packets:
        return drop
    if drop.packets == before.packets:
        return None
    return dataclasses.replace(
        drop,
        packets=drop.packets - before.packets,
        size_bytes=max(drop.size_bytes - before.size_bytes, 0),
        first_s=before.last_s,
    )


def _qdiscs(sent: _Interface) -> Iterator[QdiscDrops]:
    source = Source(sent.node, {sent.index: sent.interface})
    for body in message_bodies(memoryview(base64.b64decode(sent.messages, validate=True))):
        installed = parse_qdisc(body)
        for row in decode(iter([Message(0.0, source, body)])):
            yield QdiscDrops(
                node=sent.node,
                interface=sent.interface,
                kind=row["qdisc"],
                handle=row["handle"],
                parent="" if row["parent"] == ROOT else row["parent"],
                drops=row["drops"],
                early_drops=row["early_drops"],
                burst_bytes=installed.burst_bytes or 0,
            )
