"""Errors that are collected while a file is read, so that all are reported at once.

A reader that finds an error passes it to `Node.note`. If errors are collected, reading
continues; if not, the error is raised at once. What depends on something that could not be
read is not checked, so that one mistake is not reported as two.
"""

from __future__ import annotations

from longfat.errors import InputError, MistakesError

MOST_MISTAKES = 100
"""After so many, nothing more is read."""


class Mistakes:
    """The mistakes of one file, in the order in which they were found."""

    def __init__(self) -> None:
        self._found: list[InputError] = []

    def __len__(self) -> int:
        return len(self._found)

    def add(self, error: InputError) -> None:
        """Keep a mistake, once for each place and message.

        Raises:
            InputError: there are too many, or it has no place, so it could not be located.
        """
        for one in error.mistakes:
            if one.place is None:
                raise one
            if not any(self._is_same(one, other) for other in self._found):
                self._found.append(one)
        if len(self._found) >= MOST_MISTAKES:
            self.check()

    def check(self) -> None:
        """Raise what was found.

        Raises:
            InputError: the mistake, or all of them.
        """
        if len(self._found) > 1:
            raise MistakesError(self._found)
        if self._found:
            raise self._found[0]

    @staticmethod
    def _is_same(one: InputError, other: InputError) -> bool:
        # A mistake in a common field is met in each case.
        assert one.place is not None
        assert other.place is not None
        return (one.place.line, one.place.column) == (other.place.line, other.place.column)
