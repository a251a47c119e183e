"""`longfat show`: a lab's text, its study file, or the addresses and routes of a study.

The texts are Markdown with answers folded away in HTML's `<details>`, which a
browser can open and a terminal cannot: there they are left out, or written
after their questions.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import ClassVar

import click
from markdown_it.token import Token
from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import CodeBlock, Markdown, MarkdownContext, MarkdownElement
from rich.syntax import Syntax
from rich.text import Text

from longfat.cli.completion import complete_case, complete_study
from longfat.cli.console import echo, stdout
from longfat.cli.language import language_option
from longfat.cli.options import json_option
from longfat.cli.render.addresses import addresses_json, print_addresses
from longfat.common.suggest import listed, nearest
from longfat.errors import InputError
from longfat.model.network.address_table import address_table
from longfat.study import STUDY_FILE, read_study
from longfat.study.labs import StudyFolder, find_lab, find_study_file
from longfat.study.text import (
    ENGLISH,
    NETWORK_LINE,
    Language,
    LanguageChoice,
    is_answer_label,
    language_of,
    nodes_of_block,
    read_text,
)

# Longer lines are hard to read.
_MAX_WIDTH = 100

# Code is left as it is: a fence first, so that what looks like details inside is none.
_FOLDED = re.compile(
    r"(?P<code>^(?P<fence>```+|~~~+).*?^(?P=fence)[`~]*[ \t]*$)"
    r"|<details[^>]*>\s*<summary[^>]*>(?P<summary>.*?)</summary>(?P<answer>.*?)</details>",
    re.DOTALL | re.MULTILINE | re.IGNORECASE,
)
# Where the report draws the network; a text has its own drawing for terminals.
_NETWORK = re.compile(rf"^{re.escape(NETWORK_LINE)}\s*$\n?", re.MULTILINE)
_CODE_TAG = re.compile(r"</?code>", re.IGNORECASE)
_TAG = re.compile(r"</?[a-z][^>]*>", re.IGNORECASE)
_PLAIN_START = re.compile(r"[\w\"'(*`]")


class _Block(CodeBlock):
    """A code block below a line that names the nodes at which it is typed.

    Its lines are as wide as they are, since one that is broken cannot be copied; but in lists,
    which would cut them off.
    """

    def __init__(self, lexer_name: str, theme: str, *, title: str) -> None:
        super().__init__(lexer_name, theme)
        self._title = title
        self._is_nested = False

    @classmethod
    def create(cls, markdown: Markdown, token: Token) -> _Block:
        assert isinstance(markdown, _LabText)
        nodes = nodes_of_block(token.info)
        title = markdown.language.typed_at(nodes) if nodes else ""
        lexer = token.info.partition(" ")[0] or "text"
        return cls(lexer, markdown.code_theme, title=title)

    def on_enter(self, context: MarkdownContext) -> None:
        super().on_enter(context)
        self._is_nested = len(context.stack) > 1

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if self._title:
            yield Text(self._title, style="bold")
        if self._is_nested:
            yield from super().__rich_console__(console, options)
            return
        code = str(self.text).rstrip()
        text = Syntax(code, self.lexer_name, theme=self.theme).highlight(code)
        for line in text.split():
            yield Text("  ", no_wrap=True, overflow="ignore").append(line)


class _LabText(Markdown):
    """A lab's text.

    Args:
        markup: the Markdown.
        language: the language that it is in.
    """

    elements: ClassVar[dict[str, type[MarkdownElement]]] = {**Markdown.elements, "fence": _Block}

    def __init__(self, markup: str, *, language: Language) -> None:
        # A theme of the terminal's own colours, for terminals may be dark or light.
        # A link's target is printed, since a terminal that follows links hides it.
        super().__init__(markup, code_theme="ansi_dark", hyperlinks=False)
        self.language = language


@click.command()
@click.argument("lab", metavar="LAB", shell_complete=complete_study)
@click.option(
    "--study", "as_study", is_flag=True, help="Print the study file in place of the text."
)
@click.option(
    "--answers/--no-answers",
    default=None,
    help="Show the answers to the text's questions; by default a terminal does not.",
)
@click.option(
    "--addresses",
    "shows_addresses",
    is_flag=True,
    help="Print the addresses and routes of each host in place of the text; LAB can be any study.",
)
@click.option(
    "--case",
    metavar="NAME",
    shell_complete=complete_case,
    help="With --addresses: those of this case, where cases have different networks.",
)
@json_option("With --addresses: print one JSON object.")
@language_option("The text")
def show(
    lab: str,
    *,
    as_study: bool,
    answers: bool | None,
    shows_addresses: bool,
    case: str | None,
    as_json: bool,
    language: LanguageChoice,
) -> None:
    """Print the text of LAB, or the addresses of a study.

    In a pipe the text is Markdown.
    """
    if shows_addresses:
        _show_addresses(lab, case=case, as_json=as_json)
        return
    if case is not None or as_json:
        raise click.UsageError("--case and --json need --addresses")
    found = _find(lab)
    if as_study:
        echo(read_text(found.study_file), nl=False)
        return
    files = found.text_files
    if not files:
        raise InputError(
            f"the lab {found.name!r} has no text; its study file: longfat show {lab} --study"
        )
    code = language.choose(files, of=f"the lab {found.name!r}") or ENGLISH
    text = read_text(files[code])
    spoken = language_of(code)
    console = stdout()
    if not console.is_terminal:
        echo(text if answers is not False else fold_answers(text), nl=False)
        return
    plain = unfold_answers(text, word=spoken.answer) if answers else fold_answers(text)
    plain = _NETWORK.sub("", plain)
    width = min(console.width, _MAX_WIDTH)
    console.print(_LabText(plain, language=spoken), width=width, crop=False)
    if not answers and plain != text:
        same = f" --language {code}" if language.strict else ""
        console.print(f"\nWith the answers: longfat show {lab}{same} --answers", style="dim")


def _show_addresses(argument: str, *, case: str | None, as_json: bool) -> None:
    study = read_study(find_study_file(argument))
    if case is not None and case not in study.cases:
        raise InputError(
            f"{study.file}: there is no case {case!r}{nearest(case, study.cases)} "
            f"(there are: {listed(study.cases)})"
        )
    chosen = study.cases.values() if case is None else [study.cases[case]]
    tables = [
        address_table(one.case.network, written=one.written_network or one.case.network)
        for one in chosen
    ]
    if any(table != tables[0] for table in tables):
        raise InputError(
            f"{study.file}: its cases have different networks: name one with --case "
            f"(there are: {listed(study.cases)})"
        )
    if as_json:
        data = addresses_json(tables[0], title=study.title)
        echo(json.dumps(data, indent=2, ensure_ascii=False))
    else:
        print_addresses(tables[0], title=study.title, console=stdout())


def unfold_answers(text: str, *, word: str) -> str:
    """Write each folded answer as a paragraph that starts with `Answer:`, after its question.

    Args:
        text: Markdown.
        word: what `Answer` is in the text's language.
    """
    return _FOLDED.sub(lambda found: _unfolded(found, word), text)


def fold_answers(text: str) -> str:
    """Leave each folded answer out, and keep its question.

    Args:
        text: Markdown.
    """
    return _FOLDED.sub(lambda found: found["code"] or _question(found["summary"]), text)


def _unfolded(found: re.Match[str], word: str) -> str:
    if found["code"]:
        return found["code"]
    answer = found["answer"].strip()
    # A list, a table or code must stay at the beginning of its line.
    gap = " " if _PLAIN_START.match(answer) and not answer.startswith("```") else "\n\n"
    parts = (_question(found["summary"]), f"**{word}:**{gap}{answer}\n")
    return "\n\n".join(part for part in parts if part)


def _question(summary: str) -> str:
    text = " ".join(_TAG.sub("", _CODE_TAG.sub("`", summary)).split())
    return "" if is_answer_label(text) else text


def _find(name: str) -> StudyFolder:
    folder = Path(name)
    if (folder / STUDY_FILE).is_file():
        return StudyFolder(name=folder.resolve().name, folder=folder)
    return find_lab(name)
