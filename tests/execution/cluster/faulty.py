"""Loaded into a worker by `dask worker --preload`: it dies of a case, or lacks something.

`LONGFAT_FAULT` says which: `dies of NAME` or `lacks TEXT`.
"""

from __future__ import annotations

import os
import time
from typing import Any

from longfat.errors import HostError
from longfat.execution.cluster import task

_RUN = task._run


def _faulty(order: Any, teller: Any) -> Any:
    fault, _, rest = os.environ["LONGFAT_FAULT"].partition(" ")
    if fault == "lacks":
        raise HostError(rest, hint="get it")
    if order.work.piece.name == rest.removeprefix("of "):
        time.sleep(1.0)  # until the client knows that it runs
        os._exit(1)
    return _RUN(order, teller)


def dask_setup(worker: object) -> None:
    del worker
    setattr(task, "_run", _faulty)  # noqa: B010
