"""Arguments that are passed to a tool as they are, and those that cannot be.

Options that would break the run are rejected: those that longfat sets itself, those that
change the output that is read, and those that have a field of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from longfat.model.fields import declare
from longfat.model.kinds import Texts

RESERVED = "longfat sets it itself"
OUTPUT = "it changes the output that longfat reads"


def has_field(names: Mapping[str, Iterable[str]]) -> dict[str, str]:
    """Return why options are rejected that have a field of their own.

    Args:
        names: the names of the options by the key of the field.
    """
    return {
        name: f"write it as the field {key!r}" for key, options in names.items() for name in options
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The options of a tool.

    Attributes:
        valued: the short options that take a value.
        long_valued: the long options whose value is the next argument.
        rejected: why an option is rejected, by its name without hyphens.
    """

    valued: str
    long_valued: frozenset[str]
    rejected: Mapping[str, str]

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
        for word, reason in self.rejected.items():
            if len(word) > 1 and name and word.startswith(name):
                return f"--{name} cannot be given: {reason}"
        return None

    def _cluster(self, letters: str) -> tuple[str | None, bool]:
        for index, letter in enumerate(letters):
            if letter in self.rejected:
                return f"-{letter} cannot be given: {self.rejected[letter]}", False
            if letter in self.valued:
                return None, index + 1 == len(letters)
        return None, False


def arguments(options: Options) -> Any:
    """Return the field of a flow that holds further arguments of its tool."""
    return declare(
        Texts(
            what='a list of arguments (such as ["-N"])', each="an argument", problem=options.check
        ),
        default=(),
        label="Arguments",
        help="further arguments of the tool, passed on as they are",
    )
