"""An SVG file of matplotlib as a compact element of a page.

A page of many figures would be mostly SVG: identifiers that nothing refers to, groups around
groups, and lines with seven digits a point. Only the drawn content is kept. Coordinates are
in points of 1/72 inch, and a tenth of one is less than a pixel.
"""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import numpy as np
from markupsafe import Markup

from longfat.output.plot import DARK, Trace
from longfat.output.plot.line import thin_out

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from longfat.output.plot import Floats

_SEEN_PT = 0.3  # smaller distances are not visible
_COLUMN_PT = 5.0  # of a line with more points than these

_REFERENCE = re.compile(r"(?<=#)[^)\"]+")
_POINT = re.compile(r"([ML]) (\S+) (\S+)\s*")
_LINES = re.compile(r"(?:[ML] \S+ \S+\s*)+z?\s*")
_NUMBER = re.compile(r"-?\d+\.\d+")
_TEXTS = {"text", "tspan", "style"}
_SHORT = 3  # spaces between the numbers of two points
_UNKNOWN = {"metadata", "{http://www.w3.org/1999/xlink}title"}


def colour_variable(colour: str) -> str:
    """Return the CSS variable for a colour of figures."""
    return f"--ink-{colour.removeprefix('#')}"


class FigureStyles:
    """The styles that figures of one page share, as classes of the page."""

    def __init__(self) -> None:
        self._classes: dict[str, str] = {}

    def class_of(self, style: str) -> str:
        """Return the class for a style."""
        return self._classes.setdefault(style, f"v{len(self._classes)}")

    @property
    def rules(self) -> Markup:
        """Return the rules of all classes."""
        rules = (f".{name}{{{_compact(style)}}}" for style, name in self._classes.items())
        return Markup(_following("\n".join(rules)))


def inline_svg(svg: str, *, prefix: str, styles: FigureStyles | None) -> Markup:
    """Return an SVG file as an element of a page; its description is outside of it.

    Args:
        svg: the file's text, as matplotlib saves it.
        prefix: keeps its identifiers distinct from other figures'.
        styles: collects its styles, so that it is small and follows the colour scheme; None for
            paper, where a page's rules do not apply inside a figure.
    """
    # All of it is matplotlib's own output, which escapes a study's names.
    root = ET.fromstring(svg)
    root.set("aria-hidden", "true")
    names = {name: f"{prefix}-{place}" for place, name in enumerate(_referenced(root))}
    if styles is None:
        return Markup("".join(_written(root, names)))
    for element in root.iter():
        style = element.get("style")
        if style is not None and "url(" not in style:
            del element.attrib["style"]
            element.set("class", styles.class_of(style))
    return Markup(_following("".join(_written(root, names))))


def _following(text: str) -> str:
    """Return a text with variables for the colours, so that they follow the colour scheme."""
    for colour in DARK:
        text = text.replace(colour, f"var({colour_variable(colour)})")
    return text


def _compact(style: str) -> str:
    return style.replace(": ", ":").replace("; ", ";")


def _referenced(root: ET.Element) -> dict[str, None]:
    """Return the identifiers that something refers to, in their order."""
    found: dict[str, None] = {}
    for element in root.iter():
        for name, value in element.attrib.items():
            if _local(name) == "href" or "url(#" in value:
                found.update(dict.fromkeys(_REFERENCE.findall(value)))
    return found


def _written(element: ET.Element, names: Mapping[str, str]) -> Iterator[str]:
    tag = _local(element.tag)
    if tag in _UNKNOWN:
        return
    attributes = {
        _local(name): _value(_local(name), value, names)
        for name, value in element.attrib.items()
        if (name != "id" or value in names) and not value.startswith("rotate(-0 ")
    }
    if attributes.get("d", " " * _SHORT).count(" ") < _SHORT:
        # A line of two points, such as of a grid, keeps its exact ends.
        attributes.pop("clip-path", None)
    # A group without attributes is redundant.
    plain = tag == "g" and not attributes
    words = "".join(f' {name}="{escape(value)}"' for name, value in attributes.items())
    content = [] if tag not in _TEXTS else [escape(element.text or "", quote=False)]
    for child in element:
        content += _written(child, names)
        if tag in _TEXTS:
            content.append(escape(child.tail or "", quote=False))
    if plain:
        yield from content
    elif content:
        yield from (f"<{tag}{words}>", *content, f"</{tag}>")
    elif tag not in {"g", "defs"}:
        yield f"<{tag}{words}/>"


def _value(name: str, value: str, names: Mapping[str, str]) -> str:
    if name == "d":
        return _path(value)
    if name == "id":
        return names[value]
    if name == "style":
        value = _compact(value)
    if name == "href" and not value.startswith("#"):
        return value
    if name in {"href", "clip-path", "style"}:
        return _REFERENCE.sub(lambda found: names.get(found[0], found[0]), value)
    if name in {"x", "y", "transform", "width", "height"}:
        return _NUMBER.sub(lambda found: f"{float(found[0]):.1f}".rstrip("0").rstrip("."), value)
    return value


def _path(outline: str) -> str:
    """Return an outline with fewer digits; one of straight lines, from each point to the next."""
    if not _LINES.fullmatch(outline):
        return _NUMBER.sub(lambda found: _tenths(round(float(found[0]) * 100), 2), outline.strip())
    written: list[str] = []
    for line in _polylines(outline):
        (x, y), *rest = np.rint(_simplified(_thinned(line)) * 10).astype(int).tolist()
        written.append(f"M{_joined(x, y)}l")
        for next_x, next_y in rest:
            step = next_x - x, next_y - y
            x, y = next_x, next_y
            if step != (0, 0):
                separator = "" if written[-1].endswith("l") else " "
                written.append(_separated(separator, _joined(*step)))
    lines = "".join(written).replace("lM", "M").removesuffix("l")
    return f"{lines}z" if outline.rstrip().endswith("z") else lines


def _polylines(outline: str) -> Iterator[Floats]:
    points: list[tuple[float, float]] = []
    for command, x, y in _POINT.findall(outline):
        if command == "M" and points:
            yield np.array(points)
            points = []
        points.append((float(x), float(y)))
    if points:
        yield np.array(points)


def _thinned(points: Floats) -> Floats:
    """Return a long line over time thinned to its columns; another one unchanged."""
    across, up = points.T
    if not (np.diff(across) >= 0).all():
        return points
    trace = thin_out(Trace(across, up), columns=max(1, int(np.ptp(across) / _COLUMN_PT)))
    return np.column_stack((trace.times_s, trace.values))


def _simplified(points: Floats) -> Floats:
    """Return the points of a line without those that make no visible difference.

    Source: D. H. Douglas, T. K. Peucker, "Algorithms for the reduction of the number of points
    required to represent a digitized line", Cartographica 10 (2), 1973.
    """
    keep = np.zeros(len(points), dtype=bool)
    keep[[0, -1]] = True
    stretches = [(0, len(points) - 1)]
    while stretches:
        first, last = stretches.pop()
        if last - first < 2:
            continue
        inner, (start, end) = points[first + 1 : last], points[[first, last]]
        along = end - start
        length = float(along @ along)
        # The nearest point of the segment is between its ends.
        share = ((inner - start) @ along / length).clip(0, 1) if length else np.zeros(len(inner))
        apart = np.linalg.norm(inner - start - share[:, None] * along, axis=1)
        farthest = int(apart.argmax())
        if apart[farthest] > _SEEN_PT:
            middle = first + 1 + farthest
            keep[middle] = True
            stretches += [(first, middle), (middle, last)]
    return points[keep]


def _joined(x: int, y: int) -> str:
    return _tenths(x, 1) + _separated(" ", _tenths(y, 1))


def _separated(separator: str, number: str) -> str:
    """Return a separator before a number, unless its sign separates it."""
    return number if number.startswith("-") else separator + number


def _tenths(value: int, digits: int) -> str:
    """Return a number multiplied by a power of ten, as text."""
    sign = "-" if value < 0 else ""
    whole, rest = divmod(abs(value), 10**digits)
    behind = f"{rest:0{digits}d}".rstrip("0")
    return f"{sign}{whole or ''}.{behind}" if behind else f"{sign}{whole}"


def _local(name: str) -> str:
    return name.rpartition("}")[2]
