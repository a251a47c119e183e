"""A study's text and its translations: which there are, and which somebody gets."""

from __future__ import annotations

from pathlib import Path

import pytest

from longfat.errors import InputError
from longfat.study import read_study
from longfat.study.text import (
    LANGUAGES,
    LanguageChoice,
    StudyText,
    find_texts,
    is_answer_label,
    language_of,
    nodes_of_block,
    read_study_text,
    read_texts,
    text_file_name,
)

STUDY = """\
title: A study
kernel: "6.1"
network: {hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8}, links: [[h1, h2]]}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "small"
    folder.mkdir()
    (folder / "study.yaml").write_text(STUDY)
    (folder / "text.md").write_text("# A study\n\nHello.\n")
    (folder / "text.ru.md").write_text("# Работа\n\n- Узлы.\n")
    (folder / "text.pt-BR.md").write_text("Olá.\n")
    return folder


def test_translations_are_found_by_their_names(folder: Path) -> None:
    for other in ("text.ru.txt", "text..md", "text.Draft.md", "text.en.md", "notes.ru.md"):
        (folder / other).write_text("# No translation\n")
    assert list(find_texts(folder).items()) == [
        ("en", folder / "text.md"),
        ("pt-BR", folder / "text.pt-BR.md"),
        ("ru", folder / "text.ru.md"),
    ]
    assert [text_file_name(code) for code in ("en", "ru")] == ["text.md", "text.ru.md"]
    (folder / "text.md").unlink()
    assert find_texts(folder) == {}
    (folder / "README.md").write_text("Hello.\n")
    (folder / "README.es.md").write_text("Hola.\n")
    assert {code: text.markdown for code, text in read_texts(folder).items()} == {
        "en": "Hello.\n",
        "es": "Hola.\n",
    }


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, "en"),
        ({"LANG": "ru_RU.UTF-8"}, "ru"),
        ({"LANG": "pt_BR"}, "pt-BR"),
        ({"LANG": "pt_PT"}, "en"),
        ({"LANG": "de_DE.UTF-8"}, "en"),
        ({"LANG": "ru_RU@euro", "LC_MESSAGES": "de_DE"}, "en"),
        ({"LANG": "de_DE", "LC_ALL": "ru_RU.KOI8-R"}, "ru"),
        ({"LANG": "ru_RU", "LC_ALL": ""}, "ru"),
        ({"LANG": "de_DE", "LANGUAGE": "fr:ru:en"}, "ru"),
        ({"LANG": "de_DE", "LANGUAGE": "fr:en:ru"}, "en"),
        ({"LANGUAGE": "ru"}, "ru"),
        ({"LANG": "C.UTF-8", "LANGUAGE": "ru"}, "en"),
        ({"LC_ALL": "POSIX", "LANG": "ru_RU", "LANGUAGE": "ru"}, "en"),
    ],
)
def test_the_locale_chooses(environment: dict[str, str], expected: str) -> None:
    choice = LanguageChoice.made_by(None, environment=environment)
    assert choice.choose(["en", "pt-BR", "ru"], of="x") == expected
    assert choice.choose([], of="x") is None


def test_an_option_is_obeyed_or_refused() -> None:
    environment = {"LANG": "de_DE.UTF-8"}
    choice = LanguageChoice.made_by("ru", environment=environment)
    assert choice.choose(["de", "en", "ru"], of="x") == "ru"
    with pytest.raises(InputError, match=r"no text of x in 'ru' \(there are: en, es\)"):
        choice.choose(["en", "es"], of="x")
    with pytest.raises(InputError, match=r"no text of x in 'ru' \(there is none at all\)"):
        choice.choose([], of="x")
    assert LanguageChoice.made_by("EN_us", environment={}).choose(["en"], of="x") == "en"


def test_a_study_has_its_text_in_the_language_that_is_wanted(folder: Path) -> None:
    def text_in(*wanted: str, strict: bool = False) -> StudyText | None:
        return read_study(folder, language=LanguageChoice(wanted=wanted, strict=strict)).text

    assert text_in() == StudyText(markdown="# A study\n\nHello.\n")
    russian = text_in("ru")
    assert russian == StudyText(markdown="# Работа\n\n- Узлы.\n", language="ru")
    assert russian.title("A study") == "Работа"
    assert StudyText(markdown="# Other\n").title("A study") == "A study"
    assert StudyText(markdown="Olá.\n", language="pt-BR").title("A study") == "A study"
    with pytest.raises(InputError, match="no text of small in 'de'"):
        text_in("de", strict=True)
    (folder / "other.yaml").write_text(STUDY)
    assert read_study(folder / "other.yaml").text is None
    with pytest.raises(InputError, match="there is none at all"):
        read_study(folder / "other.yaml", language=LanguageChoice(wanted=("ru",), strict=True))


def test_a_translation_that_cannot_be_read(folder: Path) -> None:
    (folder / "text.ru.md").write_bytes(b"\xff")
    assert read_study_text(folder) is not None
    with pytest.raises(InputError, match=r"text\.ru\.md:1:1: the file is not UTF-8: byte 0xff"):
        read_study_text(folder, choice=LanguageChoice(wanted=("ru",)))


@pytest.mark.parametrize(
    ("info", "nodes"),
    [
        ("sh h1", ("h1",)),
        ("sh h1  h2", ("h1", "h2")),
        ("sh", ()),
        ("", ()),
        ("sh variation", ()),
        ("text h1", ()),
        ('sh h1" x="', ()),
    ],
)
def test_nodes_of_a_block(info: str, nodes: tuple[str, ...]) -> None:
    assert nodes_of_block(info) == nodes


def test_words_of_languages() -> None:
    assert all(is_answer_label(f" {one.answer.upper()}:") for one in LANGUAGES.values())
    assert is_answer_label("The answer")
    assert not is_answer_label("Why?")
    assert language_of("ru").name == "Русский"
    assert language_of("xx").name == "xx"
    assert language_of("xx").answer == "Answer"
