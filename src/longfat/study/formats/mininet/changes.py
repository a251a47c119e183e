"""Links that a script changes while its network runs (`intf.config(...)`), as lines at their times.

Before the first traffic a change is what the link is from the start. After it, the lines of tc by
which Mininet makes the change are typed there, so that it becomes an event.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from longfat.errors import InputError
from longfat.guest.mininet.lines import commands_of
from longfat.study.formats.mininet import tools
from longfat.study.formats.mininet.machine import at, printable
from longfat.study.formats.mininet.shaping import change_lines

if TYPE_CHECKING:
    from collections.abc import Mapping

    from longfat.study.formats.mininet.machine import End, NetworkRecord, Scalar, Typed

_NO_TRAFFIC = (tools.SETUP, tools.OPENFLOW, tools.SERVER)


def with_changes(record: NetworkRecord, *, file: str) -> NetworkRecord:
    """Return a record whose links are as they were at the first traffic, with later changes typed.

    Args:
        record: the record, with the names that the script gives.
        file: the script, as the user named it.

    Raises:
        InputError: an option is no number where one is needed.
    """
    ends = [end for link in record.links for end in link.ends]
    shapes: dict[tuple[str, str], Mapping[str, Scalar]] = {
        (end.node, end.interface): end.options if end.first is None else end.first for end in ends
    }
    start = dict(shapes)
    has_traffic = False
    commands: list[Typed] = []
    for typed in record.commands:
        if typed.kind != "config" or typed.options is None:
            has_traffic = has_traffic or _is_traffic(typed)
            commands.append(typed)
            continue
        device = typed.text.removeprefix("dev ")
        end = (typed.node or "", device)
        if end not in shapes:
            continue
        try:
            lines = change_lines(shapes[end], typed.options, device)
        except (OverflowError, TypeError, ValueError):
            said = ", ".join(f"{name}={value!r}" for name, value in typed.options.items())
            message = f"{device}: a number is needed for bw, loss and max_queue_size: {said}"
            raise InputError(printable(message), place=at(file, typed.at)) from None
        shapes[end] = typed.options
        if has_traffic:
            commands.append(replace(typed, kind="line", text="; ".join(lines), options=None))
        else:
            start[end] = typed.options

    def as_started(end: End) -> End:
        return replace(end, options=start[end.node, end.interface], first=None)

    return replace(
        record,
        links=tuple(
            replace(link, ends=(as_started(link.ends[0]), as_started(link.ends[1])))
            for link in record.links
        ),
        commands=tuple(commands),
    )


def _is_traffic(typed: Typed) -> bool:
    if typed.is_of_test:
        return True
    if typed.kind != "line" or typed.awaits is not None:
        return False
    roles = [tools.role_of(command) for command in commands_of(typed.text) if command.program]
    return any(role not in _NO_TRAFFIC for role in roles)
