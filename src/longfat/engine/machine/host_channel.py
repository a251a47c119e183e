"""The host's end of the channel to a live machine, and of its clock.

While the guest reads the channel, its whole kernel waits in the host's read():
the machine is *held*, and no virtual time passes until we send something. The
kernel's end is /dev/host_line (kernel/patches), and `longfat.guest.host_channel` reads
and writes it. Both ends send frames: the length of the payload, its kind,
and the process or order that it is about.

    o  host to guest: an order, JSON
    a  guest to host: its answer, JSON
    d  data: input of a process, or a file's, either way
    w  guest to host: a process can take input, JSON; the answer is data or
    n  host to guest: there is none yet
    1  guest to host: output of a process, or of its terminal
    2  its standard error
    x  it has ended: JSON
    s  guest to host: what was sampled, after the place of its probe
    f  guest to host, of a machine that plays a job: a piece of a file that it leaves

The clock has a channel of its own. The kernel reports the time there at a moment
that we have set and waits for the next such moment, which is how a machine is
slowed down to a pace; without a pace there is no such moment.
"""

from __future__ import annotations

import array
import contextlib
import fcntl
import json
import select
import socket
import struct
import termios
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from longfat.common.decoding import decode, parse_json
from longfat.engine.machine.pace import Pacer
from longfat.errors import MachineError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from longfat.engine.machine.pace import Pace

_HEAD = struct.Struct("<IcI")
_TIME = struct.Struct("=Q")
_NEVER_NS = (1 << 64) - 1
_CHUNK = 1 << 18
_MAX_PAYLOAD_BYTES = 1 << 24
_T = TypeVar("_T")
_PACED_STEP_WALL_S = 0.01  # between two reports of a paced machine's clock


@dataclass(frozen=True, slots=True)
class Frame:
    """A frame from the guest.

    Attributes:
        kind: its kind, see above.
        number: the process or the order that it is about.
        payload: the bytes.
    """

    kind: bytes
    number: int
    payload: bytes

    def message(self) -> Message:
        """Return the payload as JSON.

        Raises:
            MachineError: it is not JSON.
        """
        data = parse_json(self.payload, where="a message", error=_broken)
        if not isinstance(data, dict):
            raise _broken("it is not an object")
        return Message(data)


class Message:
    """The contents of a message of the guest, which is untrusted."""

    def __init__(self, data: dict[str, Any]) -> None:
        self._data = data

    def __contains__(self, name: str) -> bool:
        return name in self._data

    def number(self, name: str) -> int:
        """Return a whole number.

        Raises:
            MachineError: there is none with this name.
        """
        return self.get(name, int)

    def text(self, name: str) -> str:
        """Return a text.

        Raises:
            MachineError: there is none with this name.
        """
        return self.get(name, str)

    def get(self, name: str, kind: type[_T]) -> _T:
        """Return the value of a field.

        Args:
            name: the field's name.
            kind: its required type, as of `longfat.common.decoding.decode`.

        Raises:
            MachineError: the field is missing or has another type.
        """
        return decode(kind, self._data.get(name), where=f"a message's {name}", error=_broken)

    def all(self, kind: type[_T], *, besides: Sequence[str] = ()) -> _T:
        """Return all fields.

        Args:
            kind: the dataclass that has its fields.
            besides: fields that are ignored.

        Raises:
            MachineError: it has other fields.
        """
        fields = {name: value for name, value in self._data.items() if name not in besides}
        return decode(kind, fields, where="a message", error=_broken)


def _broken(problem: str) -> MachineError:
    return MachineError(
        f"the guest's agent sent an invalid message; was it tampered with? ({problem})"
    )


class Line:
    """The host's ends of the channel and of the clock's; the other ends are for the kernel."""

    def __init__(self) -> None:
        self._near, self._far = socket.socketpair()
        self._clock, self._far_clock = socket.socketpair()
        self._near.setblocking(False)
        self._clock.setblocking(False)
        self._inbox = bytearray()
        self._outbox = bytearray()
        self._pacer: Pacer | None = None
        self._step_ns = _NEVER_NS
        self._asked_ns: int | None = None
        self._clock_inbox = b""

    @property
    def far_descriptors(self) -> tuple[int, int]:
        """Return the descriptors that the kernel inherits."""
        return self._far.fileno(), self._far_clock.fileno()

    def close_far(self) -> None:
        """Close the kernel's ends in this process, once it has them."""
        self._far.close()
        self._far_clock.close()

    def close(self) -> None:
        """Close the host's ends."""
        self.close_far()
        self._near.close()
        self._clock.close()

    def set_pace(self, pace: Pace | None) -> None:
        """Set how fast virtual time may pass, from the guest's next clock report."""
        self._pacer = None if pace is None else Pacer(pace)
        step_s = 0.0 if pace is None else pace.factor * _PACED_STEP_WALL_S
        self._step_ns = _NEVER_NS if pace is None else max(1000, round(step_s * 1e9))

    def send(self, kind: bytes, number: int, payload: bytes) -> None:
        """Send a frame; what does not fit into the buffer now is sent in `wait`."""
        self._outbox += _HEAD.pack(len(payload), kind, number) + payload
        self._write()

    def order(self, number: int, do: str, **fields: Any) -> None:
        """Send an order; its answer will have its number."""
        self.send(b"o", number, json.dumps({"do": do, **fields}).encode())

    def take(self) -> Frame | None:
        """Return the next received frame; None if there is none.

        Raises:
            MachineError: it is longer than the guest's agent ever sends.
        """
        if len(self._inbox) < _HEAD.size:
            return None
        size, kind, number = _HEAD.unpack_from(self._inbox)
        if size > _MAX_PAYLOAD_BYTES:
            raise _broken(f"{size} bytes")
        end = _HEAD.size + size
        if len(self._inbox) < end:
            return None
        payload = bytes(self._inbox[_HEAD.size : end])
        del self._inbox[:end]
        return Frame(kind, number, payload)

    def wait(self, timeout_s: float, *, also: Sequence[int] = ()) -> list[int]:
        """Wait until something comes from the guest, and serve its clock meanwhile.

        Args:
            timeout_s: the longest to wait, in seconds of wall time.
            also: other descriptors to wait for.

        Returns:
            Those of `also` that are readable.

        Raises:
            EOFError: the machine has ended.
        """
        end_s = time.monotonic() + timeout_s
        while True:
            left_s = min(end_s - time.monotonic(), self._answer_clock())
            near, clock = self._near.fileno(), self._clock.fileno()
            writes = [near] if self._outbox else []
            readable, writable, _ = select.select(
                [near, clock, *also], writes, [], max(0.0, left_s)
            )
            if writable:
                self._write()
            if clock in readable:
                self._read_clock()
                self._answer_clock()
            if near in readable:
                self._read()
            others = [one for one in also if one in readable]
            if others or near in readable or time.monotonic() >= end_s:
                return others

    def drain(self) -> None:
        """Read what a machine has sent that has ended."""
        with contextlib.suppress(EOFError):
            while select.select([self._near], [], [], 0)[0]:
                self._read()

    @property
    def is_slowed(self) -> bool:
        """Return whether the guest waits for its pace, and so cannot be expected to continue."""
        return self._asked_ns is not None

    @property
    def is_unread(self) -> bool:
        """Return whether the guest has not yet read all that was sent."""
        unread = array.array("i", [0])
        fcntl.ioctl(self._near, termios.TIOCOUTQ, unread)
        return bool(self._outbox or unread[0])

    def _answer_clock(self) -> float:
        """Answer the guest's clock report if it is time; return the remaining time otherwise."""
        if self._asked_ns is None:
            return float("inf")
        now_ns = self._asked_ns
        if self._pacer is not None:
            left_s = self._pacer.hold_s(virtual_s=now_ns / 1e9, wall_s=time.monotonic())
            if left_s > 0:
                return left_s
        self._asked_ns = None
        next_ns = _NEVER_NS if self._step_ns == _NEVER_NS else now_ns + self._step_ns
        try:
            sent = self._clock.send(_TIME.pack(next_ns))
        except OSError:  # also: it has read none of the answers before, which no guest of ours does
            raise EOFError from None
        if sent < _TIME.size:
            raise EOFError
        return float("inf")

    def _read_clock(self) -> None:
        """Read what has come of a report of the clock; the rest may never come."""
        try:
            data = self._clock.recv(_TIME.size - len(self._clock_inbox))
        except BlockingIOError:
            return
        except OSError:  # it was killed before it had read everything
            data = b""
        if not data:
            raise EOFError
        self._clock_inbox += data
        if len(self._clock_inbox) == _TIME.size:
            (self._asked_ns,) = _TIME.unpack(self._clock_inbox)
            self._clock_inbox = b""

    def _read(self) -> None:
        try:
            data = self._near.recv(_CHUNK)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            raise EOFError
        self._inbox += data

    def _write(self) -> None:
        try:
            while self._outbox:
                del self._outbox[: self._near.send(self._outbox)]
        except BlockingIOError:
            pass
        except OSError:
            self._outbox.clear()  # the machine has ended, which the reader will detect
