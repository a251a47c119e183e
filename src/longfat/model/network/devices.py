"""What Linux calls the interfaces of nodes whose names are too long for it.

An interface's name has at most 15 characters (IFNAMSIZ of linux/if.h is 16, with the
NUL that ends it). An interface whose name is longer has a short name, and its full name as
alternative name (altname of ip-link(8)). Only
`ip`, `bridge` and `ethtool` take alternative names: tc, sysctl, /proc/sys, /sys, tcpdump,
`ping -I` and SO_BINDTODEVICE do not (`tests/belief/test_altnames.py`). So the short name is
what probes and typed lines speak of.

It follows from the node's name and the interface's number alone, so that it stays when others
come and go.
"""

from __future__ import annotations

import string
import zlib

MAX_INTERFACE_LENGTH = 15
"""IFNAMSIZ less the NUL."""

MAX_STEM_LENGTH = MAX_INTERFACE_LENGTH - len("-eth0")
"""The longest name of a node that its first interfaces are named by."""

MAX_NODE_NAME_LENGTH = 32
"""Within the 63 characters of a host name's label (RFC 1123), and short enough to be drawn."""

_KEPT, _DIGITS = 3, 5
_ALPHABET = string.digits + string.ascii_lowercase


def device_stem(name: str) -> str:
    """Return what the first interfaces of a node are named by (`STEM-eth0`), and its bridge.

    Args:
        name: the node's name.

    Returns:
        The name itself, if it is short enough; else `short_stem`.
    """
    return name if len(name) <= MAX_STEM_LENGTH else short_stem(name)


def device_name(name: str, end: str) -> str:
    """Return the name of an interface of a node.

    Args:
        name: the node's name.
        end: what follows it, such as `-eth10`, with which a name of ten characters is too long.
    """
    device = f"{device_stem(name)}{end}"
    shortened = f"{short_stem(name)}{end}"
    return shortened if len(shortened) <= MAX_INTERFACE_LENGTH < len(device) else device


def short_stem(name: str) -> str:
    """Return the short form of a node's name.

    Returns:
        Its first three characters, `_`, and the last five digits of its CRC-32 to the base of 36.
        `web/src/documents/devices.ts` does the same.
    """
    left = zlib.crc32(name.encode())
    digits = ""
    for _ in range(_DIGITS):
        left, digit = divmod(left, len(_ALPHABET))
        digits = _ALPHABET[digit] + digits
    return f"{name[:_KEPT]}_{digits}"
