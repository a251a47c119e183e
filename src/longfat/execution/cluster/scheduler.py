"""Which piece goes to which worker, and what becomes of it: decisions alone, nothing is done.

What happens is told by methods; what is to be done about it is asked for by
`moves`. Each attempt of a piece at a worker has a name of its own. A piece is
told of once: when its run is in its place, or when it has failed for good.

Pieces that cost most are handed out first; each worker has as many as it has
threads and, while many wait, a few more, so that it need not wait for us.
"""

from __future__ import annotations

import heapq
import itertools
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from longfat.errors import HostError, LongfatError, MachineError
from longfat.execution.cluster.checks import FAILS, Check, choose, decide, disagreement
from longfat.execution.cluster.decisions import (
    Attempt,
    Collect,
    Drop,
    Fail,
    Hand,
    Keep,
    LeaveOut,
    Move,
    Release,
    Sketch,
)
from longfat.execution.cluster.messages import Differs, Done, Ended, Failed, Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MOST_TRIES = 3
"""So often a piece is tried: at workers that die of it, that lack something, or garble it."""

# A piece may be lost before we hear that it has begun; but not for ever.
_MOST_LOSSES = 10
_AHEAD_SHARE = 4


@dataclass(slots=True)
class _Seat:
    threads: int
    host: str
    attempts: dict[str, Attempt] = field(default_factory=dict)

    @property
    def free(self) -> int:
        return self.threads - sum(not attempt.over for attempt in self.attempts.values())


@dataclass(slots=True)
class _State:
    """What has become of a piece so far."""

    over: bool = False
    died: list[str] = field(default_factory=list)
    losses: int = 0
    refused: dict[str, LongfatError] = field(default_factory=dict)


class Handout:
    """Hands out pieces.

    Args:
        pieces: the pieces.
        check_share: how much of the whole the checks of workers may cost, 0 to 1.

    Attributes:
        expecting: whether workers are about to join, that a check had better wait for.
        broken: why nothing can be trusted any more; None as long as it can.
    """

    def __init__(self, pieces: Sequence[Sketch], *, check_share: float) -> None:
        self._pieces = pieces
        self._states = [_State() for _ in pieces]
        self._checks = choose(
            [piece.cost_s for piece in pieces],
            [piece.kernel for piece in pieces],
            share=check_share,
        )
        checked = {check.piece for check in self._checks}
        self._waiting = [(-one.cost_s, i) for i, one in enumerate(pieces) if i not in checked]
        heapq.heapify(self._waiting)
        self._seats: dict[str, _Seat] = {}
        self._attempts: dict[str, Attempt] = {}
        self._ballots: dict[int, list[Attempt]] = {}
        self._refused: set[int] = set()
        self._names = (f"{number}" for number in itertools.count())
        self._moves: list[Move] = []
        self._left = len(pieces)
        self.expecting = False
        self.broken: HostError | None = None

    @property
    def finished(self) -> bool:
        """Tell whether all pieces are told of."""
        return self._left == 0

    @property
    def seated(self) -> int:
        """Return how many workers work."""
        return len(self._seats)

    def attempt(self, name: str) -> Attempt | None:
        """Return an attempt that somebody still waits for."""
        return self._attempts.get(name)

    def join(self, worker: str, *, threads: int, host: str) -> None:
        """Give a worker work from now on.

        Args:
            worker: its address.
            threads: how many pieces it runs at once.
            host: what workers of one host have in common.
        """
        self._seats[worker] = _Seat(threads, host)

    def gone(self, worker: str) -> None:
        """Hear that a worker has died or left: others get what it had."""
        for attempt in self._leave(worker):
            state = self._states[attempt.piece]
            if not attempt.over:
                state.losses += 1
                if attempt.begun:
                    state.died.append(worker)
            self._give_up(attempt)

    def begun(self, name: str) -> None:
        """Hear that an attempt runs."""
        if attempt := self._attempts.get(name):
            attempt.begun = True

    def over(self, name: str) -> None:
        """Hear that an attempt's outcome can be had."""
        if attempt := self._attempts.get(name):
            attempt.over = True

    def collected(self, name: str, outcome: Outcome | None) -> None:
        """Take an attempt's outcome; None if it was lost."""
        attempt = self._attempts.get(name)
        if attempt is None:
            return
        attempt.outcome = outcome
        match outcome:
            case None | Ended():
                self._states[attempt.piece].losses += 1
                self._give_up(attempt)
            case Differs(difference=difference):
                self._leave_out(attempt.worker, f"it differs from what it was: {difference}")
            case Failed(error=HostError() as error):
                self._refuse(attempt, error)
            case Done() | Failed() if attempt.check:
                self._vote(attempt)
            case Failed(error=error):
                self._end(attempt, error)
            case Done():  # which is in its place already
                self.kept(name)

    def kept(self, name: str) -> None:
        """Hear that an attempt's run is in its place, and told of."""
        attempt = self._attempts[name]
        # What lacked something there was the worker and not the case.
        for worker, error in self._states[attempt.piece].refused.items():
            self._leave_out(worker, error.message)
        self._end(attempt, None)

    def not_kept(self, name: str, error: LongfatError, *, garbled: bool) -> None:
        """Hear that an attempt's run could not be put into its place.

        Args:
            name: the attempt.
            error: why.
            garbled: it did not arrive as it was sent.
        """
        attempt = self._attempts[name]
        if garbled:
            self._refuse(attempt, error)
        else:
            self._end(attempt, error)

    def moves(self) -> list[Move]:
        """Return what is to be done now."""
        for check in self._checks:
            self._settle(check)
        self._fail_the_hopeless()
        for attempt in self._attempts.values():
            trusted = attempt.check or not self._suspended(attempt.worker)
            if attempt.over and not attempt.taken and trusted:
                attempt.taken = True
                self._moves.append(Collect(attempt))
        if self.broken is None:
            self._moves += [Hand(attempt) for attempt in self._hand_out()]
        moves, self._moves = self._moves, []
        return moves

    def _hand_out(self) -> Iterator[Attempt]:
        for check in self._checks:
            yield from self._ask(check)
        while (attempt := self._next()) is not None:
            yield attempt

    def _next(self) -> Attempt | None:
        """Give a piece to the worker with most threads free; None if no worker can take one."""
        threads = sum(seat.threads for seat in self._seats.values())
        many = len(self._waiting) > threads
        for worker, seat in sorted(self._seats.items(), key=lambda entry: -entry[1].free):
            ahead = 1 + seat.threads // _AHEAD_SHARE if many else 0
            if not self._waiting or seat.free + ahead <= 0:
                return None
            if (piece := self._take_for(worker)) is not None:
                return self._new(piece, worker)
        return None

    def _take_for(self, worker: str) -> int | None:
        """Take the dearest piece that a worker has not refused; None if there is none."""
        passed = []
        found = None
        while self._waiting and found is None:
            entry = heapq.heappop(self._waiting)
            state = self._states[entry[1]]
            if worker in state.refused and not state.over:
                passed.append(entry)
            elif not state.over:
                found = entry[1]
        for entry in passed:
            heapq.heappush(self._waiting, entry)
        return found

    def _new(self, piece: int, worker: str, *, check: bool = False) -> Attempt:
        attempt = Attempt(name=next(self._names), piece=piece, worker=worker, check=check)
        self._attempts[attempt.name] = attempt
        self._seats[worker].attempts[attempt.name] = attempt
        return attempt

    def _leave(self, worker: str) -> list[Attempt]:
        """Take a worker's seat away; return its attempts that nobody has taken yet."""
        seat = self._seats.pop(worker, None)
        attempts = list(seat.attempts.values()) if seat is not None else []
        self._moves += [Release(attempt) for attempt in attempts if attempt.taken]
        return [attempt for attempt in attempts if not attempt.taken]

    def _leave_out(self, worker: str, reason: str, *, doubtful: bool = False) -> None:
        if worker in self._seats:
            self._moves.append(LeaveOut(worker, reason))
            for attempt in self._leave(worker):
                self._give_up(attempt, doubtful=doubtful)

    def _forget(self, attempt: Attempt, *, doubtful: bool = False) -> None:
        self._attempts.pop(attempt.name, None)
        if seat := self._seats.get(attempt.worker):
            seat.attempts.pop(attempt.name, None)
        for check in self._checks:
            if check.asked.get(attempt.worker) == attempt.name:
                del check.asked[attempt.worker]
        self._moves.append(Drop(attempt, doubtful=doubtful))

    def _give_up(self, attempt: Attempt, *, doubtful: bool = False) -> None:
        """Drop an attempt; its piece waits again, unless it was tried too often."""
        self._forget(attempt, doubtful=doubtful)
        state, name = self._states[attempt.piece], self._pieces[attempt.piece].name
        if state.over:
            return
        if len(state.died) >= MOST_TRIES:
            told = ", ".join(state.died)
            text = f"the worker that ran it died, {len(state.died)} times: {told}"
            self._finish(attempt.piece, MachineError(f"case {name!r}: {text}"))
        elif state.losses >= _MOST_LOSSES:
            text = f"the worker that had it was lost, {state.losses} times"
            self._finish(attempt.piece, MachineError(f"case {name!r}: {text}"))
        elif not attempt.check or self._is_settled(attempt.piece):
            heapq.heappush(self._waiting, (-self._pieces[attempt.piece].cost_s, attempt.piece))

    def _refuse(self, attempt: Attempt, error: LongfatError) -> None:
        """Try a piece elsewhere that a worker cannot run."""
        state = self._states[attempt.piece]
        state.refused[attempt.worker] = error
        self._refused.add(attempt.piece)
        if len(state.refused) >= MOST_TRIES:
            self._end(attempt, _refused_error(state))
        else:
            self._give_up(attempt)

    def _fail_the_hopeless(self) -> None:
        """Fail pieces that all workers have refused."""
        if self.expecting or not self._seats or not self._refused:
            return
        busy = {attempt.piece for attempt in self._attempts.values()}
        for piece in self._refused - busy:
            state = self._states[piece]
            if self._seats.keys() <= state.refused.keys():
                self._finish(piece, _refused_error(state))

    def _end(self, attempt: Attempt, error: LongfatError | None) -> None:
        self._forget(attempt)
        self._finish(attempt.piece, error)

    def _finish(self, piece: int, error: LongfatError | None) -> None:
        state = self._states[piece]
        if state.over:
            return
        state.over = True
        self._left -= 1
        self._refused.discard(piece)
        for check in self._checks:
            check.settled = check.settled or check.piece == piece
        if error is not None:
            self._moves.append(Fail(piece, error))

    def _suspended(self, worker: str) -> bool:
        return any(check.suspends(worker) for check in self._checks)

    def _is_settled(self, piece: int) -> bool:
        return any(check.settled for check in self._checks if check.piece == piece)

    def _ask(self, check: Check) -> Iterator[Attempt]:
        """Let workers run a check that it has not enough votes for."""
        if check.settled and not check.votes:
            return
        for _ in range(check.wanted - len(check.votes) - len(check.asked)):
            refused = self._states[check.piece].refused
            there = [w for w in self._seats if not check.knows(w) and w not in refused]
            if not there:
                return
            # Workers of one host are alike: ask other hosts first.
            hosts = Counter(self._seats[w].host for w in self._seats if check.knows(w))
            worker = min(there, key=lambda w: hosts[self._seats[w].host])
            attempt = self._new(check.piece, worker, check=True)
            check.asked[worker] = attempt.name
            yield attempt

    def _vote(self, attempt: Attempt) -> None:
        (check,) = (check for check in self._checks if check.piece == attempt.piece)
        check.asked.pop(attempt.worker, None)
        outcome = attempt.outcome
        check.votes[attempt.worker] = outcome.digest if isinstance(outcome, Done) else FAILS
        if not check.settled:
            self._ballots.setdefault(attempt.piece, []).append(attempt)
            return
        self._forget(attempt)
        verdict = decide(check.votes)
        told = disagreement(self._pieces[check.piece].name, check.votes, verdict)
        if verdict.agreed is None:
            self.broken = HostError(told)
        elif attempt.worker in verdict.odd:
            self._leave_out(attempt.worker, told, doubtful=True)

    def _settle(self, check: Check) -> None:
        """Decide what a check amounts to, once all who were asked have voted."""
        if check.settled or check.asked or not check.votes:
            return
        refused = self._states[check.piece].refused
        others = [w for w in self._seats if w not in check.votes and w not in refused]
        if (others or self.expecting) and len(check.votes) < check.wanted:
            return
        verdict = decide(check.votes)
        if verdict.agreed is None and (others or self.expecting):
            check.wanted = len(check.votes) + 1
            return
        check.settled = True
        first, *rest = self._ballots.pop(check.piece)
        for attempt in rest:
            self._forget(attempt)
        if verdict.agreed is None or verdict.odd:
            told = disagreement(self._pieces[check.piece].name, check.votes, verdict)
            self._forget(first, doubtful=True)
            self._finish(check.piece, MachineError(told))
            for worker in verdict.odd:
                self._leave_out(worker, "it disagrees with others", doubtful=True)
            if verdict.agreed is None:
                self.broken = HostError(told)
        elif isinstance(first.outcome, Failed):
            self._end(first, first.outcome.error)
        else:
            self._moves.append(Keep(first))


def _refused_error(state: _State) -> LongfatError:
    """Return why the last worker could not run a piece, and which that was."""
    worker, error = list(state.refused.items())[-1]
    hint = getattr(error, "hint", "")
    return HostError(f"worker {worker}: {error.message}", hint=hint)
