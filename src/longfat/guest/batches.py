"""Building a network in a live machine: many lines by few processes, in one order.

A network of a thousand hosts has a thousand namespaces, and `ip` can run its
lines in one of them only. What such a build costs is the starting of programs,
and the talk with the host about each; so the host gives all batches at once and
hears once of all of them, and what every host needs is done without `ip`
(`longfat.guest.plain_ip`).
"""

from __future__ import annotations

import re
import time

from longfat.guest.netlink import Netlink
from longfat.guest.nodes import Nodes
from longfat.guest.plain_ip import are_plain, do_plain
from longfat.guest.script import ROOT_NAMESPACE
from longfat.guest.shell import run

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_REST_EVERY = 50

# What `ip -batch` and `tc -batch` say of the line at which they stop.
_FAILED_LINE = re.compile(r"Command failed -:(\d+)")


def run_batches(
    batches: list[dict[str, Any]], *, nodes: Nodes, rest: Callable[[], object]
) -> dict[str, Any]:
    """Run batches one after the other, as far as they go well.

    Args:
        batches: each has program, node and lines; see `longfat.model.network.build.Batch`.
        nodes: where they can run.
        rest: called now and then; it is to let the kernel's own threads run. One of them
            gives each CPU its memory, which is used up after some hundred hosts.

    Returns:
        times_ns: when each was started, in nanoseconds of virtual time since boot; and
        failed: None, or {line, status, words} of the last one.
    """
    times_ns: list[int] = []
    for number, batch in enumerate(batches, start=1):
        times_ns.append(time.monotonic_ns())
        failed = run_batch(batch, nodes=nodes)
        if failed is not None:
            return {"times_ns": times_ns, "failed": failed}
        if number % _REST_EVERY == 0:
            rest()
    return {"times_ns": times_ns, "failed": None}


def connect(interfaces: list[str], *, route: Netlink) -> None:
    """Let interfaces at root carry packets from now on, if their links are up.

    An interface whose other end comes up is not used before the kernel's link watch has
    seen to it, and that sees to a hundred or two in a second (net/core/link_watch.c).
    Since 6.8 it does so at once where somebody asks after the interface.

    Args:
        interfaces: their names.
        route: a socket at root.
    """
    for name in interfaces:
        route.index_of(name)


def run_batch(batch: dict[str, Any], *, nodes: Nodes) -> dict[str, Any] | None:
    """Run one batch, as far as it goes well; return what failed, as `run_batches` reports it."""
    program, node, lines = batch["program"], batch["node"], batch["lines"]
    if program == "sh":
        for line in lines:
            with nodes.inside(node):
                status, words = run(["/bin/sh", "-c", line])
            if status != 0:
                return {"line": line, "status": status, "words": words}
        return None
    argv = [program] if node == ROOT_NAMESPACE else [program, "-n", node]
    if program == "ip" and node != ROOT_NAMESPACE and are_plain(lines):
        with nodes.inside_network(node):
            failed = do_plain(lines)
        if failed is None:
            return None
        line, words = failed
        return {"line": " ".join([*argv, line]), "status": 2, "words": words}
    status, words = run([*argv, "-batch", "-"], given="".join(f"{line}\n" for line in lines))
    if status == 0:
        return None
    found = _FAILED_LINE.search(words)
    line = "; ".join(lines)
    if found and 0 < int(found[1]) <= len(lines):
        line = lines[int(found[1]) - 1]
    return {"line": " ".join([*argv, line]), "status": status, "words": words}
