"""The digests of the labs' results with the pinned tools, which are the same on every host."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from longfat.study.document import read_document
from longfat.study.node import Node

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

FILE = "digests.yaml"
"""The file's name, in the folder of labs."""

_HEX = re.compile("[0-9a-f]{64}")
_HEAD = """\
# The digests of the labs' results with the pinned tools, by lab, kernel release and run.
# `longfat verify LAB` compares them with runs on this host; `python -m tools.digests LAB...`
# writes them.

"""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabDigests:
    """The digests of a lab's runs.

    Attributes:
        toolset: the digest of the toolset.
        kernel: the kernel's release.
        runs: the digest of each run, by its name, such as `default-seed1`.
    """

    toolset: str
    kernel: str
    runs: Mapping[str, str] = field(default_factory=dict)


def read_digests(file: Path) -> dict[str, LabDigests]:
    """Return the digests in a file, by lab.

    Raises:
        InputError: it cannot be read, or is not such a file.
    """
    root = Node(raw=read_document(file), file=str(file))
    return {lab: _read(node) for lab, node in root.named("digests by labs").items()}


def _read(node: Node) -> LabDigests:
    names = ("toolset", "kernel", "runs")
    fields = node.fields("a lab's toolset, kernel and runs", allowed=names)
    if missing := [name for name in names if name not in fields]:
        raise node.error(f"the field {missing[0]} is missing")
    return LabDigests(
        toolset=_digest(fields["toolset"]),
        kernel=fields["kernel"].line("a kernel's release"),
        runs={name: _digest(one) for name, one in fields["runs"].named("digests by runs").items()},
    )


def _digest(node: Node) -> str:
    text = node.line("a digest")
    if not _HEX.fullmatch(text):
        raise node.error(f"found {text!r}, expected a digest of 64 hexadecimal digits")
    return text


def digests_text(digests: Mapping[str, LabDigests]) -> str:
    """Return the content of a file of digests."""
    lines = []
    for lab, one in sorted(digests.items()):
        lines += [f"{lab}:", f"  toolset: {one.toolset}", f'  kernel: "{one.kernel}"', "  runs:"]
        lines += [f"    {name}: {digest}" for name, digest in one.runs.items()]
    return _HEAD + "".join(f"{line}\n" for line in lines)
