"""What commands of a script are in a study: fields of flows and probes, by their words.

Sources: iperf3(1) 3.12, iperf(1) 2.1.8 (whose upper-case letters count in powers of 1024 for rates,
too), ping(8), tcpdump(1), python3 -m http.server, nc(1).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from longfat.errors import InputError
from longfat.guest.mininet.lines import is_client, number, option
from longfat.model.fields import fields_of
from longfat.model.traffic import Iperf3, Ping
from longfat.model.traffic.bulk import DEFAULT_TIME_S

if TYPE_CHECKING:
    from longfat.guest.mininet.lines import Command

SETUP, QUERY, SERVER, CLIENT, PING, CAPTURE, QUEUE, OPENFLOW, PROGRAM = (
    *("setup", "query", "server", "iperf", "ping", "capture", "queue", "openflow", "program"),
)

_CHANGES = frozenset(
    [
        "add",
        "del",
        "delete",
        "replace",
        "change",
        "set",
        "flush",
        "append",
        "link-netns",
        "master",
        "nomaster",
    ]
)
FILES = frozenset(
    [
        *("mkdir", "rm", "cp", "mv", "touch", "chmod", "chown", "ln", "tee"),
        *("truncate", "dd", "fallocate"),
    ]
)
"""Programs that make, change and remove files."""

_MODULES = frozenset(["modprobe", "insmod", "rmmod", "umount"])
_OPEN_VSWITCH = re.compile(r"(ovs-\w+|dpctl)$")
_TRAFFIC_WORD = re.compile(
    r"\b(ping6?|iperf3?|netperf|nc|wget|curl|python3?|tcpdump|hping3|nping|ab|traceroute|sleep)\b"
)
_SETUP_WORD = re.compile(r"\b(ip|tc|sysctl|ifconfig|route|iptables|ethtool|echo)\b")

_IPERF_FIELDS: Mapping[str, str] = {
    **dict.fromkeys(("-t", "--time"), "time"),
    **dict.fromkeys(("-n", "--num", "--bytes"), "bytes"),
    **dict.fromkeys(("-P", "--parallel"), "parallel"),
    **dict.fromkeys(("-b", "--bitrate", "--bandwidth"), "rate"),
    **dict.fromkeys(("-C", "-Z", "--congestion", "--linux-congestion"), "congestion"),
    **dict.fromkeys(("-w", "--window"), "window"),
    **dict.fromkeys(("-M", "--set-mss", "--mss"), "mss"),
    **dict.fromkeys(("-O", "--omit"), "omit"),
    **dict.fromkeys(("-i", "--interval"), "interval"),
}
_IPERF_FLAGS = {"-R": "reverse", "--reverse": "reverse", "-u": "udp", "--udp": "udp"}
# Options that change the output alone, or that a flow sets itself; those with a value, too.
_DROPPED = frozenset(
    [
        "-J",
        "--json",
        "-V",
        "--verbose",
        "-d",
        "--debug",
        "-e",
        "--enhanced",
        "--forceflush",
        "--get-server-output",
        "-4",
        "--version4",
        "-m",
        "--print_mss",
        "-1",
        "--no-udp-fin",
    ]
)
_DROPPED_VALUES = frozenset(
    [
        "-c",
        "--client",
        "-p",
        "--port",
        "-f",
        "--format",
        "--logfile",
        "-y",
        "--reportstyle",
        "-o",
        "--output",
        "-T",
        "--title",
        "--sum-only",
    ]
)
_PASSED = frozenset(["-N", "--nodelay", "--no-delay", "-Z3", "--zerocopy", "--dont-fragment"])
_PASSED_VALUES = frozenset(
    ["-l", "--length", "--len", "-S", "--tos", "--dscp", "--cport", "--pacing-timer"]
)
_MAX_SPAN_S = 86400.0


def role_of(command: Command) -> str:
    """Return what a command is in a study, by its words."""
    if not command.words:
        is_setup = _SETUP_WORD.search(command.text) and not _TRAFFIC_WORD.search(command.text)
        return SETUP if is_setup else PROGRAM
    special = _of_network(command)
    if special is not None:
        return special
    return SETUP if _sets_up(command) else QUERY if _shows(command) else PROGRAM


def _of_network(command: Command) -> str | None:
    """Return what a program of traffic or of measuring is; None for others."""
    words, program = command.words, command.program
    if _OPEN_VSWITCH.match(program):
        return OPENFLOW
    if program in ("iperf", "iperf3", "netserver"):
        if program == "netserver" or not is_client(words):
            return SERVER
        return PROGRAM if "mptcpize" in command.wrappers else CLIENT
    if program in ("ping", "ping6"):
        is_plain = not command.reads_pipe and not {"-f", "-b"} & set(words)
        return PING if is_plain else PROGRAM
    if program == "tcpdump":
        return PROGRAM if option(words, "i") in (None, "any") or "-r" in words else CAPTURE
    shows_queue = re.search(r"\bqdisc\s+(show|ls|list)\b.*\bdev\b", command.text)
    return QUEUE if program == "tc" and shows_queue else None


def _sets_up(command: Command) -> bool:
    words, program = command.words, command.program
    is_long = len(words) > 2
    if program in ("echo", "printf", "cat", "head", "seq", "date"):
        return command.file is not None
    if program in ("ip", "tc", "bridge", "route", "nft"):
        return bool((_CHANGES | {"-f", "-batch"}) & set(words))
    if program == "ethtool":
        changes = r"-[A-Z]|-s|--[a-z-]*(set|offload|features|pause)"
        return any(re.fullmatch(changes, word) for word in words)
    return {
        "sysctl": any("=" in word or word == "-p" for word in words[1:]),
        "ifconfig": is_long,
        "vconfig": is_long,
        **dict.fromkeys(
            ("iptables", "ip6tables"), is_long and not {"-L", "-S", "--list"} & set(words)
        ),
        **dict.fromkeys(
            ("brctl", "hostname", "mount", "arp"),
            is_long and not words[1].startswith(("show", "-n", "-a")),
        ),
    }.get(program, program in FILES | _MODULES)


def _shows(command: Command) -> bool:
    return command.program in (
        *("ip", "tc", "bridge", "route", "nft", "sysctl", "ifconfig", "iptables", "ip6tables"),
        *(
            "ethtool",
            "brctl",
            "hostname",
            "mount",
            "arp",
            "ls",
            "cat",
            "ss",
            "netstat",
            "date",
            "ps",
        ),
        *("uname", "pwd", "head", "tail", "grep", "id", "env", "printenv", "which", "dmesg"),
    )


# ------------------------------------------------------------------ iperf


AS_IPERF3 = "iperf is taken as iperf3"


def cbr_values(values: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the values of a `Cbr` that sends the datagrams of an iperf; None if it cannot.

    Args:
        values: the values of an `Iperf3`, of `iperf_values`.
    """
    rest = dict(values)
    args = rest.pop("args", ())
    if args[:1] != ("-l",) or len(args) != 2 or not rest.pop("udp", False):
        return None
    fields: dict[str, Any] = {
        key: rest.pop(key) for key in ("time_s", "rate_bps", "reverse") if key in rest
    }
    kept = {"address", "follows"}
    if not rest.keys() <= kept or not {"time_s", "rate_bps"} <= fields.keys():
        return None
    return {**fields, **rest, "size_bytes": int(args[1])}


def iperf_values(
    command: Command, *, stopped_s: float | None
) -> tuple[list[dict[str, Any]], str, list[str]]:
    """Return the fields of the flows of a client of iperf or iperf3.

    Args:
        command: the client.
        stopped_s: after so many seconds something ends it; None if nothing does.

    Returns:
        The values by attribute of `Iperf3`, for each of its flows; the server's address; and what
        is taken otherwise.

    Raises:
        InputError: it has an option that a flow has no field for.
    """
    words, is_old = command.words, command.program == "iperf"
    given, args, both = _iperf_options(words, is_old=is_old)
    notes: list[str] = []
    target = option(words, "c", "client") or ""
    if is_old:
        args = _old_datagrams(args, is_udp="udp" in given)
        if "rate" in given:
            given["rate"] = _old_rate(given["rate"])
        if "bytes" not in given:
            given.setdefault("time", str(DEFAULT_TIME_S))
        notes.append(AS_IPERF3)
    _tidy(given)
    _round_times(given, stopped_s, notes)
    if conflict := Iperf3.conflict(given):
        raise InputError(conflict[1])
    values = _typed(Iperf3, given)
    if args:
        values["args"] = tuple(args)
    if both in ("", "-r", "--tradeoff"):
        return ([values, {**values, "reverse": True}] if both else [values]), target, notes
    return [values, {**values, "reverse": not values.get("reverse", False)}], target, notes


def _iperf_options(words: Sequence[str], *, is_old: bool) -> tuple[dict[str, Any], list[str], str]:
    """Return the fields of a client, its other arguments, and its option for both directions."""
    given: dict[str, Any] = {}
    args: list[str] = []
    both = ""
    two_ways = ("-d", "--dualtest", "-r", "--tradeoff", "--full-duplex") if is_old else ("--bidir",)
    rest = iter(_separate(words[1:]))
    for word in rest:
        if word in two_ways:
            both = word
        elif word in _IPERF_FLAGS:
            given[_IPERF_FLAGS[word]] = True
        elif word in _IPERF_FIELDS:
            given[_IPERF_FIELDS[word]] = next(rest, "")
        elif word in _DROPPED_VALUES:
            next(rest, "")
        elif word in _PASSED_VALUES:
            args += [word, next(rest, "")]
        elif word in _PASSED:
            args.append(word)
        elif word not in _DROPPED:
            raise InputError(f"a flow has nothing for its option {word!r}")
    return given, args, both


def _tidy(given: dict[str, Any]) -> None:
    """Give a rate its unit, and leave out what is the default, and of UDP what is TCP's."""
    if number(given.get("interval"), 1.0) == 1 or number(given.get("interval"), 1.0) < 0.1:
        given.pop("interval", None)
    for key in ("congestion", "mss") if "udp" in given else ():
        given.pop(key, None)
    if "rate" not in given:
        return
    given["rate"] = given["rate"].partition("/")[0]
    if given["rate"] in ("0", ""):
        del given["rate"]
        if "udp" in given:
            raise InputError("datagrams as fast as it can have no field")
    elif re.fullmatch(r"[\d.]+", given["rate"]):
        given["rate"] += "bit"


def _round_times(given: dict[str, Any], stopped_s: float | None, notes: list[str]) -> None:
    """Give a flow whole seconds, and those until it is stopped."""
    if "bytes" in given:
        given.pop("time", None)
        return
    time_s = number(given.get("time"), DEFAULT_TIME_S) or _MAX_SPAN_S
    if stopped_s is not None:
        time_s = min(time_s, stopped_s)
    whole_s = max(1, math.ceil(round(time_s, 3)))
    if whole_s != time_s:
        notes.append(f"{time_s:g} s are taken as {whole_s} s: iperf3 takes whole seconds")
    given["time"] = f"{whole_s}s"
    if "omit" in given:
        given["omit"] = f"{math.ceil(number(given['omit'], 0.0))}s"


def _old_rate(text: str) -> str:
    """Return a rate of iperf's in bit/s."""
    units = {"k": 1e3, "m": 1e6, "g": 1e9, "K": 2.0**10, "M": 2.0**20, "G": 2.0**30}
    if text.endswith("pps"):
        raise InputError(f"a flow has no rate in packets ({text!r})")
    return f"{round(number(text, 0.0) * units.get(text[-1:], 1))}bit"


def _old_datagrams(args: list[str], *, is_udp: bool) -> list[str]:
    """Return arguments for datagrams as large as iperf's own."""
    return (
        ["-l", "1470"]
        if is_udp and "-l" not in args and "--len" not in args
        else (["--length" if word == "--len" else word for word in args] if is_udp else [])
    )


def _separate(words: Iterable[str]) -> Iterable[str]:
    """Split `-t10`, `--time=10` and `-uR` into options and values."""
    flags = "uRJVdeNr41m"
    for word in words:
        if word.startswith("--"):
            name, given, value = word.partition("=")
            yield name
            if given:
                yield value
        elif re.fullmatch(rf"-[{flags}]{{2,}}", word):
            yield from (f"-{letter}" for letter in word[1:])
        elif re.fullmatch(r"-[A-Za-z].+", word):
            yield from (word[:2], word[2:])
        else:
            yield word


def _typed(cls: type[Iperf3 | Ping], given: Mapping[str, Any]) -> dict[str, Any]:
    fields = fields_of(cls)
    return {
        fields[key].name: (value if value is True else fields[key].kind.of(value))
        for key, value in given.items()
    }


# ------------------------------------------------------------------- ping


def ping_values(command: Command, *, span_s: float | None) -> tuple[dict[str, Any], str]:
    """Return the values of a ping by attribute of `Ping`, and its target.

    Args:
        command: the ping.
        span_s: after so many seconds something ends it; None if nothing does.

    Raises:
        InputError: it has an option that a flow has no field for.
    """
    words = command.words
    values, args, target = _ping_options(words)
    counts = [] if (count := option(words, "c")) is None else [int(number(count, 1))]
    ends_s = [number(deadline, 1.0)] if (deadline := option(words, "w")) else []
    if span_s is not None:
        ends_s.append(span_s)
    interval_s = values.get("interval_s", 1.0)
    counts += [math.ceil(round(end_s / interval_s, 6)) for end_s in ends_s]
    if not counts:
        raise InputError("nothing ends it")
    values["count"] = max(1, min(counts))
    if args:
        values["args"] = tuple(args)
    return values, target


def _ping_options(words: Sequence[str]) -> tuple[dict[str, Any], list[str], str]:
    """Return fields, further arguments and the target of a ping."""
    values: dict[str, Any] = {}
    args: list[str] = []
    target = ""
    rest = iter(_separate_ping(words[1:]))
    for word in rest:
        if word in ("-c", "-w"):
            next(rest, "")
        elif word == "-i":
            values["interval_s"] = max(0.001, number(next(rest, ""), 1.0))
        elif word == "-A":
            values["interval_s"] = 0.2
        elif word == "-s":
            values["size_bytes"] = int(number(next(rest, ""), 56))
        elif word in ("-W", "-I", "-t", "-M", "-Q", "-T", "-p", "-l"):
            args += [word, next(rest, "")]
        elif not word.startswith("-"):
            target = word
        elif word not in ("-n", "-q", "-D", "-v", "-O", "-4", "-U"):
            raise InputError(f"a flow has nothing for its option {word!r}")
    return values, args, target


def _separate_ping(words: Iterable[str]) -> Iterable[str]:
    for word in words:
        if re.fullmatch(r"-[nqDvOA46U]{2,}", word):
            yield from (f"-{letter}" for letter in word[1:])
        elif re.fullmatch(r"-[a-zA-Z].+", word):
            yield from (word[:2], word[2:])
        else:
            yield word


# ---------------------------------------------------------------- the others


def capture_values(command: Command) -> dict[str, Any]:
    """Return the values of a capture by tcpdump."""
    words = command.words
    values: dict[str, Any] = {"of": option(words, "i")}
    rest = iter(_separate_capture(words[1:]))
    expression = []
    for word in rest:
        if word in ("-i", "-w", "-G", "-W", "-C", "-B", "-Z", "-y", "-F", "-j"):
            next(rest, "")
        elif word == "-s":
            values["snap_bytes"] = min(262144, max(64, int(number(next(rest, ""), 0)) or 262144))
        elif word == "-c":
            values["packets"] = max(1, int(number(next(rest, ""), 1)))
        elif not word.startswith("-"):
            expression.append(word)
    if expression:
        values["filter"] = " ".join(expression)
    return values


def _separate_capture(words: Iterable[str]) -> Iterable[str]:
    for word in words:
        if re.fullmatch(r"-[iwsc].+", word):
            yield from (word[:2], word[2:])
        else:
            yield word


def server_port(command: Command) -> int | None:
    """Return the port that a server listens at, as far as its words say."""
    words, program = command.words, command.program
    if program == "iperf3":
        return int(number(option(words, "p", "port"), 5201))
    if program == "iperf":
        return int(number(option(words, "p", "port"), 5001))
    if program == "netserver":
        return int(number(option(words, "p"), 12865))
    for module in ("http.server", "SimpleHTTPServer"):
        if module in words:
            ports = [word for word in words[words.index(module) + 1 :] if word.isdecimal()]
            return int(ports[0]) if ports else 8000
    if program in ("nc", "ncat", "netcat"):
        ports = [word for word in words[1:] if word.isdecimal()]
        return int(ports[-1]) if ports else None
    return None


def is_udp_server(command: Command) -> bool:
    """Return whether a server listens for datagrams."""
    return command.program in ("nc", "ncat", "netcat") and any(
        re.fullmatch(r"-[a-z]*u[a-z]*", word) for word in command.words
    )


_URL = re.compile(r"(?:https?://)?([\w.-]+)(?::(\d+))?(?:/|$)")


def server_of(command: Command) -> tuple[str, int | None] | None:
    """Return the address and the port that a client connects to, as far as its words say."""
    words, program = command.words, command.program
    if program in ("iperf", "iperf3"):
        port = server_port(command)
        return option(words, "c", "client") or "", port
    if program == "netperf":
        return option(words, "H") or "", 12865
    if program in ("nc", "ncat", "netcat"):
        plain = [word for word in words[1:] if not word.startswith("-")]
        return (plain[-2], int(plain[-1])) if len(plain) > 1 and plain[-1].isdecimal() else None
    if program in ("wget", "curl", "ab"):
        for word in reversed(words[1:]):
            match = _URL.match(word)
            if match and ("://" in word or re.match(r"\d+\.\d+\.\d+\.\d+", word)):
                return match[1], int(match[2] or 80)
    return None


def addresses_in(text: str) -> Sequence[str]:
    """Return the IPv4 addresses that a line names."""
    return re.findall(r"(?<![\w.])(\d{1,3}(?:\.\d{1,3}){3})(?![\w.]*\d)", text)
