"""A study's text as a part of the page: Markdown in, safe HTML out.

Of HTML a text may use `<details>` and `<summary>`, which hide answers,
and a few plain elements such as `<code>` inside them. Every other `<` is shown
literally. `nh3` cleans the result once more, and closes open
elements, so that a text can neither run a script nor break the page around it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import nh3
from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup

from longfat.study.text import (
    ENGLISH,
    NETWORK_LINE,
    Language,
    is_answer_label,
    language_of,
    nodes_of_block,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

_NETWORK_ID = "network-goes-here"
_NETWORK_MARK = f'<hr id="{_NETWORK_ID}">'
_TOP_LEVEL = 2  # the page has its own heading of the first level
_LAST_LEVEL = 6

_FOREIGN = re.compile(
    r"<(?!/?(?:details|summary|code|kbd|em|strong|b|i|sub|sup|var|br)\s*/?>|details\s+open\s*>)",
    re.IGNORECASE,
)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_TAGS = {
    *(f"h{level}" for level in range(_TOP_LEVEL, _LAST_LEVEL + 1)),
    *("p", "br", "hr", "blockquote", "pre", "code", "kbd", "em", "strong", "b", "i", "s", "sub"),
    *("sup", "var", "a", "ul", "ol", "li", "details", "summary"),
    *("table", "thead", "tbody", "tr", "th", "td"),
}
_ATTRIBUTES = {
    **{f"h{level}": {"id"} for level in range(_TOP_LEVEL, _LAST_LEVEL + 1)},
    **{tag: {"style"} for tag in ("th", "td")},
    "hr": {"id"},
    "a": {"href"},
    "ol": {"start"},
    "p": {"class"},
    "pre": {"data-step"},
}
_BLOCK = re.compile(r'<pre( data-step="[^"]*")?>')
_FOLD = re.compile(r"(<details>|</details>)")
_SUMMARY = re.compile(r"\s*<summary>((?:(?!<summary>).)*?)</summary>", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of the text: its title, its level, and its anchor."""

    words: str
    level: int
    anchor: str


@dataclass(frozen=True, slots=True)
class PageText:
    """A text, ready for the page.

    Attributes:
        html: the HTML, with at most one mark where the network goes.
        headings: its headings, in their order.
    """

    html: Markup
    headings: tuple[Heading, ...]

    @property
    def places_network(self) -> bool:
        """Return whether the text specifies where the drawing of the network goes."""
        return _NETWORK_MARK in self.html


@dataclass(frozen=True, slots=True)
class Answer:
    """A folded answer: its summary, and the rest."""

    question: Markup
    answer: Markup


def page_text(
    markdown: str,
    *,
    title: str,
    language: Language | None = None,
    steps_at: Collection[str] = (),
) -> PageText:
    """Return a text as HTML whose headings start at the second level.

    A code block that is typed at nodes (`nodes_of_block`) has a line above it that names them.

    Args:
        markdown: the text.
        title: the page's own heading; a first heading with the same text is
            left out.
        language: what it is written in; English, if None.
        steps_at: nodes at which the page can type commands. A code block that is typed at
            such nodes is marked as a step in place of the line, `<pre data-step="h1 h2">`,
            for the page names them on its button.
    """
    reader = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    reader.disable("image")
    tokens = _with_network_mark(_without_title(reader.parse(markdown), title))
    _tame(tokens)
    headings = _number_headings(tokens)
    _name_nodes(tokens, language or language_of(ENGLISH), steps_at)
    html = reader.renderer.render(tokens, reader.options, {})
    clean = nh3.clean(
        html,
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        url_schemes={"http", "https", "mailto"},
        filter_style_properties={"text-align"},
    )
    before, mark, after = clean.partition(_NETWORK_MARK)
    clean = before + mark + after.replace(_NETWORK_MARK, "")
    return PageText(html=_scrolling(clean), headings=tuple(headings))


def place_network(html: Markup, drawing: Markup) -> Markup:
    """Put the drawing of the network where a text specifies it.

    Args:
        html: what `page_text` or `unfold` gave.
        drawing: the drawing.
    """
    return html.replace(Markup(_NETWORK_MARK), drawing)


def unfold(html: Markup, *, word: str) -> tuple[Markup, tuple[Answer, ...]]:
    """Take the answers out of a text, for paper, which cannot fold them.

    Args:
        html: what `page_text` gave.
        word: the word for an answer in the text's language.

    Returns:
        The text with a reference to `#answer-N` in place of each answer, and
        the answers.
    """
    parts: list[str] = []
    answers: list[Answer] = []
    inside: list[str] = []
    depth = 0
    for piece in _FOLD.split(html):
        depth += piece == "<details>"
        if not depth:
            parts.append(piece)
            continue
        inside.append(piece)
        depth -= piece == "</details>"
        if not depth:
            body = "".join(inside).removeprefix("<details>").removesuffix("</details>")
            inside = []
            found = _SUMMARY.match(body)
            question = Markup(found[1] if found else "")
            rest = Markup(body[found.end() :] if found else body)
            if is_answer_label(question):
                question = Markup("")  # it is in the text already
            answers.append(Answer(question, rest))
            number = len(answers)
            reference = Markup('<p class="question">{} <a href="#answer-{}">{} {}</a></p>')
            parts.append(reference.format(question, number, word, number))
    return Markup("").join(map(Markup, parts)), tuple(answers)


def _without_title(tokens: list[Token], title: str) -> list[Token]:
    if len(tokens) < 3 or tokens[0].type != "heading_open" or tokens[0].tag != "h1":
        return tokens
    own, first = _plain(title), _plain(tokens[1].content)
    return tokens[3:] if own in first or first in own else tokens


def _plain(words: str) -> str:
    return " ".join(re.findall(r"\w+", words.casefold()))


def _with_network_mark(tokens: Sequence[Token]) -> list[Token]:
    found: list[Token] = []
    for token in tokens:
        found.append(token)
        if token.type == "paragraph_close" and found[-2].content.strip() == NETWORK_LINE:
            found[-3:] = [Token("network", "hr", 0, attrs={"id": _NETWORK_ID})]
    return found


def _tame(tokens: Sequence[Token]) -> None:
    for token in tokens:
        if token.type in {"html_block", "html_inline"}:
            token.content = _FOREIGN.sub("&lt;", _COMMENT.sub("", token.content))
        _tame(token.children or ())


def _name_nodes(tokens: Sequence[Token], language: Language, steps_at: Collection[str]) -> None:
    """Write the code blocks that are typed at nodes as HTML of our own, with their nodes."""
    for token in tokens:
        nodes = nodes_of_block(token.info) if token.type == "fence" else ()
        if not nodes:
            continue
        if set(nodes) <= set(steps_at):
            found = Markup('<pre data-step="{}"><code>{}</code></pre>\n')
            token.content = found.format(" ".join(nodes), token.content)
        else:
            found = Markup('<p class="typed-at">{}</p>\n<pre><code>{}</code></pre>\n')
            token.content = found.format(language.typed_at(nodes), token.content)
        token.type = "html_block"


def _number_headings(tokens: Sequence[Token]) -> list[Heading]:
    """Give headings levels without gaps, from the page's second on, and anchors."""
    found: list[Heading] = []
    opened = [index for index, token in enumerate(tokens) if token.type == "heading_open"]
    top = min((int(tokens[index].tag[1]) for index in opened), default=1)
    before = _TOP_LEVEL - 1
    for number, index in enumerate(opened, start=1):
        wanted = int(tokens[index].tag[1]) - top + _TOP_LEVEL
        before = min(wanted, before + 1, _LAST_LEVEL)
        heading = Heading(_words(tokens[index + 1]), before, f"text-{number}")
        tokens[index].tag = tokens[index + 2].tag = f"h{before}"
        tokens[index].attrs = {"id": heading.anchor}
        found.append(heading)
    return found


def _words(inline: Token) -> str:
    kinds = {"text", "code_inline"}
    return "".join(
        t.content if t.type in kinds else " " * (t.type == "softbreak")
        for t in inline.children or ()
    )


def _scrolling(html: str) -> Markup:
    """Put wide elements into boxes that scroll, with the keyboard too."""
    html = _BLOCK.sub(r'<pre tabindex="0"\1>', html)
    html = html.replace(
        "<table>", '<div class="wide" tabindex="0" role="group" aria-label="Table"><table>'
    )
    return Markup(html.replace("</table>", "</table></div>"))
