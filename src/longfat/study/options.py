"""The `args` of a flow: what a tool may be given, and what is already spoken for.

`args` reach the tool as they are. Refused is what would break the run in a way
that nobody wants: the options that longfat sets itself, those that change the
output that is read, and those that have a field of their own.

Source of the options: iperf3(1) of 3.12 and ping(8) of iputils 20221126.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

_OURS = "longfat sets it itself"
_OUTPUT = "it changes the output that longfat reads"


def _field(name: str) -> str:
    return f"write it as the field {name!r}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The options of a tool.

    Attributes:
        valued: the short options that take a value.
        long_valued: the long options whose value is the next argument.
        refused: why an option is refused, by its name without hyphens.
    """

    valued: str
    long_valued: frozenset[str]
    refused: Mapping[str, str]

    def check(self, args: tuple[str, ...]) -> tuple[int, str] | None:
        """Find what cannot be passed on, reading arguments as getopt_long(3) does.

        Args:
            args: the arguments.

        Returns:
            The index of the first wrong argument and the reason; None if all are right.
        """
        value_follows = False
        for index, arg in enumerate(args):
            if value_follows:
                value_follows = False
            elif arg.startswith("--") and arg != "--":
                name, given, _ = arg[2:].partition("=")
                if reason := self._long(name):
                    return index, reason
                value_follows = not given and name in self.long_valued
            elif arg.startswith("-") and arg not in ("-", "--"):
                reason, value_follows = self._cluster(arg[1:])
                if reason:
                    return index, reason
            else:
                return index, f"{arg!r} is not an option; the target is written in the flow"
        return None

    def _long(self, name: str) -> str | None:
        # getopt_long takes any beginning of a long option that is unambiguous.
        for word, reason in self.refused.items():
            if len(word) > 1 and name and word.startswith(name):
                return f"--{name} cannot be given: {reason}"
        return None

    def _cluster(self, letters: str) -> tuple[str | None, bool]:
        for index, letter in enumerate(letters):
            if letter in self.refused:
                return f"-{letter} cannot be given: {self.refused[letter]}", False
            if letter in self.valued:
                return None, index + 1 == len(letters)
        return None, False


IPERF3 = Options(
    valued="pfiFABIcsbtnklPwCMSLOTX",
    long_valued=frozenset(
        (
            *("format", "file", "affinity", "bind", "bind-dev", "rcv-timeout", "snd-timeout"),
            *("xbind", "nstreams", "length", "cport", "connect-timeout", "pacing-timer"),
            *("fq-rate", "tos", "dscp", "flowlabel", "title", "extra-data", "username"),
            "rsa-public-key-path",
        )
    ),
    refused={
        **dict.fromkeys(("c", "client", "s", "server", "p", "port", "J", "json"), _OURS),
        **dict.fromkeys(("D", "daemon", "1", "one-off", "I", "pidfile"), _OURS),
        **dict.fromkeys(("logfile", "json-stream", "timestamps", "h", "help"), _OUTPUT),
        **dict.fromkeys(("v", "version", "d", "debug"), _OUTPUT),
        **dict.fromkeys(("bidir",), "its two directions are two flows here"),
        **dict.fromkeys(("t", "time"), _field("time")),
        **dict.fromkeys(("n", "bytes", "k", "blockcount"), _field("bytes")),
        **dict.fromkeys(("P", "parallel"), _field("parallel")),
        **dict.fromkeys(("R", "reverse"), _field("reverse")),
        **dict.fromkeys(("u", "udp"), _field("udp")),
        **dict.fromkeys(("b", "bitrate", "bandwidth"), _field("rate")),
        **dict.fromkeys(("C", "congestion", "linux-congestion"), _field("congestion")),
        **dict.fromkeys(("w", "window"), _field("window")),
        **dict.fromkeys(("M", "set-mss"), _field("mss")),
        **dict.fromkeys(("O", "omit"), _field("omit")),
        **dict.fromkeys(("i", "interval"), _field("interval")),
    },
)

PING = Options(
    valued="ceiIlmMNpQsStTwWF",
    long_valued=frozenset(),
    refused={
        "c": _field("count"),
        "i": _field("interval"),
        "s": _field("size"),
        **dict.fromkeys("DqfahVvR", _OUTPUT),
        "A": "the interval is written in the flow",
    },
)
