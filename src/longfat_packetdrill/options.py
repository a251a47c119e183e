"""What a script is run with: packetdrill's `--name=value`, from a script's head or a command line.

Addresses are packetdrill's, but for the local one: it draws a random one, and the kernel's
own tests give the one that stands here.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from longfat.common.suggest import nearest
from longfat.errors import InputError

IP_VERSIONS = ("ipv4", "ipv6", "ipv4-mapped-ipv6")
"""What `--ip_version` may be."""

_V4 = {
    "local_ip": "192.168.0.1",
    "gateway_ip": "192.168.0.1",
    "netmask_ip": "255.255.0.0",
    "remote_ip": "192.0.2.1/24",
}
_V6 = {
    "local_ip": "fd3d:fa7b:d17d::1",
    "gateway_ip": "fd3d:fa7b:d17d:8888::1",
    "netmask_ip": "48",
    "remote_ip": "2001:db8::1/32",
}
_KSELFTEST = {
    "ipv4": {
        "remote_ip": "192.0.2.1",
        "define": (
            *("TFO_COOKIE=3021b9d889017eeb", "TFO_COOKIE_ZERO=b7c12350a90dc8f5"),
            *("CMSG_LEVEL_IP=SOL_IP", "CMSG_TYPE_RECVERR=IP_RECVERR"),
        ),
    },
    "ipv4-mapped-ipv6": {
        "remote_ip": "192.0.2.1",
        "define": (
            *("TFO_COOKIE=3021b9d889017eeb", "TFO_COOKIE_ZERO=b7c12350a90dc8f5"),
            *("CMSG_LEVEL_IP=SOL_IPV6", "CMSG_TYPE_RECVERR=IPV6_RECVERR"),
        ),
    },
    "ipv6": {
        "mtu": "1520",
        "local_ip": "fd3d:0a0b:17d6::1",
        "gateway_ip": "fd3d:0a0b:17d6:8888::1",
        "remote_ip": "fd3d:fa7b:d17d::1",
        "define": (
            *("TFO_COOKIE=c1d1e9742a47a9bc", "TFO_COOKIE_ZERO=82af1a8f9a205c34"),
            *("CMSG_LEVEL_IP=SOL_IPV6", "CMSG_TYPE_RECVERR=IPV6_RECVERR"),
        ),
    },
}
# What the kernel's tools/testing/selftests/net/packetdrill/ksft_runner.sh gives packetdrill
# besides the defaults. Cookies of TCP Fast Open follow from the addresses and the key that its
# defaults.sh sets.

_DEFINE = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)
_PORT = (1, 65535)
_NUMBERS = {
    "bind_port": _PORT,
    "connect_port": _PORT,
    "mtu": (68, 65521),
    "mss": (1, 65535),
    "tolerance_usecs": (0, 10**9),
    "tcp_ts_tick_usecs": (0, 10**6),
    "speed": (1, 2**32 - 1),
}
_ADDRESSES = ("local_ip", "gateway_ip", "netmask_ip", "remote_ip")
_FLAGS = ("strict_segments", "tcp_ts_ecr_scaled", "is_anyip", "send_omit_free")
# What they change is not there: what a virtual clock does not need, or what only prints.
_IGNORED = ("verbose", "debug", "code_format", "code_command", "code_sockopt")
_ELSEWHERE = {
    **dict.fromkeys(
        ("wire_client", "wire_server", "wire_server_ip", "wire_server_at", "wire_server_port"),
        "tests over a real network are not supported",
    ),
    **dict.fromkeys(("wire_client_dev", "wire_server_dev"), "tests over a real network are not"),
    **dict.fromkeys(("so_filename", "so_flags"), "stacks in a shared library are not supported"),
    "psp_udp_port": "PSP is not supported",
    "dry_run": "give --check to the command",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What a script is run with.

    Attributes:
        ip_version: one of `IP_VERSIONS`.
        local_ip: the address of the machine's interface; the default of the version, if empty.
        gateway_ip: the router towards the remote address; likewise.
        netmask_ip: the mask of the local network, or the length of its prefix; likewise.
        remote_ip: the address that packets come from, with the prefix of its network; likewise.
        bind_port: the port of `bind(3, ..., ...)`.
        connect_port: the port of `connect(3, ..., ...)`.
        mtu: the interface's MTU, in bytes.
        mss: the size of segments that packets which arrive were joined from, in bytes; 0 for none.
        speed: the interface's speed, in Mbit/s; the driver's own, if 0.
        tolerance_usecs: how far from its time something may happen, in µs.
        tolerance_percent: the same, in percent of the time since the event before.
        tcp_ts_tick_usecs: how long a tick of TCP timestamps is, in µs; they are not
            checked, if 0.
        tcp_ts_ecr_scaled: infer timestamps' echoes that no packet had.
        strict_segments: each packet of the script is one of the kernel's.
        is_anyip: the interface has no address.
        send_omit_free: accepted; buffers stay as they are anyway.
        non_fatal: of what a difference does not end the script: `packet`, `syscall`.
        init_scripts: commands that run first.
        defines: what words stand for.
    """

    ip_version: str = "ipv4"
    local_ip: str = ""
    gateway_ip: str = ""
    netmask_ip: str = ""
    remote_ip: str = ""
    bind_port: int = 8080
    connect_port: int = 8080
    mtu: int = 1500
    mss: int = 0
    speed: int = 0
    tolerance_usecs: int = 4000
    tolerance_percent: float = 12.5
    tcp_ts_tick_usecs: int = 0
    tcp_ts_ecr_scaled: bool = False
    strict_segments: bool = False
    is_anyip: bool = False
    send_omit_free: bool = False
    non_fatal: tuple[str, ...] = ()
    init_scripts: tuple[str, ...] = ()
    defines: Mapping[str, str] = field(default_factory=dict)

    @property
    def wire_version(self) -> int:
        """The version of IP on the wire: 4 or 6."""
        return 6 if self.ip_version == "ipv6" else 4

    def with_option(self, name: str, value: str | None) -> Settings:
        """Return the settings with an option of packetdrill's.

        Args:
            name: its name, without the dashes.
            value: its value; None, if there is none.

        Raises:
            InputError: there is no such option, or it cannot have this value.
        """
        if name in _ELSEWHERE:
            raise InputError(f"--{name}: {_ELSEWHERE[name]}")
        if name in _IGNORED:
            return self
        if name in _FLAGS:
            if value is not None:
                raise InputError(f"--{name} takes no value, found {value!r}")
            return self._with(name, True)
        if name in _NUMBERS:
            return self._with(name, _number(name, value))
        if name in _ADDRESSES:
            return self._with(name, _value(name, value))
        special = {
            "ip_version": self._with_version,
            "tolerance_percent": self._with_percent,
            "non_fatal": self._with_non_fatal,
            "init_scripts": self._with_init_scripts,
            "define": self._with_define,
        }
        if name not in special:
            known = {*_FLAGS, *_NUMBERS, *_ADDRESSES, *special, *_IGNORED}
            raise InputError(f"there is no option --{name}{nearest(name, known)}")
        return special[name](_value(name, value))

    def _with(self, name: str, value: str | int | bool) -> Settings:
        changed: dict[str, Any] = {name: value}
        return replace(self, **changed)

    def _with_version(self, value: str) -> Settings:
        if value not in IP_VERSIONS:
            raise InputError(f"--ip_version: found {value!r}, expected {', '.join(IP_VERSIONS)}")
        return replace(self, ip_version=value)

    def _with_percent(self, value: str) -> Settings:
        try:
            percent = float(value)
        except ValueError:
            percent = -1.0
        if not 0 <= percent <= 100:
            raise InputError(f"--tolerance_percent: found {value!r}, expected 0 to 100")
        return replace(self, tolerance_percent=percent)

    def _with_non_fatal(self, value: str) -> Settings:
        kinds = tuple(value.replace(",", " ").split())
        if wrong := [kind for kind in kinds if kind not in ("packet", "syscall")]:
            raise InputError(f"--non_fatal: found {wrong[0]!r}, expected packet, syscall")
        return replace(self, non_fatal=kinds)

    def _with_init_scripts(self, value: str) -> Settings:
        return replace(self, init_scripts=tuple(filter(None, value.split(","))))

    def _with_define(self, value: str) -> Settings:
        match = _DEFINE.fullmatch(value)
        if match is None:
            raise InputError(f"--define: found {value!r}, expected NAME=VALUE")
        return replace(self, defines={**self.defines, match[1]: match[2]})

    def with_kselftest(self) -> Settings:
        """Return the settings with what the kernel's own runner of its tests gives them."""
        settings = self
        for name, values in _KSELFTEST[self.ip_version].items():
            for value in (values,) if isinstance(values, str) else values:
                settings = settings.with_option(name, value)
        return settings

    def plan(self) -> dict[str, Any]:
        """Return what the guest needs of it.

        Raises:
            InputError: an address is none, or not of the version.
        """
        addresses = _V6 if self.wire_version == 6 else _V4
        given = {name: getattr(self, name) or addresses[name] for name in _ADDRESSES}
        local = _address("local_ip", given["local_ip"], self.wire_version)
        gateway = _address("gateway_ip", given["gateway_ip"], self.wire_version)
        remote, _, length = given["remote_ip"].partition("/")
        whole = 128 if self.wire_version == 6 else 32
        try:
            network = ipaddress.ip_network(f"{local}/{given['netmask_ip']}", strict=False)
            remote_network = ipaddress.ip_network(
                f"{_address('remote_ip', remote, self.wire_version)}/{length or whole}",
                strict=False,
            )
        except ValueError as error:
            raise InputError(f"--netmask_ip or --remote_ip: {error}") from None
        return {
            "ip_version": self.ip_version,
            "local_ip": local,
            "gateway_ip": gateway,
            "prefix": network.prefixlen,
            "remote_ip": remote,
            "remote_network": str(remote_network),
            "bind_port": self.bind_port,
            "connect_port": self.connect_port,
            "mtu": self.mtu,
            "mss": self.mss,
            "speed": self.speed,
            "tolerance_ns": self.tolerance_usecs * 1000,
            "tolerance_percent": self.tolerance_percent,
            "tcp_ts_tick_usecs": self.tcp_ts_tick_usecs,
            "tcp_ts_ecr_scaled": self.tcp_ts_ecr_scaled,
            "strict_segments": self.strict_segments,
            "is_anyip": self.is_anyip,
            "non_fatal": list(self.non_fatal),
        }


def _value(name: str, value: str | None) -> str:
    if value is None:
        raise InputError(f"--{name} needs a value: --{name}=...")
    return value


def _number(name: str, value: str | None) -> int:
    minimum, maximum = _NUMBERS[name]
    text = _value(name, value)
    if not re.fullmatch(r"\d{1,10}", text) or not minimum <= int(text) <= maximum:
        raise InputError(f"--{name}: found {text!r}, expected a number of {minimum} to {maximum}")
    return int(text)


def _address(name: str, text: str, version: int) -> str:
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        raise InputError(f"--{name}: found {text!r}, expected an IPv{version} address") from None
    if address.version != version:
        raise InputError(f"--{name}: {text} is no IPv{version} address")
    return str(address)
