"""Changes at random: of bytes, of JSON, of texts and of binary formats."""

from __future__ import annotations

import copy
import json
import random
import struct
from collections.abc import Iterator
from typing import Any

from longfat.errors import LongfatError
from tests.resealed import fitting


def flip_bytes(chance: random.Random, content: bytes) -> bytes:
    """Flip, cut, put in, double or overwrite some bytes."""
    data = bytearray(content)
    for _ in range(chance.choice((1, 1, 1, 2, 5))):
        at = chance.randrange(len(data) + 1)
        length = chance.choice((1, 1, 4, 40, 400))
        match chance.randrange(7):
            case 0 | 1 if at < len(data):
                data[at] ^= 1 << chance.randrange(8)
            case 2:
                del data[at : at + length]
            case 3:
                del data[at:]
            case 4:
                data[at:at] = chance.randbytes(length)
            case 5:
                data[at:at] = data[at : at + length]
            case _:
                end = min(at + length, len(data))
                fill = chance.choice((b"\0", b"\xff", b"\x7f", b"0", b"9"))
                data[at:end] = fill * (end - at)
    return bytes(data)


JUNK: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 0.5, -0.0, 1e308, 2**31, 2**63, 2**64, -(2**70), 10**400),
    *("", "x", "1", "\0", "\ud800", "é" * 50, "../../x", "/etc/passwd", "NaN", "h1", "9" * 5000),
    *([], {}, [[]], [1, "a", None], {"a": {}}, {"": 0}, [0] * 1000),
)


def change_json(chance: random.Random, content: bytes) -> bytes:
    """Change JSON's bytes or values."""
    try:
        data = json.loads(content)
    except ValueError:  # a report that another follows
        return flip_bytes(chance, content)
    if chance.random() < 0.3:
        return flip_bytes(chance, content)
    for _ in range(chance.choice((1, 1, 2))):
        data = _changed(chance, data)
    try:
        text = json.dumps(data)
    except ValueError:  # it holds itself by now
        return b"[]"
    if chance.random() < 0.05:
        return text.replace("0.0", chance.choice(("NaN", "Infinity", "1e999", "-0")), 1).encode()
    if chance.random() < 0.03:
        deep = chance.choice((50, 900, 20_000))
        return text.replace("null", "[" * deep + "]" * deep, 1).encode()
    return text.encode()


def _changed(chance: random.Random, data: Any) -> Any:
    holders = [one for one in _holders(data) if one]
    if not holders:
        return copy.deepcopy(chance.choice(JUNK))
    holder = chance.choice(holders)
    keys = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
    key = chance.choice(keys)
    match chance.randrange(6):
        case 0 | 1:
            holder[key] = copy.deepcopy(chance.choice(JUNK))
        case 2:
            del holder[key]
        case 3:
            other = chance.choice(keys)
            holder[key], holder[other] = holder[other], holder[key]
        case 4 if isinstance(holder, dict):
            holder[chance.choice(("x", "", f"{key}x", "format", "sha256"))] = holder.pop(key)
        case _:
            another = chance.choice(holders)
            values = list(another.values()) if isinstance(another, dict) else another
            # A copy, or it might come to hold itself.
            holder[key] = json.loads(json.dumps(chance.choice(values)))
    return data


def _holders(data: Any) -> Iterator[Any]:
    if isinstance(data, dict | list):
        yield data
        for value in data.values() if isinstance(data, dict) else data:
            yield from _holders(value)


def change_sealed(chance: random.Random, content: bytes) -> bytes:
    """Change values of a manifest, and make digest and checksum fit again: a forged one."""
    data = _changed(chance, json.loads(content))
    try:
        return json.dumps(fitting(data)).encode()
    except (LongfatError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return json.dumps(data).encode()


def change_words(chance: random.Random, content: bytes) -> bytes:
    """Change words of a text: numbers, mostly."""
    if chance.random() < 0.4:
        return flip_bytes(chance, content)
    words = content.split(b" ")
    for _ in range(chance.choice((1, 2, 4))):
        words[chance.randrange(len(words))] = chance.choice(
            (b"0", b"-1", b"1e999", b"9" * 400, b"1.2.3", b"nan", b"", b"\n", b"bw=0", b"'0ms'")
        )
    return b" ".join(words)


def change_samples(chance: random.Random, content: bytes) -> bytes:
    """Change a sampler's file: its header as JSON, or its records as bytes."""
    head, _, rest = content.partition(b"\n")
    if chance.random() < 0.3:
        return change_json(chance, head) + b"\n" + rest
    return (
        head + b"\n" + flip_bytes(chance, rest)
        if chance.random() < 0.9
        else flip_bytes(chance, content)
    )


def change_capture(chance: random.Random, content: bytes) -> bytes:
    """Change a capture: bytes anywhere, or the length of a packet in a pcap file."""
    if chance.random() < 0.5 or content.startswith(b"\x0a\x0d\x0d\x0a"):
        return flip_bytes(chance, content)
    data = bytearray(content)
    at = 24
    for _ in range(chance.randrange(20)):
        at += 16 + int(struct.unpack_from("<I", data, at + 8)[0])
    length = chance.choice((0, 1, 13, 40, 2**16, 2**28, 2**32 - 1))
    struct.pack_into("<I", data, at + 8, length)
    return bytes(data)


def change_package(chance: random.Random, content: bytes) -> bytes:
    """Change a package: its bytes, or what it holds and is packed again."""
    import gzip

    if chance.random() < 0.3:
        return flip_bytes(chance, content)
    inside = bytearray(gzip.decompress(content))
    if chance.random() < 0.5:
        return gzip.compress(flip_bytes(chance, bytes(inside)), compresslevel=1, mtime=0)
    # A head of a member: its kind, size or name, with a checksum that fits again.
    at = 512 * chance.randrange(min(40, len(inside) // 512))
    where, what = chance.choice(
        (
            (156, bytes([chance.choice(b"0123456789xgLKSAV")])),
            (124, chance.choice((b"77777777777\0", b"\x80" + b"\xff" * 11, b"-1         \0"))),
            (0, b"../../x\0"),
        )
    )
    inside[at + where : at + where + len(what)] = what
    head = bytes(inside[at : at + 148]) + b" " * 8 + bytes(inside[at + 156 : at + 512])
    inside[at + 148 : at + 156] = f"{sum(head):06o}\0 ".encode()
    return gzip.compress(bytes(inside), compresslevel=1, mtime=0)
