"""System calls: each made of its plan, and looked at when it has returned.

They go to the C library as they are; Python's own functions would add calls and checks.
"""

import ctypes
import os
import socket
import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from longfat_packetdrill.guest import structures, wire
from longfat_packetdrill.guest.failures import ScriptFailedError
from longfat_packetdrill.guest.flow import LISTENING, NEW, Flow, Flows

_libc = ctypes.CDLL(None, use_errno=True)
_POINTER, _SIZE, _INT, _OFFSET = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int64
for _name in ("read", "readv", "recv", "recvfrom", "recvmsg", "write", "writev", "send"):
    getattr(_libc, _name).restype = ctypes.c_ssize_t
for _name in ("sendto", "sendmsg", "splice", "sendfile"):
    getattr(_libc, _name).restype = ctypes.c_ssize_t

Check = Callable[[], list[dict[str, Any]]]


@dataclass
class Prepared:
    """A call that is ready to be made.

    Attributes:
        run: makes it; returns what it returns.
        is_descriptor: any descriptor will do where the script has one.
        check: where what it has written differs from the script.
        after: notes what has changed, with the result.
    """

    run: Callable[[], int]
    is_descriptor: bool = False
    check: Check = list
    after: Callable[[int], None] = lambda _: None


class Calls:
    """The calls of a script, and its descriptors.

    Args:
        settings: addresses and tolerances.
        flows: the connections, which calls make.
    """

    def __init__(self, settings: dict[str, Any], flows: Flows) -> None:
        self._settings = settings
        self._flows = flows
        self._live_of: dict[int, int] = {}
        self._sockets: dict[int, Flow] = {}
        self.start_ns = 0
        is_v6 = settings["ip_version"] != "ipv4"
        self._family = socket.AF_INET6 if is_v6 else socket.AF_INET
        self._prefix = "::ffff:" if settings["ip_version"] == "ipv4-mapped-ipv6" else ""

    def prepare(self, name: str, arguments: list[Any], result: int) -> Prepared:
        """Return a call that is ready.

        Args:
            name: which.
            arguments: what it is given.
            result: what it is to return: a new descriptor's number in the script.

        Raises:
            ScriptFailedError: it names a descriptor that is not open.
        """
        prepared: Prepared = getattr(self, f"_{name}")(*arguments)
        if prepared.is_descriptor:
            note = prepared.after

            def after(live: int) -> None:
                note(live)
                self._add(result, live)

            prepared.after = after
        return prepared

    def _add(self, script: int, live: int) -> None:
        # As in packetdrill, a number that is used again is the newer one's.
        self._live_of[script] = live
        flow = self._flows.having(live)
        if flow is not None:
            self._sockets[script] = flow

    def _live(self, script: int) -> int:
        if script not in self._live_of:
            raise ScriptFailedError(f"descriptor {script} is not open")
        return self._live_of[script]

    def _bound(self) -> bytes:
        settings = self._settings
        return structures.address_bytes(self._prefix + settings["local_ip"], settings["bind_port"])

    def _target(self, script: int, family: int | None) -> bytes:
        """Return where a socket connects to, or sends to, and note that it does."""
        if family is not None:
            if script in self._sockets and family == socket.AF_UNSPEC:
                self._sockets[script].state = NEW
            return struct.pack("<H", family % 65536).ljust(28, b"\0")
        if script in self._sockets:
            self._flows.connect(self._sockets[script])
        settings = self._settings
        remote = self._prefix + settings["remote_ip"]
        return structures.address_bytes(remote, settings["connect_port"])

    def _buffer(self, given: int | None, count: int) -> Any:
        return None if given == 0 else ctypes.create_string_buffer(max(1, count))

    def _socket(self, family: int | None, kind: int, protocol: int) -> Prepared:
        domain = self._family if family is None else family

        def after(live: int) -> None:
            flow = Flow(protocol=protocol, descriptor=live, is_v6=domain == socket.AF_INET6)
            flow.is_datagram = kind & 15 == socket.SOCK_DGRAM
            if not protocol:
                flow.protocol = wire.UDP if flow.is_datagram else wire.TCP
            self._flows.add(flow)

        return Prepared(lambda: _libc.socket(domain, kind, protocol), True, after=after)

    def _bind(self, script: int, *_: None) -> Prepared:
        live, address = self._live(script), self._bound()
        return Prepared(lambda: _libc.bind(live, address, len(address)))

    def _listen(self, script: int, backlog: int) -> Prepared:
        live = self._live(script)

        def after(_: int) -> None:
            if script in self._sockets:
                self._sockets[script].state = LISTENING

        return Prepared(lambda: _libc.listen(live, backlog), after=after)

    def _accept(self, script: int, *_: None) -> Prepared:
        live = self._live(script)
        return Prepared(lambda: _libc.accept(live, None, None), True, after=self._accepted)

    def _accepted(self, live: int) -> None:
        self._flows.accepted(live)

    def _connect(self, script: int, family: int | None, _: None) -> Prepared:
        live, address = self._live(script), self._target(script, family)
        return Prepared(lambda: _libc.connect(live, address, len(address)))

    def _read(self, script: int, buffer: int | None, count: int) -> Prepared:
        live, memory = self._live(script), self._buffer(buffer, count)
        return Prepared(lambda: _libc.read(live, memory, _SIZE(count)))

    def _write(self, script: int, buffer: int | None, count: int) -> Prepared:
        live, memory = self._live(script), self._buffer(buffer, count)
        return Prepared(lambda: _libc.write(live, memory, _SIZE(count)))

    def _recv(self, script: int, buffer: int | None, count: int, flags: int) -> Prepared:
        live, memory = self._live(script), self._buffer(buffer, count)
        return Prepared(lambda: _libc.recv(live, memory, _SIZE(count), flags))

    def _recvfrom(
        self, script: int, buffer: int | None, count: int, flags: int, *_: None
    ) -> Prepared:
        live, memory = self._live(script), self._buffer(buffer, count)
        return Prepared(lambda: _libc.recvfrom(live, memory, _SIZE(count), flags, None, None))

    def _send(self, script: int, buffer: int | None, count: int, flags: int) -> Prepared:
        live, memory = self._live(script), self._buffer(buffer, count)
        return Prepared(lambda: _libc.send(live, memory, _SIZE(count), flags))

    def _sendto(
        self,
        script: int,
        buffer: int | None,
        count: int,
        flags: int,
        family: int | None,
        _: None,
    ) -> Prepared:
        live, memory = self._live(script), self._buffer(buffer, count)
        address = self._target(script, family)
        flow = self._sockets.get(script)
        if flow is not None and flow.is_icmp and memory is not None and count >= 8:
            memory[0] = 128 if flow.is_v6 else 8  # the kernel takes echo requests only
        return Prepared(
            lambda: _libc.sendto(live, memory, _SIZE(count), flags, address, len(address))
        )

    def _readv(self, script: int, items: list[Any], count: int) -> Prepared:
        live = self._live(script)
        array, kept = structures.vectors(items)
        return Prepared(lambda: _with(kept, _libc.readv(live, array, count)))

    def _writev(self, script: int, items: list[Any], count: int) -> Prepared:
        live = self._live(script)
        array, kept = structures.vectors(items)
        return Prepared(lambda: _with(kept, _libc.writev(live, array, count)))

    def _message(self, given: dict[str, Any], name: bytes, control: bytes) -> tuple[Any, Any]:
        array, kept = structures.vectors(given["msg_iov"])
        name_memory = ctypes.create_string_buffer(name, max(128, len(name)))
        memory = ctypes.create_string_buffer(control, max(1, len(control)))
        message = structures.Message(
            name=ctypes.addressof(name_memory),
            name_length=len(name) or 128,
            vectors=ctypes.addressof(array),
            vector_count=len(given["msg_iov"]),
            control=ctypes.addressof(memory) if control else None,
            control_length=len(control),
            flags=given["msg_flags"],
        )
        return message, (array, kept, name_memory, memory)

    def _recvmsg(self, script: int, given: dict[str, Any], flags: int) -> Prepared:
        live = self._live(script)
        items = given.get("msg_control", [])
        # No more room than the script's data needs: what does not fit shows in the flags.
        room = bytes(structures.control_size(items))
        message, kept = self._message(given, b"", room)
        expected = given["msg_flags"]

        def check() -> list[dict[str, Any]]:
            found = []
            if message.flags & 0xFFFFFFFF != expected & 0xFFFFFFFF:
                actual = message.flags & 0xFFFFFFFF
                found.append(
                    {"field": "msg_flags", "expected": f"{expected:#x}", "actual": f"{actual:#x}"}
                )
            return found + structures.control_differences(
                items,
                kept[3].raw[: message.control_length],
                start_ns=self.start_ns,
                tolerance_ns=self._settings["tolerance_ns"],
            )

        return Prepared(lambda: _libc.recvmsg(live, ctypes.byref(message), flags), check=check)

    def _sendmsg(self, script: int, given: dict[str, Any], flags: int) -> Prepared:
        live = self._live(script)
        name = self._target(script, None)
        control = structures.control_bytes(given.get("msg_control", []))
        message, kept = self._message({**given, "msg_flags": 0}, name, control)
        return Prepared(lambda: _with(kept, _libc.sendmsg(live, ctypes.byref(message), flags)))

    def _fcntl(self, script: int, command: int, value: int = 0) -> Prepared:
        live = self._live(script)
        return Prepared(lambda: _libc.fcntl(live, command, ctypes.c_long(value)))

    def _ioctl(self, script: int, command: int, value: list[int] | None = None) -> Prepared:
        live = self._live(script)
        memory = _INT(value[0] if value else 0)

        def check() -> list[dict[str, Any]]:
            if value is None or memory.value == value[0]:
                return []
            return [{"field": "value", "expected": str(value[0]), "actual": str(memory.value)}]

        return Prepared(
            lambda: _libc.ioctl(live, ctypes.c_ulong(command), ctypes.byref(memory)), check=check
        )

    def _close(self, script: int) -> Prepared:
        live = self._live(script)

        def after(_: int) -> None:
            self._live_of.pop(script)
            if (flow := self._sockets.pop(script, None)) is not None:
                flow.descriptor = -1

        return Prepared(lambda: _libc.close(live), after=after)

    def _shutdown(self, script: int, how: int) -> Prepared:
        live = self._live(script)
        return Prepared(lambda: _libc.shutdown(live, how))

    def _getsockopt(
        self, script: int, level: int, name: int, expected: Any, size: list[int]
    ) -> Prepared:
        live = self._live(script)
        memory = ctypes.create_string_buffer(max(1, size[0] + 1))
        length = ctypes.c_uint32(max(0, size[0]))
        wanted = _option_bytes(expected)

        def check() -> list[dict[str, Any]]:
            found = []
            if length.value != size[0]:
                found.append(
                    {"field": "size", "expected": str(size[0]), "actual": str(length.value)}
                )
            actual = memory.raw[: length.value]
            if isinstance(expected, list) and len(actual) >= 4:
                values = expected[0] % 2**32, int.from_bytes(actual[:4], "little")
                if values[0] != values[1]:
                    signed = struct.unpack("<i", actual[:4])[0]
                    found.append(
                        {"field": "value", "expected": str(expected[0]), "actual": str(signed)}
                    )
            elif actual[: len(wanted)] != wanted[: len(actual)] or len(wanted) > len(actual):
                found.append({"field": "value", "expected": repr(wanted), "actual": repr(actual)})
            return found

        return Prepared(
            lambda: _libc.getsockopt(live, level, name, memory, ctypes.byref(length)), check=check
        )

    def _setsockopt(self, script: int, level: int, name: int, value: Any, size: int) -> Prepared:
        live = self._live(script)
        data = _option_bytes(value)
        memory = ctypes.create_string_buffer(data, max(len(data), min(size, 1 << 16), 1))
        return Prepared(lambda: _libc.setsockopt(live, level, name, memory, size))

    def _poll(self, items: list[dict[str, int]], count: int, timeout: int) -> Prepared:
        array = (structures.Polled * max(1, len(items)))()
        for place, item in zip(array, items, strict=False):
            place.descriptor, place.events = self._live(item["fd"]), item["events"]

        def check() -> list[dict[str, Any]]:
            return [
                {
                    "field": f"revents of {item['fd']}",
                    "expected": f"{item.get('revents', 0):#x}",
                    "actual": f"{place.returned:#x}",
                }
                for place, item in zip(array, items, strict=False)
                if place.returned != item.get("revents", 0)
            ]

        return Prepared(lambda: _libc.poll(array, ctypes.c_ulong(count), timeout), check=check)

    def _epoll_create(self, size: int) -> Prepared:
        return Prepared(lambda: _libc.epoll_create(size), True)

    def _epoll_ctl(
        self, script: int, operation: int, other: int, event: dict[str, int]
    ) -> Prepared:
        live, watched = self._live(script), self._live(other)
        memory = ctypes.create_string_buffer(_epoll_bytes(event))
        return Prepared(lambda: _libc.epoll_ctl(live, operation, watched, memory))

    def _epoll_wait(self, script: int, event: dict[str, int], most: int, timeout: int) -> Prepared:
        live = self._live(script)
        wanted = _epoll_bytes(event)
        memory = ctypes.create_string_buffer(len(wanted) * max(1, min(most, 1024)))

        def check() -> list[dict[str, Any]]:
            actual = memory.raw[: len(wanted)]
            if actual == wanted:
                return []
            texts = []
            for data in (wanted, actual):
                events, value = struct.unpack("<IQ", data)
                texts.append(f"events {events:#x}, data {value:#x}")
            return [{"field": "event", "expected": texts[0], "actual": texts[1]}]

        return Prepared(lambda: _libc.epoll_wait(live, memory, most, timeout), check=check)

    def _pipe(self, scripts: list[int]) -> Prepared:
        memory = (_INT * 2)()

        def after(_: int) -> None:
            for script, live in zip(scripts, memory, strict=True):
                self._add(script, live)

        return Prepared(lambda: _libc.pipe(memory), after=after)

    def _splice(  # noqa: PLR0917  splice(2) has so many
        self, source: int, at: int, target: int, to: int, size: int, flags: int
    ) -> Prepared:
        ends = self._live(source), self._live(target)
        return Prepared(
            lambda: _libc.splice(
                ends[0], _POINTER(at), ends[1], _POINTER(to), _SIZE(size), ctypes.c_uint(flags)
            )
        )

    def _open(self, name: dict[str, str], flags: int) -> Prepared:
        path = os.fsdecode(bytes.fromhex(name["bytes"])).encode()
        return Prepared(lambda: _libc.open(path, flags), True)

    def _sendfile(self, target: int, source: int, at: list[int], size: int) -> Prepared:
        ends = self._live(target), self._live(source)
        offset = _OFFSET(at[0])
        return Prepared(lambda: _libc.sendfile(ends[0], ends[1], ctypes.byref(offset), _SIZE(size)))


def _with(kept: object, result: int) -> int:
    """Return a result, when what the call was given is needed no more."""
    del kept
    return result


def _option_bytes(value: Any) -> bytes:
    if isinstance(value, dict) and "bytes" in value:
        return bytes.fromhex(value["bytes"])
    if isinstance(value, dict):
        return struct.pack("<ii", value["onoff"], value["linger"])
    return struct.pack("<I", value[0] % 2**32)


def _epoll_bytes(event: dict[str, int]) -> bytes:
    """Return struct epoll_event, which is packed on x86-64; a descriptor is the script's."""
    data = next(value for name, value in event.items() if name != "events")
    return struct.pack("<IQ", event["events"] % 2**32, data % 2**64)
