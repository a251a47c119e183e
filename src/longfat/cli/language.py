"""`--language`: in which language a lab's text is shown, by default that of the locale."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, TypeVar

import click

from longfat.study.labs import all_labs
from longfat.study.text import LanguageChoice

_Command = TypeVar("_Command", bound=Callable[..., Any])


def language_option(what: str) -> Callable[[_Command], _Command]:
    """Return the option, whose value is a `LanguageChoice`.

    Args:
        what: what is in that language, for the help.
    """
    return click.option(
        "--language",
        metavar="CODE",
        callback=_choice,
        shell_complete=complete_language,
        help=f"{what} in this language, such as 'ru'; default: that of the locale, else English.",
    )


def complete_language(
    _context: click.Context, _parameter: click.Parameter, begin: str
) -> list[str]:
    """Return the languages of the labs' texts that begin so."""
    codes = {code for lab in all_labs() for code in lab.text_files}
    return sorted(code for code in codes if code.startswith(begin))


def _choice(
    _context: click.Context, _parameter: click.Parameter, code: str | None
) -> LanguageChoice:
    return LanguageChoice.made_by(code, environment=os.environ)
