"""What a typed line does, as far as its words say: its commands, and how long each takes.

The stand-in lets that much virtual time pass where a script waits for a command, so that
commands are recorded at the times at which the script would type them. The reader of the record
splits lines by the same functions. What only a shell can interpret (loops, substitutions) is one
command without words.

Sources: sh(1p), ping(8), iperf(1), iperf3(1), timeout(1).
"""

import re
import shlex
from typing import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_MAX_COMMANDS = 200
_TOKEN = re.compile(
    r"(?P<space>[ \t\r]+|\\\n)"
    r"|(?P<comment>(?<![^\s;&|])#[^\n]*)"
    r"|(?P<redirect>\d*(?:>>|>\||<<<|<<|<>|>&|<&|>|<)|&>>|&>)"
    r"|(?P<join>&&|\|\||\|&|[;|&\n])"
    r"|(?P<group>[()])"
    r"|(?P<word>(?:[^\s;&|<>()'\"\\`$]|\\.|'[^']*'|\"(?:[^\"\\]|\\.)*\"|\$\(|[`$])+)",
    re.DOTALL,
)
_RESERVED = frozenset(
    [
        "for",
        "while",
        "until",
        "if",
        "case",
        "{",
        "!",
        "function",
        "select",
        "do",
        "done",
        "then",
        "fi",
        "[[",
        "((",
    ]
)
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_TIME = re.compile(r"(\d+(?:\.\d*)?|\.\d+)([smhd]?)")
_UNITS_S = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_NUMBER = re.compile(r"\d+(?:\.\d*)?|\.\d+")
_MAX_TIME_S = 86400.0

# Programs that run another one: their options that take a value, and how many words come
# between the options and that program.
_WRAPPERS = {
    "sudo": ("uUgGCDhpRrTt", 0),
    "nohup": ("", 0),
    "time": ("fo", 0),
    "timeout": ("ks", 1),
    "nice": ("n", 0),
    "ionice": ("cn", 0),
    "chrt": ("TPD", 1),
    "taskset": ("", 1),
    "stdbuf": ("ioe", 0),
    "env": ("uCS", 0),
    "exec": ("a", 0),
    "command": ("", 0),
    "setsid": ("", 0),
    "unbuffer": ("", 0),
    "mnexec": ("agr", 0),
    "mptcpize": ("", 1),
}
_SHELLS = ("sh", "bash", "dash")


class Command(NamedTuple):
    """One command of a line, with its pipe.

    Attributes:
        words: its program, without folder, and arguments; empty if only a shell can interpret it.
        text: as it is typed, without what joins it to the next.
        core: the same without redirections of the standard output.
        is_background: the shell does not wait for it.
        wrappers: programs that it is started by, such as `sudo`.
        limit_s: after so many seconds `timeout` ends it; None if nothing does.
        file: where its output goes, if it is redirected.
        reads_pipe: it reads what another one writes.
    """

    words: "tuple[str, ...]"
    text: str
    core: str
    is_background: bool = False
    wrappers: "tuple[str, ...]" = ()
    limit_s: "float | None" = None
    file: "str | None" = None
    reads_pipe: bool = False

    @property
    def program(self) -> str:
        """Return its program; empty if only a shell can interpret it."""
        return self.words[0] if self.words else ""


def commands_of(text: str) -> "list[Command]":
    """Return the commands of a line, or of several, in their order."""
    return list(_split(text))[:_MAX_COMMANDS]


def seconds(text: str) -> "float | None":
    """Return a time as sleep(1) and timeout(1) take it; None if it is none."""
    match = _TIME.fullmatch(text)
    return min(float(match[1]) * _UNITS_S[match[2]], _MAX_TIME_S) if match else None


def _split(text: str) -> "Iterator[Command]":
    text = text.strip()
    tokens: list[re.Match[str]] = []
    at = 0
    while at < len(text):
        token = _TOKEN.match(text, at)
        if token is None or token["group"] or token[0].startswith(("$(", "`")):
            yield _opaque(text[tokens[0].start() if tokens else at :])
            return
        at = token.end()
        if token["space"] or token["comment"]:
            continue
        if not tokens and (token["word"] or "") in _RESERVED:
            yield _opaque(text[token.start() :])
            return
        join = token["join"]
        if not join or join in ("|", "|&"):
            tokens.append(token)
            continue
        if tokens:
            yield from _simple(text, tokens, is_background=join == "&")
        if join == "||":  # runs only where the one before fails
            rest = text[at:].lstrip()
            end = re.search(r"[;&\n]", rest)
            at = len(text) - len(rest) + (end.start() if end else len(rest))
        tokens = []
    if tokens:
        yield from _simple(text, tokens, is_background=False)


def _opaque(text: str) -> Command:
    text = text.strip()
    is_background = text.endswith("&") and not text.endswith("&&")
    bare = text.rstrip("& ") if is_background else text
    return Command((), bare, bare, is_background=is_background)


def _simple(
    text: str, tokens: "Sequence[re.Match[str]]", *, is_background: bool
) -> "Iterator[Command]":
    start, end = tokens[0].start(), tokens[-1].end()
    typed = text[start:end]
    pipe = [index for index, token in enumerate(tokens) if token["join"]]
    # Of a pipe the first counts, but for one that feeds a program of the network.
    chosen, reads = list(tokens[: pipe[0]] if pipe else tokens), False
    if pipe and chosen and _word(chosen[0]) in ("cat", "echo", "printf", "yes", "dd", "head"):
        chosen, reads = list(tokens[pipe[0] + 1 :]), True
        later = [index for index, token in enumerate(chosen) if token["join"]]
        chosen = chosen[: later[0]] if later else chosen
    words, file, cuts = _without_redirects(chosen, keeps_file=not pipe)
    expands = any(_expands(token[0]) for token in chosen if not token["redirect"])
    core = typed
    for low, high in reversed(cuts):
        core = (core[: low - start].rstrip() + core[high - start :]).strip()
    words, wrappers, limit_s = _without_wrappers(words)
    if words and words[0].rpartition("/")[2] in _SHELLS and "-c" in words[1:3]:
        inner_text = words[words.index("-c") + 1 :]
        if inner_text and not expands:
            yield from _inner(inner_text[0], typed, is_background, limit_s)
            return
    if words:
        words[0] = words[0].rpartition("/")[2]
    yield Command(
        tuple(words) if not expands or len(words) > 1 else (),
        typed,
        core,
        is_background=is_background,
        wrappers=wrappers,
        limit_s=limit_s,
        file=file,
        reads_pipe=reads,
    )


def _expands(text: str) -> bool:
    """Return whether a shell would expand a word."""
    return bool(re.search(r"[`$]", re.sub(r"'[^']*'|\\.", "", text)))


def _without_redirects(
    tokens: "Sequence[re.Match[str]]", *, keeps_file: bool
) -> "tuple[list[str], str | None, list[tuple[int, int]]]":
    """Return the words of a command, the file that its output goes to, and where that stands."""
    words: list[str] = []
    file = None
    cuts: list[tuple[int, int]] = []
    rest = iter(tokens)
    for token in rest:
        if not token["redirect"]:
            words.append(_word(token))
            continue
        target = next(rest, None)
        of_output = token[0] in (">", ">>", ">|", "1>", "&>", "&>>", ">&")
        if target is not None and of_output and keeps_file:
            file = _word(target)
            cuts.append((token.start(), target.end()))
    return words, file, cuts


def _without_wrappers(
    words: "list[str]",
) -> "tuple[list[str], tuple[str, ...], float | None]":
    """Return the words of what `sudo`, `timeout` and the like run, those, and a limit of time."""
    wrappers: list[str] = []
    limit_s = None
    while words:
        if _ASSIGNMENT.match(words[0]):
            words = words[1:]
            continue
        program = words[0].rpartition("/")[2]
        if program not in _WRAPPERS:
            break
        valued, skipped = _WRAPPERS[program]
        inner = words[1:]
        while inner and (inner[0].startswith("-") or (program == "env" and "=" in inner[0])):
            option = inner.pop(0)
            takes = len(option) == 2 and option[1] in valued
            takes = takes or option in ("--signal", "--kill-after", "--user", "--output")
            if takes and inner:
                inner.pop(0)
        if program == "timeout" and inner:
            limit_s = seconds(inner[0])
        inner = inner[skipped:]
        if not inner:
            break
        wrappers.append(program)
        words = inner
    return words, tuple(wrappers), limit_s


def _inner(
    text: str, typed: str, is_background: bool, limit_s: "float | None"
) -> "Iterator[Command]":
    """Return the commands of `sh -c TEXT`."""
    commands = commands_of(text)
    if is_background and len(commands) > 1:
        yield Command((), typed, typed, is_background=True, limit_s=limit_s)
        return
    for command in commands:
        own = [one for one in (limit_s, command.limit_s) if one is not None]
        yield command._replace(
            is_background=is_background or command.is_background, limit_s=min(own, default=None)
        )


def _word(token: "re.Match[str]") -> str:
    try:
        return "".join(shlex.split(token[0])[:1])
    except ValueError:
        return token[0]


# ------------------------------------------------------------------- how long


def duration_s(command: Command) -> "float | None":
    """Return how long a command takes, in seconds.

    Returns:
        None, if it does not end by itself; 0, if its words do not say how long.
    """
    natural = _natural_s(command)
    if command.limit_s is None:
        return natural
    return command.limit_s if natural is None else min(command.limit_s, natural)


def _natural_s(command: Command) -> "float | None":
    words, program = command.words, command.program
    if program in ("ping", "ping6"):
        return _ping_s(words)
    if program in ("iperf", "iperf3"):
        return _iperf_s(words)
    if _is_endless(command):
        return None
    if program == "sleep":
        return sum(seconds(word) or 0.0 for word in words[1:])
    return number(option(words, "l"), 10.0) if program == "netperf" else 0.0


def _is_endless(command: Command) -> bool:
    """Return whether a command runs until something ends it."""
    words, program = command.words, command.program
    if not words:
        loop = r"\bwhile\s+(true|:|1|\[\s*1)|\bfor\s*\(\(\s*;"
        return re.search(loop, command.text) is not None
    if program in ("tcpdump", "tshark", "dumpcap"):
        return option(words, "c") is None
    if program in ("nc", "ncat", "netcat"):
        return any(re.fullmatch(r"-[a-zA-Z]*l[a-zA-Z]*", word) for word in words)
    if program == "tail":
        return any(word.startswith(("-f", "-F")) for word in words)
    is_server = {"http.server", "SimpleHTTPServer"} & set(words)
    return bool(is_server) or program in ("watch", "top", "yes", "bwm-ng", "xterm")


def _ping_s(words: "Sequence[str]") -> "float | None":
    interval_s = number(option(words, "i"), 0.2 if "-A" in words else 1.0)
    interval_s = 0.0 if "-f" in words else interval_s
    count, deadline = option(words, "c"), option(words, "w")
    spans = [] if count is None else [max(0.0, number(count, 1.0) - 1) * interval_s]
    if deadline is not None:
        spans.append(number(deadline, 0.0))
    return min(spans, default=None)


def _iperf_s(words: "Sequence[str]") -> "float | None":
    if not is_client(words):
        return 0.0 if {"-D", "--daemon"} & set(words) else None
    if option(words, "n", "num", "bytes") is not None:
        return 0.0
    time_s = number(option(words, "t", "time"), 10.0)
    return (time_s or None) if words[0] == "iperf3" else time_s


def is_client(words: "Sequence[str]") -> bool:
    """Return whether a command of iperf is a client."""
    return option(words, "c", "client") is not None


def option(words: "Sequence[str]", letter: str, *names: str) -> "str | None":
    """Return the value of an option in a command line; the last, if it is given several times."""
    value = None
    for index, word in enumerate(words[1:], start=1):
        follows = words[index + 1] if index + 1 < len(words) else ""
        if word in {f"-{letter}", *(f"--{name}" for name in names)} or (
            re.fullmatch(rf"-[a-zA-Z]*{letter}", word) and not word.startswith("--")
        ):
            value = follows
        elif re.match(rf"-{letter}[^-]", word):
            value = word[2:]
        elif any(word.startswith(f"--{name}=") for name in names):
            value = word.partition("=")[2]
    return value


def number(text: "str | None", absent: float) -> float:
    """Return a number at the beginning of a text; another one, if there is none."""
    match = _NUMBER.match(text or "")
    return min(float(match[0]), _MAX_TIME_S) if match else absent


# ----------------------------------------------------------------- what it prints

_PING = """PING {0} ({0}) 56(84) bytes of data.
64 bytes from {0}: icmp_seq=1 ttl=64 time=1.00 ms

--- {0} ping statistics ---
{1} packets transmitted, {1} received, 0% packet loss, time {2}ms
rtt min/avg/max/mdev = 1.000/1.000/1.000/0.000 ms
"""
_IPERF = """------------------------------------------------------------
Client connecting to {0}, TCP port 5001
------------------------------------------------------------
[  1] local 10.0.0.1 port 50000 connected with {0} port 5001
[ ID] Interval       Transfer     Bandwidth
[  1] 0.0000-{1:.4f} sec  12.5 MBytes  10.0 Mbits/sec
"""
_IPERF3 = """Connecting to host {0}, port 5201
[  5] local 10.0.0.1 port 50000 connected to {0} port 5201
[ ID] Interval           Transfer     Bitrate         Retr  Cwnd
- - - - - - - - - - - - - - - - - - - - - - - - -
[ ID] Interval           Transfer     Bitrate         Retr
[  5]   0.00-{1:.2f}  sec  12.5 MBytes  10.0 Mbits/sec    0             sender
[  5]   0.00-{1:.2f}  sec  12.5 MBytes  10.0 Mbits/sec                  receiver

iperf Done.
"""
_SUM = '{"start": 0, "end": 10, "seconds": 10, "bytes": 12500000, "bits_per_second": 10000000.0'
_ENDS = _SUM + ', "retransmits": 0, "jitter_ms": 0.1, "lost_packets": 0, "packets": 1000'
_ENDS += ', "lost_percent": 0.0, "sender": true}'
_RTTS = '"max_snd_cwnd": 100000, "max_rtt": 1000, "min_rtt": 1000, "mean_rtt": 1000, '
_ROW = '{"socket": 5, "snd_cwnd": 100000, "rtt": 1000, ' + _ENDS[1:]
_IPERF3_JSON = (
    '{"start": {"connected": [], "version": "iperf 3.12"}, "intervals": [{"streams": ['
    + _ROW
    + '], "sum": '
    + _ENDS
    + '}], "end": {"streams": [{"sender": {"socket": 5, '
    + _RTTS
    + _ENDS[1:]
    + ', "receiver": '
    + _ENDS
    + ', "udp": '
    + _ENDS
    + '}], "sum": '
    + _ENDS
    + ', "sum_sent": '
    + _ENDS
    + ', "sum_received": '
    + _ENDS
    + ', "cpu_utilization_percent": {"host_total": 0, "remote_total": 0}}}\n'
)


def reply(command: Command) -> str:
    """Return what a script may look for in a command's output, since it measures nothing here.

    All of it is made up: loss 0 %, 1 ms, 10 Mbit/s.
    """
    words, program = command.words, command.program
    if command.file or command.is_background:
        return ""
    if program == "curl":
        return _transfer(option(words, "w", "write-out") or "")
    if program not in ("ping", "iperf", "iperf3"):
        return ""
    if program == "ping":
        count = int(number(option(words, "c"), 1))
        return _PING.format(words[-1], count, int((duration_s(command) or 0) * 1000))
    if not is_client(words):
        return ""
    if program == "iperf3" and {"-J", "--json"} & set(words):
        return _IPERF3_JSON
    target = option(words, "c", "client")
    if program == "iperf" and option(words, "y", "reportstyle") in ("c", "C"):
        return f"20260101000000,10.0.0.1,50000,{target},5001,1,0.0-10.0,12500000,10000000\n"
    text = _IPERF3 if program == "iperf3" else _IPERF
    return text.format(target, duration_s(command) or 10.0)


def _transfer(text: str) -> str:
    """Return what curl prints of a transfer: of 12,500 bytes in 10 ms."""
    values = {"http_code": "200", "response_code": "200", "size_download": "12500"}
    values |= {"speed_download": "1250000", "num_redirects": "0"}

    def value(match: "re.Match[str]") -> str:
        return values.get(match[1], "0.010000")

    text = re.sub(r"%\{(\w+)\}", value, text)
    return text.replace("\\n", "\n").replace("\\t", "\t").replace("\\r", "\r")
