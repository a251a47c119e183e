"""The kernel's messages about qdiscs, classes and filters, decoded into installed values.

Source of the formats: include/uapi/linux/{rtnetlink,pkt_sched,pkt_cls}.h, include/uapi/linux/
tc_act/{tc_gact,tc_mirred}.h, and of `wire` kernel/patches/all/50-link-qdiscs.patch. Times of the
packet scheduler are in ticks of 64 ns, rates in bytes per second.
"""

from __future__ import annotations

import functools
import struct
from typing import TYPE_CHECKING

from longfat.model.flow_path.installed import (
    EGRESS,
    INGRESS,
    ROOT,
    HeaderMatch,
    InstalledClass,
    InstalledFilter,
    InstalledQdisc,
    Policer,
)
from longfat.model.probes.samples import attributes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

_TCMSG = struct.Struct("=BxxxiIII")
_KIND, _OPTIONS, _STATS2, _CHAIN = 1, 2, 7, 11
_BASIC = 1
_ROOT, _INGRESS, _EGRESS = 0xFFFFFFFF, 0xFFFFFFF2, 0xFFFFFFF3
_TICK_NS = 64
_TICK_S = _TICK_NS / 1e9
_WHOLE = 1 << 32
_UNLIMITED = 0xFFFFFFFF

_Options = dict[int, memoryview]
_Numbers = dict[str, float | int | None]


def handle_text(number: int) -> str:
    """Return a handle as tc prints it."""
    if number == _ROOT:
        return ROOT
    return f"{number >> 16:x}:" + (f"{number & 0xFFFF:x}" if number & 0xFFFF else "")


def parse_qdisc(message: memoryview) -> InstalledQdisc:
    """Decode a message about a qdisc, without its header.

    Raises:
        LookupError, ValueError, struct.error: it is none.
    """
    _, _, handle, parent, _ = _TCMSG.unpack_from(message)
    parts = attributes(message[_TCMSG.size :])
    kind = _name(parts[_KIND])
    options = parts.get(_OPTIONS)
    numbers = _QDISCS[kind](options) if options is not None and kind in _QDISCS else {}
    known = {name: numbers.pop(name) for name in _FIELDS if numbers.get(name) is not None}
    return InstalledQdisc(
        kind=kind,
        handle=handle_text(handle),
        parent=INGRESS if kind in {"ingress", "clsact"} else handle_text(parent),
        parameters={name: value for name, value in numbers.items() if value is not None},
        **known,  # type: ignore[arg-type]  # each has its field's type
    )


_FIELDS = ("rate_bps", "burst_bytes", "limit_bytes", "limit_packets", "delay_s", "loss")


def parse_class(message: memoryview) -> InstalledClass:
    """Decode a message about a class, without its header; errors as of `parse_qdisc`."""
    _, _, handle, parent, _ = _TCMSG.unpack_from(message)
    parts = attributes(message[_TCMSG.size :])
    kind = _name(parts[_KIND])
    options = attributes(parts.get(_OPTIONS, memoryview(b"")))
    rate = ceil = burst = None
    if kind == "htb" and 1 in options:
        rate = _rate(options, wide=6, narrow=(1, 8))
        ceil = _rate(options, wide=7, narrow=(1, 20))
        burst = _bucket(_u32(options[1], 24), rate)
    elif kind == "hfsc":
        rate = _curve(options.get(1)) or _curve(options.get(2))
        ceil = _curve(options.get(3))
    sent = 0
    if _STATS2 in parts and _BASIC in (counted := attributes(parts[_STATS2])):
        (sent,) = struct.unpack_from("=Q", counted[_BASIC])
    return InstalledClass(
        kind=kind,
        handle=handle_text(handle),
        parent=handle_text(parent),
        rate_bps=rate,
        ceil_bps=ceil,
        burst_bytes=burst,
        sent_bytes=sent,
    )


def parse_filter(
    message: memoryview, *, parent: int, names: Mapping[int, str]
) -> InstalledFilter | None:
    """Decode a message about a filter, without its header; errors as of `parse_qdisc`.

    Args:
        message: the message.
        parent: the handle that it is at.
        names: the names of its node's interfaces, by index.

    Returns:
        The filter; None for a message about what filters have in common.
    """
    _, _, handle, _, info = _TCMSG.unpack_from(message)
    parts = attributes(message[_TCMSG.size :])
    if _OPTIONS not in parts:
        return None
    kind = _name(parts[_KIND])
    options = attributes(parts[_OPTIONS])
    if kind == "u32" and _U32_SEL not in options:
        return None
    classid, act = _CLASSID_AND_ACTION.get(kind, (0, 0))
    matches = _matches(kind, options, handle=handle)
    if parts.get(_CHAIN) and _u32(parts[_CHAIN], 0):
        matches = None
    actions = [attributes(each) for each in attributes(options.get(act, _EMPTY)).values()]
    police = [each[_ACT_OPTIONS] for each in actions if _name(each[_ACT_KIND]) == "police"]
    old = options.get(_OLD_POLICE.get(kind, 0))
    if old is not None:
        police.append(old)
    return InstalledFilter(
        kind=kind if kind in _CLASSID_AND_ACTION else "unknown",
        parent={_INGRESS: INGRESS, 0xFFFF0000: INGRESS, _EGRESS: EGRESS}.get(
            parent, handle_text(parent)
        ),
        priority=info >> 16,
        protocol=struct.unpack(">H", struct.pack("=H", info & 0xFFFF))[0],
        target=handle_text(_u32(options[classid], 0)) if classid in options else "",
        matches=None if matches is None else tuple(matches),
        policer=_policer(attributes(police[0])) if police else None,
        actions=(*(_name(each[_ACT_KIND]) for each in actions), *(("police",) if old else ())),
        redirect=next(filter(None, (_redirect(each, names) for each in actions)), ""),
        rejects=any(map(_rejects, actions)),
    )


_EMPTY = memoryview(b"")
_ACT_KIND, _ACT_OPTIONS = 1, 2
_U32_SEL, _U32_MARK = 5, 10
_CLASSID_AND_ACTION = {
    "u32": (1, 7),
    "fw": (1, 4),
    "basic": (1, 3),
    "flower": (1, 3),
    "matchall": (1, 2),
}
# Their older attribute, which `police` without the word `action` before it becomes.
_OLD_POLICE = {"u32": 6, "fw": 2, "basic": 4}
_RECLASSIFY, _SHOT, _CONTINUE = 1, 2, -1


def _policer(options: _Options) -> Policer:
    if 1 not in options:
        return Policer(drops=False)
    _, action, _, burst = struct.unpack_from("=IiII", options[1])
    rate = _rate(options, wide=8, narrow=(1, 20 + 8))
    pps = struct.unpack("=Q", options[10])[0] if 10 in options else 0
    return Policer(
        rate_bps=rate,
        burst_bytes=_bucket(burst, rate),
        rate_pps=float(pps) or None,
        # What is classified anew is policed anew, until the kernel gives up and drops it.
        drops=action in {_SHOT, _RECLASSIFY},
        continues=5 in options and struct.unpack("=i", options[5])[0] == _CONTINUE,
    )


def _redirect(action: _Options, names: Mapping[int, str]) -> str:
    if _name(action[_ACT_KIND]) != "mirred":
        return ""
    options = attributes(action[_ACT_OPTIONS])
    if 2 not in options:
        return ""
    how, index = struct.unpack_from("=iI", options[2], 20)
    return names.get(index, "") if how == 1 else ""  # TCA_EGRESS_REDIR


def _rejects(action: _Options) -> bool:
    if _name(action[_ACT_KIND]) != "gact":
        return False
    options = attributes(action[_ACT_OPTIONS])
    # A share of what it matches is none of ours.
    return 2 in options and 3 not in options and struct.unpack_from("=i", options[2], 8)[0] == _SHOT


def _matches(kind: str, options: _Options, *, handle: int) -> list[HeaderMatch] | None:
    """Return what a filter compares; None if that is not known."""
    if kind == "matchall":
        return []
    if kind == "basic":
        # A tree of matches that has none matches all.
        tree = attributes(options.get(2, _EMPTY))
        return None if 1 in tree and struct.unpack_from("=H", tree[1])[0] else []
    if kind == "u32":
        return _u32_matches(options, handle=handle)
    if kind == "flower":
        return _flower_matches(options)
    return None


def _u32_matches(options: _Options, *, handle: int) -> list[HeaderMatch] | None:
    selector = options[_U32_SEL]
    flags, _, count = struct.unpack_from("=BBB", selector)
    linked = 3 in options or handle >> 20 != 0x800
    if flags & ~1 or linked or {8, _U32_MARK} & options.keys():  # by interface or by mark
        return None
    keys = []
    for index in range(count):
        mask, value, offset, _ = struct.unpack_from(">IIii", selector, 16 + 16 * index)
        (offset,) = struct.unpack_from("=i", selector, 16 + 16 * index + 8)
        if mask:
            keys.append(HeaderMatch(offset=offset, mask=mask, value=value))
    return keys


# Of flower: the keys of the IP header and of ports, with their masks, for IPv4 and IPv6.
_FLOWER_PLAIN = frozenset((1, 3, 8, 22, 86))
_FLOWER_PORTS = {18: (35, 0), 19: (36, 2), 20: (37, 0), 21: (38, 2)}


def _flower_matches(options: _Options) -> list[HeaderMatch] | None:
    (ether,) = struct.unpack(">H", options[8]) if 8 in options else (0,)
    is_new = ether == 0x86DD
    parts: list[tuple[int, bytes, bytes]] = []
    used = set(_FLOWER_PLAIN)
    if 9 in options:
        parts.append((6 if is_new else 9, bytes(options[9]), b"\xff"))
    for key, mask, offset in ((10, 11, 12), (12, 13, 16), (14, 15, 8), (16, 17, 24)):
        if key in options:
            parts.append((offset, bytes(options[key]), bytes(options[mask])))
    for key, (mask, offset) in _FLOWER_PORTS.items():
        if key in options:
            whole = bytes(options[mask]) if mask in options else b"\xff\xff"
            parts.append(((40 if is_new else 20) + offset, bytes(options[key]), whole))
    if 73 in options:
        parts.append((1, bytes(options[73]), bytes(options.get(74, b"\xff"))))
    used |= {9, *range(10, 22), *range(35, 39), 73, 74}
    # Masks of keys that are not there are sent, too, and empty.
    if any(any(options[key]) for key in options.keys() - used) or (is_new and 73 in options):
        return None
    return [word for offset, value, mask in parts for word in _words(offset, value, mask)]


def _words(offset: int, value: bytes, mask: bytes) -> Iterator[HeaderMatch]:
    before, after = offset % 4, -(offset + len(value)) % 4
    value = bytes(before) + value + bytes(after)
    mask = bytes(before) + mask + bytes(after)
    for at in range(0, len(value), 4):
        (want,), (bits,) = struct.unpack_from(">I", value, at), struct.unpack_from(">I", mask, at)
        if bits:
            yield HeaderMatch(offset=offset - before + at, mask=bits, value=want & bits)


def _tbf(options: memoryview) -> _Numbers:
    parts = attributes(options)
    limit, buffer = struct.unpack_from("=II", parts[1], 24)
    rate = _rate(parts, wide=4, narrow=(1, 8))
    return {
        "rate_bps": rate,
        "burst_bytes": _bucket(buffer, rate),
        "limit_bytes": limit,
        "peak_bps": _rate(parts, wide=5, narrow=(1, 20)),
    }


def _wire(options: memoryview) -> _Numbers:
    parts = attributes(options)
    return {"rate_bps": _rate(parts, wide=1), "limit_bytes": _u32(parts[2], 0)}


def _netem(options: memoryview) -> _Numbers:
    latency, limit, loss, gap, duplicate, jitter = struct.unpack_from("=6I", options)
    parts = attributes(options[24:])
    lost = loss / _WHOLE if loss < _UNLIMITED else 1.0
    if 5 in parts:
        lost = _loss_model(attributes(parts[5]))
    corrupted = _share(_u32(parts[4], 0)) if 4 in parts else 0.0
    return {
        "rate_bps": _rate(parts, wide=8, narrow=(6, 0)),
        "limit_packets": limit,
        "delay_s": _ns(parts.get(10)) or latency * _TICK_S,
        "loss": _known(lost + corrupted - lost * corrupted),
        "jitter_s": _known(_ns(parts.get(11)) or jitter * _TICK_S),
        "duplicate": _known(_share(duplicate)),
        "reorder": _known(_share(_u32(parts[3], 0))) if gap and 3 in parts else None,
        "corrupt": _known(corrupted),
    }


def _loss_model(parts: _Options) -> float:
    """Return the mean loss of netem's models with memory (get_loss_clg in sch_netem.c)."""
    if 2 in parts:  # Gilbert-Elliott
        to_bad, to_good, kept_in_bad, lost_in_good = map(_share, struct.unpack("=4I", parts[2]))
        both = to_bad + to_good
        share = to_bad / both if both else 0.0
        return share * (1 - kept_in_bad) + (1 - share) * lost_in_good
    if 1 in parts:  # four states
        p13, p31, p32, p14, p23 = map(_share, struct.unpack_from("=5I", parts[1]))
        burst = p13 / p31 if p31 else 0.0
        inside = burst * p32 / p23 if p23 else 0.0
        return (burst + p14) / (1 + burst + p14 + inside)
    return 0.0


def _red(options: memoryview) -> _Numbers:
    return _red_numbers(options, unit="bytes")


def _choke(options: memoryview) -> _Numbers:
    return _red_numbers(options, unit="packets")


def _red_numbers(options: memoryview, *, unit: str) -> _Numbers:
    parts = attributes(options)
    limit, least, most, log, _, _, flags = struct.unpack_from("=IIIBBBB", parts[1])
    return {
        f"limit_{unit}": limit,
        f"min_{unit}": least,
        f"max_{unit}": most,
        "weight": 2.0**-log,
        "probability": _share(_u32(parts[3], 0)) if 3 in parts else None,
        "ecn": 1 if flags & 1 else None,
    }


def _fq(options: memoryview) -> _Numbers:
    parts = attributes(options)
    most = _whole(parts, 7)
    return {
        "rate_bps": most * 8.0 if most is not None and most < _UNLIMITED else None,
        "limit_packets": _whole(parts, 1),
        "flow_limit_packets": _whole(parts, 2),
        "quantum_bytes": _whole(parts, 3),
        "ce_threshold_s": _us(parts, 12),
    }


def _cake(options: memoryview) -> _Numbers:
    parts = attributes(options)
    return {
        "rate_bps": _rate(parts, wide=2),
        "rtt_s": _us(parts, 7),
        "target_s": _us(parts, 8),
        "limit_bytes": _whole(parts, 10) or None,
    }


def _sfq(options: memoryview) -> _Numbers:
    quantum, _, limit, _, _ = struct.unpack_from("=IiIII", options)
    return {"limit_packets": limit, "quantum_bytes": quantum}


def _sfb(options: memoryview) -> _Numbers:
    return {"limit_packets": _u32(attributes(options)[1], 24)}


def _fifo_bytes(options: memoryview) -> _Numbers:
    return {"limit_bytes": _u32(options, 0)}


def _fifo_packets(options: memoryview) -> _Numbers:
    return {"limit_packets": _u32(options, 0)}


def _htb(options: memoryview) -> _Numbers:
    return {"default": _u32(attributes(options)[2], 8)}


def _hfsc(options: memoryview) -> _Numbers:
    return {"default": struct.unpack_from("=H", options)[0]}


def _prio(options: memoryview) -> _Numbers:
    bands, first = struct.unpack_from("=iB", options)
    return {"bands": bands, "default": first + 1}


def _ets(options: memoryview) -> _Numbers:
    parts = attributes(options)
    bands = parts[1][0]
    first = next(iter(attributes(parts.get(5, _EMPTY)).values()), None)
    return {"bands": bands, "default": bands if first is None else first[0] + 1}


def _whole(parts: _Options, key: int) -> int | None:
    return _u32(parts[key], 0) if key in parts else None


def _flag(parts: _Options, key: int) -> int | None:
    return _whole(parts, key) or None


def _us(parts: _Options, key: int) -> float | None:
    """Return a time of microseconds in seconds; None if it is not there or never reached."""
    us = _whole(parts, key)
    return None if us is None or us >= _UNLIMITED // 1000 else us / 1e6


# Qdiscs that have all they have in attributes of their own: name, number of the attribute, form.
_ATTRIBUTES: Mapping[str, Sequence[tuple[str, int, Callable[[_Options, int], float | None]]]] = {
    "codel": (
        ("limit_packets", 2, _whole),
        ("target_s", 1, _us),
        ("interval_s", 3, _us),
        ("ecn", 4, _flag),
        ("ce_threshold_s", 5, _us),
    ),
    "dualpi2": (
        ("limit_packets", 1, _whole),
        ("memory_bytes", 2, _whole),
        ("target_s", 3, _us),
        ("tupdate_s", 4, _us),
    ),
    "fq_codel": (
        ("limit_packets", 2, _whole),
        ("target_s", 1, _us),
        ("interval_s", 3, _us),
        ("ecn", 4, _flag),
        ("flows", 5, _whole),
        ("quantum_bytes", 6, _whole),
        ("ce_threshold_s", 7, _us),
        ("memory_bytes", 9, _whole),
    ),
    "fq_pie": (
        ("limit_packets", 1, _whole),
        ("flows", 2, _whole),
        ("target_s", 3, _us),
        ("tupdate_s", 4, _us),
        ("memory_bytes", 8, _whole),
        ("ecn", 10, _flag),
    ),
    "hhf": (("limit_packets", 1, _whole),),
    "pie": (
        ("limit_packets", 2, _whole),
        ("target_s", 1, _us),
        ("tupdate_s", 3, _us),
        ("ecn", 6, _flag),
    ),
}


def _of_attributes(kind: str, options: memoryview) -> _Numbers:
    parts = attributes(options)
    return {name: read(parts, number) for name, number, read in _ATTRIBUTES[kind]}


_QDISCS: Mapping[str, Callable[[memoryview], _Numbers]] = {
    **{kind: functools.partial(_of_attributes, kind) for kind in _ATTRIBUTES},
    "bfifo": _fifo_bytes,
    "cake": _cake,
    "choke": _choke,
    "ets": _ets,
    "fq": _fq,
    "hfsc": _hfsc,
    "htb": _htb,
    "netem": _netem,
    "pfifo": _fifo_packets,
    "pfifo_head_drop": _fifo_packets,
    "prio": _prio,
    "red": _red,
    "sfb": _sfb,
    "sfq": _sfq,
    "tbf": _tbf,
    "wire": _wire,
}


def _name(view: memoryview) -> str:
    return bytes(view).rstrip(b"\0").decode()


def _u32(view: memoryview, at: int) -> int:
    return int(struct.unpack_from("=I", view, at)[0])


def _ns(view: memoryview | None) -> float:
    return struct.unpack("=q", view)[0] / 1e9 if view is not None else 0.0


def _share(number: int) -> float:
    return 1.0 if number >= _UNLIMITED else number / _WHOLE


def _known(value: float) -> float | None:
    return value or None


def _rate(parts: _Options, *, wide: int, narrow: tuple[int, int] | None = None) -> float | None:
    """Return a rate from its field of 64 bits, or of 32 if it fits, in bit/s; None for 0."""
    bytes_per_s = 0
    if wide in parts:
        (bytes_per_s,) = struct.unpack_from("=Q", parts[wide])
    elif narrow is not None and narrow[0] in parts:
        bytes_per_s = _u32(parts[narrow[0]], narrow[1])
    return bytes_per_s * 8.0 if bytes_per_s else None


def _bucket(ticks: int, rate_bps: float | None) -> int | None:
    """Return the size of a bucket that the kernel keeps as the time that it takes."""
    # The kernel rounds down, so this rounds up; in whole numbers, for it must not round twice.
    return -(-ticks * _TICK_NS * round(rate_bps / 8) // 10**9) if rate_bps else None


def _curve(view: memoryview | None) -> float | None:
    """Return the rate that a service curve has in the end."""
    if view is None:
        return None
    return _u32(view, 8) * 8.0 or None
