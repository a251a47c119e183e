"""What all pages of a report are made with: the templates, and figures inside of them."""

from __future__ import annotations

import re

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from longfat.output.plot import DARK

# An outline's places in points of 1/72 inch: a hundredth of one is enough, and half as long.
_OUTLINE = re.compile(r' d="[^"]*"')
_DIGITS = re.compile(r"(\.\d\d)\d+")


def environment() -> Environment:
    """Return the templates, which escape whatever a study says."""
    return Environment(
        loader=PackageLoader("longfat.output.report", package_path=""),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def colour_variable(colour: str) -> str:
    """Return the variable of a page that stands for a colour of its figures."""
    return f"--ink-{colour.removeprefix('#')}"


def inline_svg(svg: str, *, prefix: str, dark: bool = True) -> Markup:
    """Return an SVG file as an element of a page; what it shows is told around it.

    Args:
        svg: the file's text.
        prefix: what keeps its identifiers apart from other figures'.
        dark: whether it follows the colour scheme.
    """
    _, start, rest = svg.partition("<svg ")
    rest = re.sub(r'( id="| xlink:href="#|url\(#)', rf"\g<1>{prefix}-", rest)
    rest = _OUTLINE.sub(lambda found: _DIGITS.sub(r"\1", found[0]), rest)
    for colour in DARK if dark else ():
        rest = rest.replace(colour, f"var({colour_variable(colour)})")
    # All of it is matplotlib's own output, which escapes a study's names.
    return Markup(start) + Markup('aria-hidden="true" ') + Markup(rest)
