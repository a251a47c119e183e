"""From a script to a network, its set-up lines, and what is left behind."""

from __future__ import annotations

import ast
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

from longfat.errors import InputError, Place
from longfat.study.document import LARGEST_FILE_BYTES
from longfat.study.formats.lifting import infer_link_properties
from longfat.study.formats.mininet.finish import finish
from longfat.study.formats.mininet.follow import Script
from longfat.study.formats.mininet.limits import Course
from longfat.study.formats.mininet.values import Instance
from longfat.study.formats.tclink import Notes

if TYPE_CHECKING:
    from pathlib import Path

    from longfat.model.case import Command
    from longfat.model.network import Network
    from longfat.study.formats.mininet.draft import Draft

_NOTHING = (
    "the script makes no network that can be known without running it: it needs a Mininet() or "
    "a Topo with addHost, addSwitch and addLink"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class MininetNetwork:
    """What a script says.

    Attributes:
        title: the first line of its docstring; None if it has none.
        network: its hosts, switches and links.
        setup: what it types at nodes to set them up.
    """

    title: str | None
    network: Network
    setup: tuple[Command, ...]


def read_mininet(path: Path) -> tuple[MininetNetwork, tuple[str, ...]]:
    """Read a script for Mininet; nothing of it is run.

    Args:
        path: the file.

    Returns:
        What it says, and what of it could not be carried over: each text names
        the line or the link.

    Raises:
        InputError: it cannot be read, is no Python, a node or a link depends on
            what only running it could tell, or its network cannot be built.
    """
    notes = Notes()
    file = str(path)
    course = Course(file, notes)
    try:
        tree = _parse(_text(path), file)
        script = Script(tree, course)
        script.follow()
        draft = _draft(script, course, tree)
        network, setup = infer_link_properties(finish(draft), draft.typed)
        title = (ast.get_docstring(tree) or "").strip().partition("\n")[0].strip()
    except RecursionError:
        raise InputError("the script is nested too deep", place=Place(file, 1, 1)) from None
    printable = title if title.isprintable() else ""
    return MininetNetwork(title=printable or None, network=network, setup=setup), tuple(notes.texts)


def _text(path: Path) -> bytes:
    try:
        if not path.is_file():
            raise InputError(f"{path}: there is no such file")
        with path.open("rb") as file:
            data = file.read(LARGEST_FILE_BYTES + 1)
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read: {getattr(error, 'strerror', error)}") from None
    if len(data) > LARGEST_FILE_BYTES:
        raise InputError("the file is too large for a script", place=Place(str(path), 1, 1))
    return data


def _parse(data: bytes, file: str) -> ast.Module:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of escapes in its texts
            return ast.parse(data, filename=file)
    except SyntaxError as error:
        place = Place(file, error.lineno or 1, max(1, error.offset or 1))
        raise InputError(f"not Python 3: {error.msg}", place=place) from None
    except (ValueError, MemoryError):
        raise InputError("the file is no Python script", place=Place(file, 1, 1)) from None


def _draft(script: Script, course: Course, tree: ast.Module) -> Draft:
    """Return the network to take: that of a `Mininet`, or of the topology that there is."""
    if script.nets:
        drafts = [net.draft for net in script.nets]
    else:
        made = script.topos or script.named_topologies()
        if not made and len(found := script.topologies()) == 1:
            made = [script.make(found[0], [], {}, found[0].node)]
        drafts = [one.draft for one in made if isinstance(one, Instance) and one.draft is not None]
        for draft in drafts:
            draft.seal()
    drafts = [draft for draft in dict.fromkeys(drafts) if draft.nodes]
    if not drafts:
        raise course.error(tree, _NOTHING)
    if len(drafts) > 1:
        course.notes.say(course.file, f"it makes {len(drafts)} networks: the first is taken")
    return drafts[0]
