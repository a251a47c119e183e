"""grading.yaml: the instructor's file, read and checked before anything is graded."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from longfat.common.suggest import listed, nearest
from longfat.errors import InputError
from longfat.model.fields import fields_of, read_fields
from longfat.model.metric import Metric
from longfat.model.traffic import Iperf3
from longfat.study.claims.claims import MAX_CLAIM, Claim, read_claim
from longfat.study.claims.compiler import parse_number
from longfat.study.claims.rows import Rows
from longfat.study.document import read_document
from longfat.study.expressions.parser import FormulaError
from longfat.study.expressions.terms import DIMENSIONS, PLAIN, Term
from longfat.study.metrics import known_metrics
from longfat.study.model import Study
from longfat.study.node import Node
from longfat.study.read import read_study
from longfat_class.study.model import (
    ALWAYS_TAKEN,
    CHECKS,
    KEY_PREFIX,
    TAKEN,
    TAKEN_FOR,
    Exercise,
    Grading,
    Late,
    Limits,
    Part,
    PartKind,
    is_believed,
)
from longfat_class.study.traffic import MAX_FLOWS, flow_name

GRADING_FILE = "grading.yaml"
INSTRUCTOR, STUDENT, SOLUTION = "instructor", "student", "solution"

REPORT_FLOW = "report"
"""The flow that the one file of an iperf3 part is called in expressions."""

FIELDS = ("study", "late", "limits", "parts", "exercises")
"""The fields that are not declared on `Grading`, which nest."""

_PART_FORM = "a part (such as {study: study.yaml})"
_QUESTION = ("answer", "unit", "tolerance")


def find_grading(path: Path) -> Path:
    """Return the instructor's file of a lab.

    Args:
        path: the file, the folder that it is in, or the lab's folder.

    Raises:
        InputError: there is none.
    """
    places = (path / INSTRUCTOR / GRADING_FILE, path / GRADING_FILE) if path.is_dir() else (path,)
    for place in places:
        if place.is_file():
            return place
    raise InputError(
        f"{path}: no {GRADING_FILE} of an instructor here; `longfat labs new NAME` makes a lab"
    )


def read_grading(path: Path) -> Grading:
    """Read an instructor's file.

    Args:
        path: as of `find_grading`.

    Raises:
        InputError: it, or the instructor's study, cannot be read, or something in it is
            wrong; then with the place where it is written.
    """
    file = find_grading(path)
    root = Node(raw=read_document(file), file=str(file))
    declared = fields_of(Grading)
    fields = root.fields("an instructor's file", allowed=(*declared, *FIELDS))
    for name in ("title", "study", "parts", "exercises"):
        if name not in fields:
            raise root.error(f"the field {name} is missing")
    study = _study(fields["study"], file.parent)
    parts = _parts(fields["parts"], study)
    known = _known(parts, study)
    reader = _Exercises(parts, known, Rows(known))
    named = fields["exercises"].named("exercises by name")
    if not named:
        raise fields["exercises"].error("here is no exercise")
    exercises = tuple(reader.read(name, node) for name, node in named.items())
    return Grading(
        file=file,
        folder=file.parent,
        study=study,
        parts={name: _with_takes(part, exercises) for name, part in parts.items()},
        exercises=exercises,
        late=_declared(Late, fields["late"], "what lateness costs") if "late" in fields else None,
        limits=(_declared(Limits, fields["limits"], "limits") if "limits" in fields else Limits()),
        known=known,
        **read_fields(Grading, fields),
    )


def _declared(cls: Any, node: Node, what: str) -> Any:
    found = node.fields(what, allowed=fields_of(cls))
    return cls(**read_fields(cls, found))


def _study(node: Node, folder: Path) -> Study:
    name = node.line("the instructor's study, such as study.yaml")
    try:
        study = read_study(folder / name)
    except InputError as error:
        raise error if error.place else node.error(error.message) from None
    if study.grid is not None:
        raise node.error(f"{name} has a grid; the instructor's study has named cases")
    return study


def _parts(node: Node, study: Study) -> dict[str, Part]:
    found = {}
    declared = fields_of(Part)
    for name, value in node.named("parts by name").items():
        if name.startswith(KEY_PREFIX):
            raise value.error(f"no part can be called {KEY_PREFIX}...: the key's cases are")
        fields = value.fields(_PART_FORM, allowed=(*PartKind, *declared))
        kinds = [kind for kind in PartKind if kind in fields]
        if len(kinds) != 1:
            raise value.error(
                f"a part has one of {listed(PartKind)}, with its file, and here are {len(kinds)}"
            )
        (kind,) = kinds
        part = Part(
            name=name,
            kind=kind,
            files=_files(fields[kind], many=kind is PartKind.IPERF3),
            place=value.place,
            **read_fields(Part, fields),
        )
        _check_case(part, fields, study, value)
        _check_taken(part, fields, study)
        found[name] = part
    if not found:
        raise node.error("here is no part")
    if any(part.kind is PartKind.STUDY for part in found.values()):
        for name, part in found.items():
            if name in study.cases and part.kind not in (PartKind.STUDY, PartKind.ANSWERS):
                raise InputError(
                    f"the part {name!r} is called as a case of {study.file}, and claims would not "
                    "say which of the two they mean",
                    place=part.place,
                )
    return found


def _files(node: Node, *, many: bool) -> tuple[str, ...]:
    nodes = node.sequence("a list of files") if many and node.is_sequence else [node]
    files = []
    for one in nodes:
        text = one.line("a file of the submission, such as study.yaml")
        parts = text.split("/")
        if not all(parts) or any(part.startswith(".") for part in parts):
            raise one.error(f"{text!r} must be the relative path of a file, without . and ..")
        files.append(text)
    if not files or len(set(files)) < len(files):
        raise node.error("here is no file, or one of them twice")
    stems = [report_name(file) for file in files]
    if len(set(stems)) < len(stems):
        raise node.error("two files of this part have the same name but for folder and ending")
    return tuple(files)


def _check_case(part: Part, fields: Mapping[str, Node], study: Study, node: Node) -> None:
    takes = part.kind in (PartKind.SETUP, PartKind.NETWORK)
    if part.case is not None:
        if not takes:
            raise fields["case"].error(f"a part of kind {part.kind} is played in no case")
        if part.case not in study.cases:
            raise fields["case"].error(
                f"there is no case {part.case!r} in {study.file}{nearest(part.case, study.cases)} "
                f"(there are: {listed(study.cases)})"
            )
    elif part.kind is PartKind.SETUP or (takes and not part.files[0].endswith(".py")):
        raise node.error("the field case is missing: the case of the instructor's study")


def _check_taken(part: Part, fields: Mapping[str, Node], study: Study) -> None:
    """Check what is taken from a student."""
    kinds = {"takes": (PartKind.STUDY,), "nodes": (PartKind.STUDY, PartKind.SETUP)}
    for key, allowed in kinds.items():
        if key in fields and part.kind not in allowed:
            raise fields[key].error(f"{key} is of {listed(allowed)}, and this part is {part.kind}")
    cases = study.cases.values() if part.case is None else [study.cases[part.case]]
    nodes = [name for planned in cases for name in planned.case.network.node_names()]
    for key, given, known in (
        ("takes", part.takes, TAKEN),
        ("nodes", part.nodes, [*dict.fromkeys(nodes), "root"]),
    ):
        for name in given:
            if name not in known:
                raise fields[key].error(
                    f"there is no {name!r}{nearest(name, known)} (there are: {listed(known)})"
                )


def _with_takes(part: Part, exercises: Iterable[Exercise]) -> Part:
    """Return a part with what is taken of it, if it is not written: what its checks need."""
    if part.takes or part.kind is not PartKind.STUDY:
        return part
    checks = {check for one in exercises if one.part == part.name for check in one.checks}
    needed = (taken for check, taken in TAKEN_FOR.items() if check in checks)
    return replace(part, takes=(*ALWAYS_TAKEN, *needed))


def report_name(file: str) -> str:
    """Return what the report of a file is called in expressions: its name without the ending."""
    return file.rpartition("/")[2].partition(".")[0]


def _known(parts: Mapping[str, Part], study: Study) -> dict[str, Mapping[str, Metric]]:
    """Return the metrics that expressions may name, by case."""
    own = {name: known_metrics(planned.case) for name, planned in study.cases.items()}
    measured = {
        name: {
            metric: about
            for metric, about in own[name].items()
            if is_believed(metric, untrusted_flows=[one.name for one in planned.case.programs])
        }
        for name, planned in study.cases.items()
    }
    bulk = {metric.name: metric for metric in Iperf3.metrics}

    def flows(*names: str) -> dict[str, Metric]:
        return {f"{flow}.{name}": metric for flow in names for name, metric in bulk.items()}

    known: dict[str, Mapping[str, Metric]] = {}
    takes_programs = any("programs" in part.takes for part in parts.values())
    for part in parts.values():
        match part.kind:
            case PartKind.STUDY:
                known |= measured if takes_programs else own
            case PartKind.SETUP | PartKind.NETWORK:
                known[part.name] = (
                    own[part.case]
                    if part.case is not None
                    else flows(*(flow_name(index) for index in range(MAX_FLOWS)))
                )
            case PartKind.IPERF3:
                names = [report_name(file) for file in part.files]
                known[part.name] = flows(*(names if len(names) > 1 else [REPORT_FLOW]))
    return known | {f"{KEY_PREFIX}{name}": metrics for name, metrics in own.items()}


@dataclass(frozen=True, slots=True)
class _Exercises:
    """Reads exercises."""

    parts: Mapping[str, Part]
    known: Mapping[str, Mapping[str, Metric]]
    rows: Rows

    def read(self, name: str, node: Node) -> Exercise:
        """Read an exercise."""
        fields = node.fields(
            "an exercise (such as {part: tuned, points: 4, claim: ...})",
            allowed=("claim", *fields_of(Exercise)),
        )
        for key in ("part", "points"):
            if key not in fields:
                raise node.error(f"the exercise {name!r} has no {key}")
        values = read_fields(Exercise, fields)
        self._check_names(fields, values)
        part = self.parts[values["part"]]
        claim, term = None, None
        cases: frozenset[str] = frozenset()
        if "answer" in fields:
            term, cases = self._term(fields["answer"], values, part)
        else:
            for key in _QUESTION[1:]:
                if key in fields:
                    raise fields[key].error(f"{key} is of a question, which has an answer")
        if "claim" in fields:
            claim = self._claim(fields["claim"], part)
            cases = claim.cases
        if part.kind is PartKind.ANSWERS and term is None:
            raise node.error("an exercise about answers needs a key: write it as answer")
        if claim is None and term is None and not values.get("checks"):
            raise node.error("an exercise has a claim, checks, or an answer, and this has none")
        return Exercise(name=name, place=node.place, claim=claim, term=term, named=cases, **values)

    def _check_names(self, fields: Mapping[str, Node], values: Mapping[str, Any]) -> None:
        for key, known in (("part", self.parts), ("checks", CHECKS), ("cases", self.known)):
            given = values.get(key, ())
            for one in (given,) if isinstance(given, str) else given:
                if one not in known:
                    raise fields[key].error(
                        f"there is no {key.removesuffix('s')} {one!r}{nearest(one, known)} "
                        f"(there are: {listed(known)})"
                    )

    def _claim(self, node: Node, part: Part) -> Claim:
        if part.kind is PartKind.ANSWERS:
            raise node.error(f"the part {part.name!r} is answers, of which there are no runs")
        return read_claim(node, self.known, self.rows)

    def _term(
        self, node: Node, values: Mapping[str, Any], part: Part
    ) -> tuple[Term, frozenset[str]]:
        if part.kind is not PartKind.ANSWERS:
            raise node.error(f"the part {part.name!r} is no answers, and an answer is in such")
        text = node.line("an expression")
        if len(text) > MAX_CLAIM:
            raise node.error(f"the expression has more than {MAX_CLAIM} characters")
        try:
            term, cases = parse_number(text, self.known, self.rows)
        except FormulaError as error:
            raise InputError(error.message, place=node.place_of(error.offset)) from None
        # An exercise with this unit, to find its dimension.
        probe = Exercise(name="", place=node.place, points=0, part="", unit=values.get("unit", ""))
        wanted = DIMENSIONS[probe.answer_unit]
        if term.dimension not in (None, wanted):
            raise node.error(
                f"the answer is {term.dimension or PLAIN}, and its unit {probe.unit or '(none)'} "
                f"is of {wanted}: write the field unit, such as mbit, ms or KB"
            )
        return term, cases
