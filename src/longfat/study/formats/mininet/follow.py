"""The lines of a script, followed from the first to the last without running them.

What a line needs and is not known stays unknown; only where a node or a link depends
on it, that is an error. Of a branch or a loop of which it is not known whether it is
taken, nothing is done.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from longfat.study.formats.mininet import plain
from longfat.study.formats.mininet.calls import Calls, EndedError
from longfat.study.formats.mininet.limits import Course, source_text
from longfat.study.formats.mininet.topologies import SOURCE
from longfat.study.formats.mininet.values import (
    Class,
    External,
    Function,
    Instance,
    Scope,
    Unknown,
    Value,
)

_MAKERS = frozenset(
    ("Mininet", "addHost", "addSwitch", "addLink", "addNode", "setIP", "setDefaultRoute")
)
_TYPERS = frozenset(("cmd", "cmdPrint", "pexec"))


class _ReturnedError(Exception):
    def __init__(self, value: Value) -> None:
        super().__init__()
        self.value = value


class _BrokenError(Exception):
    pass


class _ContinuedError(Exception):
    pass


class Script(Calls):
    """Follows a script.

    Args:
        tree: the script.
        course: where to count steps and tell what is left out.

    Attributes:
        nets: what `Mininet` it made.
        topos: what topologies it made.
        outermost: its names at the end.
    """

    def __init__(self, tree: ast.Module, course: Course) -> None:
        super().__init__(course)
        self._tree = tree
        self._known: dict[int, bool] = {}
        ready = ast.parse(SOURCE)
        self._makers, self._typers = (
            _calling([tree, ready], names) for names in (_MAKERS, _TYPERS)
        )
        self.outermost = Scope()
        self._ready = Scope(
            names={
                "Topo": External("mininet.topo", "Topo"),
                "Mininet": External("mininet.net", "Mininet"),
            }
        )
        self._lines(ready.body, self._ready)

    def follow(self) -> None:
        """Follow it to its end.

        Raises:
            InputError: a node or link depends on what is not known, or is wrong.
        """
        self.outermost.names["__name__"] = "__main__"
        try:
            self._lines(self._tree.body, self.outermost)
        except (EndedError, _ReturnedError, _BrokenError, _ContinuedError):
            return

    def topologies(self) -> list[Class]:
        """Return the classes of the script's own topologies."""
        found = [one for one in self.outermost.names.values() if isinstance(one, Class)]
        mine = [one for one in found if one.node in self._tree.body]
        return [one for one in mine if one.descends_from("Topo")]

    def named_topologies(self) -> list[Value]:
        """Make what the script's `topos` names, which is for `mn --custom`."""
        topos = self.outermost.names.get("topos")
        if not isinstance(topos, dict):
            return []
        made: list[Value] = []
        for one in topos.values():
            if isinstance(one, Function):
                made.append(self.run(one, [], {}, one.node))
            elif isinstance(one, Class):
                made.append(self.make(one, [], {}, one.node))
        return [one for one in made if isinstance(one, Instance) and one.draft is not None]

    def makes(self, *nodes: ast.AST) -> bool:
        """Return whether a part of the script may add to a network."""
        found = False
        for node in nodes:
            if id(node) not in self._known:  # the tree lives as long as this does
                self._known[id(node)] = not self._makers.isdisjoint(_called(node))
            found = found or self._known[id(node)]
        return found

    def body(self, function: Function, scope: Scope) -> Value:
        """Follow a function, and return what it returns."""
        if isinstance(function.node, ast.Lambda):
            return self.value(function.node.body, scope)
        try:
            self._lines(function.node.body, scope)
        except _ReturnedError as returned:
            return returned.value
        return None

    def _lines(self, lines: Sequence[ast.stmt], scope: Scope) -> None:
        for line in lines:
            self.course.step(line)
            self._line(line, scope)

    def _line(self, line: ast.stmt, scope: Scope) -> None:
        match line:
            case ast.Expr(value=value):
                self.value(value, scope)
            case ast.Assign(targets=targets, value=value):
                found = self.value(value, scope)
                for target in targets:
                    self.assign(target, found, scope)
            case ast.AnnAssign(target=target, value=value):
                if value is not None:
                    self.assign(target, self.value(value, scope), scope)
            case ast.AugAssign():
                self._change(line, scope)
            case ast.FunctionDef(name=name):
                scope.names[name] = Function(line, scope)
            case ast.ClassDef():
                self._class(line, scope)
            case ast.Import() | ast.ImportFrom():
                self._import(line, scope)
            case _:
                self._block(line, scope)

    def _block(self, line: ast.stmt, scope: Scope) -> None:
        match line:
            case ast.If():
                self._if(line, scope)
            case ast.For():
                self._for(line, scope)
            case ast.While():
                self._while(line, scope)
            case ast.Try():
                self._try(line, scope)
            case ast.With():
                self._with(line, scope)
            case ast.Global(names=names):
                scope.shared |= set(names)
            case ast.Pass() | ast.Assert() | ast.Delete() | ast.Nonlocal():
                pass
            case _:
                self._leave(line, scope)

    def _leave(self, line: ast.stmt, scope: Scope) -> None:
        match line:
            case ast.Return(value=value):
                raise _ReturnedError(None if value is None else self.value(value, scope))
            case ast.Break():
                raise _BrokenError
            case ast.Continue():
                raise _ContinuedError
            case ast.Raise():
                self.course.say(line, f"`{source_text(line)}`: the script ends here")
                raise EndedError
            case _:
                self._skip(line, [line], scope, f"`{source_text(line)}` is not understood")

    def _skip(self, line: ast.stmt, body: Sequence[ast.stmt], scope: Scope, reason: str) -> None:
        """Leave out lines of which it is not known whether or how often they are done.

        Raises:
            InputError: they add to a network.
        """
        if self.makes(*body):
            raise self.course.error(line, f"{reason}, and nodes or links depend on it")
        names = {name for one in body for name in _called(one)}
        if names & self._typers:
            self.course.say(line, f"{reason}: what is typed there is left out")
        for one in body:
            for inner in ast.walk(one):
                if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
                    scope.bind(inner.id, Unknown(inner.id))

    def _change(self, line: ast.AugAssign, scope: Scope) -> None:
        target = line.target
        if isinstance(target, ast.Name):
            known, old = scope.find(target.id)
            old = old if known else Unknown(target.id)
        elif isinstance(target, ast.Attribute):
            old = self.attribute(self.value(target.value, scope), target.attr, target)
        else:
            read = ast.Subscript(target.value, target.slice, ast.Load())
            old = self.value(ast.copy_location(read, target), scope)
        new = plain.binary(line.op, old, self.value(line.value, scope))
        if isinstance(new, str | list | tuple):
            self.course.step(line, size=len(new))
        self.assign(target, new, scope)

    def _class(self, line: ast.ClassDef, scope: Scope) -> None:
        inner = Scope(around=scope)
        for one in line.body:
            if isinstance(one, ast.FunctionDef | ast.Assign | ast.AnnAssign):
                self._line(one, inner)
        members: dict[str, Value] = {}
        bases = tuple(self.value(base, scope) for base in line.bases)
        made = Class(line.name, bases, members, line)
        for name, member in inner.names.items():
            mine = isinstance(member, Function) and member.scope is inner
            members[name] = Function(member.node, scope, made) if mine else member
        scope.names[line.name] = made

    def _import(self, line: ast.Import | ast.ImportFrom, scope: Scope) -> None:
        for alias in line.names:
            if isinstance(line, ast.Import):
                module = alias.name if alias.asname else alias.name.partition(".")[0]
                scope.names[alias.asname or module] = External(module, "")
            elif alias.name == "*":
                self._import_all(line.module or "", scope)
            else:
                known, found = self._ready.find(alias.name)
                if not known:
                    outer = External(line.module or "", "")
                    found = self.attribute(outer, alias.name, line)
                scope.names[alias.asname or alias.name] = found

    def _import_all(self, module: str, scope: Scope) -> None:
        if module.partition(".")[0] == "mininet":
            scope.names |= self._ready.names
            for name in ("Mininet", "Node", "CLI", "TCLink", "irange", "setLogLevel", "info"):
                scope.names.setdefault(name, External(module, name))

    def _if(self, line: ast.If, scope: Scope) -> None:
        truth = plain.truth_of(self.value(line.test, scope))
        if truth is None:
            reason = (
                f"whether `{source_text(line.test)}` holds is not known without running the script"
            )
            self._skip(line, [*line.body, *line.orelse], scope, reason)
        else:
            self._lines(line.body if truth else line.orelse, scope)

    def _for(self, line: ast.For, scope: Scope) -> None:
        rows = self.rows(self.value(line.iter, scope))
        if rows is None:
            text = source_text(line.iter)
            reason = f"what is in `{text}` is not known without running the script"
            self._skip(line, [line], scope, reason)
            return
        for row in rows:
            self.assign(line.target, row, scope)
            try:
                self._lines(line.body, scope)
            except _ContinuedError:
                continue
            except _BrokenError:
                return
        self._lines(line.orelse, scope)

    def _while(self, line: ast.While, scope: Scope) -> None:
        while True:
            truth = plain.truth_of(self.value(line.test, scope))
            # One that changes no network may wait for ever, which nobody needs to follow.
            if truth is None or not self.makes(*line.body):
                text = source_text(line.test)
                reason = f"how long `{text}` holds is not known without running the script"
                self._skip(line, line.body, scope, reason)
                return
            if not truth:
                return
            try:
                self._lines(line.body, scope)
            except _ContinuedError:
                continue
            except _BrokenError:
                return

    def _with(self, line: ast.With, scope: Scope) -> None:
        for item in line.items:
            found = self.value(item.context_expr, scope)
            if item.optional_vars is not None:
                self.assign(item.optional_vars, found, scope)
        self._lines(line.body, scope)

    def _try(self, line: ast.Try, scope: Scope) -> None:
        try:
            self._lines(line.body, scope)
            self._lines(line.orelse, scope)
        finally:
            self._lines(line.finalbody, scope)


def _called(node: ast.AST) -> set[str]:
    """Return the names of the functions and methods that are called anywhere inside."""
    found = set()
    for one in ast.walk(node):
        if isinstance(one, ast.Call):
            match one.func:
                case ast.Name(id=name) | ast.Attribute(attr=name):
                    found.add(name)
    return found


def _calling(trees: Sequence[ast.AST], names: frozenset[str]) -> frozenset[str]:
    """Return names of functions, and those of functions and classes that call one of them."""
    calls: dict[str, set[str]] = {}
    for tree in trees:
        for one in ast.walk(tree):
            if isinstance(one, ast.FunctionDef | ast.ClassDef):
                calls.setdefault(one.name, set()).update(_called(one))
    found = set(names)
    while more := {name for name, called in calls.items() if called & found} - found:
        found |= more
    return frozenset(found)
