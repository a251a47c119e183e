"""The images that a study's hosts have for their root file systems: files or folders beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longfat.errors import InputError

if TYPE_CHECKING:
    from longfat.model.network import HostRoot
    from longfat.study.files import ReadBeside
    from longfat.study.node import Node


class Images:
    """Finds the images that a study names, each once.

    Args:
        beside: reads what is beside the study.
    """

    def __init__(self, beside: ReadBeside) -> None:
        self._beside = beside
        self._found: dict[str, HostRoot] = {}

    def find(self, named: HostRoot, node: Node) -> HostRoot:
        """Return an image that a host names, unpacked into the cache.

        Args:
            named: its name.
            node: where that is written.

        Raises:
            InputError: there is none of that name, or none that a machine can run.
            HostError: it cannot be unpacked.
        """
        name = named.image
        if name not in self._found:
            try:
                self._found[name] = self._beside.image(name)
            except InputError as error:
                raise node.error(error.message) from None
        return self._found[name]
