"""Calls: of the script's own functions and classes, and of Mininet's."""

from __future__ import annotations

import ast
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from longfat.model.network import ROOT_NAMESPACE
from longfat.study.formats.mininet import plain
from longfat.study.formats.mininet.draft import NO_CONTROLLER, NOT_KNOWN, Draft
from longfat.study.formats.mininet.expressions import Expressions
from longfat.study.formats.mininet.limits import source_text
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
)

DEEPEST_CALLS = 40

# Mininet's functions and methods that make no difference to the network.
_QUIET = frozenset(
    (
        *("CLI", "setLogLevel", "info", "debug", "output", "error", "warn", "dumpNodeConnections"),
        *(
            "dumpNetConnections",
            "dumpNodes",
            "cleanup",
            "print",
            "sleep",
            "isinstance",
            "customClass",
        ),
    )
)
_QUIET_NET = frozenset(
    (
        *("start", "build", "stop", "startTerms", "waitConnected", "staticArp", "configHosts"),
        *("interact", "topo", "controllers"),
    )
)
_QUIET_NODE = frozenset(
    (
        *("start", "stop", "terminate", "config of Mininet", "config", "IP", "MAC", "defaultIntf"),
        *("intfList", "intfNames", "monitor", "waitOutput", "sendInt", "waiting", "connected"),
        *("__init__ of Mininet", "terminate of Mininet", "setARP", "setHostRoute"),
    )
)
_MEASURES = frozenset(
    (
        "pingAll",
        "ping",
        "pingPair",
        "pingFull",
        "pingAllFull",
        "pingPairFull",
        "iperf",
        "runCpuLimitTest",
    )
)
_ADDS = frozenset(("addHost", "addSwitch", "addLink"))
_CHANGES = frozenset(
    ("cmd", "cmdPrint", "config", "ifconfig", "pexec", "setIP", "setMAC", "setDefaultRoute", "tc")
)
_TYPES = frozenset(("cmd", "cmdPrint", "pexec"))
_NO_CPU = "hosts are infinitely fast"


@dataclass(frozen=True, slots=True)
class Custom:
    """One of Mininet's classes with options of its own (`partial`, `custom`)."""

    of: Value
    options: Mapping[str, Value]


class Calls(Expressions):
    """Evaluates calls; how a function's lines are followed is said by who inherits."""

    def __init__(self, *args: object) -> None:
        super().__init__(*args)  # type: ignore[arg-type]
        self.nets: list[NetRef] = []
        self.topos: list[Instance] = []
        self._depth = 0

    @abstractmethod
    def body(self, function: Function, scope: Scope) -> Value:
        """Follow a function, and return what it returns."""

    # ------------------------------------------------------------- who is called

    def call(self, node: ast.Call, scope: Scope) -> Value:
        """Return what a call gives."""
        if isinstance(node.func, ast.Name) and node.func.id == "super":
            return self._super(scope)
        target = self.value(node.func, scope)
        args, named = self._arguments(node, scope)
        match target:
            case Function():
                return self.run(target, args, named, node)
            case Bound(function=Function() as function, receiver=receiver):
                return self.run(function, [receiver, *args], named, node, receiver=receiver)
            case Bound():
                return self._method(target, args, named, node)
            case Class():
                return self.make(target, args, named, node)
            case External():
                return self._external(target, args, named, node)
        self._unknown(node, args, named)
        return Unknown(source_text(node))

    def _unknown(self, node: ast.Call, args: Sequence[Value], named: Mapping[str, Value]) -> None:
        name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        if name in _ADDS:
            raise self.course.error(node, f"what `{source_text(node.func)}` adds to {NOT_KNOWN}")
        if name in _CHANGES:
            self.course.say(node, f"`{source_text(node)}` is not known and is left out")
        else:
            self._may_matter(node, args, named)

    def _arguments(self, node: ast.Call, scope: Scope) -> tuple[list[Value], dict[str, Value]]:
        args: list[Value] = []
        for one in node.args:
            value = self.value(one, scope)
            args += (self.rows(value) or []) if isinstance(one, ast.Starred) else [value]
        named: dict[str, Value] = {}
        for keyword in node.keywords:
            value = self.value(keyword.value, scope)
            if keyword.arg is not None:
                named[keyword.arg] = value
            elif isinstance(value, dict):
                named |= {str(name): one for name, one in value.items()}
            elif self.makes(node):
                raise self.course.error(
                    node, f"what stands in `{source_text(keyword.value)}` {NOT_KNOWN}"
                )
        return args, named

    def _super(self, scope: Scope) -> Value:
        known, receiver = scope.find("__self__")
        _, owner = scope.find("__class__")
        return Super(receiver, owner) if known and isinstance(owner, Class) else Unknown("super()")

    def _may_matter(
        self, node: ast.Call, args: Sequence[Value], named: Mapping[str, Value]
    ) -> None:
        """Tell of a call that is not known and is given the network, or a part of it."""
        parts = (*args, *named.values())
        if any(isinstance(one, NetRef | NodeRef) or _is_topo(one) for one in parts):
            self.course.say(node, f"`{source_text(node)}` is not known and is left out")

    # ------------------------------------------------------- the script's own

    def run(
        self,
        function: Function,
        args: Sequence[Value],
        named: Mapping[str, Value],
        node: ast.AST,
        *,
        receiver: Value = None,
    ) -> Value:
        """Follow a function of the script with arguments, and return what it returns.

        Raises:
            InputError: functions call each other without end, or a line of it is wrong.
        """
        if self._depth >= DEEPEST_CALLS:
            raise self.course.error(node, "functions call each other too deep to be followed")
        scope = Scope(around=function.scope)
        if function.owner is not None:
            scope.names["__class__"] = function.owner
            scope.names["__self__"] = receiver if receiver is not None else next(iter(args), None)
        self._bind(function.node.args, list(args), dict(named), scope)
        self._depth += 1
        try:
            return self.body(function, scope)
        finally:
            self._depth -= 1

    def _bind(
        self, wanted: ast.arguments, args: list[Value], named: dict[str, Value], scope: Scope
    ) -> None:
        names = [one.arg for one in (*wanted.posonlyargs, *wanted.args)]
        defaults = dict(zip(reversed(names), reversed(wanted.defaults), strict=False))
        defaults |= {
            one.arg: default
            for one, default in zip(wanted.kwonlyargs, wanted.kw_defaults, strict=True)
            if default is not None
        }
        for name in [*names, *(one.arg for one in wanted.kwonlyargs)]:
            if name in names and args:
                scope.names[name] = args.pop(0)
            elif name in named:
                scope.names[name] = named.pop(name)
            elif name in defaults:
                scope.names[name] = self.value(defaults[name], scope.around or scope)
            else:
                scope.names[name] = Unknown(name)
        if wanted.vararg is not None:
            scope.names[wanted.vararg.arg] = tuple(args)
        if wanted.kwarg is not None:
            scope.names[wanted.kwarg.arg] = named

    def make(
        self, of: Class, args: Sequence[Value], named: Mapping[str, Value], node: ast.AST
    ) -> Value:
        """Make an object of a class of the script; a `Topo` makes its network."""
        draft = Draft(self.course, is_topo=True) if of.descends_from("Topo") else None
        made = Instance(of, {}, draft)
        if draft is not None:
            self.topos.append(made)
        first = self._of_instance(made, "__init__")
        if isinstance(first, Bound) and first.function is not None:
            self.run(first.function, [made, *args], named, node, receiver=made)
        elif draft is not None:
            self._build_topo(made, args, named, node)
        return made

    def _build_topo(
        self, topo: Instance, args: Sequence[Value], named: Mapping[str, Value], node: ast.AST
    ) -> None:
        """Do what `Topo.__init__` does: keep the options that all have, and build."""
        own = dict(named)
        for name in ("hopts", "sopts", "lopts"):
            topo.attributes[name] = own.pop(name, {})
        build = self._of_instance(topo, "build")
        if isinstance(build, Bound) and build.function is not None:
            self.run(build.function, [topo, *args], own, node, receiver=topo)

    # ----------------------------------------------------------- methods

    def _method(
        self, bound: Bound, args: list[Value], named: dict[str, Value], node: ast.Call
    ) -> Value:
        match bound.receiver:
            case NetRef():
                return self._of_net(bound.receiver, bound.name, args, named, node)
            case NodeRef():
                return self._of_node(bound.receiver, bound.name, args, named, node)
            case Instance():
                return self._of_topo(bound.receiver, bound.name, args, named, node)
            case External(name="Topo") if args and isinstance(args[0], Instance):
                return self._of_topo(args[0], bound.name, args[1:], named, node)
            case str() | list() | dict() | tuple():
                return plain.call_method(bound.receiver, bound.name, args, named)
        self._may_matter(node, args, named)
        return Unknown(source_text(node))

    def _of_topo(
        self, topo: Instance, name: str, args: list[Value], named: dict[str, Value], node: ast.Call
    ) -> Value:
        draft = topo.draft
        if draft is None:
            self._may_matter(node, args, named)
            return Unknown(source_text(node))
        options = {"addHost": "hopts", "addNode": "hopts", "addSwitch": "sopts", "addLink": "lopts"}
        if name == "__init__":
            self._build_topo(topo, args, named, node)
            return None
        if name in options:
            given = len(args) > (2 if name == "addLink" else 1) or named
            common = topo.attributes.get(options[name], {})
            if not given and isinstance(common, dict):
                named = dict(common)
            if name == "addNode" and named.pop("isSwitch", False):
                name = "addSwitch"
            made = self._add(draft, name, args, named, node)
            return made.name if isinstance(made, NodeRef) else made
        if name in {"hosts", "switches", "nodes"}:
            return [
                own
                for own, one in draft.nodes.items()
                if name == "nodes" or one.is_switch == (name == "switches")
            ]
        return Unknown(source_text(node))

    def _of_net(
        self, net: NetRef, name: str, args: list[Value], named: dict[str, Value], node: ast.Call
    ) -> Value:
        draft = net.draft
        if name in {"addHost", "addSwitch", "addLink"}:
            return self._add(draft, name, args, named, node)
        if name in {"get", "getNodeByName"}:
            found = [self.node_called(net, one, node) for one in args]
            return found[0] if len(found) == 1 else found
        if name == "addController":
            called = named.get("name", args[0] if args else "c0")
            called = called if isinstance(called, str) else "c0"
            draft.controllers.add(called)
            self.course.notes.say(called, f"the controller {NO_CONTROLLER}")
        elif name in _MEASURES:
            self.course.say(node, f"{name} is left out: a study has flows for traffic")
        elif name == "addNAT":
            self.course.say(node, "addNAT is left out: a machine has no network of its own")
        elif name not in _QUIET_NET:
            self.course.say(node, f"`{source_text(node)}` is not known and is left out")
        return Unknown(source_text(node))

    def _add(
        self, draft: Draft, name: str, args: list[Value], named: dict[str, Value], node: ast.Call
    ) -> Value:
        if name == "addLink":
            ends = [*args[:2], *(named.pop(end) for end in ("node1", "node2") if end in named)]
            named |= dict(zip(("port1", "port2", "cls"), args[2:], strict=False))
            kind = named.pop("cls", None)
            if isinstance(kind, Custom):
                named = {**kind.options, **named}
            draft.add_link(node, ends, named)
            return Unknown(source_text(node))
        called = named.pop("name", args[0] if args else None)
        if len(args) > 1:
            named["cls"] = args[1]
        made = draft.add_node(node, called, is_switch=name == "addSwitch")
        assert isinstance(called, str)
        ref = NodeRef(draft, called)
        if made.is_switch:
            return ref
        draft.set_host(node, called, named)
        self._configure(ref, named.get("cls", draft.host_class), node)
        return ref

    def _configure(self, host: NodeRef, kind: Value, node: ast.Call) -> None:
        """Follow what a host's own class types when it is configured."""
        of = kind.of if isinstance(kind, Custom) else kind
        if isinstance(of, Class):
            for one in of.line_of_descent():
                config = one.members.get("config")
                if isinstance(config, Function):
                    self.run(config, [host], {}, node, receiver=host)
                    return
        elif isinstance(of, External) and of.name == "CPULimitedHost":
            self.course.say(node, f"{host.name}: CPULimitedHost is taken as a host: {_NO_CPU}")
        elif isinstance(of, Unknown):
            self.course.say(node, f"{host.name}: its class {of.what} is taken as a host")

    def _of_node(
        self, ref: NodeRef, name: str, args: list[Value], named: dict[str, Value], node: ast.Call
    ) -> Value:
        draft = ref.draft
        if name in _TYPES:
            draft.type(node, ref.name, args)
        elif name in {"sendCmd", "popen"}:
            self.course.say(
                node, f"`{source_text(node)}` is left out: a study has flows for traffic"
            )
        elif name == "setIP":
            draft.set_ip(node, ref.name, args, named)
        elif name == "setDefaultRoute" and ref.name in draft.nodes:
            what = f"the default route of {ref.name}"
            value = args[0] if args else named.get("intf")
            draft.nodes[ref.name].gateway = draft.known_text(node, value, what)
        elif name in {"setCPUs", "setCPUFrac"}:
            self.course.say(node, f"{ref.name}: {name} is left out: {_NO_CPU}")
        elif name == "IP":
            own = draft.nodes.get(ref.name)
            if own is not None and own.ip:
                return own.ip.partition("/")[0]
        elif name not in _QUIET_NODE:
            self.course.say(node, f"`{source_text(node)}` is not known and is left out")
        return Unknown(source_text(node))

    # ---------------------------------------------- what is imported or built in

    def _external(
        self, target: External, args: list[Value], named: dict[str, Value], node: ast.Call
    ) -> Value:
        name = target.name
        if name in {"Mininet", "Containernet", "MininetWithControlNet"}:
            return self._mininet(args, named, node)
        if name in {"partial", "custom"} and args:
            of = args[0]
            inner = of.options if isinstance(of, Custom) else {}
            return Custom(of.of if isinstance(of, Custom) else of, {**inner, **named})
        if name == "Node" and named.get("inNamespace") is False:
            draft = self.nets[-1].draft if self.nets else Draft(self.course)
            return NodeRef(draft, ROOT_NAMESPACE)
        if name == "Intf":
            self.course.say(node, "Intf is left out: a machine has no network of its own")
        elif name in plain.FUNCTIONS and target.module in {"", "mininet.util"}:
            return plain.call_function(name, args, named)
        elif name in {"exit", "quit"}:
            raise EndedError
        elif name in {"system", "call", "check_call", "check_output", "run", "Popen", "quietRun"}:
            self.course.say(
                node, f"`{source_text(node)}` is left out: it is typed at the host, not at a node"
            )
        elif name not in _QUIET:
            self._may_matter(node, args, named)
        return Unknown(source_text(node))

    def _mininet(self, args: list[Value], named: dict[str, Value], node: ast.Call) -> Value:
        topo = args[0] if args else named.get("topo")
        draft = Draft(self.course)
        if isinstance(topo, Instance) and topo.draft is not None:
            draft = topo.draft
            draft.seal()
        elif topo is not None:
            raise self.course.error(node, f"the topo of `{source_text(node)}` {NOT_KNOWN}")
        base = named.get("ipBase")
        if base is not None:
            draft.base = str(draft.known_text(node, base, "ipBase"))
        link, host = named.get("link"), named.get("host")
        if isinstance(link, Custom):
            draft.common_options = dict(link.options)
        elif isinstance(link, Unknown):
            raise self.course.error(node, f"the link of `{source_text(node)}` {NOT_KNOWN}")
        net = NetRef(draft)
        self.nets.append(net)
        if host is not None:
            draft.host_class = host
            for name, one in draft.nodes.items():
                if not one.is_switch:
                    self._configure(NodeRef(draft, name), host, node)
        if "autoSetMacs" in named:
            self.course.say(node, "autoSetMacs is left out: interfaces have Linux's own addresses")
        return net


class EndedError(Exception):
    """The script ends here."""


def _is_topo(value: Value) -> bool:
    return isinstance(value, Instance) and value.draft is not None
