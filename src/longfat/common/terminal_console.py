"""A console of rich that escapes what others wrote, and keeps its own styles."""

from __future__ import annotations

from collections.abc import Iterable
from typing import IO, Any, NoReturn

from rich.console import Console
from rich.segment import Segment

from longfat.common.terminal_text import TerminalStream, printable


class TerminalConsole(Console):
    """A console for texts of studies, runs and guests; its output may be a pipe.

    Only rich's styles and the cursor movements of its live displays are written as they are.
    A style has no hyperlink, since its target may be of a text. Texts are not markup.

    Args:
        options: those of rich's console.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"highlight": False, "markup": False, "emoji": False, **options})

    @property
    def file(self) -> IO[str]:
        """The stream to write to, which need not escape again."""
        file = super().file
        return file.stream if isinstance(file, TerminalStream) else file

    @file.setter
    def file(self, new_file: IO[str]) -> None:
        self._file = new_file

    def _render_buffer(self, buffer: Iterable[Segment]) -> str:
        return super()._render_buffer(map(_escaped, buffer))

    def on_broken_pipe(self) -> NoReturn:
        """Let the command end as by any closed pipe; rich ends it with 1, our failed claim."""
        raise BrokenPipeError


def _escaped(segment: Segment) -> Segment:
    if segment.control:
        return segment
    text, style, _ = segment
    if style is not None and style.link:
        style = style.update_link(None)
    return Segment(printable(text), style)
