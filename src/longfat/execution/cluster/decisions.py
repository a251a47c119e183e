"""The words in which the handout and the job talk: attempts, and what is to be done about them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from longfat.errors import LongfatError
    from longfat.execution.cluster.messages import Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Sketch:
    """What must be known of a piece to hand it out.

    Attributes:
        name: the case's name, for messages.
        cost_s: what it is expected to cost, in seconds.
        kernel: the kernel's digest.
    """

    name: str
    cost_s: float
    kernel: str


@dataclass(slots=True, kw_only=True)
class Attempt:
    """One piece at one worker.

    Attributes:
        name: names the attempt.
        piece: the piece.
        worker: the worker's address.
        check: the piece is run to check the worker.
        begun: the worker has told that it runs.
        over: the worker is done with it, and its outcome waits there.
        taken: its outcome is being got, or its run being put into its place.
        outcome: what came of it, once we have it.
    """

    name: str
    piece: int
    worker: str
    check: bool
    begun: bool = False
    over: bool = False
    taken: bool = False
    outcome: Outcome | None = None


@dataclass(frozen=True, slots=True)
class Hand:
    """Hand an attempt to its worker."""

    attempt: Attempt


@dataclass(frozen=True, slots=True)
class Collect:
    """Get an attempt's outcome and, if it is `Done` and the attempt no check, keep its run."""

    attempt: Attempt


@dataclass(frozen=True, slots=True)
class Keep:
    """Put the run of an attempt, whose outcome we have, into its place."""

    attempt: Attempt


@dataclass(frozen=True, slots=True)
class Release:
    """The worker of an attempt that is taken has gone: what has not come will not come."""

    attempt: Attempt


@dataclass(frozen=True, slots=True)
class Drop:
    """Nobody wants an attempt any more; what it gave may be wrong, if `doubtful`."""

    attempt: Attempt
    doubtful: bool = False


@dataclass(frozen=True, slots=True)
class Fail:
    """A piece has failed for good."""

    piece: int
    error: LongfatError


@dataclass(frozen=True, slots=True)
class LeaveOut:
    """A worker gets no more work."""

    worker: str
    reason: str


Move = Hand | Collect | Keep | Release | Drop | Fail | LeaveOut
