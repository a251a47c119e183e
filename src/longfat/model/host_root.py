"""A host's own root file system: which image it is, and what runs with it.

A case names an image by its digest, so that what is in it decides the result and where it
lay does not. `longfat.engine.images` reads and unpacks images; a value of here that was only
named, and not looked for yet, has no digest.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from longfat.errors import InputError
from longfat.guest.toolset import ENVIRONMENT as TOOLS_ENVIRONMENT
from longfat.model.typed_line import needs_shell, shell_line, without_sudo

NETWORK_TOOLS = frozenset(
    ("bridge", "ethtool", "ip", "ip6tables", "iptables", "nft", "ss", "sysctl", "tc")
)
"""What sets up a host's network and needs no file of it: these run with the machine's root."""

ENTRYPOINT = "entrypoint"
"""The first word of a line that represents the image's own command."""

ROOTS = "/run/roots"
"""Where a machine has the root file systems of its hosts, each by the host's name."""

_VARIABLE = re.compile(r"[^=\0\n]+=[^\0]*")
_MAX_VARIABLES = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class HostRoot:
    """An image, or a folder, that is a host's root file system.

    Attributes:
        image: the file or folder, as the study names it.
        digest: of its content, in hexadecimal: of an image what other tools call its ID; empty
            before it was looked for.
        environment: the variables that its programs get, as `NAME=VALUE`.
        folder: where its programs start.
        command: what it starts by itself: its entry point and the arguments of that.
        left_out: what of it no host sees, in words; empty, if that is nothing.
    """

    image: str
    digest: str = ""
    environment: tuple[str, ...] = ()
    folder: str = "/"
    command: tuple[str, ...] = ()
    left_out: str = ""

    def __post_init__(self) -> None:
        if self.digest and not re.fullmatch("[0-9a-f]{64}", self.digest):
            raise ValueError(f"{self.digest[:80]!r} is no SHA-256 digest")
        bad = [text for text in self.environment if not _VARIABLE.fullmatch(text)]
        if bad or len(self.environment) > _MAX_VARIABLES:
            raise ValueError(f"its environment holds {(bad or ['too much'])[0][:80]!r}")
        if not self.folder.startswith("/") or "\0" in self.folder:
            raise ValueError(f"its working folder is {self.folder[:80]!r}, no absolute path")
        if any("\0" in word for word in self.command):
            raise ValueError("its command holds a NUL character")

    @property
    def variables(self) -> Mapping[str, str]:
        """The variables by their names; an image need have no other shell than `sh`."""
        return {"SHELL": "/bin/sh", **dict(text.split("=", 1) for text in self.environment)}

    def runs(self, argv: Sequence[str]) -> bool:
        """Return whether a command runs with this root, and not with the machine's.

        Args:
            argv: the program and its arguments; or `/bin/sh`, `-c` and a line.
        """
        if line := shell_line(argv):
            return self.runs_line(line)
        return bool(argv) and argv[0] not in NETWORK_TOOLS

    def arguments(self, argv: Sequence[str]) -> list[str]:
        """Return a command that runs with this root; of a line for the shell, that of `line`.

        Raises:
            InputError: it is the image's command, and the image has none.
        """
        line = shell_line(argv)
        return [*argv[:2], self.line(line)] if line else list(argv)

    def environment_of(
        self, environment: Mapping[str, str], *, default: Mapping[str, str]
    ) -> dict[str, str]:
        """Return the variables of a command that runs with this root.

        Args:
            environment: those that it has been given.
            default: those that it gets without a root, which the root's replace; others stay.
        """
        own = {
            name: value
            for name, value in self.variables.items()
            if environment.get(name) == default.get(name)
        }
        plain = {
            name: value
            for name, value in environment.items()
            if TOOLS_ENVIRONMENT.get(name) != value
        }
        return {**plain, **own}

    @staticmethod
    def runs_line(line: str) -> bool:
        """Return the same for a line for a shell: only one plain command is taken for a tool's."""
        program = (without_sudo(line).split(maxsplit=1) or [""])[0]
        return needs_shell(line) or program not in NETWORK_TOOLS

    def line(self, line: str) -> str:
        """Return a line for the shell, with `entrypoint` replaced by the image's command.

        Raises:
            InputError: the image has none.
        """
        first, *rest = line.split(maxsplit=1)
        if first != ENTRYPOINT or not self.digest:
            return line
        if not self.command:
            raise InputError(
                f"`{line}`: {self.image} has neither an Entrypoint nor a Cmd: write the program "
                "that is to run"
            )
        return " ".join([shlex.join(self.command), *rest])

    def order(self, host: str) -> dict[str, Any]:
        """Return what the guest needs to start a program with this root, as plain data."""
        return {
            "at": f"{ROOTS}/{host}",
            "folder": self.folder,
            "environment": dict(self.variables),
            "shown": self.shown,
            "title": " ".join(filter(None, (self.image, f"sha256:{self.digest}", self._notes))),
        }

    @property
    def _notes(self) -> str:
        return f"(left out: {self.left_out})" if self.left_out else ""

    @property
    def shown(self) -> str:
        """Where the sandbox mounts the image, below its folder of shared files."""
        return f"images/{self.digest[:32]}"
