"""The `probes` field: what is sampled, as the classes of `longfat.model.probes` declare it.

As with flows, what depends on the network and the flows is checked last
(`check_probes`), when the whole case is known.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from longfat.common.suggest import listed, nearest
from longfat.model.fields import fields_of, read_fields
from longfat.model.probes import PROBES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from longfat.model.network import Network
    from longfat.model.probes import Probe
    from longfat.model.traffic import Flow
    from longfat.study.node import Node


@dataclass(frozen=True, slots=True)
class Written:
    """A probe and where it is written."""

    probe: Probe
    node: Node
    of: tuple[Node, ...]


def read_probe(name: str, node: Node) -> Written:
    """Read a probe.

    Args:
        name: its name; where it is that of a kind, the field `kind` can be left out.
        node: a mapping of its fields.

    Raises:
        InputError: a field is missing, unknown or wrong.
    """
    what = "a probe (such as {of: s1-eth1, every: 100ms})"
    every = dict.fromkeys(key for kind in PROBES.values() for key in fields_of(kind))
    given = node.fields(what, allowed=("kind", *every))
    kind = given["kind"].line("a kind of probe") if "kind" in given else name
    if kind not in PROBES:
        where = given.get("kind", node)
        raise where.error(
            f"there is no kind of probe {kind!r}{nearest(kind, PROBES)} (there are: "
            f"{listed(PROBES)}); a probe of another name needs its kind: {{kind: queue, ...}}"
        )
    fields = fields_of(PROBES[kind])
    given = node.fields(what, allowed=("kind", *fields))
    for key, field in fields.items():
        if field.is_required and key not in given:
            raise node.error(f"the probe {name!r} has no {key}: write {key}: {field.kind.what}")
    probe = PROBES[kind](name=name, **read_fields(PROBES[kind], given))
    of = given["of"]
    nodes = tuple(of.sequence(fields["of"].kind.what)) if of.is_sequence else (of,)
    return Written(probe, node, nodes)


def check_probes(probes: Iterable[Written], flows: Iterable[Flow], network: Network) -> None:
    """Check what depends on the flows and on the network.

    Raises:
        InputError: a probe has a flow's name, or is of what is not there.
    """
    by_name = {flow.name: flow for flow in flows}
    for written in probes:
        if written.probe.name in by_name:
            raise written.node.error(
                f"the probe {written.probe.name!r} has the name of a flow, and claims could not "
                "distinguish them"
            )
        for node, name in zip(written.of, written.probe.targets, strict=True):
            reason = written.probe.target_problem(name, network=network, flows=by_name)
            if reason is not None:
                raise node.error(reason)
