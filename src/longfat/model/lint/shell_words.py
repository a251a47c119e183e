"""The simple commands of a typed line, as a shell would run them.

A line is cut at `;`, `&&`, `||`, `&` and the ends of lines; comments and redirections are left
out. What only a running shell knows (a variable, a substitution, a pattern) is a word of which
nothing is known. A line with a loop, a condition, a function or a pipe is not cut: nothing is
known of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

Word = str | None
"""A word of a command; None where only a shell knows it."""

_OPERATORS = ("&&", "||", ";;", ";", "&", "|", "\n", "(", ")")
_COMPOUND = frozenset(
    ("if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac")
) | frozenset(("function", "select", "{", "}", "[[", "!"))
_UNKNOWN = frozenset("$`*?[]{}~")
_REDIRECTION = re.compile(r"\d*(?:>>|>\||>&|<<<|<<|<>|<&|>|<)|&>>?")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=")
_SUDO_FLAGS = frozenset(("-E", "-H", "-n", "-P", "-S", "-A", "-B", "-N", "--preserve-env"))
_SYSCTL_OPTIONS = frozenset(
    ("-w", "-q", "-qw", "-wq", "-n", "--write", "--quiet", "-e", "--ignore")
)
_KNOWN_PROGRAMS = frozenset(
    (
        *(":", "[", "cat", "cd", "chmod", "cp", "date", "dmesg", "echo", "ethtool", "export"),
        *("false", "iperf", "iperf3", "iptables", "ip6tables", "ls", "mkdir", "modprobe", "nft"),
        *("ping", "printf", "rm", "set", "sleep", "ss", "sysctl", "tcpdump", "test", "touch"),
        *(
            "true",
            "tee",
            "ulimit",
            "umask",
            "wait",
            "ip",
            "tc",
            "bridge",
            "brctl",
            "chrt",
            "taskset",
        ),
    )
)
"""Programs that change no interface but by their own words."""

_SHELLS = frozenset(("sh", "bash", "dash"))
_RUN_LINE = frozenset(("-c", "-ec", "-xc", "-exc"))
_UNKNOWN_PROGRAMS = frozenset(
    ("eval", ".", "source", "xargs", "nsenter", "unshare", "python3", "make")
)
_MAX_DEPTH = 5
_NETNS_OPTIONS = frozenset(("-n", "-net", "-netns", "--netns"))


@dataclass(frozen=True, slots=True)
class SimpleCommand:
    """A command of a typed line.

    Attributes:
        node: the node it runs at; None if that is not known.
        words: the program, without its folder, and its arguments.
        may_fail: the line goes on if it fails.
        is_conditional: it runs only if a command before it fails.
    """

    node: str | None
    words: tuple[Word, ...]
    may_fail: bool = False
    is_conditional: bool = False

    @property
    def program(self) -> Word:
        """The program."""
        return self.words[0]


@dataclass(frozen=True, slots=True)
class CommandLine:
    """What is known of a typed line.

    Attributes:
        commands: its commands, in their order.
        is_complete: the line does nothing else.
    """

    commands: tuple[SimpleCommand, ...] = ()
    is_complete: bool = True


class _UnknownLineError(Exception):
    """Only a shell knows what the line does."""


@lru_cache(maxsize=1 << 12)  # the cases of a study share most of their lines
def command_line(node: str | None, line: str, *, depth: int = 0) -> CommandLine:
    """Return the commands of a line.

    Args:
        node: where it is typed.
        line: the line, or a block of lines.
        depth: how many shells it is in.
    """
    try:
        tokens = list(_tokens(line))
        lists = list(_split(tokens))
    except _UnknownLineError:
        return CommandLine(is_complete=False)
    commands: list[SimpleCommand] = []
    is_complete = True
    for before, words, after in lists:
        inner = _unwrap(SimpleCommand(node, tuple(words)), depth=depth)
        if inner is None:
            is_complete = False
            continue
        is_complete = is_complete and inner.is_complete
        may_fail, is_conditional = after == "||", before == "||"
        commands += [
            replace(
                command,
                may_fail=command.may_fail or may_fail,
                is_conditional=command.is_conditional or is_conditional,
            )
            for command in inner.commands
        ]
    return CommandLine(tuple(commands), is_complete)


def _tokens(line: str) -> Iterator[tuple[bool, Word]]:
    """Yield whether a token is an operator, and its text."""
    at = 0
    while at < len(line):
        char = line[at]
        if char in " \t\r":
            at += 1
        elif line.startswith("\\\n", at):
            at += 2
        elif char == "#":
            while at < len(line) and line[at] != "\n":
                at += 1
        elif redirection := _REDIRECTION.match(line, at):
            if redirection[0].endswith("<<"):
                raise _UnknownLineError
            at = redirection.end()
            while at < len(line) and line[at] in " \t":
                at += 1
            _, at = _word(line, at)
        elif operator := next((one for one in _OPERATORS if line.startswith(one, at)), None):
            at += len(operator)
            yield True, operator
        else:
            word, at = _word(line, at)
            yield False, word


def _word(line: str, at: int) -> tuple[Word, int]:
    """Return the word at a position, and the position behind it."""
    parts: list[str] = []
    is_known = True
    start = at
    while at < len(line):
        char = line[at]
        if char in " \t\r\n;&|()<>":
            break
        if char == "'":
            end = line.find("'", at + 1)
            if end < 0:
                raise _UnknownLineError
            parts.append(line[at + 1 : end])
            at = end + 1
        elif char == '"':
            text, at, is_plain = _double_quoted(line, at + 1)
            parts.append(text)
            is_known = is_known and is_plain
        elif char == "\\" and at + 1 < len(line):
            parts.append("" if line[at + 1] == "\n" else line[at + 1])
            at += 2
        elif line.startswith(("$(", "<(", ">("), at) or char == "`":
            raise _UnknownLineError
        else:
            # A brace by itself is a word of the shell's own.
            is_known = is_known and (char not in _UNKNOWN or (char in "{}" and at == start))
            parts.append(char)
            at += 1
    return ("".join(parts) if is_known else None), at


def _double_quoted(line: str, at: int) -> tuple[str, int, bool]:
    parts: list[str] = []
    is_plain = True
    while at < len(line):
        char = line[at]
        if char == '"':
            return "".join(parts), at + 1, is_plain
        if char == "\\" and at + 1 < len(line) and line[at + 1] in '\\"$`\n':
            parts.append("" if line[at + 1] == "\n" else line[at + 1])
            at += 2
            continue
        if line.startswith("$(", at) or char == "`":
            raise _UnknownLineError
        is_plain = is_plain and char != "$"
        parts.append(char)
        at += 1
    raise _UnknownLineError


def _split(tokens: Sequence[tuple[bool, Word]]) -> Iterator[tuple[str, list[Word], str]]:
    """Yield commands, each with the operators before and after it."""
    words: list[Word] = []
    before = ""
    for is_operator, token in [*tokens, (True, "\n")]:
        if not is_operator:
            if not words and token in _COMPOUND:
                raise _UnknownLineError
            words.append(token)
            continue
        if token in {"(", ")", "|", ";;"}:
            raise _UnknownLineError
        if words:
            yield before, words, str(token)
            words = []
        elif token == "\n" and before in {"&&", "||"}:
            continue  # the line goes on
        before = str(token)


def _unwrap(command: SimpleCommand, *, depth: int) -> CommandLine | None:
    """Return a command without what runs it: `sudo`, `ip netns exec`, `sh -c`; None if unknown."""
    words = list(command.words)
    while words and words[0] is not None and _ASSIGNMENT.match(words[0]):
        del words[0]
    if not words:
        return CommandLine()
    if words[0] is None or depth > _MAX_DEPTH:
        return None
    words[0] = words[0].rpartition("/")[2]
    if words[0] in _SHELLS:
        if len(words) >= 3 and words[1] in _RUN_LINE and words[2] is not None:
            return command_line(command.node, words[2], depth=depth + 1)
        return None
    if words[0] in _UNKNOWN_PROGRAMS:
        return None
    node, rest = _inner(command.node, words)
    if rest is None:
        return None
    if rest != words:
        return _unwrap(SimpleCommand(node, tuple(rest)), depth=depth + 1)
    is_known = words[0] in _KNOWN_PROGRAMS
    return CommandLine((SimpleCommand(node, tuple(words)),), is_known)


def _inner(node: Word, words: list[Word]) -> tuple[Word, list[Word] | None]:
    """Return the node and the words of what a command runs; its own words if it runs nothing."""
    if words[0] == "sudo":
        return node, _without_sudo(words)
    if words[0] in {"exec", "nohup", "command"} and len(words) > 1:
        return node, words[1:]
    if words[0] not in {"ip", "tc"}:
        return node, words
    node, words = _other_namespace(node, words)
    is_exec = _is_prefix(words[1:2], "netns") and _is_prefix(words[2:3], "exec")
    if words[0] == "ip" and is_exec:
        return (words[3], words[4:]) if len(words) > 4 else (node, None)
    return node, words


def _without_sudo(words: Sequence[Word]) -> list[Word] | None:
    rest = list(words[1:])
    while rest and rest[0] is not None:
        if rest[0] in _SUDO_FLAGS or _ASSIGNMENT.match(rest[0]):
            del rest[0]
        elif rest[0] in {"-u", "--user"} and rest[1:2] == ["root"]:
            del rest[:2]
        elif rest[0] == "--":
            del rest[0]
            break
        else:
            break
    if not rest or rest[0] is None or rest[0].startswith("-"):
        return None
    return rest


def _other_namespace(node: str | None, words: list[Word]) -> tuple[str | None, list[Word]]:
    """Return the node and the words of a command of ip or tc without its options."""
    kept = words[:1]
    rest = words[1:]
    while rest and rest[0] is not None and rest[0].startswith("-"):
        if rest[0] in _NETNS_OPTIONS and len(rest) > 1:
            node, rest = rest[1], rest[2:]
        elif rest[0] in {"-b", "-batch", "-force"}:
            return None, [*kept, None]
        else:
            rest = rest[1:]
    return node, [*kept, *rest]


def _is_prefix(words: Sequence[Word], full: str) -> bool:
    """Return whether a word is the beginning of another, as ip and tc compare them."""
    return bool(words and words[0] and full.startswith(words[0]))


def settings_of(words: Sequence[Word]) -> Iterator[tuple[str, str]]:
    """Yield the names, with dots, and values that a command of sysctl sets."""
    if words[0] != "sysctl":
        return
    for word in words[1:]:
        if word is None or word in _SYSCTL_OPTIONS:
            continue
        key, equals, value = word.partition("=")
        if equals:
            yield key.strip().replace("/", "."), value.strip()


def is_ip(words: Sequence[Word], what: str) -> bool:
    """Return whether a command is one of `ip WHAT`; ip takes the beginning of the word, too."""
    return words[0] == "ip" and len(words) > 2 and bool(words[1]) and what.startswith(str(words[1]))
