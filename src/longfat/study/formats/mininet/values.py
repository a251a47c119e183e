"""What names stand for while a script is followed.

Texts, numbers, lists, tuples and dictionaries are Python's own. What is not known
without running the script is an `Unknown`, and so is all that is made of it.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeGuard

if TYPE_CHECKING:
    from longfat.study.formats.mininet.draft import Draft

Value = Any
"""A value of the script: Python's own plain ones, or one of the classes below."""

Scalar = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Unknown:
    """What only running the script could tell.

    Attributes:
        what: what it is, as the script writes it.
    """

    what: str


@dataclass(frozen=True, slots=True)
class External:
    """Something that the script imports, or Python's own.

    Attributes:
        module: the module it is from; empty for what is built in.
        name: its name there; empty for the module itself.
    """

    module: str
    name: str


@dataclass(frozen=True, slots=True)
class NodeRef:
    """A node of a network, or the shell at root."""

    draft: Draft
    name: str


@dataclass(frozen=True, slots=True)
class NetRef:
    """A `Mininet`."""

    draft: Draft


@dataclass(eq=False, slots=True)
class Scope:
    """Names and what they stand for, and the scope around.

    Attributes:
        around: where a name is looked up that is not here.
        names: the names.
        shared: names that are those of the outermost scope (`global`).
    """

    around: Scope | None = None
    names: dict[str, Value] = field(default_factory=dict)
    shared: set[str] = field(default_factory=set)

    def find(self, name: str) -> tuple[bool, Value]:
        """Return whether there is such a name, and what it stands for."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.names:
                return True, scope.names[name]
            scope = scope.around
        return False, None

    def bind(self, name: str, value: Value) -> None:
        """Let a name stand for a value."""
        scope = self
        if name in self.shared:
            while scope.around is not None:
                scope = scope.around
        scope.names[name] = value


@dataclass(frozen=True, slots=True, eq=False)
class Function:
    """A function or lambda of the script; in a class, the class."""

    node: ast.FunctionDef | ast.Lambda
    scope: Scope
    owner: Class | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Class:
    """A class of the script, or one of Mininet's topologies."""

    name: str
    bases: tuple[Value, ...]
    members: Mapping[str, Value]
    node: ast.ClassDef

    def line_of_descent(self) -> list[Class]:
        """Return it and the classes of the script that it descends from."""
        found = [self]
        for base in self.bases:
            if isinstance(base, Class):
                found += [one for one in base.line_of_descent() if one not in found]
        return found

    def descends_from(self, *names: str) -> bool:
        """Return whether one of Mininet's classes is among those that it descends from."""
        return any(
            isinstance(base, External) and base.name in names
            for one in self.line_of_descent()
            for base in one.bases
        )


@dataclass(frozen=True, slots=True, eq=False)
class Instance:
    """An object of a class of the script; of a `Topo`, with the network that it makes."""

    of: Class
    attributes: dict[str, Value]
    draft: Draft | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Bound:
    """A function or method with what it is called on.

    Attributes:
        receiver: the object.
        name: the method's name.
        function: the script's own function; None for a method of Mininet's or Python's.
    """

    receiver: Value
    name: str
    function: Function | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Super:
    """What `super()` is in a method."""

    receiver: Value
    owner: Class


def is_scalar(value: Value) -> TypeGuard[Scalar]:
    """Return whether a value is a text, a number, or one of Python's constants."""
    return value is None or isinstance(value, str | int | float | bool)


def is_key(value: Value) -> bool:
    """Return whether a value may be a key, or be compared."""
    if isinstance(value, tuple | list):
        return all(is_scalar(item) or isinstance(item, NodeRef) for item in value)
    return is_scalar(value) or isinstance(value, NodeRef)
