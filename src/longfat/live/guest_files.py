"""The files of the guest of a session, and the roots that hosts have of their own."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from longfat.errors import InputError, MachineError
from longfat.live.task import RejectedError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from longfat.engine.machine.host_channel import Message
    from longfat.model.case import File
    from longfat.model.network import HostRoot

MAX_FILE_BYTES = 1 << 30
"""The default limit of a file that is read from the guest: it goes into the host's memory."""


class Agent(Protocol):
    """The guest's agent, which a session exchanges messages with."""

    def pause(self) -> None:
        """Hold the machine."""

    def order(self, do: str, **fields: Any) -> Message:
        """Send an order and return its answer."""

    def send(self, do: str, **fields: Any) -> int:
        """Send an order and return its number."""

    def send_data(self, number: int, data: bytes) -> None:
        """Send data to a process, or, if the number is 0, of a file; b"" ends it."""

    def answer(self, number: int) -> Message:
        """Wait for the answer to an order."""


@dataclass(eq=False, slots=True)
class _ReadFile:
    """A file that the guest is sending."""

    path: str
    max_bytes: int
    data: list[bytes] = field(default_factory=list)
    size: int = 0

    def take(self, data: bytes) -> None:
        self.size += len(data)
        if self.size > self.max_bytes:
            raise MachineError(f"{self.path}: the guest sends more than it was asked for")
        self.data.append(data)


class GuestFiles:
    """The files of a guest.

    Args:
        agent: the guest's agent.
        images: the names of the images that the machine was booted with.

    Attributes:
        roots: the roots of hosts that have one of their own.
    """

    def __init__(self, agent: Agent, *, images: Collection[str]) -> None:
        self._agent = agent
        self._images = images
        self._reading: _ReadFile | None = None
        self.roots: dict[str, HostRoot] = {}

    def take_roots(self, roots: Mapping[str, HostRoot]) -> None:
        """Create separate roots for hosts that are built after that.

        Args:
            roots: by host; existing ones are skipped.

        Raises:
            InputError: the machine did not get an image when it was booted.
            MachineError: the guest failed.
        """
        new = {host: root for host, root in roots.items() if host not in self.roots}
        for host, root in new.items():
            if root.shown not in self._images:
                raise InputError(
                    f"{host}: the machine does not have the image {root.image}, which has to be "
                    "specified when it boots: add it to longfat.Network(images=[...])"
                )
        if new:
            answer = self._agent.order(
                "roots", roots={host: one.order(host) for host, one in new.items()}
            )
            if "rejected" in answer:
                raise MachineError(f"the root of a host: {answer.text('rejected')}")
            self.roots |= new

    def write(self, path: str, data: bytes, *, mode: int = 0o644, node: str = "") -> None:
        """Write a file in the guest.

        Args:
            path: its path.
            data: its content.
            mode: its mode.
            node: the host with the root for it, if it has one.

        Raises:
            RejectedError: the guest failed.
        """
        self._agent.pause()
        number = self._agent.send("write", path=path, mode=mode, node=self._root_of(node))
        if data:
            self._agent.send_data(0, data)
        self._agent.send_data(0, b"")
        _check_rejected(self._agent.answer(number), path)

    def write_everywhere(self, path: str, data: bytes) -> None:
        """Write a file that all nodes see, whatever their roots.

        Raises:
            RejectedError: the guest failed.
        """
        for node in ("", *self.roots):
            self.write(path, data, node=node)

    def _root_of(self, node: str) -> str:
        return node if node in self.roots else ""

    def put(self, files: Iterable[File], *, in_roots: bool = True) -> None:
        """Write a case's files, even where the guest cannot.

        Args:
            files: the files; their folders are created.
            in_roots: write them into hosts' own roots, too.

        Raises:
            InputError: the guest failed.
        """
        self._agent.pause()
        given = [file.to_json() for file in files]
        for node in ("", *(self.roots if in_roots else ())):
            answer = self._agent.order("files", files=given, node=node)
            if "words" in answer:
                raise InputError(f"files: {answer.text('path')}: {answer.text('words')}")

    def read(self, path: str, *, node: str = "", max_bytes: int = MAX_FILE_BYTES) -> bytes:
        """Return the contents of a file of the guest.

        Args:
            path: its path.
            node: the host with the root that contains it, if it has one.
            max_bytes: how large it may be.

        Raises:
            RejectedError: the guest could not read it, or it is larger.
            MachineError: the guest sends more than it was asked for.
        """
        self._agent.pause()
        self._reading = file = _ReadFile(path, max_bytes)
        try:
            answer = self._agent.answer(
                self._agent.send("read", path=path, node=self._root_of(node), max_bytes=max_bytes)
            )
        finally:
            self._reading = None
        _check_rejected(answer, path)
        return b"".join(file.data)

    def receive(self, data: bytes) -> None:
        """Take data of the file that is being read.

        Raises:
            MachineError: the guest sends more than it was asked for.
        """
        if self._reading is not None:
            self._reading.take(data)


def _check_rejected(answer: Message, path: str) -> None:
    if "rejected" in answer:
        raise RejectedError(f"{path}: {answer.text('rejected')}")
