"""Warnings about lines that are typed in a live network, for its terminals and scripts.

A line is checked by itself (`longfat.model.lint.lint_line`): what came before it, such as
interfaces that the user made, is not known here.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from longfat.model.lint import lint_line
from longfat.model.network import ROOT_NAMESPACE

if TYPE_CHECKING:
    from longfat.model.network import Network

_NOTE = re.compile(rb"lint (\S+)\s+\d+\*?\s+(.*?)\s*", re.DOTALL)


class TypedLint:
    """Checks the lines that are typed in a network.

    Args:
        network: the network.
        kernel: the machine's kernel.
    """

    def __init__(self, network: Network, *, kernel: str) -> None:
        self._kernel = kernel
        self._hosts = frozenset(host.name for host in network.hosts)
        self._switches = frozenset(switch.name for switch in network.switches)

    def warnings(self, node: str, line: str) -> list[str]:
        """Return the warnings about a line.

        Args:
            node: where it is typed; the name of a node at its beginning leads elsewhere.
            line: the line.
        """
        words = line.split(maxsplit=1)
        if words and words[0] == "at":
            words = words[1].split(maxsplit=1) if len(words) > 1 else []
        if len(words) == 2 and words[0] in {*self._hosts, *self._switches, ROOT_NAMESPACE}:
            node, line = words
        place = node if node in self._hosts else ROOT_NAMESPACE
        return lint_line(place, line, kernel=self._kernel)

    def answer(self, note: bytes) -> bytes:
        """Return what a terminal shows in the place of a note of its shell.

        Args:
            note: the note, see `longfat.live.shell.bash`.
        """
        typed = _NOTE.fullmatch(note)
        if typed is None:
            return b""
        texts = self.warnings(*(part.decode(errors="replace") for part in typed.groups()))
        return b"".join(f"longfat: warning: {text}\r\n".encode() for text in texts)

    def script_warnings(self, node: str, script: str) -> list[str]:
        """Return the warnings about the lines of a script, each with its number.

        Args:
            node: where it runs.
            script: the lines.
        """
        return [
            f"line {number}: warning: {text}"
            for number, line in enumerate(script.splitlines(), start=1)
            for text in self.warnings(node, line)
        ]
