"""A student's page: points, reasons, hints, and what the checks found, explained.

What the student wrote is escaped by the template; the page has no script and may load nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from longfat import __version__
from longfat_class.analysis import CHECKS

if TYPE_CHECKING:
    from longfat_class.analysis import Graded


@dataclass(frozen=True, slots=True, kw_only=True)
class _Mistake:
    """A mistake, with the locations where it was found."""

    title: str
    explanation: str
    places: tuple[tuple[str, str], ...]


def student_page(graded: Graded) -> str:
    """Return the page of a submission, as HTML.

    It shows no answer key, and no reasons for hidden exercises: it is for the student.

    Args:
        graded: the submission.
    """
    environment = Environment(
        # The page has the style of reports.
        loader=ChoiceLoader(
            [
                PackageLoader("longfat_class.output", package_path=""),
                PackageLoader("longfat.output", package_path=""),
            ]
        ),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["code"] = _code
    return environment.get_template("student.html.j2").render(
        graded=graded,
        version=__version__,
        mistakes=_mistakes(graded),
        submitted=_submitted(graded),
    )


def _code(text: str) -> Markup:
    """Return a text as HTML: escaped, with text between backticks as code."""
    parts = text.split("`")
    pairs = enumerate(parts[:-1] if len(parts) % 2 == 0 else parts)
    html = [Markup("<code>{}</code>").format(one) if at % 2 else escape(one) for at, one in pairs]
    return Markup("").join([*html, *([escape(f"`{parts[-1]}")] if len(parts) % 2 == 0 else [])])


def _mistakes(graded: Graded) -> list[_Mistake]:
    found: dict[str, list[tuple[str, str]]] = {}
    for one in graded.visible_findings:
        found.setdefault(one.check, []).append((one.where, one.words))
    return [
        _Mistake(
            title=CHECKS[name].title, explanation=CHECKS[name].explanation, places=tuple(places)
        )
        for name, places in found.items()
    ]


def _submitted(graded: Graded) -> str:
    submitted = graded.submission.submitted
    return "" if submitted is None else submitted.isoformat(sep=" ", timespec="minutes")
