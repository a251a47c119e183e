"""A job, step by step: put files in place, build the network, set it up, play the traffic.

The job is JSON that the host compiled (`longfat.execution.compile` says what is
in it). The outcome is JSON too: what failed, if anything did, and the virtual time
since boot at the end.
"""

from __future__ import annotations

import json
import math
import time

from longfat.guest import drops, system
from longfat.guest.batches import meet_neighbours, run_batch
from longfat.guest.counters import Counters, counted_nodes, has_pings
from longfat.guest.installed import Installed
from longfat.guest.mounts import cover_file
from longfat.guest.nodes import Nodes
from longfat.guest.output import FOLDER, OUTCOME, Output
from longfat.guest.play import SERVER_LEAD_S, Player
from longfat.guest.probes import Probes
from longfat.guest.script import ROOT_NAMESPACE, SLAAC_PROGRAM, Script, at_node
from longfat.guest.shell import CommandFailed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# iputils ping floods while a machine's uptime is under a second, so traffic
# starts later than that, and at a whole second to be easy to calculate with.
_EARLIEST_TRAFFIC_S = 2


def run_job(job: dict[str, Any]) -> None:
    """Play a job, and send to the host what it left, the outcome last."""
    output = Output(job["output"])
    system.renew_random_numbers()
    outcome = _play(job, output=output)
    # Captures were sent while they grew.
    grown = [order["output"] for order in job["probes"] if order["kind"] == "capture"]
    output.send_all(but=[f"raw/{name}" for name in grown])
    output.append(OUTCOME, json.dumps(outcome).encode())


def _play(job: dict[str, Any], *, output: Output) -> dict[str, Any]:
    """Play a job.

    Args:
        job: the decoded job.
        output: the way to the host; `raw/` takes the tools' output.

    Returns:
        The outcome.
    """
    lines = (
        line for batch in job["network"] if batch["program"] == "tc" for line in batch["lines"]
    )
    script = Script(f"{FOLDER}/commands.sh", has_wires=any(" wire rate " in line for line in lines))
    raw = f"{FOLDER}/raw"
    traffic: dict[str, Any] = {}
    try:
        if job["files"]:
            _put_files(job["files"], script=script, has_roots=bool(job["roots"]))
        # After the files: what is mounted over a folder hides what was mounted in it.
        cover_file("/etc/hosts", text=job["hosts_file"])
        nodes = Nodes()
        if job["roots"]:
            _make_roots(job["roots"], files=job["files"], nodes=nodes, script=script)
        script.title("the network")
        _make_network(job, nodes=nodes, script=script)
        script.title("set-up")
        system.sync_link_changes()
        typists = _apart(job["apart"], nodes=nodes, script=script) if job["apart"] else nodes
        if job["setup"]:
            system.await_fine_timers()
        _set_up(job["setup"], nodes=typists, script=script)
        if job["flows"]:
            script.title("traffic")
            ready_s = time.monotonic() + SERVER_LEAD_S
            start_s = max(_EARLIEST_TRAFFIC_S, math.ceil(ready_s))
            names = list(
                dict.fromkeys([ROOT_NAMESPACE, *(batch["node"] for batch in job["network"])])
            )
            installed = Installed(
                names,
                hosts=[process["host"] for flow in job["flows"] for process in flow["processes"]],
                output=output,
                start_s=start_s,
                has_events=bool(job["events"]),
            )
            installed.flush()
            probes = Probes(
                job["probes"],
                names=names,
                nodes=nodes,
                script=script,
                output=output,
                installed=installed,
            )
            events = None
            if job["events"]:
                from longfat.guest.events import Events  # noqa: PLC0415  see `longfat.guest.main`

                events = Events(
                    job["events"],
                    nodes=typists,
                    script=script,
                    start_s=start_s,
                    on_change=installed.changed,
                )
            _begin_traces(job["traces"], nodes=nodes, script=script, start_s=start_s)
            counters = Counters(
                counted_nodes(job["flows"], names),
                nodes=nodes,
                has_pings=has_pings(job["flows"]),
            )
            drops.begin()
            system.renew_random_numbers()
            player = Player(
                job["flows"],
                nodes=nodes,
                typists=typists,
                probes=probes,
                script=script,
                raw=raw,
                start_s=start_s,
                events=events,
            )
            traffic |= player.play()
            installed.finish()
            traffic |= drops.read(names=names, nodes=nodes, start_s=start_s)
            traffic["counts"] = counters.growth()
            if events is not None:
                traffic["event_times"] = events.times_s
            # Read at the end: a clock read costs virtual time.
            traffic["epoch_s"] = round(time.time() - time.monotonic() + start_s, 6)
    except CommandFailed as error:
        return {"failed": error.outcome, "virtual_s": time.monotonic()}
    finally:
        script.close()
    return {"failed": None, "virtual_s": time.monotonic(), **traffic}


def _make_network(job: dict[str, Any], *, nodes: Nodes, script: Script) -> None:
    """Build the network; hosts meet before anything delays or loses packets, so in no time."""
    batches = job["network"]
    shaping = [number for number, batch in enumerate(batches) if batch["program"] == "tc"]
    unshaped = shaping[0] if shaping else len(batches)
    _build(batches[:unshaped], nodes=nodes, script=script)
    if job["neighbours"]:
        meet_neighbours(batches[:unshaped], job["neighbours"], nodes=nodes)
    _build(batches[unshaped:], nodes=nodes, script=script)


def _build(batches: list[dict[str, Any]], *, nodes: Nodes, script: Script) -> None:
    for batch in batches:
        script.record(_typed(batch))
        if failed := run_batch(batch, nodes=nodes):
            raise CommandFailed({"step": "network", **failed})


def _apart(apart: dict[str, Any], *, nodes: Nodes, script: Script) -> Nodes:
    """Return the nodes as those see them whose lines and files are not trusted."""
    from longfat.guest.apart import Apart  # noqa: PLC0415  see `longfat.guest.main`

    nodes = Apart(nodes)
    if apart["files"]:
        with nodes.inside(ROOT_NAMESPACE):
            _put_files(apart["files"], script=script, has_roots=bool(nodes.roots))
        _put_into_roots(apart["files"], nodes=nodes)
    return nodes


def _set_up(commands: list[dict[str, Any]], *, nodes: Nodes, script: Script) -> None:
    for index, command in enumerate(commands):
        line = nodes.typed(command)
        script.record([line])
        status, words = nodes.run(command)
        script.note_output(words)
        if status != 0:
            failed = {"step": "setup", "index": index, "line": line}
            raise CommandFailed({**failed, "status": status, "words": words})


def _make_roots(
    roots: dict[str, Any], *, files: list[dict[str, Any]], nodes: Nodes, script: Script
) -> None:
    """Make the hosts' own roots, and put the files there, too."""
    script.title("the hosts' own root file systems, read-only, with memory over them")
    script.record([f"# {order['at']}: {order['title']}" for order in roots.values()])
    nodes.take_roots(roots)
    if files:
        _put_into_roots(files, nodes=nodes)


def _put_into_roots(files: list[dict[str, Any]], *, nodes: Nodes) -> None:
    from longfat.guest.files import put_files  # noqa: PLC0415  see `longfat.guest.main`

    for node in nodes.roots:
        with nodes.in_root(node):
            failed = put_files(files)
        if failed:
            failed["words"] = f"at {node}, whose root has its own files: {failed['words']}"
            raise CommandFailed({"step": "files", **failed})


def _put_files(files: list[dict[str, Any]], *, script: Script, has_roots: bool) -> None:
    from longfat.guest.files import put_files, typed  # noqa: PLC0415  see `longfat.guest.main`

    script.title("files")
    for file in files:
        script.record(typed(file))
    if failed := put_files(files, skips_missing=has_roots):
        raise CommandFailed({"step": "files", **failed})


def _begin_traces(
    traces: list[dict[str, Any]], *, nodes: Nodes, script: Script, start_s: float
) -> None:
    """Let links follow their traces from the traffic's start on."""
    for trace in traces:
        node, order, control = trace["node"], trace["order"], trace["control"]
        script.record([at_node(node, f"echo {order} > {control}    # it begins with the traffic")])
        with nodes.inside(node), open(control, "w", encoding="ascii") as file:
            file.write(f"{order} {round(start_s * 1e9)}")


def _typed(batch: dict[str, Any]) -> list[str]:
    """Return the lines of a batch as one types them at root."""
    node: str = batch["node"]
    if batch["program"] == "sh":
        return [at_node(node, line) for line in batch["lines"]]
    if batch["program"] == "slaac":
        return [at_node(node, f"{SLAAC_PROGRAM} {line}") for line in batch["lines"]]
    program = [batch["program"], *([] if node == ROOT_NAMESPACE else ["-n", node])]
    return [" ".join([*program, line]) for line in batch["lines"]]
