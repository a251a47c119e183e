"""How a live network is built: which lines are run, and where; and the record of them.

Lines that were run once are not run again, so a network can grow. All batches
are sent to the guest at once: a network of a thousand hosts has a thousand of
them. The record is a shell script of all executed commands, to be run elsewhere too.
"""

from __future__ import annotations

import shlex
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

from longfat.errors import InputError, MachineError
from longfat.guest.script import SLAAC_PROGRAM, at_node
from longfat.model.network import build_batches, typed_part

if TYPE_CHECKING:
    from longfat.live.session import Session
    from longfat.model.network import Batch, Network

# What is typed before the lines of a batch.
_TYPED = {"sh": "", "slaac": f"{SLAAC_PROGRAM} "}

_HEADER = """\
#!/bin/sh
# What was done, in order; t is virtual time since boot, in seconds.
# On a real Linux machine, as root: sh commands.sh
"""


class Record:
    """A script that grows as commands are executed."""

    def __init__(self) -> None:
        self._lines: list[str] = []

    def __len__(self) -> int:
        return len(self._lines)

    def add(self, now_s: float, node: str, command: str, *, background: bool = False) -> None:
        """Record a command that starts now.

        Args:
            now_s: virtual time since boot, in seconds.
            node: where it runs.
            command: the line.
            background: it runs in the background.
        """
        self._lines.append(f"# t={now_s:.6f}")
        self._lines.append(at_node(node, command) + (" &" if background else ""))

    def wait(self, seconds: float) -> None:
        """Record that time has passed."""
        self._lines.append(f"sleep {seconds:g}")

    @property
    def text(self) -> str:
        """Return the script."""
        return _HEADER + "".join(f"{line}\n" for line in self._lines)


def as_line(command: str | tuple[str, ...]) -> str:
    """Return a command as a line for a shell."""
    return command if isinstance(command, str) else shlex.join(command)


@dataclass(frozen=True, slots=True, kw_only=True)
class _FailedLine:
    """A line that failed, as reported by the guest's agent."""

    line: str
    words: str
    status: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """The result of batches: when each began, in nanoseconds, and what failed."""

    times_ns: list[int]
    failed: _FailedLine | None


def build(network: Network, *, built: Network | None, session: Session, record: Record) -> None:
    """Build the parts of a network that were not built before.

    Args:
        network: the network.
        built: what was built before; nothing, if None.
        session: the machine.
        record: where to record the lines.

    Raises:
        InputError: tc rejected the arguments of a link's qdisc.
        MachineError: Linux rejected a line.
    """
    batches = _new_batches(network, built)
    answer = session.order(
        "batches",
        batches=[asdict(batch) for batch in batches],
        hosts=[host.name for host in network.hosts],
        interfaces=2 * len(network.links),
    )
    done = answer.all(Done, besides=("now_ns",))
    for batch, time_ns in zip(batches, done.times_ns, strict=False):
        program = _TYPED.get(batch.program, f"{batch.program} ")
        record.add(time_ns / 1e9, batch.node, "; ".join(f"{program}{x}" for x in batch.lines))
    if done.failed is not None:
        line, words = done.failed.line, done.failed.words
        if part := typed_part(network, line):
            raise InputError(f"{part}: `{line}`: {words}")
        raise MachineError(f"the network could not be built: `{line}`: {words}")


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
