"""Fields of a study, each declared once: on the dataclass field that holds its value.

A declaration has the field's format (a `Kind`, with its limits), its name, its meaning and
its default. From it come the reader with its located errors, the writer, the keywords of
the Python API, the JSON Schema (`longfat schema`), the studio's forms and the tables of the
reference. Nothing else lists fields.

    rate_bps: int | None = declare(Rate(least=8), default=None, label="Rate", help="...")

A field's key in a study is its name without the unit: `rate_bps` is `rate`.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from longfat.common.suggest import listed, nearest
from longfat.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from longfat.model.kinds import Kind, Source

F = TypeVar("F", bound=Callable[..., Any])

_METADATA = "longfat"
_CACHE = "__longfat_fields__"
_UNITS = ("_bps", "_bytes", "_ppm", "_s")


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """The metadata of a field.

    Attributes:
        kind: how its values are written.
        help: what it means, as a phrase.
        label: what a form calls it.
        absent: what holds without it, if the default does not show it.
        phrase: how a summary shows a value: `{} lost`; empty for none. One that begins with a
            blank belongs to the phrase before it.
        tc: the option of netem that its value follows: `loss`; empty for none.
        is_kept: netem keeps it when it is changed without this option.
        key: what a study calls it, where that is not its name without the unit.
    """

    kind: Kind[Any]
    help: str
    label: str
    absent: str = ""
    phrase: str = ""
    tc: str = ""
    is_kept: bool = False
    key: str = ""


def declare(kind: Kind[Any], *, default: Any, help: str, label: str, **more: Any) -> Any:  # noqa: A002
    """Return a dataclass field with a declaration; the options are those of `Declared`.

    Without a default, the field has to be given: `default=REQUIRED`.
    """
    about = Declared(kind=kind, help=help, label=label, **more)
    return dataclasses.field(default=default, metadata={_METADATA: about})


REQUIRED: Any = dataclasses.MISSING


def narrowed(cls: Any, key: str, kind: Kind[Any], **more: Any) -> Any:
    """Return a field of a base class again, with other limits, or another `absent`."""
    field = fields_of(cls)[key]
    about = dataclasses.replace(field.about, kind=kind, **more)
    return dataclasses.field(default=field.default, metadata={_METADATA: about})


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """A declared field of a class.

    Attributes:
        name: the attribute's name, with its unit: `rate_bps`.
        key: what a study calls it: `rate`.
        default: its default.
        about: what was declared.
    """

    name: str
    key: str
    default: Any
    about: Declared

    @property
    def kind(self) -> Kind[Any]:
        """How its values are written."""
        return self.about.kind

    @property
    def is_required(self) -> bool:
        """Whether it has to be given."""
        return self.default is REQUIRED

    @property
    def without(self) -> str:
        """What holds without the field, for people."""
        if self.is_required:
            return "(required)"
        if self.about.absent:
            return self.about.absent
        if self.default is None or self.default in ((), ""):
            return "none"
        return f"`{self.kind.text(self.default)}`"


def fields_of(cls: Any) -> Mapping[str, Field]:
    """Return the declared fields of a dataclass by their keys, in the order of declaration."""
    found: Mapping[str, Field] | None = cls.__dict__.get(_CACHE)
    if found is None:
        found = {}
        for one in dataclasses.fields(cls):
            if _METADATA in one.metadata:
                name = one.name
                about = one.metadata[_METADATA]
                key = about.key or next(
                    (name.removesuffix(unit) for unit in _UNITS if name.endswith(unit)), name
                )
                found[key] = Field(name=name, key=key, default=one.default, about=about)
        setattr(cls, _CACHE, found)
    return found


def read_fields(cls: Any, sources: Mapping[str, Source]) -> dict[str, Any]:
    """Read the fields of a class that are written in a study.

    Args:
        cls: the class.
        sources: the values by key; keys that the class does not declare are left alone.

    Returns:
        The values by attribute name. A wrong one whose mistake is kept (`Source.note`) is left
        out, so it has its default.

    Raises:
        InputError: a value is wrong, with its place, and mistakes are not kept or the field is
            required.
    """
    found = {}
    for key, field in fields_of(cls).items():
        if key not in sources:
            continue
        try:
            found[field.name] = field.kind.read(sources[key])
        except InputError as error:
            if field.is_required:
                raise
            sources[key].note(error)
    return found


def values_of(cls: Any, given: Mapping[str, object], *, what: str) -> dict[str, Any]:
    """Read the fields of a class from a Python program's keywords.

    Args:
        cls: the class.
        given: texts as in a study, or numbers in base units, by key; None takes one back to
            its default.
        what: what has the fields, for messages: `a link`.

    Returns:
        The values by attribute name.

    Raises:
        InputError: there is no such field, or a value is wrong.
    """
    fields = fields_of(cls)
    found = {}
    for key, value in given.items():
        if key not in fields:
            raise InputError(
                f"{what} has no {key!r}{nearest(key, fields)} (there are: {listed(fields)})"
            )
        field = fields[key]
        try:
            found[field.name] = field.default if value is None else field.kind.of(value)
        except InputError as error:
            raise InputError(f"{key}: {error.message}") from None
    return found


def written_fields(value: Any) -> dict[str, object]:
    """Return the fields of a value that differ from their defaults, as YAML holds them, by key."""
    return {
        key: field.kind.plain(getattr(value, field.name))
        for key, field in fields_of(type(value)).items()
        if getattr(value, field.name) != field.default
    }


def phrases(value: Any) -> list[str]:
    """Return a summary of a value's fields, such as `20 ms`, `0.01 % lost`."""
    found: list[str] = []
    for field in fields_of(type(value)).values():
        given = getattr(value, field.name)
        if field.about.phrase and given not in (None, 0) and given != field.default:
            words = field.about.phrase.format(field.kind.words(given))
            if words.startswith(" ") and found:
                found[-1] += words
            else:
                found.append(words.strip())
    return found


def field_problems(value: Any) -> Iterator[tuple[str, str]]:
    """Find the declared fields of a value that are outside of their limits.

    Returns:
        The key of each, and what was found and would be right.
    """
    for key, field in fields_of(type(value)).items():
        given = getattr(value, field.name)
        try:
            if given is not None and given != field.default:
                field.kind.of(given)
        except InputError as error:
            yield key, error.message


def takes_fields(*classes: type, without: type | None = None) -> Callable[[F], F]:
    """Name the declared fields of classes as keywords of a function that takes them as `**`.

    Its signature and its docstring then have them, for `help` and for completion.

    Args:
        classes: dataclasses with declared fields.
        without: a class whose fields it does not take.
    """

    def named(function: F) -> F:
        signature = inspect.signature(function)
        own = [one for one in signature.parameters.values() if one.kind is not one.VAR_KEYWORD]
        left_out = fields_of(without) if without is not None else {}
        fields = {
            key: field
            for cls in classes
            for key, field in fields_of(cls).items()
            if key not in left_out
        }
        more = [
            inspect.Parameter(key, inspect.Parameter.KEYWORD_ONLY, default=field.default)
            for key, field in fields.items()
        ]
        function.__signature__ = signature.replace(parameters=[*own, *more])  # type: ignore[attr-defined]
        lines = [f"    {key}: {field.about.help}" for key, field in fields.items()]
        function.__doc__ = "\n".join(
            [inspect.cleandoc(function.__doc__ or ""), "", "Options:", *lines]
        )
        setattr(function, _CACHE, fields)
        return function

    return named


def fields_taken(function: Callable[..., Any]) -> Mapping[str, Field]:
    """Return the declared fields that `takes_fields` named as keywords of a function, by key."""
    found: Mapping[str, Field] = getattr(function, _CACHE, {})
    return found
