"""The probes of a job: the sampler and captures, from before the traffic to its end."""

from __future__ import annotations

import shlex
import signal
import subprocess
import time

from longfat.guest.nodes import Nodes
from longfat.guest.output import FOLDER, Output
from longfat.guest.sample import Sampler
from longfat.guest.script import Script, at_node
from longfat.guest.shell import CommandFailed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from longfat.guest.installed import Installed

# A block is handed over at the second tick of a timer of 1 s, which is tcpdump's, at the latest
# (prb_retire_rx_blk_timer_expired in net/packet/af_packet.c).
_LAST_BLOCK_S = 2.1


class Probes:
    """Starts and ends the probes of a job.

    Args:
        orders: the job's probes.
        names: the names of all nodes of the network.
        nodes: where captures can run.
        script: where to record the captures; the sampler has no command line.
        output: the way to the host.
        installed: what the sampler reads when events have changed something.
    """

    def __init__(
        self,
        orders: list[dict[str, Any]],
        *,
        names: list[str],
        nodes: Nodes,
        script: Script,
        output: Output,
        installed: Installed,
    ) -> None:
        self._installed = installed
        self._orders = orders
        self._names = names
        self._nodes = nodes
        self._script = script
        self._output = output
        self._sampler: Sampler | None = None
        self._captures: list[tuple[dict[str, Any], subprocess.Popen[bytes]]] = []

    def start(self, start_s: float) -> None:
        """Start all of them.

        Args:
            start_s: when sampling begins, in seconds of virtual time since boot.
        """
        captures = [order for order in self._orders if order["kind"] == "capture"]
        self._captures = [(order, self._start_capture(order)) for order in captures]
        sampled = [order for order in self._orders if order["kind"] != "capture"]
        self._sampler = Sampler(
            sampled,
            captures=[f"raw/{order['output']}" for order in captures],
            nodes=self._names,
            output=self._output,
            start_s=start_s,
            installed=self._installed,
        )

    def check(self) -> None:
        """Check that what was started has not failed.

        Raises:
            CommandFailed: a capture ended badly.
        """
        for order, capture in self._captures:
            status = capture.poll()
            if status not in (None, 0):
                words = self._words(order)
                line = at_node(order["node"], shlex.join(order["argv"]))
                raise CommandFailed(
                    {"step": "probe", "probe": order["name"], "line": line, "status": status}
                    | {"words": words}
                )

    def finish(self) -> None:
        """Take the last samples and end the captures: the traffic has ended.

        Raises:
            CommandFailed: a capture ended badly.
        """
        if self._sampler is not None:
            self._sampler.finish()
        # tcpdump is given packets by the block, and looks at none that comes after a signal.
        if any(capture.poll() is None for _, capture in self._captures):
            self._script.record([f"sleep {_LAST_BLOCK_S}"])
            time.sleep(_LAST_BLOCK_S)
        for order, capture in self._captures:
            if capture.poll() is None:
                self._script.record([f"kill ${_variable(order)}"])
                capture.send_signal(signal.SIGTERM)
                capture.wait()
        self.check()

    def end(self) -> None:
        """End the sampler, after `finish`, when the flows' servers have ended too.

        Raises:
            RuntimeError: the sampler failed.
        """
        if self._sampler is not None:
            self._sampler.end()

    def _start_capture(self, order: dict[str, Any]) -> subprocess.Popen[bytes]:
        line = at_node(order["node"], shlex.join(order["argv"]))
        errors = f"raw/{order['output']}.err"
        self._script.record([f"{line} 2> {errors} &", f"{_variable(order)}=$!"])
        with (
            open(f"{FOLDER}/{errors}", "wb") as stderr,
            self._nodes.inside(order["node"]),
        ):
            return subprocess.Popen(
                order["argv"],
                cwd=FOLDER,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=stderr,
            )

    def _words(self, order: dict[str, Any]) -> str:
        path = f"{FOLDER}/raw/{order['output']}.err"
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read().strip()


def _variable(order: dict[str, Any]) -> str:
    """Return a name for the shell: a probe's may hold hyphens."""
    name: str = order["name"]
    return f"probe_{name.replace('-', '_')}"
