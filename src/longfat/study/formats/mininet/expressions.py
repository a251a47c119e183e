"""Expressions of a script: what they come to, without running it."""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import TYPE_CHECKING

from longfat.study.formats.mininet import plain
from longfat.study.formats.mininet.limits import MOST_CHARACTERS, source_text
from longfat.study.formats.mininet.values import (
    Bound,
    Class,
    External,
    Function,
    Instance,
    NetRef,
    NodeRef,
    Scope,
    Super,
    Unknown,
    Value,
    is_key,
)

if TYPE_CHECKING:
    from longfat.study.formats.mininet.limits import Course

_BUILT_IN = frozenset(plain.FUNCTIONS) | {"print", "input", "super", "isinstance", "exit", "quit"}
_NODE_LISTS = ("hosts", "switches")


class Expressions(ABC):
    """Evaluates expressions; what a call does is said by who inherits.

    Args:
        course: how far the script was followed.
    """

    def __init__(self, course: Course) -> None:
        self.course = course

    @abstractmethod
    def call(self, node: ast.Call, scope: Scope) -> Value:
        """Return what a call gives."""

    @abstractmethod
    def makes(self, *nodes: ast.AST) -> bool:
        """Return whether a part of the script may add to a network."""

    def value(self, node: ast.expr, scope: Scope) -> Value:
        """Return what an expression comes to.

        Raises:
            InputError: a node or a link depends on it, and it cannot be known.
        """
        self.course.step(node)
        found = self._value(node, scope)
        if isinstance(found, str | list | tuple | dict):
            self.course.step(node, size=len(found))
        return found

    def _value(self, node: ast.expr, scope: Scope) -> Value:
        match node:
            case ast.Constant(value=value):
                return value if plain.truth_of(value) is not None else Unknown("constant")
            case ast.Name(id=name):
                return self._name(name, scope)
            case ast.Call():
                return self.call(node, scope)
            case ast.Attribute(value=inner, attr=name):
                return self.attribute(self.value(inner, scope), name, node)
            case ast.Subscript(value=inner, slice=index):
                return self._item(node, self.value(inner, scope), index, scope)
            case ast.Lambda():
                return Function(node, scope)
            case ast.Starred(value=inner):
                return self.value(inner, scope)
        return self._operation(node, scope)

    def _operation(self, node: ast.expr, scope: Scope) -> Value:
        match node:
            case ast.BinOp(left=left, op=operator, right=right):
                return plain.binary(operator, self.value(left, scope), self.value(right, scope))
            case ast.UnaryOp(op=sign, operand=operand):
                return plain.unary(sign, self.value(operand, scope))
            case ast.BoolOp():
                return self._both_or_either(node, scope)
            case ast.Compare():
                return self._compare(node, scope)
            case ast.IfExp():
                return self._either(node, scope)
            case ast.JoinedStr(values=parts):
                return self._joined(parts, scope)
            case ast.FormattedValue():
                return self._formatted(node, scope)
        return self._row(node, scope)

    def _row(self, node: ast.expr, scope: Scope) -> Value:
        match node:
            case ast.List(elts=items):
                return self._items(items, scope)
            case ast.Tuple(elts=items):
                return tuple(self._items(items, scope))
            case ast.Dict():
                return self._dict(node, scope)
            case ast.ListComp(elt=item) | ast.GeneratorExp(elt=item):
                return self._comprehension(node, item, scope)
            case ast.DictComp(key=key, value=item):
                pair = ast.copy_location(ast.Tuple([key, item], ast.Load()), node)
                found = self._comprehension(node, pair, scope)
                if isinstance(found, Unknown):
                    return found
                return {name: value for name, value in found if is_key(name)}
        if self.makes(node):
            raise self.course.error(node, f"`{source_text(node)}` is not understood")
        return Unknown(source_text(node))

    def _name(self, name: str, scope: Scope) -> Value:
        known, value = scope.find(name)
        if known:
            return value
        return External("", name) if name in _BUILT_IN else Unknown(name)

    def attribute(self, value: Value, name: str, node: ast.AST) -> Value:
        """Return an attribute of a value."""
        match value:
            case External():
                return self._of_external(value, name)
            case NodeRef(name=own):
                return own if name == "name" else Bound(value, name)
            case NetRef(draft=draft) if name in _NODE_LISTS:
                wanted = name == "switches"
                nodes = draft.nodes.items()
                return [NodeRef(draft, own) for own, one in nodes if one.is_switch == wanted]
            case Instance():
                return self._of_instance(value, name)
            case Class():
                return self._of_class(value, name)
            case Super(receiver=receiver, owner=owner):
                return self._above(receiver, owner, name)
            case NetRef() | str() | list() | dict() | tuple():
                return Bound(value, name)
        return Unknown(source_text(node))

    def _of_external(self, value: External, name: str) -> Value:
        module, outer = value.module, value.name
        if (module, outer, name) == ("sys", "", "argv"):
            return [self.course.file]  # as if it were started without arguments
        if not outer:
            return External(module, name)
        if module == "mininet" and outer.islower():
            return External(f"{module}.{outer}", name)
        return Bound(value, name)

    def _of_instance(self, value: Instance, name: str) -> Value:
        if name in value.attributes:
            return value.attributes[name]
        for one in value.of.line_of_descent():
            if name in one.members:
                member = one.members[name]
                return Bound(value, name, member) if isinstance(member, Function) else member
        return Bound(value, name)

    def _of_class(self, value: Class, name: str) -> Value:
        for one in value.line_of_descent():
            if name in one.members:
                return one.members[name]
        return Bound(External("mininet.topo", "Topo"), name)

    def _above(self, receiver: Value, owner: Class, name: str) -> Value:
        classes = owner.line_of_descent()
        if isinstance(receiver, Instance):
            line = receiver.of.line_of_descent()
            classes = line[line.index(owner) :] if owner in line else line
        for one in classes[1:]:
            member = one.members.get(name)
            if isinstance(member, Function):
                return Bound(receiver, name, member)
        # A host's own `config` is Mininet's, which the draft knows.
        return Bound(receiver, f"{name} of Mininet" if isinstance(receiver, NodeRef) else name)

    def _joined(self, parts: list[ast.expr], scope: Scope) -> Value:
        texts = [self.value(part, scope) for part in parts]
        if not all(isinstance(text, str) for text in texts):
            return Unknown("text")
        whole = "".join(texts)
        return whole if len(whole) <= MOST_CHARACTERS else Unknown("text")

    def _formatted(self, node: ast.FormattedValue, scope: Scope) -> Value:
        spec = "" if node.format_spec is None else self.value(node.format_spec, scope)
        value = self.value(node.value, scope)
        return plain.shown(value, spec) if isinstance(spec, str) else Unknown("text")

    def _items(self, nodes: list[ast.expr], scope: Scope) -> list[Value]:
        found: list[Value] = []
        for node in nodes:
            value = self.value(node, scope)
            if isinstance(node, ast.Starred):
                found += self.rows(value) or []
            else:
                found.append(value)
        return found

    def _dict(self, node: ast.Dict, scope: Scope) -> Value:
        found: dict[Value, Value] = {}
        for key, item in zip(node.keys, node.values, strict=True):
            value = self.value(item, scope)
            if key is None:
                if not isinstance(value, dict):
                    return Unknown("dictionary")
                found |= value
                continue
            name = self.value(key, scope)
            if not is_key(name):
                return Unknown("dictionary")
            found[name] = value
        return found

    def _either(self, node: ast.IfExp, scope: Scope) -> Value:
        truth = plain.truth_of(self.value(node.test, scope))
        if truth is None:
            if self.makes(node.body, node.orelse):
                raise self.course.error(node, f"whether `{source_text(node.test)}` {self._cannot}")
            return Unknown(source_text(node))
        return self.value(node.body if truth else node.orelse, scope)

    _cannot = "holds is not known without running the script, and nodes or links depend on it"

    def _both_or_either(self, node: ast.BoolOp, scope: Scope) -> Value:
        value: Value = None
        for one in node.values:
            value = self.value(one, scope)
            truth = plain.truth_of(value)
            if truth is None or truth == isinstance(node.op, ast.Or):
                return value
        return value

    def _compare(self, node: ast.Compare, scope: Scope) -> Value:
        left = self.value(node.left, scope)
        found: Value = True
        for operator, other in zip(node.ops, node.comparators, strict=True):
            right = self.value(other, scope)
            found = plain.compare(operator, left, right)
            if found is not True:
                return found
            left = right
        return found

    def _item(self, node: ast.Subscript, value: Value, index: ast.expr, scope: Scope) -> Value:
        if isinstance(index, ast.Slice):
            ends = [
                None if end is None else self.value(end, scope)
                for end in (index.lower, index.upper, index.step)
            ]
            if not all(end is None or isinstance(end, int) for end in ends):
                return Unknown(source_text(node))
            return plain.subscript(value, slice(*ends))
        wanted = self.value(index, scope)
        if isinstance(value, NetRef):
            return self.node_called(value, wanted, node)
        return plain.subscript(value, wanted)

    def node_called(self, net: NetRef, name: Value, node: ast.AST) -> Value:
        """Return the node of a network that is called so.

        Raises:
            InputError: there is none.
        """
        if not isinstance(name, str):
            return Unknown(source_text(node))
        if name in net.draft.controllers:
            return Unknown(name)
        if name not in net.draft.nodes:
            raise self.course.error(node, net.draft.no_node(name))
        return NodeRef(net.draft, name)

    def rows(self, value: Value) -> list[Value] | None:
        """Return what a loop over a value goes through; None if that is not known."""
        if isinstance(value, list | tuple | str | dict):
            return list(value)
        if isinstance(value, NetRef):
            return list(value.draft.nodes)
        return None

    def _comprehension(
        self, node: ast.ListComp | ast.GeneratorExp | ast.DictComp, item: ast.expr, scope: Scope
    ) -> Value:
        found: list[Value] = []
        for inner in self._scopes(node, node.generators, Scope(around=scope)):
            if inner is None:
                if self.makes(node):
                    raise self.course.error(
                        node, f"how often `{source_text(node)}` is done {self._loop}"
                    )
                return Unknown(source_text(node))
            found.append(self.value(item, inner))
            self.course.step(node, size=len(found) // 64)
        return found

    _loop = "is not known without running the script, and nodes or links depend on it"

    def _scopes(
        self, node: ast.expr, generators: list[ast.comprehension], scope: Scope
    ) -> Iterator[Scope | None]:
        """Yield the names of each turn; None where it is not known which turns there are."""
        if not generators:
            yield scope
            return
        first, rest = generators[0], generators[1:]
        rows = self.rows(self.value(first.iter, scope))
        if rows is None:
            yield None
            return
        for row in rows:
            self.course.step(node)
            inner = Scope(around=scope)
            self.assign(first.target, row, inner)
            truths = [plain.truth_of(self.value(test, inner)) for test in first.ifs]
            if None in truths:
                yield None
                return
            if all(truths):
                yield from self._scopes(node, rest, inner)

    def assign(self, target: ast.expr, value: Value, scope: Scope) -> None:
        """Let names stand for a value, or its parts."""
        match target:
            case ast.Name(id=name):
                scope.bind(name, value)
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                rows = self.rows(value)
                if rows is None or len(rows) != len(parts):
                    rows = [Unknown(source_text(part)) for part in parts]
                for part, row in zip(parts, rows, strict=True):
                    self.assign(part, row, scope)
            case ast.Attribute(value=inner, attr=name):
                holder = self.value(inner, scope)
                if isinstance(holder, Instance):
                    holder.attributes[name] = value
            case ast.Subscript(value=inner, slice=index):
                self._put(self.value(inner, scope), self.value(index, scope), value)

    def _put(self, holder: Value, index: Value, value: Value) -> None:
        if isinstance(holder, dict) and is_key(index):
            try:
                holder[index] = value
            except TypeError:  # a list is no key
                return
        elif (
            isinstance(holder, list)
            and isinstance(index, int)
            and -len(holder) <= index < len(holder)
        ):
            holder[index] = value
