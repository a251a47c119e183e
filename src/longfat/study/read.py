"""A study file: the fields at its top, and the way from the file to a `Study`.

This module and those it calls parse and never touch the world: no tool is
started and nothing but the study file, and the text and the files beside it, is read.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from longfat.errors import InputError
from longfat.study.claims.claims import read_claim
from longfat.study.claims.rows import Rows
from longfat.study.document import find_document, parse_document, read_content, read_document
from longfat.study.expand import CASE_FIELDS, SETTINGS, Settings, plan_case, read_settings
from longfat.study.figures.read import read_figures
from longfat.study.files import ReadBeside, reads_beside, reads_nothing
from longfat.study.grid.cases import check_no_grid, read_grid
from longfat.study.grid.grid import GRID_FIELDS
from longfat.study.layout import read_layout
from longfat.study.metrics import known_metrics
from longfat.study.model import Planned, Study
from longfat.study.node import Node
from longfat.study.published import OWN_FIELDS, read_published
from longfat.study.text import ANY, LanguageChoice, StudyText, read_study_text

STUDY_FILE = "study.yaml"

DEFAULT_CASE = "default"
"""The name of the one case of a study that names none."""

FIELDS = ("title", "course", *SETTINGS, "cases", "claims", "published", "layout")


def read_study(
    path: Path, *, beside: ReadBeside | None = None, language: LanguageChoice = ANY
) -> Study:
    """Read a study.

    Args:
        path: the file, or a folder that holds a `study.yaml`.
        beside: reads the files that the study names; those in its folder, if None.
        language: in which language its text is wanted.

    Returns:
        The study, with all that can be checked without running it checked.

    Raises:
        InputError: the file cannot be read, or something in it is wrong, then
            with the place where it is written; or it has no text in that language.
    """
    file = find_document(path, STUDY_FILE)
    data = read_content(file)
    beside = beside or reads_beside(file.parent)
    return _read(data, str(file), file=file, text=_read_text(file, language), beside=beside)


def parse_study(text: str, *, name: str, beside: ReadBeside = reads_nothing) -> Study:
    """Read a study that is not in a file, or not yet.

    Args:
        text: the text of the study file.
        name: what to call it, and its file in messages.
        beside: reads the files that the study names.

    Raises:
        InputError: as `read_study`.
    """
    data = text.encode("utf-8", errors="surrogatepass")
    return _read(data, name, file=Path(name), text=None, beside=beside)


def _read(
    data: bytes, name: str, *, file: Path, text: StudyText | None, beside: ReadBeside
) -> Study:
    root = Node(raw=parse_document(data, file=name), file=name)
    fields = _fields(root)
    if "title" not in fields:
        raise root.error("the study has no title: write the field title")
    title = fields["title"].line("a title")
    read = None
    common = Settings()
    if "grid" in fields:
        read = read_grid(root, fields, only=DEFAULT_CASE, beside=beside)
        cases = read.cases
    else:
        common = read_settings(fields, common, beside=beside)
        cases = _read_cases(root, fields, common, title=title, beside=beside)
    known = {name: known_metrics(planned.case) for name, planned in cases.items()}
    rows = Rows(known) if read is None else Rows(known, read.axes, read.rows)
    nodes = fields["claims"].sequence("a list of claims") if "claims" in fields else []
    claims = tuple(read_claim(node, known, rows) for node in nodes)
    figures = read_figures(fields["figures"], known, rows, cases) if "figures" in fields else ()
    if read is not None:
        of_claims = [name for claim in claims for name in claim.names]
        of_figures = [name for figure in figures for name in figure.names]
        read.axes.check_used([*read.used, *of_claims, *of_figures])
    return Study(
        name=_name(file),
        file=file,
        title=title,
        course=fields["course"].line("the name of a course") if "course" in fields else "",
        cases=cases,
        common=_common_case(root, common),
        claims=claims,
        published=read_published(fields["published"], known) if "published" in fields else None,
        layout=read_layout(fields["layout"], _nodes(cases, common)) if "layout" in fields else {},
        text=text,
        grid=None if read is None else read.grid,
        figures=figures,
        source_sha256=hashlib.sha256(data).hexdigest(),
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
    fields = root.fields(what, allowed=FIELDS, besides=GRID_FIELDS)
    if "grid" not in fields:
        check_no_grid(fields)
    return fields


def _nodes(cases: Mapping[str, Planned], common: Settings) -> list[str]:
    """Return the nodes of the network that the cases have in common, then those of each case."""
    networks = [planned.case.network for planned in cases.values()]
    if common.network is not None:
        networks.insert(0, common.network)
    return list(dict.fromkeys(name for network in networks for name in network.node_names()))


def _common_case(root: Node, common: Settings) -> Planned | None:
    """Return what the cases have in common; flows, probes and events only if they make sense."""
    if common.network is None:
        return None
    for settings in (common, replace(common, flows={}, probes={}, events=())):
        with contextlib.suppress(InputError):
            return plan_case("", settings, title="", node=root)
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
    beside: ReadBeside,
) -> dict[str, Planned]:
    if "cases" not in fields:
        return {DEFAULT_CASE: plan_case(DEFAULT_CASE, common, title=title, node=root)}
    named = fields["cases"].named("cases by name")
    if not named:
        raise fields["cases"].error("there are no cases: leave the field out to have one case")
    cases = {}
    for name, node in named.items():
        if name in OWN_FIELDS:
            raise node.error(f"no case can be called {name!r}: published has a field of that name")
        own: Mapping[str, Node] = {}
        if not node.is_null:
            own = node.fields("a case's fields, or nothing", allowed=CASE_FIELDS)
        settings = read_settings(own, common, beside=beside)
        called = own["title"].line("a title") if "title" in own else name
        cases[name] = plan_case(name, settings, title=called, node=node)
    return cases
