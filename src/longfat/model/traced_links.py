"""The links of a network that follow traces, and the lines that configure them.

The qdiscs are made with the network (`longfat.model.network.shape`), and hold nothing up
until each is given its trace by a line that is written to `CONTROL` at its node.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from longfat.errors import InputError
from longfat.model.case import File
from longfat.model.network.shape import TRACE, shaped_interfaces
from longfat.model.trace import Trace, parse_trace
from longfat.model.trace_models import MODELS, make_trace

if TYPE_CHECKING:
    from longfat.model.network import Network

CONTROL = "/proc/net/trace_qdisc"
"""The file by which a trace is given to a qdisc."""

_FOLDER = "/run/traces"


@dataclass(frozen=True, slots=True, kw_only=True)
class TracedLink:
    """A direction of a link that follows a trace.

    Attributes:
        node: where its interface is visible.
        order: what is written to `CONTROL` there; the trace begins when it is, or at a
            time of CLOCK_MONOTONIC, in nanoseconds, that is written behind it.
        file: the trace as the kernel reads it, to be put into the machine.
    """

    node: str
    order: str
    file: File

    @property
    def line(self) -> str:
        """The order as it is typed."""
        return f"echo {self.order} > {CONTROL}"


def named_trace(name: str, contents: Mapping[str, bytes]) -> Trace:
    """Return the trace that a link names.

    Args:
        name: one of those that are made up, or a path in the machine.
        contents: what is in the files of the machine, by their paths.

    Raises:
        InputError: there is no such file, or it is no trace.
    """
    if name in MODELS:
        return parse_trace(make_trace(name))
    if name not in contents:
        raise InputError(
            f"the trace {name} is not among the files of the machine: name a file beside the "
            "study, or put it there by `files`"
        )
    try:
        return parse_trace(contents[name])
    except InputError as error:
        raise InputError(f"{name}: {error.message}") from None


def traced_links(network: Network, files: Sequence[File]) -> Iterator[TracedLink]:
    """Yield the directions of links that follow traces, in the order of the links.

    Args:
        network: the network.
        files: the files of its machine, the traces among them.

    Raises:
        InputError: a trace is not among the files, or is none.
    """
    contents = {file.path: file.content for file in files}
    ends = iter(shaped_interfaces(network))
    for link in network.links:
        for shape in (link.a_to_b, link.b_to_a):
            interface = next(ends)
            if shape.trace is None:
                continue
            trace = named_trace(shape.trace, contents)
            (qdisc,) = (one for one in interface.qdiscs if one.kind == TRACE)
            path = f"{_FOLDER}/{interface.name}"
            yield TracedLink(
                node=interface.node,
                order=f"{interface.name} {qdisc.handle.rstrip(':')} {path}",
                file=File(path=path, content=trace.text(repeats=not shape.trace_once).encode()),
            )


def late_traces(network: Network, files: Sequence[File]) -> dict[str, float]:
    """Return the first times, in seconds, of those traces whose files do not begin at 0.

    Args:
        network: the network.
        files: the files of its machine, the traces among them.

    Returns:
        The times by the traces' names.

    Raises:
        InputError: a trace is none.
    """
    contents = {file.path: file.content for file in files}
    shapes = (shape for link in network.links for shape in (link.a_to_b, link.b_to_a))
    names = dict.fromkeys(shape.trace for shape in shapes if shape.trace in contents)
    times_ns = {name: _first_ns(contents[name]) for name in names if name is not None}
    return {name: first_ns / 1e9 for name, first_ns in times_ns.items() if first_ns}


@functools.lru_cache(maxsize=16)
def _first_ns(content: bytes) -> int:
    """Return the time of a trace's first row; many cases have the same traces."""
    return parse_trace(content).first_ns
