"""Metrics that a study reads from what a program prints.

    metrics:
      load: {json: time_total, unit: s}
      rate: {csv: goodput, take: mean, unit: mbit}
      hits: {regex: '([0-9]+) hits'}

The machine reads them (`longfat.guest.extract`), and not this process: a regular expression by
a stranger may take for ever. Here is how they are written and checked.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from longfat.errors import InputError
from longfat.model.fields import declare, fields_of, read_fields, values_of, written_fields
from longfat.model.kinds import Kind, Line, Text, WrongKindError
from longfat.model.metric import Metric, MetricSource, Unit
from longfat.model.units import Literal, parse_literal

if TYPE_CHECKING:
    from longfat.model.kinds import Source

STDOUT, STDERR = "stdout", "stderr"
REPORT_FILE = "raw/{name}.client.txt.err"
"""The file of a run whose last line has what the machine read; see `MetricSource`."""
_FORMATS = ("json", "csv", "regex")
_MAX_METRICS = 50
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,39}")
_NAME_RULE = "a letter, then up to 39 letters, digits or _"
_TAKES = ("first", "last", "min", "max", "mean", "sum", "count", "median")
_PERCENTILE = re.compile(r"p[1-9]?[0-9](\.[0-9]{1,2})?")
_STEP = r"""(?:[^.\[\]"\s]+|"[^"]+")(?:\[(?:\*|-?[0-9]{1,9})\])*"""
_PATH = re.compile(rf"(?:{_STEP}|(?:\[(?:\*|-?[0-9]{{1,9}})\])+)(?:\.{_STEP})*")
_MAX_REGEX_LENGTH = 500


def unit_of(text: str) -> Literal:
    """Return what 1 of a unit is in base units: `ms` is 0.001 s, `1000B` is 1000 bytes.

    Args:
        text: a unit, or an amount of one; empty for plain numbers.

    Raises:
        InputError: there is no such unit.
    """
    return parse_literal(text if text[:1].isdigit() or not text else f"1{text}") if text else _ONE


_ONE = Literal(1.0, Unit.COUNT)


def _unit_problem(text: str) -> str | None:
    try:
        one = unit_of(text)
    except InputError:
        return (
            f"{text!r} is no unit: write s, ms, us, ns, min, bit to tbit, B, KB, MB, GB or %, or "
            "an amount of one, such as 1000B"
        )
    return None if one.value > 0 else f"{text!r} is nothing: write a unit, such as ms"


def _path_problem(text: str) -> str | None:
    if _PATH.fullmatch(text):
        return None
    return (
        f"{text!r} is no path into JSON: write keys and places, such as end.streams[0].rtt, with "
        '[*] for every entry of a list, and "a.b" for a key that has such characters'
    )


def _regex_problem(text: str) -> str | None:
    if len(text) > _MAX_REGEX_LENGTH:
        return f"the regular expression has more than {_MAX_REGEX_LENGTH} characters"
    try:
        groups = re.compile(text, re.MULTILINE).groups
    except (re.error, OverflowError, RecursionError) as error:
        return f"{text!r} is no regular expression of Python: {error}"
    if groups != 1:
        return (
            f"{text!r} has {groups} groups: write one, (...), around the number, and (?:...) for "
            "others"
        )
    return None


def _of_problem(text: str) -> str | None:
    if text in (STDOUT, STDERR) or text.startswith("/"):
        return None
    return f"{text!r} is neither stdout nor stderr nor the absolute path of a file"


def _take_problem(text: str) -> str | None:
    if text in _TAKES or _PERCENTILE.fullmatch(text):
        return None
    return f"{text!r} is none of {', '.join(_TAKES)}, or a percentile such as p95"


@dataclass(frozen=True, slots=True, kw_only=True)
class Extraction:
    """A metric, and where to find it in a program's output; one of `json`, `csv` and `regex`.

    Attributes:
        name: its name, without its unit.
        json: the path to the numbers in a JSON document.
        csv: the column of a table of comma-separated values.
        regex: a regular expression with one group, around a number.
        of: what to read: `stdout`, `stderr`, or the path of a file.
        take: which of several numbers, or what is made of them.
        unit: the unit in which the program writes it.
        title: what a table calls it; its name, if empty.
    """

    name: str
    json: str | None = declare(
        Text(what="a path into JSON", example="end.sum.seconds", problem=_path_problem),
        default=None,
        label="JSON",
        help="the path of the number in a JSON document, such as `end.streams[0].rtt`; `[*]` is "
        "every entry of a list",
    )
    csv: str | None = declare(
        Text(what="a column", example="rate"),
        default=None,
        label="CSV",
        help="the column of comma-separated values: its name in the first line, or its number "
        "from 1 where no line has names",
    )
    regex: str | None = declare(
        Line(
            what="a regular expression with a group (such as '([0-9.]+) ms')",
            example="([0-9.]+) ms",
            problem=_regex_problem,
        ),
        default=None,
        label="Pattern",
        help="a regular expression of Python with one group, around the number",
    )
    of: str = declare(
        Text(what="stdout, stderr or a path", example=STDOUT, problem=_of_problem),
        default=STDOUT,
        label="Of",
        help="what to read: `stdout`, `stderr`, or a file in the machine by its absolute path",
    )
    take: str = declare(
        Text(what="which number to take", example="mean", problem=_take_problem),
        default="last",
        label="Take",
        help="of several numbers `first`, `last`, `min`, `max`, `mean`, `median`, `sum`, `count` "
        "(of them), or a percentile such as `p95`",
    )
    unit: str = declare(
        Text(what="a unit (such as ms)", example="ms", problem=_unit_problem),
        default="",
        label="Unit",
        help="the unit in which the program writes it, as in claims: `s`, `ms`, `mbit`, `KB`, `%`; "
        "or an amount of one, such as `1000B` for kilobytes",
        absent="a plain number",
    )
    title: str = declare(
        Text(what="a title", example="page load time"),
        default="",
        label="Title",
        help="what tables call it",
        absent="its name",
    )

    @property
    def metric(self) -> Metric:
        """The metric that it is."""
        unit = unit_of(self.unit).unit
        plain = unit in (Unit.FRACTION, Unit.COUNT)
        ending = "" if plain or self.name.endswith(f"_{unit.value}") else f"_{unit.value}"
        name = f"{self.name}{ending}"
        return Metric(name, unit, self.title or self.name.replace("_", " "), self._source(name))

    def _source(self, name: str) -> MetricSource:
        """Return the last line of the report, and what the machine read from the output."""
        form = self._form
        read = f"{form} {getattr(self, form)} of {self.of}, {self.take}"
        factor = 1.0 if self.take == "count" else unit_of(self.unit).value
        scaled = "" if factor == 1 else f", * {factor:g}"
        return MetricSource(
            file=REPORT_FILE,
            path=f'"{name}": ([^,}}]+)',
            formula=f"the number in the last line; the machine reads it: {read}{scaled}",
        )

    @property
    def _form(self) -> str:
        (form,) = (form for form in _FORMATS if getattr(self, form) is not None)
        return form

    def order(self) -> dict[str, Any]:
        """Return what the guest is to look for, as plain data."""
        form = self._form
        counted = self.take == "count"
        return {
            "name": self.metric.name,
            "format": form,
            "what": getattr(self, form),
            "of": self.of,
            "take": self.take,
            "factor": 1.0 if counted else unit_of(self.unit).value,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Extractions(Kind[tuple[Extraction, ...]]):
    """Metrics by their names."""

    form: ClassVar[str] = "list"
    what: str = "metrics by name (such as {load: {json: time_total, unit: s}})"
    taken: tuple[str, ...] = ()
    """Names that are taken."""

    def parse(self, text: str) -> tuple[Extraction, ...]:
        """See `Kind`."""
        raise WrongKindError(f"{text!r} is not {self.what}")

    def read(self, source: Source) -> tuple[Extraction, ...]:
        """See `Kind`."""
        found: list[Extraction] = []
        for name, one in source.named(self.what).items():
            given = one.fields("a metric (such as {json: time_total, unit: s})", allowed=_KEYS)
            formats = [form for form in _FORMATS if form in given]
            if len(formats) > 1:
                raise given[formats[1]].error(
                    f"a metric has one of {', '.join(_FORMATS)}, and not two"
                )
            metric = Extraction(name=name, **read_fields(Extraction, given))
            if reason := self._problem(metric, found):
                raise one.error(reason)
            found.append(metric)
        return tuple(found)

    def of(self, value: object) -> tuple[Extraction, ...]:
        """See `Kind`."""
        if not isinstance(value, Mapping):
            raise InputError(f"{value!r} is not {self.what}")
        found: list[Extraction] = []
        for name, given in value.items():
            if not isinstance(given, Mapping):
                raise InputError(f"{name}: {given!r} is not a metric such as {{'json': 'a.b'}}")
            fields = values_of(Extraction, given, what="a metric")
            metric = Extraction(name=str(name), **fields)
            if reason := self._problem(metric, found):
                raise InputError(reason)
            found.append(metric)
        return tuple(found)

    def _problem(self, metric: Extraction, others: list[Extraction]) -> str | None:
        name = metric.name
        if not _NAME.fullmatch(name):
            return f"{name!r} cannot be a metric's name: write {_NAME_RULE}"
        if sum(getattr(metric, form) is not None for form in _FORMATS) != 1:
            return f"the metric {name!r} has to have one of {', '.join(_FORMATS)}"
        if metric.take == "count" and metric.unit:
            return f"the metric {name!r} counts, which has no unit: leave unit out"
        names = {*self.taken, *(one.metric.name for one in others)}
        names |= {one.metric.short for one in others}
        if {metric.metric.name, metric.metric.short} & names:
            return f"there is a metric {name!r} already: give it another name"
        if len(others) == _MAX_METRICS:
            return f"a flow has at most {_MAX_METRICS} metrics"
        return None

    def text(self, value: tuple[Extraction, ...]) -> str:
        """See `Kind`."""
        return "{" + ", ".join(one.name for one in value) + "}"

    def plain(self, value: tuple[Extraction, ...]) -> object:
        """See `Kind`."""
        return {one.name: written_fields(one) for one in value}

    def schema(self) -> dict[str, Any]:
        """See `Kind`."""
        fields = {
            key: {**field.kind.schema(), "title": field.about.label}
            for key, field in fields_of(Extraction).items()
        }
        fields["csv"] = {**fields["csv"], "type": ["string", "integer"]}
        one = {
            "type": "object",
            "properties": fields,
            "additionalProperties": False,
            "oneOf": [{"required": [form]} for form in _FORMATS],
        }
        return {"type": "object", "additionalProperties": one}


_KEYS = tuple(fields_of(Extraction))
assert {one.name for one in dataclasses.fields(Extraction)} == {"name", *_KEYS}
