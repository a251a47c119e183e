from __future__ import annotations

import os
from contextlib import ExitStack

from longfat.machine import reserve_cpu


def test_each_machine_has_a_cpu_until_there_are_no_more() -> None:
    allowed = os.sched_getaffinity(0)
    with ExitStack() as stack:
        held = [stack.enter_context(reserve_cpu()) for _ in range(len(allowed) + 2)]
        assert set(held) <= allowed
        # Other tests' machines may hold some; what was reserved here is not given twice.
        free = held[: len(set(held))]
        assert len(free) == len(set(free)) or len(set(held)) < len(allowed)
    with reserve_cpu() as again:
        assert again in allowed
