"""The memory that system calls are given: addresses, messages, vectors, ancillary data.

Sources: the manual pages of section 2, and the kernel's include/uapi/linux/{errqueue,tcp}.h.
"""

import ctypes
import ipaddress
import socket
import struct
from typing import Any

_CMSG = struct.Struct("<Qii")
_ERROR = struct.Struct("<IBBBxII")
_ERROR_NAMES = ("ee_errno", "ee_origin", "ee_type", "ee_code", "ee_info", "ee_data")
_TIMES = struct.Struct("<6q")
_SOL_IP, _SOL_IPV6 = 0, 41
_TIMESTAMPING, _STATISTICS = 37, 54
_PADDED = 8
# The size of each statistic, by its name. Source: net/ipv4/tcp.c, tcp_get_timestamping_opt_stats.
_NAMES = (
    *("PAD", "BUSY", "RWND_LIMITED", "SNDBUF_LIMITED", "DATA_SEGS_OUT", "TOTAL_RETRANS"),
    *("PACING_RATE", "DELIVERY_RATE", "SND_CWND", "REORDERING", "MIN_RTT", "RECUR_RETRANS"),
    *("DELIVERY_RATE_APP_LMT", "SNDQ_SIZE", "CA_STATE", "SND_SSTHRESH", "DELIVERED"),
    *("DELIVERED_CE", "BYTES_SENT", "BYTES_RETRANS", "DSACK_DUPS", "REORD_SEEN", "SRTT"),
)
_WIDE = ("BUSY", "RWND_LIMITED", "SNDBUF_LIMITED", "DATA_SEGS_OUT", "TOTAL_RETRANS",
         "PACING_RATE", "DELIVERY_RATE", "BYTES_SENT", "BYTES_RETRANS")  # fmt: skip
_NARROW = ("RECUR_RETRANS", "DELIVERY_RATE_APP_LMT", "CA_STATE")
_TIMED = ("BUSY", "RWND_LIMITED", "SNDBUF_LIMITED")


class Vector(ctypes.Structure):
    """struct iovec."""

    _fields_ = (("base", ctypes.c_void_p), ("length", ctypes.c_size_t))


class Message(ctypes.Structure):
    """struct msghdr."""

    _fields_ = (
        ("name", ctypes.c_void_p),
        ("name_length", ctypes.c_uint32),
        ("vectors", ctypes.c_void_p),
        ("vector_count", ctypes.c_size_t),
        ("control", ctypes.c_void_p),
        ("control_length", ctypes.c_size_t),
        ("flags", ctypes.c_int),
    )


class Polled(ctypes.Structure):
    """struct pollfd."""

    _fields_ = (
        ("descriptor", ctypes.c_int),
        ("events", ctypes.c_short),
        ("returned", ctypes.c_short),
    )


def address_bytes(address: str, port: int) -> bytes:
    """Return an address and a port as struct sockaddr_in or sockaddr_in6."""
    found = ipaddress.ip_address(address)
    head = struct.pack("!H", port)
    if found.version == 4:
        return struct.pack("<H", socket.AF_INET) + head + found.packed + bytes(8)
    return struct.pack("<H", socket.AF_INET6) + head + bytes(4) + found.packed + bytes(4)


def vectors(items: list[Any]) -> tuple[ctypes.Array[Vector], list[Any]]:
    """Return buffers of the sizes in `{..., SIZE}`, and what must be kept for them."""
    buffers = [ctypes.create_string_buffer(max(1, item[""][1])) for item in items]
    array = (Vector * len(items))()
    for place, buffer, item in zip(array, buffers, items, strict=True):
        place.base, place.length = ctypes.addressof(buffer), item[""][1]
    return array, buffers


def control_size(items: list[dict[str, Any]]) -> int:
    """Return how much room ancillary data needs."""
    return sum(_CMSG.size + _aligned(len(_expected(item)), _PADDED) for item in items)


def control_bytes(items: list[dict[str, Any]]) -> bytes:
    """Return ancillary data as sendmsg() takes it."""
    found = b""
    for item in items:
        data = _expected(item)
        head = _CMSG.pack(_CMSG.size + len(data), item["cmsg_level"], item["cmsg_type"])
        found += (head + data).ljust(_CMSG.size + _aligned(len(data), _PADDED), b"\0")
    return found


def _aligned(size: int, to: int) -> int:
    return -(-size // to) * to


def _expected(item: dict[str, Any]) -> bytes:
    """Return the data of a message as the script has it."""
    data = item["cmsg_data"]
    if isinstance(data, int):
        return struct.pack("<I", data % 2**32)
    if "scm_sec" in data:
        return _TIMES.pack(data["scm_sec"], data["scm_nsec"], 0, 0, 0, 0)
    if "ee_errno" in data:
        numbers = [data[name] for name in _ERROR_NAMES]
        limits = (2**32, 256, 256, 256, 2**32, 2**32)
        error = _ERROR.pack(*(number % most for number, most in zip(numbers, limits, strict=True)))
        return error + bytes(16 if item["cmsg_level"] == _SOL_IP else 28)
    found = b""
    for name, value in data.items():
        short = name.removeprefix("TCP_NLA_")
        size = 8 if short in _WIDE else 1 if short in _NARROW else 4
        attribute = struct.pack("<HH", 4 + size, _NAMES.index(short))
        attribute += (value % 2 ** (8 * size)).to_bytes(size, "little")
        found += attribute.ljust(_aligned(len(attribute), 4), b"\0")
    return found


def control_differences(
    items: list[dict[str, Any]], control: bytes, *, start_ns: int, tolerance_ns: int
) -> list[dict[str, Any]]:
    """Return where ancillary data differs from the script's.

    Args:
        items: the script's.
        control: what recvmsg() gave.
        start_ns: the script's start by the real-time clock, for time stamps.
        tolerance_ns: how far times may be off.
    """
    found: list[dict[str, Any]] = []

    def see(field: str, expected: object, actual: object) -> None:
        if expected != actual:
            found.append({"field": field, "expected": str(expected), "actual": str(actual)})

    received = list(_messages(control))
    if len(items) != len(received):
        see("control messages", len(items), len(received))
    for number, (item, (level, kind, data)) in enumerate(zip(items, received, strict=False)):
        name = f"control message {number + 1}"
        expected = _expected(item)
        see(f"{name}, level", item["cmsg_level"], level)
        see(f"{name}, type", item["cmsg_type"], kind)
        see(f"{name}, bytes", len(expected), len(data))
        if found:
            break
        _see_data(see, name, item["cmsg_data"], data, (start_ns, tolerance_ns))
    return found


def _see_data(see: Any, name: str, wanted: Any, data: bytes, times_ns: tuple[int, int]) -> None:
    start_ns, tolerance_ns = times_ns
    if isinstance(wanted, int):
        see(name, wanted % 2**32, int.from_bytes(data[:4], "little"))
    elif "scm_sec" in wanted:
        moment_ns = wanted["scm_sec"] * 10**9 + wanted["scm_nsec"]
        seconds, nanoseconds = _TIMES.unpack(data)[:2]
        actual_ns = seconds * 10**9 + nanoseconds - start_ns
        if moment_ns and abs(actual_ns - moment_ns) > tolerance_ns:
            see(f"{name}, time in ns", moment_ns, actual_ns)
    elif "ee_errno" in wanted:
        for field, actual in zip(_ERROR_NAMES, _ERROR.unpack_from(data), strict=True):
            see(f"{name}, {field}", wanted[field] % 2**32, actual)
    else:
        _see_statistics(see, wanted, data, tolerance_us=tolerance_ns // 1000)


def _see_statistics(see: Any, wanted: dict[str, int], data: bytes, *, tolerance_us: int) -> None:
    at = 0
    for name, expected in wanted.items():
        size, kind = struct.unpack_from("<HH", data, at)
        short = _NAMES[kind] if kind < len(_NAMES) else str(kind)
        see("statistic", name, f"TCP_NLA_{short}")
        actual = int.from_bytes(data[at + 4 : at + size], "little")
        near = short in _TIMED and expected > 0 and abs(actual - expected) <= tolerance_us
        if expected >= 0 and not near:  # a negative one is not looked at
            see(name, expected, actual)
        at += _aligned(size, 4)


def _messages(control: bytes) -> Any:
    at = 0
    while at + _CMSG.size <= len(control):
        size, level, kind = _CMSG.unpack_from(control, at)
        if size < _CMSG.size:
            return
        yield level, kind, control[at + _CMSG.size : at + size]
        at += _aligned(size, _PADDED)
