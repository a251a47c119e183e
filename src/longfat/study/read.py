"""A study file: the fields at its top, and the way from the file to a `Study`.

This module and those it calls parse and never touch the world: no tool is
started and nothing but the study file, and the text and the files beside it, is read.
"""

from __future__ import annotations

import contextlib
import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from longfat.common.suggest import listed, nearest
from longfat.errors import InputError, Place
from longfat.study.claims.claims import read_claim
from longfat.study.claims.rows import Rows
from longfat.study.document import (
    Raw,
    Scalar,
    decode_text,
    find_document,
    is_binary,
    is_blank,
    parse_document,
    read_content,
    read_document,
    without_part,
)
from longfat.study.drawing import Drawing, read_drawing_field, read_layout
from longfat.study.expand import (
    CASE_FIELDS,
    SETTINGS,
    Settings,
    name_errors,
    plan_case,
    read_settings,
)
from longfat.study.expansion import DEFAULT_LIMITS, Expansion, ExpansionLimits, TooLargeError
from longfat.study.figures.read import read_figures
from longfat.study.file_reader import FileReader, folder_reader, no_files
from longfat.study.grid.axes import GRID_FIELDS
from longfat.study.grid.cases import check_no_grid, further_errors, read_grid
from longfat.study.metrics import known_metrics
from longfat.study.model import Planned, Study
from longfat.study.node import ErrorList, Node
from longfat.study.published import OWN_FIELDS, read_published
from longfat.study.text import ANY, LanguageChoice, StudyText, read_study_text

T = TypeVar("T")

STUDY_FILE = "study.yaml"

DEFAULT_CASE = "default"
"""The name of the one case of a study that names none."""

FIELDS = (
    *("title", "course", *SETTINGS, "cases", "claims", "figures", "published", "layout"),
    "drawing",
)
_EVERY_FIELD = (*FIELDS, *GRID_FIELDS)
_FIELD_LINE = re.compile(rf"""^[ {{]*["']?({"|".join(_EVERY_FIELD)})["']? *:""", re.MULTILINE)

_TITLE, _COURSE = "a title", "the name of a course"  # what messages expect
_HEADING_LINES = re.compile(r"(?:(?:(?:title|course) *:|[ \t]|#).*\n|\n)*")
"""The lines of these two fields at the top of a file, and what is indented below them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Heading:
    """What a list of studies says of one.

    Attributes:
        title: its title.
        course: the name of its course; empty if it belongs to none.
    """

    title: str
    course: str


def read_heading(path: Path) -> Heading:
    """Read a study's title and course.

    Where the first lines of the file give both, nothing else of it is read, so errors
    further down are not found.

    Args:
        path: the file, or a folder that holds a `study.yaml`.

    Raises:
        InputError: as `read_study`.
    """
    file = find_document(path, STUDY_FILE)
    text = decode_text(read_content(file), file=str(file))
    lines = _HEADING_LINES.match(text)
    if lines is not None and not is_blank(lines[0].encode()):
        root = Node(raw=parse_document(lines[0].encode(), file=str(file)), file=str(file))
        fields = _fields(root)
        if {"title", "course"} <= fields.keys():
            return Heading(
                title=fields["title"].line(_TITLE), course=fields["course"].line(_COURSE)
            )
    study = read_study(file)
    return Heading(title=study.title, course=study.course)


def read_study(
    path: Path, *, beside: FileReader | None = None, language: LanguageChoice = ANY
) -> Study:
    """Read a study.

    Args:
        path: the file, or a folder that holds a `study.yaml`.
        beside: reads the files that the study names; those in its folder, if None.
        language: the preferred language of its text.

    Returns:
        The study, with all that can be checked without running it checked.

    Raises:
        InputError: the file cannot be read, or something in it is wrong, then
            with the place where it is written; or it has no text in that language.
    """
    file = find_document(path, STUDY_FILE)
    data = read_content(file)
    beside = beside or folder_reader(file.parent)
    return _read(data, str(file), file=file, text=_read_text(file, language), beside=beside)


def parse_study(
    text: str,
    *,
    name: str,
    beside: FileReader = no_files,
    limits: ExpansionLimits = DEFAULT_LIMITS,
) -> Study:
    """Read a study that is not in a file, or not yet.

    Args:
        text: the text of the study file.
        name: what to call it, and its file in messages.
        beside: reads the files that the study names.
        limits: how far it may expand.

    Raises:
        InputError: as `read_study`.
    """
    data = text.encode("utf-8", errors="surrogatepass")
    return _read(data, name, file=Path(name), text=None, beside=beside, limits=limits)


def _read(
    data: bytes,
    name: str,
    *,
    file: Path,
    text: StudyText | None,
    beside: FileReader,
    limits: ExpansionLimits = DEFAULT_LIMITS,
) -> Study:
    errors = ErrorList()
    root = Node(raw=_parsed(data, name, errors), file=name, errors=errors)
    fields = _fields(root)
    if "title" not in fields and not errors:
        root.note(root.error("the study has no title: write the field title"))
    title = _line(fields, "title", _TITLE)
    course = _line(fields, "course", _COURSE)
    read = None
    common = Settings()
    if "grid" in fields:
        # Reading a grid tries things out, so it ends at its first error; further ones are searched.
        own = {key: node.strict() for key, node in fields.items()}
        try:
            read = read_grid(root.strict(), own, only=DEFAULT_CASE, beside=beside, limits=limits)
        except TooLargeError as error:
            root.note(error)
        except InputError as error:
            root.note(error)
            for other in further_errors(
                root.strict(), own, only=DEFAULT_CASE, beside=beside, limits=limits
            ):
                root.note(other)
        cases = {} if read is None else read.cases
    else:
        common = read_settings(fields, common, beside=beside)
        cases = _read_cases(root, fields, common, title=title, beside=beside, limits=limits)
    layout = drawing = None
    # Of cases that could not be read, the nodes are not known.
    if not errors or (common.network is not None and "cases" not in fields):
        names = _nodes(cases, common)
        layout = _attempt(fields, "layout", lambda node: read_layout(node, names))
        drawing = _attempt(fields, "drawing", lambda node: read_drawing_field(node, names))
    errors.check()
    known = {name: known_metrics(planned.case) for name, planned in cases.items()}
    rows = Rows(known) if read is None else Rows(known, read.axes, read.rows)
    nodes = fields["claims"].sequence("a list of claims") if "claims" in fields else []
    seeds = {name: planned.seeds for name, planned in cases.items()}
    claims = tuple(
        claim
        for node in nodes
        if (claim := node.attempt(partial(read_claim, node, known, rows, seeds=seeds))) is not None
    )
    figures = _attempt(fields, "figures", lambda node: read_figures(node, known, rows, cases)) or ()
    published = _attempt(fields, "published", lambda node: read_published(node, known))
    if read is not None and not errors:
        of_claims = [name for claim in claims for name in claim.names]
        of_figures = [name for figure in figures for name in figure.names]
        read.axes.check_used([*read.used, *of_claims, *of_figures])
    errors.check()
    return Study(
        name=_name(file),
        file=file,
        title=title,
        course=course,
        cases=cases,
        common=_common_case(root, common, None if "cases" in fields else cases.get(DEFAULT_CASE)),
        claims=claims,
        published=published,
        layout=layout or {},
        drawing=drawing or Drawing(),
        text=text,
        grid=None if read is None else read.grid,
        figures=figures,
        source_sha256=hashlib.sha256(data).hexdigest(),
    )


def _parsed(data: bytes, name: str, errors: ErrorList) -> Raw:
    """Return the document; where a part of it is not YAML, which is noted, without that part."""
    if is_binary(data):
        raise not_a_study(name)
    try:
        return parse_document(data, file=name)
    except InputError as error:
        text = data.decode("utf-8-sig", errors="replace")
        if not (is_blank(data) or _FIELD_LINE.search(text)):
            raise not_a_study(name, why=f" ({error.message})") from None
        rest = without_part(text, line=error.place.line) if error.place else None
        if rest is None:
            raise
        errors.add(error)
        try:
            return parse_document(rest.encode(), file=name)
        except InputError as another:
            # It may be the same error with another place: an unclosed bracket.
            if another.place and another.message != error.message:
                errors.add(another)
            errors.check()
            raise


def not_a_study(name: str, *, why: str = "") -> InputError:
    """Return the error of a file that is not a study.

    Args:
        name: what messages call the file.
        why: what shows it, in parentheses.
    """
    return InputError(
        f"this is not a study{why}: a study is a YAML file with fields such as title, network and "
        "flows; `longfat new` prints one to begin with",
        place=Place(name, 1, 1),
    )


def open_study(file: Path) -> tuple[Node, dict[str, Node]]:
    """Return the whole of a study file and its fields, which are not read yet.

    Raises:
        InputError: the file cannot be read, or has a field that no study has.
    """
    root = Node(raw=read_document(file), file=str(file))
    return root, _fields(root)


def _fields(root: Node) -> dict[str, Node]:
    what = "a study (a mapping of fields)"
    if isinstance(root.raw, Scalar) and root.raw.text:
        raise not_a_study(root.file, why=" (it is one text)")
    keys = [key.text for key, _ in root.items(what)]
    is_other = not any(key in _EVERY_FIELD or nearest(key, _EVERY_FIELD) for key in keys)
    if keys and is_other and not root.errors:
        raise not_a_study(root.file, why=f" (its fields are {listed(keys[:5])})")
    fields = root.fields(what, allowed=FIELDS, also_allowed=GRID_FIELDS, collect_errors=True)
    if "grid" not in fields:
        check_no_grid(fields)
    return fields


def _line(fields: Mapping[str, Node], name: str, what: str) -> str:
    return _attempt(fields, name, lambda node: node.line(what)) or ""


def _attempt(fields: Mapping[str, Node], name: str, read: Callable[[Node], T]) -> T | None:
    """Return what is read of a field; None where there is none, or its error is collected."""
    node = fields.get(name)
    return None if node is None else node.attempt(partial(read, node))


def _nodes(cases: Mapping[str, Planned], common: Settings) -> list[str]:
    """Return the nodes of the network that the cases have in common, then those of each case."""
    networks = [planned.case.network for planned in cases.values()]
    if common.network is not None:
        networks.insert(0, common.network)
    return list(dict.fromkeys(name for network in networks for name in network.node_names()))


def _common_case(root: Node, common: Settings, only: Planned | None) -> Planned | None:
    """Return what the cases have in common; flows, probes and events only if they make sense."""
    if common.network is None:
        return None
    if only is not None:
        return replace(only, title="")
    for settings in (common, replace(common, flows={}, probes={}, events=())):
        with contextlib.suppress(InputError):
            return plan_case("", settings, title="", node=root.strict())
    return None


def _read_text(file: Path, language: LanguageChoice) -> StudyText | None:
    if file.name != STUDY_FILE:
        language.choose((), of=str(file))
        return None
    return read_study_text(file.parent, choice=language, of=_name(file))


def _name(file: Path) -> str:
    if file.name != STUDY_FILE:
        return file.stem
    return file.absolute().parent.name or file.stem


def _read_cases(
    root: Node,
    fields: Mapping[str, Node],
    common: Settings,
    *,
    title: str,
    beside: FileReader,
    limits: ExpansionLimits,
) -> dict[str, Planned]:
    if "cases" not in fields:
        planned = _plan(DEFAULT_CASE, common, title=title, node=root)
        return {} if planned is None else {DEFAULT_CASE: planned}
    named = fields["cases"].named("cases by name")
    if not named:
        raise fields["cases"].error("there are no cases: leave the field out to have one case")
    # Each case holds all that is common; its own fields are as long as their text.
    weight = sum(node.raw.weight for name, node in fields.items() if name in SETTINGS)
    expansion = Expansion(fields["cases"], limits)
    expansion.check(len(named), values=weight)
    cases = {}
    for name, node in named.items():
        expansion.begin_case()
        reader = partial(_read_case, name, node, common, beside=beside)
        if (planned := node.attempt(reader)) is not None:
            expansion.add(weight + node.raw.weight, planned.case)
            cases[name] = planned
    return cases


def _read_case(name: str, node: Node, common: Settings, *, beside: FileReader) -> Planned | None:
    if name in OWN_FIELDS:
        raise node.error(f"no case can be called {name!r}: published has a field of that name")
    own: Mapping[str, Node] = {}
    if not node.is_null:
        own = node.fields("a case's fields, or nothing", allowed=CASE_FIELDS, collect_errors=True)
    settings = read_settings(own, common, beside=beside)
    called = own["title"].line("a title") if "title" in own else name
    return _plan(name, settings, title=called, node=node)


def _plan(name: str, settings: Settings, *, title: str, node: Node) -> Planned | None:
    """Return the case; None where some of it is wrong, and then only names are checked."""
    if node.errors:
        for error in name_errors(settings):
            node.note(error)
        return None
    planned = node.attempt(partial(plan_case, name, settings, title=title, node=node))
    return None if node.errors else planned
