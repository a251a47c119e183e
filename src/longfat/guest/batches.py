"""Building a network in a live machine: many lines by few processes, in one order.

A network of a thousand hosts has a thousand namespaces, and `ip` can run its
lines in one of them only. What such a build costs is the starting of programs,
and the talk with the host about each; so the host gives all batches at once and
hears once of all of them, and what every host needs is done without `ip`
(`longfat.guest.plain_ip`).
"""

import os
import re
import shutil
import time
from collections.abc import Callable
from typing import Any

from longfat.guest.netlink import Netlink
from longfat.guest.nodes import Nodes
from longfat.guest.plain_ip import are_plain, do_plain
from longfat.guest.script import ROOT

_PRIORITY = 10
_TAIL_CHARACTERS = 4000
_REST_EVERY = 50

# What `ip -batch` and `tc -batch` say of the line at which they stop.
_FAILED_LINE = re.compile(r"Command failed -:(\d+)")


def run_batches(
    batches: list[dict[str, Any]], *, nodes: Nodes, rest: Callable[[], object]
) -> dict[str, Any]:
    """Run batches one after the other, as far as they go well.

    Args:
        batches: each has program, node and lines; see `longfat.network.build.Batch`.
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
        failed = _run_batch(batch, nodes=nodes)
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


def _run_batch(batch: dict[str, Any], *, nodes: Nodes) -> dict[str, Any] | None:
    program, node, lines = batch["program"], batch["node"], batch["lines"]
    if program == "sh":
        for line in lines:
            with nodes.inside(node):
                status, words = _run(["sh", "-c", line], given="")
            if status != 0:
                return {"line": line, "status": status, "words": words}
        return None
    argv = [program] if node == ROOT else [program, "-n", node]
    if program == "ip" and node != ROOT and are_plain(lines):
        with nodes.inside_network(node):
            failed = do_plain(lines)
        if failed is None:
            return None
        line, words = failed
        return {"line": " ".join([*argv, line]), "status": 2, "words": words}
    status, words = _run([*argv, "-batch", "-"], given="".join(f"{line}\n" for line in lines))
    if status == 0:
        return None
    found = _FAILED_LINE.search(words)
    line = "; ".join(lines)
    if found and 0 < int(found[1]) <= len(lines):
        line = lines[int(found[1]) - 1]
    return {"line": " ".join([*argv, line]), "status": status, "words": words}


def _run(argv: list[str], *, given: str) -> tuple[int, str]:
    """Run a program to its end; return its exit status and what it wrote."""
    path = shutil.which(argv[0], path=os.environ["PATH"])
    if path is None:
        return 127, f"{argv[0]}: command not found"
    # Files in memory have room for all of it, so that nobody must look after them meanwhile.
    stdin, output = os.memfd_create("input"), os.memfd_create("output")
    try:
        data = memoryview(given.encode())
        while data:
            data = data[os.write(stdin, data) :]
        os.lseek(stdin, 0, os.SEEK_SET)
        places = ((stdin, 0), (output, 1), (output, 2))
        pid = os.posix_spawn(
            path,
            argv,
            os.environ,
            file_actions=[(os.POSIX_SPAWN_DUP2, source, place) for source, place in places],
            setsid=True,
            setsigmask=[],
            scheduler=(os.SCHED_RR, os.sched_param(_PRIORITY)),
        )
        _, status = os.waitpid(pid, 0)
        size = os.lseek(output, 0, os.SEEK_END)
        words = os.pread(output, _TAIL_CHARACTERS, max(0, size - _TAIL_CHARACTERS))
        return os.waitstatus_to_exitcode(status), words.decode(errors="replace").strip()
    finally:
        os.close(stdin)
        os.close(output)
