"""The qdiscs, classes and filters of a case's interfaces after its set-up lines.

Only what is certain is in it: a command in a form that is not read makes the state of its
interface unknown, and one whose interface is not known that of all.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from longfat.model.case import Case
from longfat.model.lint.shell_words import SimpleCommand, command_line
from longfat.model.lint.tc_command import TcCommand, parse_tc
from longfat.model.network import shaped_interfaces


@dataclass(frozen=True, slots=True)
class Origin:
    """Where something of a case is from.

    Attributes:
        setup: the set-up line, by its number; None if no line is.
        link: the link, by its number; None if no link is.
        event: the event, by its number; None if no event is.
        flow: the flow, by its number; None if no flow is.
    """

    setup: int | None = None
    link: int | None = None
    event: int | None = None
    flow: int | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """A qdisc, class or filter.

    Attributes:
        command: what made it.
        origin: where that is from.
        is_typed: it is in the user's words.
    """

    command: TcCommand
    origin: Origin
    is_typed: bool = True


@dataclass(slots=True)
class DeviceState:
    """An interface.

    Attributes:
        name: such as `r1-eth1`.
        node: where it is visible.
        link: its link, by its number.
        qdiscs: its qdiscs by handle; one without a handle has the kernel's, `auto1:`.
        classes: its classes, by their names.
        filters: its filters.
        is_known: all of that is known.
    """

    name: str
    node: str
    link: int
    qdiscs: dict[str, Entry] = field(default_factory=dict)
    classes: dict[str, Entry] = field(default_factory=dict)
    filters: list[Entry] = field(default_factory=list)
    is_known: bool = True

    @property
    def root(self) -> Entry | None:
        """Its root qdisc."""
        return next((one for one in self.qdiscs.values() if one.command.parent == "root"), None)

    def classes_minor(self) -> set[int]:
        """Return the numbers of the classes of its root qdisc."""
        return {int(name.partition(":")[2] or "0", 16) for name in self.classes}

    def child(self, parent: str) -> Entry | None:
        """Return the qdisc at a class, or below a qdisc."""
        return next((one for one in self.qdiscs.values() if one.command.parent == parent), None)

    def remove(self, handle: str) -> None:
        """Forget a qdisc and all that is below it."""
        self.qdiscs.pop(handle, None)
        for name in [name for name in self.classes if major(name) == handle]:
            del self.classes[name]
        below = [key for key, one in self.qdiscs.items() if major(one.command.parent) == handle]
        for key in below:
            self.remove(key)

    def above(self, entry: Entry) -> Iterator[Entry]:
        """Yield the classes and qdiscs that a qdisc's packets are in, from the nearest on.

        As many as there are, at most: typed ones may have circles.
        """
        parent = entry.command.parent
        for _ in range(len(self.classes) + len(self.qdiscs) + 1):
            if parent in self.classes:
                yield self.classes[parent]
                parent = self.classes[parent].command.parent
            elif (handle := major(parent)) in self.qdiscs:
                yield self.qdiscs[handle]
                parent = self.qdiscs[handle].command.parent
            else:
                return

    def below(self, entry: Entry) -> list[Entry]:
        """Return the qdiscs below a qdisc."""
        handles = {key for key, one in self.qdiscs.items() if one is entry}
        for _ in self.qdiscs:  # as deep as a tree can be; typed ones may have circles
            handles |= {
                key
                for key, one in self.qdiscs.items()
                if one.command.parent != "root" and major(one.command.parent) in handles
            }
        return [one for key, one in self.qdiscs.items() if key in handles and one is not entry]


def major(name: str) -> str:
    """Return the handle of the qdisc that a class belongs to."""
    return name.partition(":")[0] + ":"


@dataclass(frozen=True, slots=True)
class Typed:
    """A command of a case that was typed.

    Attributes:
        command: the command.
        tc: what it is to tc; None if it is none of tc.
        origin: where it is from.
    """

    command: SimpleCommand
    tc: TcCommand | None
    origin: Origin


class MachineState:
    """The interfaces of a case, after each command.

    Args:
        case: the case.
    """

    def __init__(self, case: Case) -> None:
        self.devices: dict[str, DeviceState] = {}
        self.has_other_devices = False
        self._auto = 0
        for index, interface in enumerate(shaped_interfaces(case.network)):
            device = DeviceState(interface.name, interface.node, index // 2)
            for number, line in enumerate(interface.lines):
                command = parse_tc(("tc", *line.arguments.split()))
                if command is not None:
                    shape = case.network.links[index // 2]
                    own = (shape.a_to_b, shape.b_to_a)[index % 2].qdisc
                    is_last = number + 1 == len(interface.lines)
                    entry = Entry(command, Origin(link=index // 2), bool(own) and is_last)
                    device.qdiscs[command.handle or self._handle()] = entry
            self.devices[interface.name] = device

    def _handle(self) -> str:
        self._auto += 1
        return f"auto{self._auto}:"

    def forget(self, node: str | None = None) -> None:
        """Take into account that something unknown was done at a node, or anywhere."""
        for device in self.devices.values():
            if node is None or device.node == node:
                device.is_known = False

    def enter(self, typed: Typed) -> None:
        """Take a command into account."""
        tc = typed.tc
        if tc is None:
            return
        if tc.device is None:
            self.forget(typed.command.node)
            return
        device = self.devices.get(tc.device)
        if device is None or device.node != typed.command.node:
            return
        if typed.command.may_fail or typed.command.is_conditional:
            # `del ... || true` leaves nothing, whether or not it fails.
            if tc.verb == "delete" and tc.parent == "root" and not typed.command.is_conditional:
                device.qdiscs.clear()
                device.classes.clear()
                device.filters.clear()
            else:
                device.is_known = False
            return
        entry = Entry(tc, typed.origin)
        if tc.object == "filter":
            if tc.verb == "delete":
                device.filters.clear()
                device.is_known = False
            else:
                device.filters.append(entry)
        elif tc.object == "class":
            self._enter_class(device, entry)
        else:
            self._enter_qdisc(device, entry)

    def _enter_class(self, device: DeviceState, entry: Entry) -> None:
        tc = entry.command
        if tc.verb == "delete":
            device.classes.pop(tc.handle, None)
        elif not tc.handle or tc.handle.endswith(":"):
            device.is_known = False
        elif tc.verb == "change" and tc.handle in device.classes:
            device.classes[tc.handle] = Entry(
                replace(tc, parent=device.classes[tc.handle].command.parent), entry.origin
            )
        else:
            device.classes[tc.handle] = entry

    def _enter_qdisc(self, device: DeviceState, entry: Entry) -> None:
        tc = entry.command
        parent = tc.parent
        if parent == "ingress":
            return
        if not parent or tc.verb == "link":
            device.is_known = False
            return
        old = next((key for key, one in device.qdiscs.items() if one.command.parent == parent), "")
        if tc.verb == "delete":
            if parent == "root":
                device.qdiscs.clear()
                device.classes.clear()
                device.filters.clear()
            elif old:
                device.remove(old)
            return
        if not tc.kind:
            device.is_known = False
            return
        if tc.verb == "change" and old and device.qdiscs[old].command.kind == tc.kind:
            device.qdiscs[old] = entry
            return
        if old and parent == "root":
            device.qdiscs.clear()
            device.classes.clear()
            device.filters.clear()
        elif old:
            device.remove(old)
        device.qdiscs[tc.handle or self._handle()] = entry


def typed_commands(node: str, line: str, origin: Origin) -> tuple[list[Typed], bool]:
    """Return the commands of a line, and whether it does nothing else."""
    parsed = command_line(node, line)
    typed = [Typed(one, parse_tc(one.words), origin) for one in parsed.commands]
    return typed, parsed.is_complete
