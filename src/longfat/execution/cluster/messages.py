"""The messages between client and workers."""

from __future__ import annotations

import pickle
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from longfat.errors import LongfatError

if TYPE_CHECKING:
    from longfat.execution.executor import RunTask
    from longfat.model.host_root import HostRoot

_DIGEST = re.compile(r"[0-9a-f]{64}")

TOPIC = "longfat"
"""Where workers publish their progress. One for all clients: a scheduler keeps the last
thousand messages of each topic indefinitely."""

MEMORY = "longfat-memory"
"""The Dask worker resource that machines take: memory, in bytes."""

MOST_BYTES_BY_SCHEDULER = 256 << 20
"""The maximum size of a packed run, or an image, that is sent through the scheduler."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageBlock:
    """An image that a worker lacks.

    Attributes:
        image: the image.
        content: the fingerprint of its unpacked tree.
        block: the image, packed.
    """

    image: HostRoot
    content: str
    block: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """One case for a worker.

    Attributes:
        job: identifies the client's job, for messages.
        attempt: identifies this attempt at the case, likewise.
        run_task: what to run.
        kernel_digest: the kernel to run.
        key: the expected key of the result: the hash of case, kernel and tools.
        storage: where the result goes; back to the client, if None.
        use_storage: take the result from storage if it exists.
        every_s: the shortest interval between two progress messages, in seconds.
    """

    job: str
    attempt: str
    run_task: RunTask
    kernel_digest: str
    key: str
    storage: str | None
    use_storage: bool
    every_s: float

    def packed(self) -> bytes:
        """Return the order as bytes: the scheduler relays them without deserializing."""
        return pickle.dumps(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """The case was run.

    Attributes:
        digest: the run's digest.
        block: the packed run; None if it is in storage.
        from_storage: it was in storage before and was not run.
        contradicts: digests of other results in storage with the same key.
    """

    digest: str
    block: bytes | None
    from_storage: bool = False
    contradicts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """The case failed, or the worker lacks something for it (a `HostError`)."""

    error: LongfatError


@dataclass(frozen=True, slots=True, kw_only=True)
class Differs:
    """The worker would produce a result with another key, so it has not run the case."""

    difference: str


Outcome = Done | Failed | Differs


def is_message(message: object) -> bool:
    """Return whether something from the topic is a valid message of a worker.

    The scheduler adds the worker's address.
    """
    match message:
        case {"job": str(), "attempt": str(), "worker": str(), **rest}:
            if isinstance(rest.get("virtual_s"), int | float):
                return isinstance(rest.get("expected_s"), int | float)
            return "begun" in rest or "left" in rest
    return False


def is_sound(outcome: object) -> bool:
    """Return whether a worker's answer is a valid outcome.

    Its fields become parts of paths and messages.
    """
    match outcome:
        case Done(digest=str(digest), block=None | bytes(), contradicts=tuple(others)):
            return all(isinstance(one, str) and _DIGEST.fullmatch(one) for one in (digest, *others))
        case Failed(error=LongfatError(message=str())):
            return True
        case Differs(difference=str()):
            return True
    return False
