"""A study file: the fields at its top, and the way from the file to a `Study`.

This module and those it calls parse and never touch the world: no tool is
started and nothing but the study file is read.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from longfat.errors import InputError
from longfat.metric import Metric
from longfat.study.claims import read_claim
from longfat.study.document import find_document, read_document
from longfat.study.expand import CASE_FIELDS, SETTINGS, Settings, plan_case, read_settings
from longfat.study.metrics import find_metric, known_metrics
from longfat.study.model import Figure, Planned, Published, Study
from longfat.study.node import Node, listed, nearest

STUDY_FILE = "study.yaml"

DEFAULT_CASE = "default"
"""The name of the one case of a study that names none."""

FIELDS = ("title", *SETTINGS, "cases", "claims", "published")


def read_study(path: Path) -> Study:
    """Read a study.

    Args:
        path: the file, or a folder that holds a `study.yaml`.

    Returns:
        The study, with all that can be checked without running it checked.

    Raises:
        InputError: the file cannot be read, or something in it is wrong; then
            with the place where it is written.
    """
    file = find_document(path, STUDY_FILE)
    root = Node(raw=read_document(file), file=str(file))
    fields = root.fields("a study (a mapping of fields)", allowed=FIELDS)
    if "title" not in fields:
        raise root.error("the study has no title: write the field title")
    title = fields["title"].line("a title")
    cases = _read_cases(root, fields, title=title)
    known = {name: known_metrics(planned.case) for name, planned in cases.items()}
    claims = fields["claims"].sequence("a list of claims") if "claims" in fields else []
    return Study(
        name=_name(file),
        file=file,
        title=title,
        cases=cases,
        claims=tuple(read_claim(node, known) for node in claims),
        published=_read_published(fields["published"], known) if "published" in fields else None,
    )


def _name(file: Path) -> str:
    if file.name != STUDY_FILE:
        return file.stem
    return file.absolute().parent.name or file.stem


def _read_cases(root: Node, fields: Mapping[str, Node], *, title: str) -> dict[str, Planned]:
    common = read_settings(fields, Settings())
    if "cases" not in fields:
        return {DEFAULT_CASE: plan_case(DEFAULT_CASE, common, title=title, node=root)}
    named = fields["cases"].named("cases by name")
    if not named:
        raise fields["cases"].error("there are no cases: leave the field out to have one case")
    cases = {}
    for name, node in named.items():
        if name == "source":
            raise node.error("no case can be called 'source': published has a field of that name")
        own: Mapping[str, Node] = {}
        if not node.is_null:
            own = node.fields("a case's fields, or nothing", allowed=CASE_FIELDS)
        settings = read_settings(own, common)
        called = own["title"].line("a title") if "title" in own else name
        cases[name] = plan_case(name, settings, title=called, node=node)
    return cases


def _read_published(node: Node, known: Mapping[str, Mapping[str, Metric]]) -> Published:
    items = node.items("what was published: a source, and figures by case")
    fields = {key.text: value for key, value in items}
    if "source" not in fields:
        raise node.error("the published figures have no source: write the field source")
    source = fields["source"].line("a source (such as the title of a paper)")
    figures: list[Figure] = []
    for key, value in items:
        if key.text == "source":
            continue
        if key.text not in known:
            raise InputError(
                f"there is no case {key.text!r}{nearest(key.text, known)} "
                f"(there are: {listed(known)})",
                place=key.place,
            )
        figures += _read_figures(key.text, value, known[key.text])
    return Published(source=source, figures=tuple(figures))


def _read_figures(case: str, node: Node, known: Mapping[str, Metric]) -> list[Figure]:
    figures: dict[str, Figure] = {}
    for key, value in node.items("figures (such as {bulk.sender: 3.16gbit})"):
        flow, _, name = key.text.partition(".")
        full = find_metric(flow, name, known)
        if full is None:
            short = [f"{k.partition('.')[0]}.{metric.short}" for k, metric in known.items()]
            raise InputError(
                f"the case {case!r} has no metric {key.text!r}{nearest(key.text, short)} "
                f"(there are: {listed(short)})",
                place=key.place,
            )
        if full in figures:
            raise InputError(f"the figure of {full} is written twice", place=key.place)
        metric = known[full]
        figures[full] = Figure(
            case=case,
            metric=full,
            unit=metric.unit,
            title=f"{flow} {metric.title}",
            value=value.quantity(metric.unit),
        )
    return list(figures.values())
