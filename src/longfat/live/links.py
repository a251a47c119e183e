"""A link of a live network: changed, cut and restored while the network lives."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from longfat.model.fields import takes_fields
from longfat.model.network import LinkImpairments

if TYPE_CHECKING:
    from longfat.live.running import RunningNetwork


class LiveLink:
    """A link, by its index in the network.

    Attributes:
        a: the name of its interface at the first node.
        b: the name of its interface at the second.
    """

    def __init__(self, network: RunningNetwork, index: int, *, names: tuple[str, str]) -> None:
        self._network = network
        self._index = index
        self.a, self.b = names

    def __repr__(self) -> str:
        return f"<{self.a} -- {self.b}>"

    @takes_fields(LinkImpairments)
    def change(self, *, reverse: Mapping[str, object] | None = None, **properties: object) -> None:
        """Change the link's impairments; those not specified are unchanged.

        Packets in flight or in a queue stay there, except for those in a part of the
        link that is recreated because its kind changes.

        Args:
            reverse: the differences in the direction from the second node to the first.
            properties: as for `Network.link`; None removes one.

        Raises:
            InputError: a property has no such value.
        """
        self._network.change_link(self._index, properties, reverse)

    def down(self) -> None:
        """Cut it: both interfaces lose their carrier, and packets on them."""
        self._set("down")

    def up(self) -> None:
        """Restore it. IPv6 addresses that Linux removed at the cut are not restored."""
        self._set("up")

    def offloads(self, on: bool) -> None:
        """Switch segmentation and receive offloads of both interfaces on or off.

        Off, a capture shows the frames that a real cable would carry, and a loss
        affects one of them; on, as in Linux by default, up to 64 KB are sent as one.

        Args:
            on: whether they are on.

        Raises:
            CommandFailed: ethtool failed.
        """
        word = "on" if on else "off"
        for name in (self.a, self.b):
            line = f"ethtool -K {name} tso {word} gso {word} gro {word}"
            self._network.type_at_interface(name, line)

    def _set(self, state: str) -> None:
        for name in (self.a, self.b):
            self._network.type_at_interface(name, f"ip link set dev {name} {state}")
