"""The documentation as a site: that its links lead somewhere, and its commands are some."""

from __future__ import annotations

import itertools
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from longfat.cli.main import commands
from longfat.study import read_study
from longfat.study.choose import check_names
from longfat.study.text import ENGLISH, language_of
from tests.paths import REPOSITORY
from tools import site
from tools.gallery import ENTRIES, Entry, figure_of

NAMES = {
    "README.md": "index",
    "docs/limits.md": "limits",
    "labs/lab04/text.md": "labs/lab04",
    "studies/loss/text.md": "studies/loss",
}


@pytest.mark.parametrize(
    ("file", "text", "expected"),
    [
        ("README.md", "[a](docs/limits.md#b)", "[a](limits.md#b)"),
        ("docs/limits.md", "[lab 4](../labs/lab04/text.md)", "[lab 4](labs/lab04.md)"),
        ("docs/limits.md", "[all](../labs/lab04)", "[all](labs/lab04.md)"),
        ("labs/lab04/text.md", "[a](../../studies/loss/text.md)", "[a](../studies/loss.md)"),
        ("docs/limits.md", "[the `code`](../src/a.py)", "the `code` (`src/a.py`)"),
        ("docs/limits.md", "[`src/a.py`](../src/a.py)", "`src/a.py`"),
        ("docs/limits.md", "[a](https://b.org/c.md) [d](#e)", "[a](https://b.org/c.md) [d](#e)"),
        ("docs/limits.md", "![a](images/b.png)", "![a](images/b.png)"),
        ("docs/limits.md", "```\n[a](../src/b)\n```\n", "```\n[a](../src/b)\n```\n"),
    ],
)
def test_links_lead_to_pages_of_the_site(file: str, text: str, expected: str) -> None:
    assert site.with_links(text, file=file, names=NAMES) == expected


def test_blocks_of_a_lab_have_captions_that_name_their_nodes() -> None:
    text = "```sh h1 h2\nss\n```\n\n- a\n\n  ```sh root\n  tc\n  ```\n\n```sh\nlongfat\n```\n"
    assert site.with_nodes(text, language=language_of(ENGLISH)) == (
        "```{code-block} sh\n:caption: at h1, h2:\n\nss\n```\n\n"
        "- a\n\n  ```{code-block} sh\n  :caption: at root:\n\n  tc\n  ```\n\n"
        "```sh\nlongfat\n```\n"
    )


@pytest.mark.slow
def test_the_site_is_built_without_a_complaint(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert site.main([str(tmp_path / "site")]) == 0, capsys.readouterr().err
    pages = {str(path.relative_to(tmp_path / "site")) for path in tmp_path.rglob("*.html")}
    assert {f"{name}.html" for name in site.pages(REPOSITORY).values()} <= pages
    reference = (tmp_path / "site/commands.html").read_text()
    assert "longfat kernel build" in reference
    assert "reads and writes Parquet" in (tmp_path / "site/dependencies.html").read_text()
    assert "open_study" in (tmp_path / "site/tutorial.html").read_text()
    gallery = (tmp_path / "site/gallery.html").read_text()
    assert "RESULTS=yes" in gallery
    for entry in ENTRIES:
        assert f"<h2>{entry.title}<" in gallery
    (drawing,) = (tmp_path / "site/_images").glob("a-network.svg")
    assert b"<svg" in drawing.read_bytes()
    russian = (tmp_path / "site/labs/lab08.ru.html").read_text()
    assert re.search(r'<html[^>]* lang="ru"', russian)
    assert 'href="lab08.html"' in russian
    english = (tmp_path / "site/labs/lab08.html").read_text()
    for page, caption in ((english, "at h1, h2:"), (russian, "на h1, h2:")):
        assert f'<span class="caption-text">{caption}</span>' in page
    assert re.search(r'<html[^>]* lang="en"', english)
    assert re.search(r'<a [^>]*href="lab08\.ru\.html"[^>]*>(<span[^>]*>)?Русский', english)
    index = (tmp_path / "site/index.html").read_text()
    for target in re.findall(r'(?:src|href)="([^"#:?]+\.(?:html|png))["#?]', index):
        assert (tmp_path / "site" / target).exists(), target


def test_a_link_to_nowhere_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def write(folder: Path, *, results: bool) -> None:
        assert not results
        (folder / "conf.py").write_text('extensions = ["myst_parser"]\n')
        (folder / "index.md").write_text("# A page\n\n[b](nowhere.md)\n")

    monkeypatch.setattr(site, "write_source", write)
    assert site.main([str(tmp_path / "site")]) == 1
    assert "nowhere.md" in capsys.readouterr().err


def documented_commands() -> Iterator[tuple[str, list[str]]]:
    """Yield the words of each command in a block for a shell, with the file it stands in."""
    for file in site.pages(REPOSITORY):
        text = (REPOSITORY / file).read_text(encoding="utf-8")
        for block in re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
            line = ""
            for more in block.replace("\\\n", " ").splitlines():
                line += more
                try:
                    words = words_of(line.removeprefix("$ "))
                except ValueError:  # a quote that ends in a later line
                    line += "\n"
                    continue
                if words and words[0].rpartition("/")[2] == "longfat":
                    yield file, words[1:]
                line = ""


def words_of(line: str) -> list[str]:
    """Return the words of a line's first command, as a shell splits it."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    return list(itertools.takewhile(lambda word: not set(word) <= set("|<>;&()"), lexer))


def parse(words: list[str]) -> None:
    """Parse a command line as longfat does, and run nothing."""
    command: click.Command = commands
    context = click.Context(commands, info_name="longfat")
    while isinstance(command, click.Group) and words:
        name, found, words = command.resolve_command(context, words)
        assert found is not None
        command = found
        if isinstance(command, click.Group):
            context = click.Context(command, info_name=name, parent=context)
    command.make_context(command.name, words, parent=context)


def test_commands_of_the_documentation_are_commands() -> None:
    found = list(documented_commands())
    assert len(found) > 60
    wrong = []
    for file, words in found:
        try:
            parse([word for word in words if word != "..."])
        except click.exceptions.Exit:
            pass  # --help
        except click.UsageError as error:
            wrong.append(f"{file}: longfat {shlex.join(words)}: {error.format_message()}")
    assert wrong == []


def test_a_figure_of_the_gallery_is_made_by_its_study() -> None:
    (entry,) = (one for one in ENTRIES if one.figure == "phase")
    assert b"<svg" in figure_of(entry, read_study(REPOSITORY / entry.study))


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_each_figure_of_the_gallery_is_one_of_its_study(entry: Entry) -> None:
    study = read_study(REPOSITORY / entry.study)
    check_names([study], entry.cases)
    parse(shlex.split(entry.command)[1:])
    own = [figure.title for figure in study.figures]
    assert entry.figure in (*own, "network", "traffic", "phase", "pings", "completion")
