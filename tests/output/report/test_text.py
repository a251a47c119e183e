"""A study's text: what becomes of Markdown, and what cannot get through."""

import re

from hypothesis import example, given
from hypothesis import strategies as st
from markupsafe import Markup

from longfat.output.report.text import page_text, place_network, unfold
from longfat.study.text import NETWORK_LINE, language_of
from tests.output.report.pages import parsed

QUESTION = """
<details>
<summary>Why is `it` <code>never</code> empty?</summary>

Because **so**:

- 25 MB
- 12 MB

</details>
"""


def html_of(markdown: str) -> str:
    return str(page_text(markdown, title="A title").html)


def test_markdown_is_shown() -> None:
    html = html_of(
        "Some *words*, `code`.\n\n| a | b |\n|--:|---|\n| 1 | 2 |\n\n```sh\nls <x>\n```\n"
    )
    assert "<em>words</em>" in html
    assert '<td style="text-align:right">1</td>' in html
    assert 'tabindex="0" role="group" aria-label="Table"><table>' in html
    assert '<pre tabindex="0"><code>ls &lt;x&gt;' in html


def test_a_block_of_lines_has_its_nodes_above_it() -> None:
    text = "```sh h1 h2\nsysctl a\n```\n\n1. First\n\n   ```sh root\n   tc b\n   ```\n"
    html = page_text(text, title="").html
    assert '<p class="typed-at">at h1, h2:</p>\n<pre tabindex="0"><code>sysctl a\n' in html
    assert '<p class="typed-at">at root:</p>\n<pre tabindex="0"><code>tc b\n' in html
    spanish = page_text(text, title="", language=language_of("es")).html
    assert '<p class="typed-at">en h1, h2:</p>' in spanish


def test_blocks_that_are_not_typed_at_nodes_have_no_line_above() -> None:
    blocks = ("sh\nlongfat labs", "sh variation\ntc c", "text\nh1 -- h2", 'sh h1" x="y\nd')
    for block in blocks:
        assert "typed-at" not in page_text(f"```{block}\n```\n", title="").html


def test_answers_are_folded() -> None:
    html = html_of(QUESTION)
    assert "<details>\n<summary>Why is `it` <code>never</code> empty?</summary>" in html
    assert "<strong>so</strong>" in html
    assert "<li>25 MB</li>" in html
    parsed(html)


def test_paper_has_the_answers_apart() -> None:
    page = page_text(
        f"Before.\n{QUESTION}\nAfter.\n\n<details><summary>Answer</summary>\n\n42\n\n</details>",
        title="",
    )
    html, answers = unfold(page.html, word="Answer")
    assert "details" not in html
    assert "<strong>so</strong>" not in html
    assert html.index("Before.") < html.index("#answer-1") < html.index("After.")
    assert [answer.question for answer in answers] == ["Why is `it` <code>never</code> empty?", ""]
    assert "<strong>so</strong>" in answers[0].answer
    assert "42" in answers[1].answer
    assert ">Answer 2</a>" in html


def test_paper_has_the_answers_of_a_translation_apart() -> None:
    page = page_text("<details><summary>Ответ</summary>\n\n42\n\n</details>", title="")
    html, (answer,) = unfold(page.html, word="Ответ")
    assert html == '<p class="question"> <a href="#answer-1">Ответ 1</a></p>'
    assert answer.question == ""


def test_nested_answers_stay_in_one() -> None:
    inner = "<details><summary>b</summary>\n\nc\n\n</details>"
    nested = f"<details><summary>a</summary>\n\n{inner}\n\nd\n\n</details>\n\ne"
    html, (answer,) = unfold(page_text(nested, title="").html, word="Answer")
    assert ">e<" in html
    assert "<summary>b</summary>" in answer.answer
    assert "d" in answer.answer


def test_nothing_foreign_gets_through() -> None:
    bad = """
<script>alert(1)</script>

text <img src="https://evil.example/x.png" onerror="alert(2)"> ![alt](https://evil.example/y.png)

<details onclick="alert(3)"><summary>x</summary></details>

<style>body { display: none }</style><iframe src="//evil.example"></iframe><h2 id="claims">no</h2>

[link](javascript:alert(4)) [data](data:text/html,x) <a href="javascript:alert(5)">y</a>

<details open>
<summary>left open
"""
    html = html_of(bad)
    page = parsed(html)
    assert page.scripts == []
    assert page.handlers == []
    assert page.references == []
    assert page.headings == []
    assert not [link for link in page.links if not link.startswith("https://")]
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html
    assert "iframe" in html  # it is shown as text
    assert "<iframe" not in html


def test_headings_are_in_order_below_the_title() -> None:
    page = page_text("# Lab 1: A title!\n\n## One\n\n#### Deep `x`\n\n## Two\n", title="A title")
    assert [(one.words, one.level) for one in page.headings] == [
        ("One", 2),
        ("Deep x", 3),
        ("Two", 2),
    ]
    assert parsed(page.html).ids == [one.anchor for one in page.headings]
    other = page_text("# Another\n\n## One\n", title="A title")
    assert [(one.words, one.level) for one in other.headings] == [("Another", 2), ("One", 3)]


def test_network_goes_where_the_text_wants_it() -> None:
    page = page_text(f"one\n\n{NETWORK_LINE}\n\ntwo [network] three\n\n{NETWORK_LINE}\n", title="")
    assert page.places_network
    html = place_network(page.html, Markup("<svg></svg>"))
    assert re.findall(r"one|<svg>|two \[network\] three", html) == [
        "one",
        "<svg>",
        "two [network] three",
    ]
    assert not page_text("```\n[network]\n```\n", title="").places_network
    assert not page_text('<hr id="network-goes-here">', title="").places_network


@example("<details><summary><summary>")
@given(
    st.lists(
        st.sampled_from(
            [
                "<details>",
                "</details>",
                "<summary>",
                "</summary>",
                "<details open>",
                "<b>",
                "</p>",
                "<script>",
                "# h",
                "#### h",
                "`",
                "```",
                "- ",
                "> ",
                "|",
                "\n",
                "\n\n",
                "[network]",
                "<!--",
                "-->",
                "<",
                ">",
                "&",
                "x",
                " ",
                "\x00",
                "</section>",
                "<svg onload=x>",
            ]
        ),
        max_size=30,
    ).map("".join)
    | st.text(max_size=200)
)
def test_any_text_is_harmless(markdown: str) -> None:
    found = page_text(markdown, title="A title")
    page = parsed(found.html)
    assert page.scripts == page.handlers == page.references == []
    assert page.headings == [one.level for one in found.headings]
    html, answers = unfold(found.html, word="Answer")
    for part in (html, *(answer.answer for answer in answers)):
        parsed(part)
