"""The plainest lines of `ip`, done at a host without starting `ip`.

Starting a program is what building costs: 10 ms for each host, where the lines
themselves take a third of one each. The lines here are those that every host of every
network needs, and only in the form in which `longfat.model.network.build` writes them; all
others, and all that a person typed, are run by `ip` itself.

Source of the requests: rtnetlink(7), include/uapi/linux/{rtnetlink,if_link,if_addr}.h,
and what `strace ip` shows.
"""

import os
import re
import socket
import struct

_NEWLINK, _GETLINK, _NEWADDR = 16, 18, 20
_REQUEST, _ACK, _EXCLUSIVE, _CREATE = 1, 4, 0x200, 0x400
_ERROR = 2
_IFLA_IFNAME, _IFA_ADDRESS, _IFA_LOCAL = 3, 1, 2
_UP, _NODAD = 1, 2

_HEADER = struct.Struct("=IHHII")  # struct nlmsghdr
_IFINFO = struct.Struct("=BxHiII")  # struct ifinfomsg
_IFADDR = struct.Struct("=BBBBi")  # struct ifaddrmsg
_LARGEST_REPLY = 16384

_LINK_UP = re.compile(r"link set (\S+) up")
_ADDRESS = re.compile(r"addr add ([0-9a-fA-F.:]+)/(\d+) dev (\S+)( nodad)?")


def are_plain(lines: list[str]) -> bool:
    """Return whether all lines, without the word `ip`, are such as can be done here."""
    return all(_LINK_UP.fullmatch(line) or _ADDRESS.fullmatch(line) for line in lines)


def do_plain(lines: list[str]) -> tuple[str, str] | None:
    """Do plain lines in the network namespace that this process is in.

    Returns:
        The line at which it stopped, and why; None if all went well.
    """
    with _Link() as link:
        for line in lines:
            try:
                if found := _LINK_UP.fullmatch(line):
                    link.set_up(found[1])
                elif found := _ADDRESS.fullmatch(line):
                    link.add_address(found[1], int(found[2]), found[3], sure=bool(found[4]))
            except OSError as error:
                return line, str(error.strerror)
    return None


class _Link:
    """A socket for requests about the interfaces of a namespace."""

    def __init__(self) -> None:
        self._socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC)
        self._indices = {"lo": 1}

    def __enter__(self) -> "_Link":
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def set_up(self, name: str) -> None:
        body = _IFINFO.pack(socket.AF_UNSPEC, 0, self._index(name), _UP, _UP)
        self._ask(_NEWLINK, _ACK, body)

    def add_address(self, address: str, prefix: int, name: str, *, sure: bool) -> None:
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        packed = socket.inet_pton(family, address)
        body = _IFADDR.pack(family, prefix, _NODAD if sure else 0, 0, self._index(name))
        body += _attribute(_IFA_LOCAL, packed) + _attribute(_IFA_ADDRESS, packed)
        self._ask(_NEWADDR, _ACK | _CREATE | _EXCLUSIVE, body)

    def _index(self, name: str) -> int:
        if name not in self._indices:
            body = _IFINFO.pack(socket.AF_UNSPEC, 0, 0, 0, 0)
            reply = self._ask(_GETLINK, 0, body + _attribute(_IFLA_IFNAME, name.encode() + b"\0"))
            self._indices[name] = _IFINFO.unpack_from(reply, _HEADER.size)[2]
        return self._indices[name]

    def _ask(self, kind: int, flags: int, body: bytes) -> bytes:
        head = _HEADER.pack(_HEADER.size + len(body), kind, _REQUEST | flags, 1, 0)
        self._socket.send(head + body)
        reply = self._socket.recv(_LARGEST_REPLY)
        if _HEADER.unpack_from(reply)[1] == _ERROR:
            (number,) = struct.unpack_from("=i", reply, _HEADER.size)
            if number:
                raise OSError(-number, os.strerror(-number))
        return reply


def _attribute(kind: int, data: bytes) -> bytes:
    return struct.pack("=HH", 4 + len(data), kind) + data + bytes(-len(data) % 4)
