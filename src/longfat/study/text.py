"""The text that belongs to a study: Markdown in a file beside `study.yaml`, and its translations.

A translation is beside the text and has its language in its name: `text.ru.md`. A
`LanguageChoice` chooses between them. The caller makes it from an option, the locale or a
page's request; the default is English, so that what is read does not depend on the locale.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from longfat.common.suggest import listed
from longfat.errors import InputError
from longfat.study.document import decode_text

if TYPE_CHECKING:
    from pathlib import Path

TEXT_FILES = ("text.md", "README.md")
"""What the file may be called; the first that is there counts."""

NETWORK_LINE = "[network]"
"""A paragraph of nothing else is where a report draws the network."""

ENGLISH = "en"
"""The language of a text whose file names none."""

VARIATION = "variation"
"""In place of nodes in a code block's info string: lines that a text only proposes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Language:
    """The fixed texts of a page that shows a text in a language.

    Attributes:
        name: the language's own name.
        answer: the word that folded answers are labelled with.
        at: the preposition of the line above a block that is typed at nodes: `at h1:`.
    """

    name: str
    answer: str
    at: str

    def typed_at(self, nodes: Sequence[str]) -> str:
        """Return the line above a block of lines that are typed at nodes, such as `at h1, h2:`."""
        return f"{self.at} {', '.join(nodes)}:"


LANGUAGES: Mapping[str, Language] = MappingProxyType(
    {
        ENGLISH: Language(name="English", answer="Answer", at="at"),
        "es": Language(name="Español", answer="Respuesta", at="en"),
        "ru": Language(name="Русский", answer="Ответ", at="на"),
    }
)
"""The languages that are known, by their codes (RFC 5646). A text may be in another one."""

FIGURE = re.compile(
    r"(?P<number>(?:(?<![\w.])-)?\d[\d,\u00a0\u202f]*(?:\.\d+)?)<!-- = (?P<source>[^>]+?) -->"
)
"""A figure that comes from a run, such as `33.0<!-- = red.ping.avg / 1ms -->`.

`tools/text_figures.py` says what the expression may be, and fills in the figure."""

_CODE = re.compile(r"[a-z]{2,3}(?:-[A-Za-z0-9]{2,8})*")
_NODE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
_HEADING = re.compile(r"# +(.+?)(?: +#+)? *(?:\n|$)")
_NO_QUESTION = {"answers", "the answer", "solution"}
_UNTRANSLATED = ("C", "POSIX")
_LOCALES = ("LC_ALL", "LC_MESSAGES", "LANG")


def language_of(code: str) -> Language:
    """Return what is known of a language; of one that is not, its code with English words."""
    return LANGUAGES.get(code) or replace(LANGUAGES[ENGLISH], name=code)


def nodes_of_block(info: str) -> tuple[str, ...]:
    """Return the nodes at which a code block's lines are typed; none for any other block.

    Args:
        info: the block's info string: `sh` and nodes, such as `sh h1 h2`.
    """
    language, *nodes = info.split() or [""]
    is_typed = language == "sh" and nodes != [VARIATION] and all(map(_NODE.fullmatch, nodes))
    return tuple(nodes) if is_typed else ()


def is_answer_label(summary: str) -> bool:
    """Return whether the summary of a folded part only labels an answer, without a question.

    Args:
        summary: its words, without marks.
    """
    word = summary.strip().rstrip(".:?").lower()
    return word in _NO_QUESTION or word in {one.answer.lower() for one in LANGUAGES.values()}


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyText:
    """A text, verbatim from its file.

    Attributes:
        markdown: the text.
        language: the code of its language.
    """

    markdown: str
    language: str = ENGLISH

    @property
    def heading(self) -> str | None:
        """Return the heading that it starts with, or None."""
        found = _HEADING.match(self.markdown)
        return None if found is None else found[1]

    def title(self, of_study: str) -> str:
        """Return the study's title in the text's language: a translation starts with it.

        Args:
            of_study: the title as the study has it, in English.
        """
        return (self.language != ENGLISH and self.heading) or of_study


@dataclass(frozen=True, slots=True, kw_only=True)
class LanguageChoice:
    """The preferred languages of a reader.

    Attributes:
        wanted: languages, the preferred first, as codes (`ru`) or locales (`ru_RU.UTF-8`).
        strict: no other language will do. Else what has none of them is read in English.
    """

    wanted: tuple[str, ...] = ()
    strict: bool = False

    @classmethod
    def made_by(cls, option: str | None, *, environment: Mapping[str, str]) -> LanguageChoice:
        """Return the choice of a command line: an option, or else the user's locale.

        As in GNU gettext, `LANGUAGE` is a list and comes before `LC_ALL`, `LC_MESSAGES` and
        `LANG`, of which the first counts that is set; if that one is C, all is in English.

        Args:
            option: the requested language; None for the locale's.
            environment: the environment variables.
        """
        if option is not None:
            return cls(wanted=(option,), strict=True)
        locale = next((environment[name] for name in _LOCALES if environment.get(name)), "")
        if locale.partition(".")[0] in _UNTRANSLATED:
            return cls()
        return cls(wanted=(*environment.get("LANGUAGE", "").split(":"), locale))

    def choose(self, there: Collection[str], *, of: str) -> str | None:
        """Return the language to read, or None if there is nothing to read.

        Args:
            there: the languages that there are, by code.
            of: whose text it is, for the message.

        Raises:
            InputError: the choice is strict, and its language is not there.
        """
        for language in self.wanted:
            if (found := _match(language, there)) is not None:
                return found
        if self.strict:
            languages = f"there are: {listed(there)}" if there else "there is none at all"
            raise InputError(f"there is no text of {of} in {self.wanted[0]!r} ({languages})")
        return ENGLISH if ENGLISH in there else next(iter(there), None)


ANY = LanguageChoice()
"""No preference: English."""


def find_texts(folder: Path) -> dict[str, Path]:
    """Return the text of the study in a folder and its translations, by their languages.

    Args:
        folder: the folder of the study.

    Returns:
        The files: English first, the others by their codes; none if there is no text. A
        translation of what is not there is none.
    """
    file = next((folder / name for name in TEXT_FILES if (folder / name).is_file()), None)
    if file is None:
        return {}
    found = {ENGLISH: file}
    for other in sorted(folder.glob(f"{file.stem}.*{file.suffix}")):
        code = other.name.removeprefix(f"{file.stem}.").removesuffix(file.suffix)
        if _CODE.fullmatch(code) and code != ENGLISH and other.is_file():
            found[code] = other
    return found


def text_file_name(code: str) -> str:
    """Return what the file of a text in a language is called."""
    first = TEXT_FILES[0]
    return first if code == ENGLISH else first.replace(".", f".{code}.")


def read_texts(folder: Path) -> dict[str, StudyText]:
    """Read the text of the study in a folder and its translations, by their languages.

    Raises:
        InputError: a file cannot be read, or is no UTF-8.
    """
    return {
        code: StudyText(markdown=read_text(file), language=code)
        for code, file in find_texts(folder).items()
    }


def read_study_text(
    folder: Path, *, choice: LanguageChoice = ANY, of: str | None = None
) -> StudyText | None:
    """Read the text of the study in a folder, or return None if it has none.

    Args:
        folder: the folder of the study.
        choice: in which language.
        of: whose text it is, for messages; the folder's, if None.

    Raises:
        InputError: it cannot be read, is no UTF-8, or is not there in the language that
            it must be in.
    """
    files = find_texts(folder)
    code = choice.choose(files, of=str(folder) if of is None else of)
    return None if code is None else StudyText(markdown=read_text(files[code]), language=code)


def read_text(file: Path) -> str:
    """Read a text, without the expressions of its figures.

    Raises:
        InputError: the file cannot be read, or is no UTF-8.
    """
    try:
        data = file.read_bytes()
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"{file}: cannot be read: {reason}") from None
    return FIGURE.sub(r"\g<number>", decode_text(data, file=str(file)))


def _match(language: str, there: Collection[str]) -> str | None:
    """Return the language that a code or locale means: pt_BR.UTF-8 is pt-BR, or else pt."""
    parts = language.partition(".")[0].partition("@")[0].replace("_", "-").lower().split("-")
    codes = {code.lower(): code for code in there}
    for count in range(len(parts), 0, -1):
        if (code := codes.get("-".join(parts[:count]))) is not None:
            return code
    return None
