"""From plain data to values of declared types, by their annotations."""

from __future__ import annotations

import dataclasses
import functools
import math
import sys
import types
import typing
from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any, Generic, TypeVar

from longfat.common.decoding._reading import MAX_QUOTE, MakeError, quoted
from longfat.errors import InputError

_MAX_INTEGER = 2**63 - 1


_T = TypeVar("_T")
_Reader = Callable[[Any], Any]
Tagged = Mapping[type, tuple[str, Mapping[str, type]]]
"""For abstract dataclasses: the field with the tag, and the classes by their tags."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class _Rules:
    """How types are read: see `Decoder`."""

    tagged: Tagged
    ignore_unknown: bool


class _MisfitError(Exception):
    """A value does not fit its type; `path` leads to it and grows from its end."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.path: list[str] = []

    def at(self, step: str) -> _MisfitError:
        """Prepend a step to the path of the value."""
        self.path.insert(0, step)
        return self

    def __str__(self) -> str:
        place = "".join(self.path).removeprefix(".")
        return f"{place}: {self.args[0]}" if place else str(self.args[0])


def decode(kind: type[_T], data: Any, *, where: str, error: MakeError = InputError) -> _T:
    """Return plain data as a value of a type; see `Decoder`.

    Args:
        kind: the type, such as a dataclass or `dict[str, float]`.
        data: what `read_json` returned.
        where: its name in messages.
        error: creates the error of a message.

    Raises:
        LongfatError: the data does not fit.
    """
    return typing.cast(
        "_T", _decoder(typing.cast("Any", kind)).decode(data, where=where, error=error)
    )


class Decoder(Generic[_T]):
    """Turns plain data into values of one type, by its annotations.

    A type is one of JSON's own (`bool`, `int`, `float`, `str`, `None`), `Any` for data
    that is decoded elsewhere, a `list`, `tuple`
    or mapping of types with texts as keys, a union of such, a `Literal`, an `Enum` by its
    values, a `TypedDict`, or a dataclass. In `Annotated[TYPE, CHECK, ...]`, each check is
    called with the value, and raises ValueError for one that is not allowed. A `float` may be
    written as a whole number, and stays one: a case's digest must not change by decoding. The
    error of a dataclass's own checks (ValueError) is reported with the value's path.

    Args:
        kind: the type.
        tagged: its abstract dataclasses.
        given: fields of `kind` that are not in the data but passed to `decode`.
        ignore_unknown: another program wrote the data: unknown fields are ignored.
    """

    def __init__(
        self,
        kind: type[_T],
        *,
        tagged: Tagged | None = None,
        given: tuple[str, ...] = (),
        ignore_unknown: bool = False,
    ) -> None:
        self._kind = kind
        self._rules = _Rules(tagged=tagged or {}, ignore_unknown=ignore_unknown)
        self._given = given

    def decode(
        self,
        data: Any,
        *,
        where: str,
        error: MakeError = InputError,
        given: Mapping[str, Any] | None = None,
    ) -> _T:
        """Return the value.

        Args:
            data: plain data.
            where: its name in messages.
            error: creates the error of a message.
            given: the values of fields that are not in the data.

        Raises:
            LongfatError: the data does not fit.
        """
        try:
            if given is None:
                return typing.cast("_T", self._read(data))
            return typing.cast("_T", self._fields(data, given))
        except _MisfitError as misfit:
            raise error(f"{where}: {misfit}") from None

    @functools.cached_property
    def _read(self) -> _Reader:
        return _reader(self._kind, self._rules)

    @functools.cached_property
    def _fields(self) -> Callable[[Any, Mapping[str, Any]], Any]:
        return _dataclass_reader(self._kind, self._rules, given=self._given)


@functools.cache
def _decoder(kind: Any) -> Decoder[Any]:
    return Decoder(kind)


def _reader(kind: Any, rules: _Rules) -> _Reader:  # noqa: C901, PLR0911, PLR0912  a type a line
    if kind in _SIMPLE:
        return _SIMPLE[kind]
    if kind is Any:
        return lambda data: data
    if kind in rules.tagged:
        return _tagged_reader(*rules.tagged[kind], rules)
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is typing.Annotated:
        return _checked_reader(_reader(arguments[0], rules), arguments[1:])
    if origin is list:
        return _list_reader(_reader(arguments[0], rules))
    if origin is tuple:
        if arguments[1:] == (...,):
            items = _list_reader(_reader(arguments[0], rules))
            return lambda data: tuple(items(data))
        return _tuple_reader([_reader(one, rules) for one in arguments])
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return _mapping_reader(_reader(arguments[0], rules), _reader(arguments[1], rules))
    if origin in (typing.Union, types.UnionType):
        return _union_reader(arguments, rules)
    if origin is typing.Literal:
        return _choice_reader({one: one for one in arguments})
    if typing.is_typeddict(kind):
        hints = typing.get_type_hints(kind, include_extras=True)
        required = [name for name in hints if _is_required(kind, name, hints[name])]
        return _object_reader(
            {name: _reader(_bare(hint), rules) for name, hint in hints.items()}, required, rules
        )
    if isinstance(kind, type) and issubclass(kind, Enum):
        return _choice_reader({member.value: member for member in kind})
    if dataclasses.is_dataclass(kind):
        build = _dataclass_reader(kind, rules)
        return lambda data: build(data, {})
    raise TypeError(f"{kind} cannot be read from JSON")


def _is_required(kind: Any, name: str, hint: Any) -> bool:
    """Return whether a `TypedDict` always has a field."""
    # Annotations are texts, which the class does not read: so it does not know `NotRequired`.
    origin = typing.get_origin(hint)
    if origin in (typing.NotRequired, typing.Required):
        return origin is typing.Required
    return name in kind.__required_keys__


def _bare(hint: Any) -> Any:
    if typing.get_origin(hint) in (typing.NotRequired, typing.Required):
        return typing.get_args(hint)[0]
    return hint


def _misfit(found: Any, needed: str) -> _MisfitError:
    return _MisfitError(f"found {describe(found)}, expected {needed}")


def describe(value: Any) -> str:
    """Return a short description of plain data, however large or deep it may be."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int() if abs(value) > _MAX_INTEGER:
            return "a number of more than 64 bits"
        case int() | float():
            return str(value)
        case str():
            return f"the text {quoted(value)}"
        case list() | tuple():
            return f"a list of {len(value)}" if value else "an empty list"
        case dict():
            return "an object" if value else "an empty object"
    return f"a {type(value).__name__}"


def _read_bool(data: Any) -> bool:
    if data is True or data is False:
        return bool(data)
    raise _misfit(data, "true or false")


def _read_int(data: Any) -> int:
    if type(data) is int and -_MAX_INTEGER - 1 <= data <= _MAX_INTEGER:
        return data
    raise _misfit(data, "a whole number of at most 64 bits")


def _read_float(data: Any) -> float:
    if type(data) is float and math.isfinite(data):
        return data
    if type(data) is int and -_MAX_INTEGER - 1 <= data <= _MAX_INTEGER:
        return data
    raise _misfit(data, "a finite number")


def _read_str(data: Any) -> str:
    if type(data) is str:
        return data
    raise _misfit(data, "a text")


def _read_none(data: Any) -> None:
    if data is not None:
        raise _misfit(data, "null")


_SIMPLE: dict[Any, _Reader] = {
    bool: _read_bool,
    int: _read_int,
    float: _read_float,
    str: _read_str,
    type(None): _read_none,
    None: _read_none,
}


def _checked_reader(read: _Reader, checks: tuple[Any, ...]) -> _Reader:
    def read_checked(data: Any) -> Any:
        value = read(data)
        try:
            for check in checks:
                check(value)
        except ValueError as problem:
            raise _MisfitError(str(problem)) from None
        return value

    return read_checked


def _list_reader(item: _Reader) -> Callable[[Any], list[Any]]:
    def read(data: Any) -> list[Any]:
        if type(data) not in (list, tuple):  # tuples occur in data before it is JSON
            raise _misfit(data, "a list")
        found = []
        for index, one in enumerate(data):
            try:
                found.append(item(one))
            except _MisfitError as misfit:
                raise misfit.at(f"[{index}]") from None
        return found

    return read


def _tuple_reader(items: list[_Reader]) -> _Reader:
    def read(data: Any) -> tuple[Any, ...]:
        if type(data) not in (list, tuple) or len(data) != len(items):
            raise _misfit(data, f"a list of {len(items)}")
        found = []
        for index, (item, one) in enumerate(zip(items, data, strict=True)):
            try:
                found.append(item(one))
            except _MisfitError as misfit:
                raise misfit.at(f"[{index}]") from None
        return tuple(found)

    return read


def _mapping_reader(key: _Reader, item: _Reader) -> _Reader:
    def read(data: Any) -> dict[str, Any]:
        if type(data) is not dict:
            raise _misfit(data, "an object")
        found = {}
        for name, one in data.items():
            try:
                found[key(name)] = item(one)
            except _MisfitError as misfit:
                raise misfit.at(f".{_step(name)}") from None
        return found

    return read


def _step(name: str) -> str:
    return name if len(name) <= MAX_QUOTE and name.isprintable() else quoted(name)


def _union_reader(kinds: tuple[Any, ...], rules: _Rules) -> _Reader:
    readers = [_reader(kind, rules) for kind in kinds if kind is not type(None)]
    optional = type(None) in kinds
    if len(readers) == 1:
        (only,) = readers
        return lambda data: None if data is None and optional else only(data)

    def read(data: Any) -> Any:
        if data is None and optional:
            return None
        misfit = _MisfitError("")
        for reader in readers:
            try:
                return reader(data)
            except _MisfitError as one:
                misfit = one
        raise misfit

    return read


def _choice_reader(members: Mapping[Any, Any]) -> _Reader:
    def read(data: Any) -> Any:
        if type(data) in (str, int) and data in members:
            return members[data]
        raise _misfit(data, f"one of {', '.join(map(str, members))}")

    return read


def _tagged_reader(tag: str, kinds: Mapping[str, type], rules: _Rules) -> _Reader:
    readers = {name: _dataclass_reader(kind, rules) for name, kind in kinds.items()}

    def read(data: Any) -> Any:
        if type(data) is not dict:
            raise _misfit(data, "an object")
        name = data.get(tag)
        if not isinstance(name, str) or name not in readers:
            raise _misfit(name, f"one of {', '.join(readers)}").at(f".{tag}")
        return readers[name]({key: one for key, one in data.items() if key != tag}, {})

    return read


def _object_reader(
    readers: Mapping[str, _Reader], required: typing.Iterable[str], rules: _Rules
) -> _Reader:
    needed = tuple(required)

    def read(data: Any) -> dict[str, Any]:
        if type(data) is not dict:
            raise _misfit(data, "an object")
        for name in needed:
            if name not in data:
                raise _MisfitError("is missing").at(f".{name}")
        found = {}
        for name, one in data.items():
            reader = readers.get(name)
            if reader is None:
                if rules.ignore_unknown:
                    continue
                raise _MisfitError("unknown field").at(f".{_step(name)}")
            try:
                found[name] = reader(one)
            except _MisfitError as misfit:
                raise misfit.at(f".{name}") from None
        return found

    return read


def _dataclass_reader(
    kind: Any, rules: _Rules, *, given: tuple[str, ...] = ()
) -> Callable[[Any, Mapping[str, Any]], Any]:
    fields = [one for one in dataclasses.fields(kind) if one.init and one.name not in given]
    readers = {one.name: _reader(_annotation(kind, one), rules) for one in fields}
    absent = dataclasses.MISSING
    required = [
        one.name for one in fields if one.default is absent and one.default_factory is absent
    ]
    read = _object_reader(readers, required, rules)

    def build(data: Any, more: Mapping[str, Any]) -> Any:
        found = read(data)
        try:
            return kind(**found, **more)
        except ValueError as problem:
            raise _MisfitError(str(problem)) from None

    return build


def _annotation(kind: type, field: dataclasses.Field[Any]) -> Any:
    """Return the type of a field, as declared in the module of the class that declares it."""
    (owner, *_) = [
        one for one in kind.__mro__ if field.name in vars(one).get("__annotations__", {})
    ]
    alone = types.SimpleNamespace(__annotations__={field.name: field.type})
    names = vars(sys.modules[owner.__module__])
    return typing.get_type_hints(alone, globalns=names, include_extras=True)[field.name]
