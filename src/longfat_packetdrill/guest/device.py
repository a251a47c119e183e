"""The tun interface: what the kernel sends is read here, what arrives is written here.

The interface has the offloads of an ordinary network card, so that the kernel sends
segments larger than its MTU in one piece. Source: the kernel's
Documentation/networking/tuntap.rst and include/uapi/linux/{if_tun,virtio_net}.h.
"""

import fcntl
import os
import struct
import subprocess
from typing import Any

NAME = "tun0"

_TUNSETIFF, _TUNSETOFFLOAD = 0x400454CA, 0x400454D0
_IFF_TUN, _IFF_NO_PI, _IFF_VNET_HDR = 0x0001, 0x1000, 0x4000
_CSUM, _TSO4, _TSO6, _TSO_ECN = 0x01, 0x02, 0x04, 0x08
_GSO_TCPV4, _GSO_TCPV6 = 1, 4
# struct virtio_net_hdr: flags, type, length of headers, size of segments, and for checksums
# where they begin and where they go.
_HEAD = struct.Struct("<BBHHHH")
_MAX_BYTES = 1 << 17


class Device:
    """The interface, up, with its address and a route to the remote network.

    Args:
        settings: the addresses, the MTU and the speed.

    Raises:
        RuntimeError: it cannot be set up; the message says why.
    """

    def __init__(self, settings: dict[str, Any]) -> None:
        self.fd = os.open("/dev/net/tun", os.O_RDWR | os.O_CLOEXEC | os.O_NONBLOCK)
        flags = _IFF_TUN | _IFF_NO_PI | _IFF_VNET_HDR
        fcntl.ioctl(self.fd, _TUNSETIFF, struct.pack("16sH22x", NAME.encode(), flags))
        fcntl.ioctl(self.fd, _TUNSETOFFLOAD, _CSUM | _TSO4 | _TSO6 | _TSO_ECN)
        self._segment_bytes: int = settings["mss"]
        self._is_v6 = ":" in settings["local_ip"]
        version = "-6" if self._is_v6 else "-4"
        if settings["speed"]:
            _run("ethtool", "-s", NAME, "speed", str(settings["speed"]), "autoneg", "off")
        _run("ip", "link", "set", NAME, "mtu", str(settings["mtu"]), "up")
        route = ["ip", version, "route", "add", settings["remote_network"], "dev", NAME]
        if not settings["is_anyip"]:
            address = f"{settings['local_ip']}/{settings['prefix']}"
            # No look for others with the address: that takes a second.
            extra = ["nodad"] if self._is_v6 else []
            _run("ip", version, "addr", "add", address, "dev", NAME, *extra)
            route += ["via", settings["gateway_ip"]]
        _run(*route)

    def read(self) -> bytes | None:
        """Return the next packet that the kernel has sent; None if there is none."""
        try:
            return os.read(self.fd, _MAX_BYTES)[_HEAD.size :]
        except BlockingIOError:
            return None

    def write(self, packet: bytes, *, is_tcp: bool) -> None:
        """Let a packet arrive.

        Raises:
            OSError: the kernel does not take it.
        """
        kind = size = 0
        if is_tcp and self._segment_bytes:
            kind = _GSO_TCPV6 if self._is_v6 else _GSO_TCPV4
            size = self._segment_bytes
        os.writev(self.fd, [_HEAD.pack(0, kind, 0, size, 0, 0), packet])


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, check=False)
    if done.returncode:
        words = done.stderr.decode(errors="replace").strip()
        raise RuntimeError(f"{' '.join(command)}: {words}")
