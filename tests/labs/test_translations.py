"""Translations of lab texts are those of the text as it stands: the same but for the words.

A change of the English text fails here until its translations follow. What a translator
may not change is compared as it is: code, commands, links, images, what is folded away. Of
tables and of all else the numbers are compared; the words are for a reader to judge.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from longfat.study.labs import all_labs
from longfat.study.text import (
    ENGLISH,
    LANGUAGES,
    NETWORK_LINE,
    StudyText,
    is_answer_label,
    read_text,
)

TRANSLATIONS = [
    (files[ENGLISH], file, code)
    for files in (lab.text_files for lab in all_labs())
    for code, file in files.items()
    if code != ENGLISH
]

pytestmark = pytest.mark.parametrize(
    ("english", "translation", "code"),
    TRANSLATIONS,
    ids=[f"{file.parent.name}-{code}" for _, file, code in TRANSLATIONS],
)

_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
# Spaces between digits group them in many languages.
_GROUPED = re.compile(r"(?<=\d)[\u00a0\u202f](?=\d{3}(?!\d))")
_SUMMARY = re.compile(r"<summary>(.*?)</summary>")
_TAG = re.compile(r"</?[a-z][^>]*>")
_READER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])


def test_the_language_is_known_and_the_title_translated(
    english: Path, translation: Path, code: str
) -> None:
    assert code in LANGUAGES, f"name it in LANGUAGES of {StudyText.__module__}"
    written = StudyText(markdown=read_text(translation), language=code)
    assert written.heading is not None
    assert read_text(translation) != read_text(english)


def test_blocks_of_code_are_the_same(english: Path, translation: Path, code: str) -> None:
    del code
    assert blocks(translation) == blocks(english)


def test_the_parts_follow_each_other_in_the_same_order(
    english: Path, translation: Path, code: str
) -> None:
    """Headings with their levels, paragraphs, lists, tables, code and folded answers."""
    del code
    assert list(parts(translation)) == list(parts(english))


def test_tables_have_the_same_numbers(english: Path, translation: Path, code: str) -> None:
    del code
    theirs, ours = tables(translation), tables(english)
    assert [len(rows) for rows in theirs] == [len(rows) for rows in ours]
    for translated, original in zip(theirs, ours, strict=True):
        for row, expected in zip(translated, original, strict=True):
            assert [numbers(cell) for cell in row] == [numbers(cell) for cell in expected]


def test_paragraphs_have_the_same_numbers_and_code(
    english: Path, translation: Path, code: str
) -> None:
    del code
    pairs = zip(inlines(translation), inlines(english), strict=True)
    for translated, original in pairs:
        where = f"{translation}, line {line(translated)}: {original.content}"
        assert code_of(translated) == code_of(original), where
        assert targets(translated) == targets(original), where
        assert numbers(words(translated)) == numbers(words(original)), where


def test_answers_are_labelled_in_the_language(english: Path, translation: Path, code: str) -> None:
    labels = _SUMMARY.findall(read_text(translation))
    assert len(labels) == len(_SUMMARY.findall(read_text(english)))
    assert {one for one in labels if is_answer_label(one)} <= {LANGUAGES[code].answer}
    assert read_text(translation).count(f"\n\n{NETWORK_LINE}\n\n") == 1


def tokens(file: Path) -> list[Token]:
    return _READER.parse(read_text(file))


def blocks(file: Path) -> list[tuple[str, str]]:
    return [(one.info, one.content) for one in tokens(file) if one.type == "fence"]


def parts(file: Path) -> Iterator[tuple[str, str]]:
    """Yield what opens, in its order, with the level of headings and the tags of HTML."""
    for token in tokens(file):
        if token.type == "html_block":
            yield token.type, "".join(_TAG.findall(token.content))
        elif token.nesting == 1 or token.type in {"fence", "hr"}:
            yield token.type, token.tag


def tables(file: Path) -> list[list[list[str]]]:
    found: list[list[list[str]]] = []
    for token in tokens(file):
        if token.type == "table_open":
            found.append([])
        elif token.type == "tr_open":
            found[-1].append([])
        elif token.type in {"th_open", "td_open"}:
            found[-1][-1].append("")
        elif token.type == "inline" and found and found[-1] and found[-1][-1] and token.level > 3:
            found[-1][-1][-1] = token.content
    return found


def inlines(file: Path) -> list[Token]:
    return [token for token in tokens(file) if token.type == "inline"]


def line(token: Token) -> int | None:
    return None if token.map is None else token.map[0] + 1


def code_of(inline: Token) -> Counter[str]:
    """Return what stands as code; the order of words is the language's."""
    return Counter(one.content for one in inline.children or () if one.type == "code_inline")


def targets(inline: Token) -> Counter[str]:
    """Return what is linked to, and which images are shown."""
    found = (one.attrs.get("href") or one.attrs.get("src") for one in inline.children or ())
    return Counter(str(one) for one in found if one is not None)


def words(inline: Token) -> str:
    return "".join(
        " " if one.type == "softbreak" else one.content
        for one in inline.children or ()
        if one.type in {"text", "softbreak", "html_inline"}
    )


def numbers(text: str) -> Counter[str]:
    """Return the numbers in a text; how a language writes their digits does not matter.

    A point or comma is dropped where it may be either a decimal mark or one that groups
    thousands: 2.5 in English is 2,5 in Russian, and 16,777,216 is 16 777 216.
    """
    return Counter(re.sub(r"[.,]", "", found) for found in _NUMBER.findall(_GROUPED.sub("", text)))
