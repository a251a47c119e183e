"""How a live network is built, and changed while it lives: what lines, and run how.

Lines that were run once are not run again, so a network can grow. All batches
are given to the guest at once: a network of a thousand hosts has a thousand of
them.
"""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING

from longfat.errors import MachineError
from longfat.network import ROOT, build_batches
from longfat.network.build import shape_commands

if TYPE_CHECKING:
    from longfat.live.record import Record
    from longfat.live.session import Session
    from longfat.network import Batch, Network


def build(network: Network, *, built: Network | None, session: Session, record: Record) -> None:
    """Build what is in a network and was not built before.

    Args:
        network: the network.
        built: what was built before; nothing, if None.
        session: the machine.
        record: where to record the lines.

    Raises:
        MachineError: Linux refused a line.
    """
    batches = _new_batches(network, built)
    names = [name for pair in network.interfaces() for name in pair]
    found = session.order(
        "batches",
        batches=[asdict(batch) for batch in batches],
        hosts=[host.name for host in network.hosts],
        connect=network.interfaces_by_node(names).get(ROOT, []),
    )
    # The guest's root could have written the answer.
    times_ns, failed = found.get("times_ns"), found.get("failed")
    if not isinstance(times_ns, list) or not isinstance(failed, dict | None):
        raise MachineError("the guest's agent told nothing of what was built")
    for batch, time_ns in zip(batches, times_ns, strict=False):
        program = "" if batch.program == "sh" else f"{batch.program} "
        record.add(int(time_ns) / 1e9, batch.node, "; ".join(f"{program}{x}" for x in batch.lines))
    if failed:
        raise MachineError(
            f"the network could not be built: `{failed.get('line')}`: {failed.get('words')}"
        )


def _new_batches(network: Network, built: Network | None) -> list[Batch]:
    done: dict[tuple[str, str], set[str]] = {}
    for batch in build_batches(built) if built is not None else ():
        done.setdefault((batch.program, batch.node), set()).update(batch.lines)
    batches = []
    for batch in build_batches(network):
        before = done.get((batch.program, batch.node), set())
        if lines := tuple(line for line in batch.lines if line not in before):
            batches.append(replace(batch, lines=lines))
    return batches


def reshape_lines(before: Network, after: Network, *, link: int) -> list[tuple[str, str]]:
    """Return the lines that change what a link does to packets.

    Where the same kinds of qdiscs stay, they are changed and keep their packets.

    Args:
        before: the network that is built.
        after: the same, but for the shapes of one link.
        link: the link, by its place.

    Returns:
        Nodes (a host or a switch) and lines.
    """
    lines: list[tuple[str, str]] = []
    nodes = (before.links[link].a, before.links[link].b)
    for node, name in zip(nodes, before.interfaces()[link], strict=True):
        old, new = _shape_lines(before, name), _shape_lines(after, name)
        if old == new:
            continue
        if [_kind(line) for line in old] == [_kind(line) for line in new]:
            new = [line.replace("qdisc add", "qdisc change", 1) for line in new]
        elif old:
            new = [f"tc qdisc del dev {name} root", *new]
        lines += [(node, line) for line in new]
    return lines


def _shape_lines(network: Network, interface: str) -> list[str]:
    return [line for _, line in shape_commands(network) if f" dev {interface} " in line]


def _kind(line: str) -> str:
    return next((word for word in line.split() if word in ("netem", "tbf")), "")
