"""A job, step by step: build the network, run the set-up lines, play the traffic.

The job is JSON that the host compiled (`longfat.runner.compile` says what is
in it). The outcome is JSON too: what failed, if anything did, and the virtual time
since boot at the end.
"""

import math
import os
import re
import time
from typing import Any

from longfat.guest.play import SERVER_LEAD_S, Player
from longfat.guest.probes import Probes
from longfat.guest.script import ROOT, Script, at_node
from longfat.guest.shell import CommandFailed, run, run_line

# iputils ping floods while a machine's uptime is under a second, so traffic
# starts later than that, and at a whole second to be easy to reckon with.
_EARLIEST_TRAFFIC_S = 2

# What `ip -batch` and `tc -batch` say of the line at which they stop.
_FAILED_LINE = re.compile(r"Command failed -:(\d+)")


def play_job(job: dict[str, Any], *, folder: str) -> dict[str, Any]:
    """Play a job.

    Args:
        job: the decoded job.
        folder: the run's folder; `raw/` in it takes the tools' output.

    Returns:
        The outcome.
    """
    script = Script(f"{folder}/commands.sh")
    raw = f"{folder}/raw"
    os.mkdir(raw)
    traffic: dict[str, Any] = {}
    try:
        script.title("the network")
        for batch in job["network"]:
            _run_batch(batch, script=script)
        script.title("set-up")
        for index, command in enumerate(job["setup"]):
            line = at_node(command["node"], command["line"])
            script.record([line])
            run_line(line, told={"step": "setup", "index": index})
        if job["flows"]:
            script.title("traffic")
            ready_s = time.monotonic() + SERVER_LEAD_S
            start_s = max(_EARLIEST_TRAFFIC_S, math.ceil(ready_s))
            nodes = list(dict.fromkeys([ROOT, *(batch["node"] for batch in job["network"])]))
            probes = Probes(job["probes"], nodes=nodes, script=script, folder=folder)
            player = Player(job["flows"], probes=probes, script=script, raw=raw, start_s=start_s)
            traffic["flow_times"] = player.play()
            # Read at the end: a clock read costs virtual time.
            traffic["epoch_s"] = round(time.time() - time.monotonic() + start_s, 6)
    except CommandFailed as failed:
        return {"failed": failed.outcome, "virtual_s": time.monotonic()}
    finally:
        script.close()
    return {"failed": None, "virtual_s": time.monotonic(), **traffic}


def _run_batch(batch: dict[str, Any], *, script: Script) -> None:
    """Run the lines of a batch; see `longfat.network.build.Batch`."""
    node: str = batch["node"]
    program: str = batch["program"]
    lines: list[str] = batch["lines"]
    told = {"step": "network"}
    if program == "sh":
        for line in lines:
            typed = at_node(node, line)
            script.record([typed])
            run_line(typed, told=told)
        return
    # Each process costs more than its line does, so one runs them all.
    argv = [program] if node == ROOT else [program, "-n", node]
    recorded = [" ".join([*argv, line]) for line in lines]
    script.record(recorded)
    try:
        run(
            [*argv, "-batch", "-"],
            line="; ".join(recorded),
            told=told,
            stdin="".join(f"{line}\n" for line in lines),
        )
    except CommandFailed as failed:
        found = _FAILED_LINE.search(failed.outcome["words"])
        if found and 0 < int(found[1]) <= len(recorded):
            failed.outcome["line"] = recorded[int(found[1]) - 1]
        raise
