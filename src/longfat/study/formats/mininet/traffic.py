"""What a script types while its network runs, as set-up lines, flows, probes and events.

Lines before the first traffic set up the network; those after it are events. What follows a command
that the script waits for starts after its flow. Mininet ignores how a command ends, so programs may
end as they like.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from longfat.errors import InputError
from longfat.guest.mininet.lines import option
from longfat.model.case import Command
from longfat.model.events import Event, TypedLine
from longfat.model.flow_path.setting_warnings import socket_buffer_limit
from longfat.model.network import ROOT_NAMESPACE, Network
from longfat.model.probes import Capture, Probe, Queue
from longfat.model.traffic import Cbr, Flow, Iperf3, Ping, Program
from longfat.model.traffic.extraction import Extraction
from longfat.model.traffic.flow import EITHER
from longfat.study.formats.mininet import tools
from longfat.study.formats.mininet.schedule import FOLDER, Action, Schedule, anchor_of
from longfat.study.formats.mininet.shaping import LIMITS_LINE
from longfat.study.reachability import check_reach

if TYPE_CHECKING:
    from longfat.study.formats.mininet.machine import At

MAX_PING_FLOWS = 30
"""More pings than this of one `pingAll` are a flow for each host, not for each pair."""

_NEEDS_FOLDER = re.compile(
    r"\bmkdir\b(?!.*\s/)|(?<![\d&])>\s*(?![/&\s])|\bwget\b|\./|-[oOw]\s*(?!-|/)\w"
)
_FIRST_DATAGRAM = "iperf3 fails if its first datagram is lost"
_AS_CBR = f"iperf is taken as cbr: {_FIRST_DATAGRAM}, which iperf does not have"
_ANYWHERE = frozenset(
    ["ip", "tc", "sysctl", "ifconfig", "route", "ethtool", "iptables", "ip6tables", "nft"]
)
_LOSS_LINE = re.compile(r"\bnetem\b.*\bloss\b")
_FOLDER_LINE = re.compile(r"(?:^|; )mkdir -p ([^\s;]+)$")
# An interface that comes up passes on packets once the kernel's workers have seen to it.
_UP, _UP_S = re.compile(r"\bup$"), 0.01
_READY_LINE = "sleep 0.5"
_ADDRESS_LINE = re.compile(
    r"(?:ip\s+(?:-\S+\s+)*addr(?:ess)?\s+(?:add|replace)\s+(?P<ip>[\d.]+)\S*\s+dev"
    r"|ifconfig\s+\S+\s+(?P<old>\d[\d.]+))"
)
_INHERITED = re.compile(
    r"sysctl\s.*net[./](?:ipv4[./]tcp_(?:congestion_control|rmem|wmem)|core[./]default_qdisc)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Traffic:
    """What a script types while one of its networks runs.

    Attributes:
        setup: lines before the traffic.
        flows: the traffic.
        probes: its captures, and what it samples.
        events: lines between tests.
        notes: what became of each line: its place, and a text.
    """

    setup: tuple[Command, ...]
    flows: tuple[Flow, ...]
    probes: tuple[Probe, ...]
    events: tuple[Event, ...]
    notes: tuple[tuple[At, str], ...]


@dataclass(slots=True, eq=False)
class _Draft:
    """A flow, before it has a name and a start."""

    action: Action
    cls: type[Flow]
    source: str
    target: str
    values: dict[str, Any] = field(default_factory=dict)
    label: str = ""
    name: str = ""
    start_after: _Draft | None = None


def traffic_of(
    schedule: Schedule,
    network: Network,
    *,
    folder: str | None = None,
    loses_packets: bool = False,
) -> Traffic:
    """Return what a script's commands are in a study of its network.

    Args:
        schedule: the commands, at hosts and switches of the network.
        network: the network.
        folder: where all programs are run; without it, those in `FOLDER` that may need one.
        loses_packets: links lose packets at random, by options that the network does not have.
    """
    return _Reader(schedule, network, folder, loses_packets=loses_packets).read()


class _Reader:
    def __init__(
        self, schedule: Schedule, network: Network, folder: str | None, *, loses_packets: bool
    ) -> None:
        self._schedule = schedule
        self._folder = folder
        self._loses_packets = loses_packets or any(
            _LOSS_LINE.search(action.line) for action in schedule.actions
        )
        self._network = network
        self._hosts = [host.name for host in network.hosts]
        self._names = {address: name for name, address in network.host_addresses().items()}
        self._default = {name: address for address, name in self._names.items()}
        self._ends = {
            name: node
            for link, pair in zip(network.links, network.interfaces(), strict=True)
            for node, name in zip((link.a, link.b), pair, strict=True)
        }
        for link, pair in zip(network.links, network.addresses(), strict=True):
            for node, address in zip((link.a, link.b), pair, strict=True):
                if address is not None:
                    self._names.setdefault(address.partition("/")[0], node)
        for action in schedule.actions:
            for match in _ADDRESS_LINE.finditer(action.line):
                if action.node in self._hosts:
                    self._names.setdefault(match["ip"] or match["old"], action.node or "")
        self._roles = {id(action): tools.role_of(action.command) for action in schedule.actions}
        self._servers = [one for one in schedule.actions if self._roles[id(one)] == tools.SERVER]
        self._daemons = [one for one in schedule.actions if self._is_daemon(one)]
        self._served: set[int] = set()
        self._setup: list[Command] = []
        self._drafts: list[_Draft] = []
        self._probes: list[Probe] = []
        self._events: list[tuple[Action, Command, Action | None, float]] = []
        self._notes: list[tuple[Action, str]] = []
        self._begin_s: float | None = None

    # ------------------------------------------------------------------ all

    def read(self) -> Traffic:
        actions = list(self._schedule.actions)
        self._pair(actions)
        whole = self._grouped(actions)
        for action in whole:
            role = self._roles[id(action)]
            if self._reads_output(action):
                self._note(action, "left out: what a flow prints is in its run's raw/")
            elif role == tools.SETUP:
                is_plain = action.command.program in _ANYWHERE
                self._set_up(action, None if is_plain else self._in_folder(action.line))
            elif role == tools.OPENFLOW:
                self._note(action, "left out: switches are Linux bridges")
            elif role == tools.SERVER:
                self._server(action)
            elif role == tools.CAPTURE:
                self._capture(action)
            elif role == tools.QUEUE and action.node is None:
                self._queue(action)
            elif action.node is None:
                why = "a study has no flows at root"
                self._note(action, f"left out: {why}")
            elif id(action) in {id(one) for one in self._daemons}:
                self._daemon(action)
            else:
                self._flow(action, role)
        self._drop_last_lines()
        self._drop_unused_folders()
        flows = self._flows()
        by_action = {id(draft.action): draft.name for draft in reversed(self._drafts)}
        events = tuple(
            TypedLine(
                node=command.node,
                line=command.line,
                at_s=at_s,
                after=None if after is None else by_action[id(after)],
            )
            for _, command, after, at_s in self._events
        )
        return Traffic(
            setup=tuple(self._setup),
            flows=flows,
            probes=tuple(self._probes),
            events=events,
            notes=self._all_notes(),
        )

    def _all_notes(self) -> tuple[tuple[At, str], ...]:
        notes: dict[tuple[At, str], list[tuple[Action, str]]] = {}
        for draft in self._drafts:
            kind = "flow" if draft.cls is not Program else "program flow"
            text = f"the {kind} {draft.name}"
            if draft.label:
                text += f" ({draft.label})"
            self._notes.append((draft.action, text))
        for action, text in self._notes:
            key = text if not text.startswith("the ") else re.sub(r"_\d+(?=$| )", "", text)
            notes.setdefault((action.at, key), []).append((action, text))
        order = {id(action): index for index, action in enumerate(self._schedule.actions)}
        ordered = []
        for (at, key), noted in notes.items():
            first, text = noted[0]
            who = first.node or "root"
            more = f" and {len(noted) - 1} more" if len(noted) > 1 else ""
            text = f"{key}, ..." if more and key != text else text
            ordered.append((order.get(id(first), 0), (at, f"{who}: `{first.line}`{more}: {text}")))
        ordered.sort(key=lambda note: (note[1][0], note[0]))
        return tuple(note for _, note in ordered)

    def _note(self, action: Action, text: str) -> None:
        self._notes.append((action, text))

    def _anchor(self, action: Action) -> tuple[Action | None, float]:
        """Return what a command comes after, and its time from there, or from the first traffic."""
        if self._begin_s is None:
            self._begin_s = action.time_s
        after, at_s = anchor_of(action, [draft.action for draft in self._drafts])
        return after, at_s if after is not None else round(max(0.0, at_s - self._begin_s), 3)

    # ------------------------------------------------------------- set-up

    def _set_up(self, action: Action, line: str | None = None) -> None:
        node = action.node or ROOT_NAMESPACE
        if action.node is None and action.command.program in tools.FILES:
            node = self._hosts[0]  # hosts share their files, and root's are read-only
        nodes = [node]
        if node == ROOT_NAMESPACE and not self._drafts and _INHERITED.match(action.line):
            nodes += self._hosts  # which have root's values of these in Mininet
        for each in nodes:
            self._type(action, Command(node=each, line=line or action.line))

    def _type(self, action: Action, command: Command) -> None:
        if not self._drafts:
            self._setup.append(command)
            self._note(action, "a set-up line")
            return
        after, at_s = self._anchor(action)
        self._events.append((action, command, after, at_s))
        self._note(action, "an event")

    def _drop_last_lines(self) -> None:
        """Leave out lines after the last test: there is nothing left that they could change."""
        while self._events:
            action = self._events[-1][0]
            over = [
                draft.action
                for draft in self._drafts
                if (draft.action.known_end_s or draft.action.end_s or 0.0) <= action.time_s + 1e-3
                and draft.action.time_s <= action.time_s
            ]
            if len(over) < len(self._drafts):
                return
            self._events.pop()
            self._notes = [
                (one, "left out: it comes after the last test" if one is action else text)
                for one, text in self._notes
            ]

    def _drop_unused_folders(self) -> None:
        """Leave out folders that no line of the study writes into: flows keep their output."""
        lines = [command.line for command in (*self._setup, *(event[1] for event in self._events))]
        lines += [
            str(draft.values[key])
            for draft in self._drafts
            for key in ("run", "serve")
            if key in draft.values
        ]

        def is_unused(command: Command) -> bool:
            match = _FOLDER_LINE.search(command.line)
            if match is None:
                return False
            return not any(match[1] in line for line in lines if not _FOLDER_LINE.search(line))

        self._notes = [
            (
                action,
                "left out: nothing is written there"
                if _FOLDER_LINE.search(action.line)
                and action.node is None
                and is_unused(Command(node=self._hosts[0], line=action.line))
                else text,
            )
            for action, text in self._notes
        ]
        self._setup = [command for command in self._setup if not is_unused(command)]
        self._events = [event for event in self._events if not is_unused(event[1])]

    # ------------------------------------------------------------ servers

    def _is_daemon(self, action: Action) -> bool:
        """Return whether a command serves others: nothing waits for it, nothing says its end."""
        role = self._roles[id(action)]
        if action.blocks or role not in (tools.PROGRAM, tools.QUERY) or action.node is None:
            return False
        if not action.command.words:  # a loop, which may well be the traffic
            return False
        known = action.known_end_s is not None and not action.is_stopped
        if action.command.program and tools.server_port(action.command) is not None:
            return tools.server_of(action.command) is None
        endless = action.end_s is None or action.is_stopped or action.span_s == 0
        return not known and endless and action.command.limit_s is None

    def _server(self, action: Action) -> None:
        if id(action) in self._served:
            self._note(action, "the server of a flow")
        else:
            self._note(action, "left out: a server that no client of the script connects to")

    def _clients(self, server: Action, clients: Iterable[Action]) -> list[Action]:
        port = tools.server_port(server.command)
        result = []
        for client in clients:
            end = tools.server_of(client.command) if client.command.words else None
            if end is None or self._host_of(end[0]) != server.node:
                continue
            if port is None or end[1] is None or end[1] == port:
                result.append(client)
        return result

    def _pair(self, actions: Sequence[Action]) -> None:
        """Find the servers that clients of the script connect to."""
        clients = [
            action
            for action in actions
            if self._roles[id(action)] in (tools.CLIENT, tools.PROGRAM) and action.node is not None
        ]
        for server in self._servers:
            if self._clients(server, clients):
                self._served.add(id(server))
        self._only: dict[int, Action] = {}
        for daemon in self._daemons:
            if tools.server_port(daemon.command) is None:
                continue
            own = self._clients(daemon, clients)
            if len(own) == 1 and own[0] not in self._only.values():
                self._only[id(own[0])] = daemon
                self._served.add(id(daemon))

    def _daemon(self, action: Action) -> None:
        if id(action) in self._served:
            self._note(action, "the server of a program flow")
            return
        away = "" if action.command.file else " > /dev/null 2>&1"
        self._set_up(action, f"{self._in_folder(action.line)}{away} &")
        if not self._drafts:
            self._setup.append(Command(node=action.node or "", line=_READY_LINE))

    # -------------------------------------------------------------- probes

    def _capture(self, action: Action) -> None:
        values = tools.capture_values(action.command)
        self._probe(action, Capture, values, "it sees the whole traffic")

    def _queue(self, action: Action) -> None:
        words = action.command.words
        device = words[words.index("dev") + 1] if "dev" in words[:-1] else ""
        self._probe(action, Queue, {"of": (device,)}, "")

    def _probe(self, action: Action, cls: type[Probe], values: dict[str, Any], more: str) -> None:
        device = values["of"] if isinstance(values["of"], str) else values["of"][0]
        if device not in self._ends:
            self._note(action, f"left out: no link has an interface {device}")
            return
        name = f"{cls.kind}_{re.sub('[^a-zA-Z0-9]', '_', device)}"
        same = [probe for probe in self._probes if probe.name.startswith(name)]
        probe = cls(name=name, **values)
        if probe not in self._probes and not (cls is Queue and same):
            if same:
                probe = replace(probe, name=f"{name}_{len(same) + 1}")
            self._probes.append(probe)
        self._note(action, f"the probe {probe.name}{f': {more}' if more else ''}")

    # --------------------------------------------------------------- flows

    def _host_of(self, text: str) -> str | None:
        if text in self._hosts:
            return text
        return self._names.get(text)

    def _grouped(self, actions: Sequence[Action]) -> list[Action]:
        """Return the commands, with the pings of a large `pingAll` as one for each host."""
        result: list[Action] = []
        tests: dict[At, int] = {}
        for action in actions:
            if action.is_test and self._roles[id(action)] == tools.PING:
                tests[action.at] = tests.get(action.at, 0) + 1
        for action in actions:
            many = action.is_test and self._roles[id(action)] == tools.PING
            if not many or tests[action.at] <= MAX_PING_FLOWS:
                result.append(action)
                continue
            last = result[-1] if result else None
            target = action.command.words[-1]
            if (
                last is not None
                and last.is_test
                and last.at == action.at
                and (last.node == action.node and last.command.words == ())
            ):
                head, _, tail = last.line.partition("; do ")
                last.line = f"{head} {target}; do {tail}"
                last.known_end_s = last.end_s = action.end_s
                continue
            wait = option(action.command.words, "W")
            line = f"ping -c1 {f'-W {wait} ' if wait else ''}$a"
            loop = replace(
                action,
                command=action.command._replace(words=(), file=None),
                line=f"for a in {target}; do {line}; done",
            )
            self._roles[id(loop)] = tools.PROGRAM
            result.append(loop)
        return result

    def _flow(self, action: Action, role: str) -> None:
        drafts: list[_Draft] = []
        reason = ""
        try:
            if role == tools.CLIENT:
                drafts = self._iperf(action)
            elif role == tools.PING:
                drafts = self._ping(action)
        except (InputError, ValueError) as error:
            reason = getattr(error, "message", str(error))
        if not drafts:
            drafts = self._program(action, reason)
        after, start_s = self._anchor(action)
        if any(
            event[2:] == (after, start_s) and _UP.search(event[1].line) for event in self._events
        ):
            start_s = round(start_s + _UP_S, 3)
        before: _Draft | None = None
        if after is not None:
            before = next(one for one in reversed(self._drafts) if one.action is after)
        for draft in drafts:
            draft.start_after = before
            draft.values["start_s"] = start_s
            if draft.values.pop("follows", False):
                draft.start_after, draft.values["start_s"] = drafts[0], 0.0
        self._drafts += drafts

    def _ends_of(self, action: Action, target: str) -> tuple[str, str, dict[str, Any]]:
        """Return source and target of a flow, and its address if that is not the target's own."""
        host = self._host_of(target)
        source = action.node or ""
        if host is None or host == source:
            raise InputError(f"no other host has the address {target}")
        values: dict[str, Any] = {}
        if target != host and target != self._default.get(host):
            values["address"] = target
        reason = check_reach(
            self._network, source, host, self._setup, address=values.get("address")
        )
        if reason:
            raise InputError(reason)
        return source, host, values

    def _iperf(self, action: Action) -> list[_Draft]:
        stopped_s = action.span_s if action.is_stopped or action.command.limit_s else None
        flows, address, notes = tools.iperf_values(action.command, stopped_s=stopped_s)
        source, target, more = self._ends_of(action, address)
        if not any(id(one) in self._served and one.node == target for one in self._servers):
            notes.append("the script starts no server for it: in Mininet it fails")
        drafts = []
        for index, values in enumerate(flows):
            own = {**values, **more}
            mininets = Command(node=ROOT_NAMESPACE, line=LIMITS_LINE)
            kind, limit = socket_buffer_limit((mininets, *self._setup))
            if action.command.program == "iperf" and own.get("window_bytes", 0) > limit:
                own["window_bytes"] = limit  # iperf3 fails where Linux cuts it
                notes.append(f"its window is cut to net.core.{kind}_max, as Linux does it")
            if index and action.command.program == "iperf" and "-r" in action.command.words:
                own["follows"] = True
            is_old_udp = own.get("udp", False) and action.command.program == "iperf"
            if is_old_udp and self._loses_packets:
                label = notes.copy()
                if (cbr := tools.cbr_values(own)) is not None:
                    label[label.index(tools.AS_IPERF3)] = _AS_CBR
                    drafts.append(_Draft(action, Cbr, source, target, cbr, label="; ".join(label)))
                    continue
                notes.append(_FIRST_DATAGRAM)
            drafts.append(_Draft(action, Iperf3, source, target, own, label="; ".join(notes)))
        return drafts

    def _ping(self, action: Action) -> list[_Draft]:
        span_s = action.span_s if action.is_stopped or action.command.limit_s else None
        if span_s is None and action.end_s is None:
            span_s = max(1.0, self._schedule.stop_s - action.time_s)
        values, address = tools.ping_values(action.command, span_s=span_s)
        source, target, more = self._ends_of(action, address)
        return [_Draft(action, Ping, source, target, {**values, **more})]

    def _program(self, action: Action, reason: str) -> list[_Draft]:
        source = action.node or ""
        line = self._in_folder(self._kept_output(action))
        values: dict[str, Any] = {"run": line, "expect": EITHER}
        target = None
        server = self._only.get(id(action)) or self._server_for(action)
        if server is not None:
            target = server.node
            port = tools.server_port(server.command)
            values["serve"] = self._in_folder(server.line)
            if port is not None:
                values["port"] = port
                if tools.is_udp_server(server.command):
                    values["ready"] = f"udp {port}"
        else:
            named = [self._names.get(one) for one in tools.addresses_in(action.line)]
            target = next((one for one in named if one and one != source), None)
        target = self._reachable(source, target)
        if target is None:
            self._note(action, "left out: its host reaches no other, which a flow needs")
            return []
        limit_s = action.command.limit_s
        if action.is_stopped and action.span_s > 0:
            values["time_s"] = max(0.001, action.span_s)
        elif action.end_s is None and limit_s is None:
            values["time_s"] = max(1.0, round(self._schedule.stop_s - action.time_s, 3))
        if action.is_test and action.line.startswith("for a in"):
            values["extractions"] = (
                Extraction(name="sent", regex=r"(\d+) packets transmitted", take="sum"),
                Extraction(name="received", regex=r"(\d+) received", take="sum"),
            )
        return [_Draft(action, Program, source, target, values, label=reason)]

    def _server_for(self, action: Action) -> Action | None:
        """Return the server of a client of iperf, iperf3 or netperf that is a program flow."""
        end = tools.server_of(action.command) if action.command.words else None
        if end is None:
            return None
        host = self._host_of(end[0])
        fitting = [
            one
            for one in self._servers
            if one.node == host and tools.server_port(one.command) == end[1] and host is not None
        ]
        return fitting[0] if fitting else None

    def _in_folder(self, line: str) -> str:
        """Return a line that is run where a script's shells begin, if that may matter."""
        if line.startswith(("cd ", "export ")):
            return line
        if self._folder or _NEEDS_FOLDER.search(line):
            return f"cd {self._folder or FOLDER}; {line}"
        return line

    def _reachable(self, source: str, wanted: str | None) -> str | None:
        others = [name for name in self._hosts if name != source]
        for target in [*([wanted] if wanted else []), *others]:
            if target != source and check_reach(self._network, source, target, self._setup) is None:
                return target
        return None

    def _kept_output(self, action: Action) -> str:
        """Return a line whose output is kept, and goes into the file that the script names, too."""
        command = action.command
        if command.file is None or command.file == "/dev/null" or not command.words:
            return action.line
        adds = " -a" if ">>" in command.text else ""
        return action.line.replace(command.text, f"{command.core} | tee{adds} {command.file}")

    def _reads_output(self, action: Action) -> bool:
        """Return whether a command reads or removes what flows write in Mininet."""
        if action.command.program not in ("cat", "tail", "head", "grep", "rm", "chmod", "chown"):
            return False
        files = {
            one.command.file
            for one in self._schedule.actions
            if one.command.file and self._roles[id(one)] in (tools.CLIENT, tools.PING, tools.SERVER)
        }
        return bool(files & set(action.command.words))

    # --------------------------------------------------------------- names

    def _flows(self) -> tuple[Flow, ...]:
        taken: set[str] = {probe.name for probe in self._probes}
        flows = []
        for draft in self._drafts:
            draft.name = _name(draft, taken)
            taken.add(draft.name)
            after = draft.start_after
            flows.append(
                draft.cls(
                    name=draft.name,
                    source=draft.source,
                    target=draft.target,
                    after=None if after is None else after.name,
                    **draft.values,
                )
            )
        return tuple(flows)


def _name(draft: _Draft, taken: Iterable[str]) -> str:
    if draft.cls is Program:
        program = draft.action.command.program or draft.action.line.split()[0]
        first = re.sub(r"[^A-Za-z0-9]", "_", program.rpartition("/")[2]).strip("_")[:20]
        stem = f"{first if first[:1].isalpha() else 'program'}_{draft.source}"
        if draft.action.is_test:
            stem = f"pings_{draft.source}"
    else:
        tool = "iperf" if draft.cls is Iperf3 else draft.cls.tool
        ends = (draft.source, draft.target)
        if draft.values.get("reverse"):
            ends = ends[::-1]
        stem = "_".join((tool, *ends))[:58]
    name, count = stem, 1
    while name in taken:
        count += 1
        name = f"{stem}_{count}"
    return name
