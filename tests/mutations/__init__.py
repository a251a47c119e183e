"""Damaged and forged data through every reader: what comes is an error of ours, or right.

    python -m tests.mutations --count 100000             # of each kind; --jobs, --seed
    python -m tests.mutations --kind manifest --kind pcap --count 1000

A kind has samples, which are real, and a reader. Samples are changed at random:
bits flipped, bytes cut, put in, doubled and overwritten; in JSON also values of
another type, swapped, doubled, renamed and nested deep. The reader may refuse with
an error of ours (`LongfatError`), or read. Anything else that is raised is a
finding, and so is what takes more than `SLOW_S`, and, where checksums must find
every change, a result that is another one. A finding is told with its seed, which
`--seed SEED --count 1` repeats.
"""

from tests.mutations.kinds import KINDS
from tests.mutations.run import run_kind

__all__ = ["KINDS", "run_kind"]
