"""Start commands, and what MiniEdit types itself, as lines of a study."""

from __future__ import annotations

import ipaddress
import re

OPENFLOW = re.compile(r"\b(ovs-[a-z]+|dpctl)\b")
"""Commands of Open vSwitch, which is not here."""

BACKGROUND = re.compile(r"(?<!&)&\s*$")
"""A command in the background."""

_PIECE = r"(?:[^;'\"\\]|'[^']*'|\"[^\"]*\")"
_PIECES = re.compile(f"{_PIECE}+")
_WHOLE = re.compile(f"(?:{_PIECE}|;)*")  # quotes in pairs, and no backslash
_PLAIN = re.compile(r"(?:sudo )?(tc|ip|sysctl|ethtool|ifconfig|route)\s[^&|<>`$(){}\\]*$")


def split_lines(text: str) -> list[str]:
    """Return the lines of a start command.

    One line may hold several commands; they are split if each is simple and has no effect
    on the shell. Then an error names the command that failed.
    """
    found = []
    for line in filter(None, map(str.strip, text.splitlines())):
        parts = [part.strip() for part in _PIECES.findall(line) if part.strip(" ;\t")]
        if _WHOLE.fullmatch(line) and all(_PLAIN.match(part) for part in parts):
            found += parts
        else:
            found.append(line)
    return found


def class_prefix(text: str) -> int:
    """Return the prefix length of an address's class, which ifconfig takes."""
    first = int(ipaddress.IPv4Address(text)) >> 24
    return 8 if first < 128 else 16 if first < 192 else 24
