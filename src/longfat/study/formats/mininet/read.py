"""From a script to a network, its set-up lines, and what is left behind."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from longfat.errors import InputError
from longfat.study.document import LARGEST_FILE_BYTES
from longfat.study.formats.lifting import infer_link_properties
from longfat.study.formats.mininet.machine import run_script
from longfat.study.formats.mininet.network import Reader
from longfat.study.formats.mininet.record import Typed, at, printable, read_record

if TYPE_CHECKING:
    from pathlib import Path

    from longfat.model.case import Command
    from longfat.model.network import Network

_NOTHING = "the script makes no network: it needs a Mininet() or a Topo with hosts and links"

_LINE = re.compile(r"line (\d{1,9}):")
_MOST_PARTS = 20_000  # as in the stand-in, whose output may be forged


@dataclass(frozen=True, slots=True, kw_only=True)
class MininetNetwork:
    """What a script defines.

    Attributes:
        title: the first line of its docstring; None if it has none.
        network: its hosts, switches and links.
        setup: what it types at nodes to set them up.
        typed: all lines that it types, those of traffic too, in their order.
    """

    title: str | None
    network: Network
    setup: tuple[Command, ...]
    typed: tuple[Typed, ...] = field(default=(), compare=False)


def read_mininet(
    path: Path, *, arguments: Sequence[str] = (), most_wall_s: float | None = None
) -> tuple[MininetNetwork, tuple[str, ...]]:
    """Run a script for Mininet in a machine of its own, and read what it makes.

    Args:
        path: the file.
        arguments: its command-line arguments.
        most_wall_s: the wall time that it may take, in seconds; its own limit, if None.

    Returns:
        What it defines, and what could not be converted: each text names
        the line or the link.

    Raises:
        InputError: it cannot be read, fails before it starts a network, makes none,
            or makes one that cannot be built.
        HostError: no kernel is built, or the host lacks what a sandbox needs.
        MachineError: the machine failed.
    """
    content = run_script(path, _text(path), arguments=arguments, most_wall_s=most_wall_s)
    return network_of(content, file=str(path))


def network_of(content: bytes, *, file: str) -> tuple[MininetNetwork, tuple[str, ...]]:
    """Return what the script of a record defines; see `read_mininet`.

    Args:
        content: the record, as a machine wrote it.
        file: the script, as the user named it.

    Raises:
        InputError: as of `read_mininet`.
    """
    record = read_record(content, file=file)
    parts = (record.nodes, record.links, record.commands, record.warnings)
    if sum(map(len, parts)) > _MOST_PARTS:
        raise InputError(f"more than {_MOST_PARTS:,} nodes, links and commands", place=at(file))
    if record.error is not None and not record.is_started:
        raise InputError(printable(record.error.text), place=at(file, record.error.at))
    if not record.nodes:
        left = "".join(f"; {who}: {what}" for who, what in record.warnings[:1])
        raise InputError(printable(_NOTHING + left), place=at(file))
    reader = Reader(record, file)
    for who, what in record.warnings:
        reader.notes.add(who, what)
    network = reader.network()
    # Its network is whole by then; what follows may need what a study has no place for.
    if record.error is not None:
        reader.notes.add(f"line {record.error.at[0]}", f"the script ends here: {record.error.text}")
    if record.networks > 1:
        reader.notes.add(file, f"it makes {record.networks} networks: the first is taken")
    network, setup = infer_link_properties(network, reader.setup)
    title = record.title if record.title.isprintable() else ""
    return (
        MininetNetwork(
            title=title or None, network=network, setup=setup, typed=tuple(reader.typed)
        ),
        tuple(map(printable, _by_line(reader.notes.texts))),
    )


def _by_line(notes: Sequence[str]) -> list[str]:
    """Return notes with those about lines in the lines' order; the others stay where they are."""
    lines = {note: int(match[1]) for note in notes if (match := _LINE.match(note))}
    ordered = iter(sorted(lines, key=lambda note: lines[note]))
    return [next(ordered) if note in lines else note for note in notes]


def _text(path: Path) -> bytes:
    try:
        if not path.is_file():
            raise InputError(f"{path}: there is no such file")
        with path.open("rb") as file:
            data = file.read(LARGEST_FILE_BYTES + 1)
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read: {getattr(error, 'strerror', error)}") from None
    if len(data) > LARGEST_FILE_BYTES:
        raise InputError("the file is too large for a script", place=at(str(path)))
    return data
