"""An instructor's grading.yaml of a lab, as values whose fields are declared once.

From the declarations come the reader of grading.yaml, its JSON Schema and the tables of
docs/class.md, as for studies (`longfat.model.fields`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any, ClassVar

from longfat.errors import InputError, Place
from longfat.model.fields import REQUIRED, declare
from longfat.model.kinds import Flag, Integer, Name, Names, Rate, Share, Size, Text, Time
from longfat.model.kinds.kind import Kind, WrongKindError
from longfat.model.metric import Metric, Unit
from longfat.model.units import parse_literal
from longfat.study.claims.claims import Claim
from longfat.study.expressions.terms import Term
from longfat.study.model import Study

KEY_PREFIX = "key-"
"""What the name of a case of the instructor's study begins with in an expression."""

CHECKS = ("algorithm", "overlap", "shaper", "buffers", "figures", "rate")
"""The checks for mistakes that no tool reports; `longfat_class.analysis.checks` has them."""

TAKEN = ("network", "setup", "files", "events", "congestion", "times", "programs")
"""What a case of a student's study may be taken from; all else is the instructor's."""

ALWAYS_TAKEN = ("network", "setup", "files")
"""What is taken of every such case."""


def is_believed(metric: str, *, untrusted_flows: Collection[str]) -> bool:
    """Return whether a metric is measured, and not what a student's program says.

    Args:
        metric: its full name, such as `bulk.receiver_bps`.
        untrusted_flows: the flows that are programs of the student's. When they ended is known.
    """
    flow, _, name = metric.rpartition(".")
    return flow not in untrusted_flows or name == ELAPSED


ELAPSED = "elapsed_s"
"""The metric of a student's program that is measured without its doing."""

TAKEN_FOR = {"algorithm": "congestion", "overlap": "times"}
"""What a check is about, and so is taken where an exercise of the part has that check."""

_DAY_S = 86400.0
_LONG = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?(h|d|w)")
_LONG_S = {"h": 3600.0, "d": _DAY_S, "w": 7 * _DAY_S}


@dataclass(frozen=True, slots=True, kw_only=True)
class LongTime(Time):
    """A time that may also be in hours, days or weeks."""

    what: str = "a time"
    example: str = "1d"

    def convert(self, text: str) -> float:
        """Return the time of a text in seconds."""
        if found := _LONG.fullmatch(text):
            return float(found[1]) * _LONG_S[found[2]]
        return Time.convert(self, text)

    def text(self, value: float) -> str:
        """Return it in the largest unit that leaves it a whole number."""
        for unit, unit_s in reversed(_LONG_S.items()):
            if value and value % unit_s == 0:
                return f"{value / unit_s:g}{unit}"
        return Time.text(self, value)

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema of its values."""
        long = {"type": "string", "pattern": _LONG.pattern, "examples": [self.example]}
        return {"anyOf": [long, Time.schema(self)]}


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment(Kind[datetime]):
    """A date and time with its offset from UTC, as ISO 8601 writes it."""

    what: str = "a date and time with its offset from UTC, such as 2026-11-30T18:00+01:00"
    example: str = "2026-11-30T18:00+01:00"

    def parse(self, text: str) -> datetime:
        """Return the moment."""
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            raise WrongKindError(f"{text!r} is not {self.what}") from None
        if moment.tzinfo is None:
            raise InputError(f"{text!r} has no offset from UTC: write {self.what}")
        return moment

    def text(self, value: datetime) -> str:
        """Return it as it is written."""
        return value.isoformat(timespec="minutes")

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema of its values."""
        return {"type": "string", "examples": [self.example]}


@dataclass(frozen=True, slots=True, kw_only=True)
class Points(Kind[float]):
    """A number of points."""

    what: str = "a number of points, such as 4 or 2.5"
    most: ClassVar[float] = 1000.0

    def parse(self, text: str) -> float:
        """Return the number."""
        if not re.fullmatch(r"[0-9]{1,4}(\.[0-9]{1,2})?", text):
            raise WrongKindError(f"{text!r} is not {self.what}")
        if float(text) > self.most:
            raise InputError(f"{text} is outside of what is allowed: {self.limits}")
        return float(text)

    def text(self, value: float) -> str:
        """Return it as it is written."""
        return f"{value:g}"

    @property
    def limits(self) -> str:
        """The limits in words."""
        return f"0 to {self.most:g}"

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema of its values."""
        return {"type": "number", "minimum": 0, "maximum": self.most}


class _AnswerUnit(Text):
    """A unit of an answer, such as `mbit`."""

    def parse(self, text: str) -> str:
        """Return the unit."""
        try:
            parse_literal(f"1{text}")
        except InputError as error:
            raise InputError(f"{text!r} is no unit: {error.message}") from None
        return text


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a submission may take."""

    time_s: float = declare(
        Time(minimum=1, maximum=_DAY_S),
        default=120.0,
        label="Time",
        help="the wall time that the runs of a part take together",
    )
    total_s: float | None = declare(
        Time(minimum=1, maximum=_DAY_S),
        default=None,
        label="Total",
        help="the wall time that all of a submission takes",
        absent="twice `time`",
        key="total",
    )
    virtual_s: float = declare(
        Time(minimum=1, maximum=_DAY_S),
        default=600.0,
        label="Virtual time",
        help="the virtual time that a run is expected to take",
    )
    runs: int = declare(
        Integer(minimum=1, maximum=1000),
        default=20,
        label="Runs",
        help="how many cases the studies of a submission may have together",
    )
    memory_bytes: int = declare(
        Size(minimum=128 << 20, maximum=1 << 40),
        default=2 << 30,
        label="Memory",
        help="the memory of a machine; default of a study: 2 GB",
    )
    disk_bytes: int = declare(
        Size(minimum=1 << 20, maximum=1 << 40),
        default=128 << 20,
        label="Disk",
        help="what a run may write",
    )
    file_count: int = declare(
        Integer(minimum=100, maximum=1_000_000),
        default=2000,
        label="Files",
        help="how many files a run may make",
        key="files",
    )
    processes: int = declare(
        Integer(minimum=50, maximum=100_000),
        default=400,
        label="Processes",
        help="how many processes a machine may have",
    )
    input_bytes: int = declare(
        Size(minimum=1024, maximum=64 << 20),
        default=4 << 20,
        label="Input",
        help="how large a file that is handed in may be",
    )

    def after(self, spent_s: float) -> Limits:
        """Return the limits of a part before which others took some wall time."""
        total_s = 2 * self.time_s if self.total_s is None else self.total_s
        return replace(self, time_s=min(self.time_s, total_s - spent_s))


@dataclass(frozen=True, slots=True, kw_only=True)
class Late:
    """What a late submission costs."""

    grace_s: float = declare(
        LongTime(example="15min"),
        default=0.0,
        label="Grace",
        help="how long after the deadline costs nothing",
    )
    per_s: float = declare(
        LongTime(minimum=1),
        default=_DAY_S,
        label="Per",
        help="the time for each begun part of which `cost` is taken off",
    )
    cost: float = declare(
        Share(),
        default=0.1,
        label="Cost",
        help="the share of the earned points that each such time costs",
    )
    most: float = declare(
        Share(), default=1.0, label="Most", help="the largest share that lateness costs"
    )
    closes_s: float | None = declare(
        LongTime(minimum=1),
        default=None,
        label="Closes",
        help="how long after the deadline a submission still counts",
        absent="without end",
        key="closes",
    )

    def share(self, late_s: float) -> float:
        """Return the share of the points that is lost.

        Args:
            late_s: how long after the deadline it was handed in, in seconds.
        """
        if late_s <= self.grace_s:
            return 0.0
        if self.closes_s is not None and late_s > self.closes_s:
            return 1.0
        return min(self.most, self.cost * math.ceil((late_s - self.grace_s) / self.per_s))


class PartKind(StrEnum):
    """What a part of a submission is; the value is the key that names its file."""

    STUDY = "study"
    SETUP = "setup"
    NETWORK = "network"
    ANSWERS = "answers"
    IPERF3 = "iperf3"


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A file, or some, that students hand in.

    Attributes:
        name: its name.
        kind: what it is.
        files: where it is in a submission.
        case: of set-up lines and networks, the case of the instructor's study that they
            are played in; None for a script that types its own traffic.
        rate_bps: the rate of the lab's link.
        place: where it is written.
    """

    name: str
    kind: PartKind
    files: tuple[str, ...]
    place: Place
    case: str | None = declare(
        Name(what="the name of a case of the instructor's study"),
        default=None,
        label="Case",
        help="of `setup` and `network`: the case of the instructor's study whose traffic and "
        "probes it is played with; for `setup` its network, too",
        absent="of a Mininet script: the iperf3 lines that it types",
    )
    rate_bps: int | None = declare(
        Rate(minimum=1),
        default=None,
        label="Rate",
        help="the rate of the lab's link, which no throughput can exceed",
        absent="computed from the links and set-up lines on the path",
    )
    takes: tuple[str, ...] = declare(
        Names(what="what is taken from a student, or a list"),
        default=(),
        label="Takes",
        help="of `study`: what is taken from a student's case, where all else is that of the "
        "instructor's case of the same name: "
        + ", ".join(f"`{name}`" for name in TAKEN)
        + " (`congestion`: each flow's algorithm, `times`: when it starts, `programs`: the lines "
        "of flows that are programs, which may start the student's files; of what they measure "
        "only `elapsed` can be in a claim)",
        absent="the network, the set-up lines and the files; `congestion` or `times` if an "
        "exercise of the part has the check `algorithm` or `overlap`",
    )
    nodes: tuple[str, ...] = declare(
        Names(what="the name of a node, or a list of them"),
        default=(),
        label="Nodes",
        help="of `study` and `setup`: the nodes at which a student may have set-up lines "
        "beside those of the instructor's case",
        absent="all nodes, and root",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Exercise:
    """Something that gives points.

    Attributes:
        name: its name.
        place: where it is written.
        claim: what has to hold of the runs; None if nothing has.
        term: the answer key; None if there is no question.
        named: the cases that claim and key speak of.
    """

    name: str
    place: Place
    claim: Claim | None = None
    term: Term | None = None
    named: frozenset[str] = frozenset()
    points: float = declare(
        Points(), default=REQUIRED, label="Points", help="how many points it gives"
    )
    title: str = declare(
        Text(what="a title", example="Buffers that hold the BDP"),
        default="",
        label="Title",
        help="what students see it called",
        absent="its name",
    )
    part: str = declare(
        Name(what="the name of a part"),
        default=REQUIRED,
        label="Part",
        help="the part of the submission that it is about",
    )
    checks: tuple[str, ...] = declare(
        Names(what="the name of a check, or a list of them"),
        default=(),
        label="Checks",
        help="checks that must find nothing: " + ", ".join(f"`{name}`" for name in CHECKS),
    )
    cases: tuple[str, ...] = declare(
        Names(what="the name of a case, or a list of them"),
        default=(),
        label="Cases",
        help="the cases that its checks look at",
        absent="those of its claim, else all of the part",
    )
    answer: str = declare(
        Text(what="an expression, such as key-default.bulk.receiver", example="100mbit * 40ms"),
        default="",
        label="Answer",
        help="of a question: the answer key, an expression of the claim language",
    )
    unit: str = declare(
        _AnswerUnit(what="a unit, such as mbit, ms or KB", example="mbit"),
        default="",
        label="Unit",
        help="of a question: the unit in which the key is shown; an answer may be in any of "
        "its kind",
        absent="a plain number",
    )
    tolerance: float = declare(
        Share(),
        default=0.05,
        label="Tolerance",
        help="of a question: by how much of the key an answer may differ from it",
    )
    hints: tuple[str, ...] = declare(
        Names(what="a hint, or a list of hints"),
        default=(),
        label="Hints",
        help="what a student reads who does not get all points; of several, the studio shows one "
        "after the other",
        absent="none",
        key="hint",
    )
    hidden: bool = declare(
        Flag(),
        default=False,
        label="Hidden",
        help="students see the points and the hint, and neither claim, key nor reasons",
    )

    @property
    def shown(self) -> str:
        """What students see it called."""
        return self.title or self.name

    @property
    def answer_unit(self) -> Unit:
        """The kind of its answer."""
        return parse_literal(f"1{self.unit}").unit


@dataclass(frozen=True, slots=True, kw_only=True)
class Grading:
    """An instructor's file.

    Attributes:
        file: the file.
        folder: the lab's instructor folder.
        study: the instructor's study.
        parts: what is handed in, by name.
        exercises: what gives points, in the file's order.
        late: what lateness costs; None if nothing.
        limits: what a submission may take.
        known: the metrics that expressions may name, by case.
    """

    file: Path
    folder: Path
    study: Study
    parts: Mapping[str, Part]
    exercises: tuple[Exercise, ...]
    late: Late | None = None
    limits: Limits = field(default_factory=Limits)
    known: Mapping[str, Mapping[str, Metric]] = field(default_factory=dict)
    title: str = declare(
        Text(what="a title", example="TCP buffers"),
        default=REQUIRED,
        label="Title",
        help="what the lab is about",
    )
    deadline: datetime | None = declare(  # noqa: RUF009  it returns a field
        Moment(),
        default=None,
        label="Deadline",
        help="until when a submission is in time",
        absent="none: nothing is late",
    )

    @property
    def points(self) -> float:
        """The points of all exercises."""
        return sum(exercise.points for exercise in self.exercises)
