"""How far a script is followed, and errors that point into it.

A script may come from a stranger, and following it must neither take long nor
much memory: every step is counted, and nothing grows without end.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from longfat.errors import InputError, Place

if TYPE_CHECKING:
    from longfat.study.formats.tclink import Notes

MOST_STEPS = 300_000
MOST_ITEMS = 100_000
MOST_CHARACTERS = 100_000
MOST_BITS = 256


class Course:
    """How far the script was followed, and what there is to tell.

    Args:
        file: the script, as the user named it.
        notes: where to tell what is left out.
    """

    def __init__(self, file: str, notes: Notes) -> None:
        self.file = file
        self.notes = notes
        self._steps = 0

    def step(self, node: ast.AST, *, size: int = 0) -> None:
        """Count a step, and what it makes.

        Raises:
            InputError: there were too many.
        """
        self._steps += 1 + size // 16
        if self._steps > MOST_STEPS or size > MOST_ITEMS:
            raise self.error(node, "the script does too much to be followed without running it")

    def place(self, node: ast.AST) -> Place:
        """Return where a part of the script stands."""
        return Place(self.file, getattr(node, "lineno", 1), getattr(node, "col_offset", 0) + 1)

    def error(self, node: ast.AST, message: str) -> InputError:
        """Return an error that points at a part of the script."""
        return InputError(message, place=self.place(node))

    def say(self, node: ast.AST, what: str) -> None:
        """Tell of something that is left out or taken otherwise."""
        self.notes.say(f"line {getattr(node, 'lineno', 1)}", what)


def source_text(node: ast.AST) -> str:
    """Return a part of the script as a message shows it."""
    text = " ".join(ast.unparse(node).split())
    return text if len(text) <= 60 else f"{text[:57]}..."
