"""Loaded into a worker by `dask worker --preload`: it dies of a case, lacks something, or waits.

`LONGFAT_FAULT` says which: `dies of NAME`, `lacks TEXT`, `logs FILE`, where each case lasts for
half a second at least, or `holds all but NAME until FILE` exists.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

from longfat.errors import HostError
from longfat.execution.cluster import task

_RUN = task._run
_HOLDS_S = 120.0


def _faulty(order: Any, reporter: Any) -> Any:
    fault, _, rest = os.environ["LONGFAT_FAULT"].partition(" ")
    name = order.run_task.run_id.name
    match fault:
        case "lacks":
            raise HostError(rest, hint="get it")
        case "dies" if name == rest.removeprefix("of "):
            time.sleep(1.0)  # until the client knows that it runs
            os._exit(1)
        case "logs":
            _log(Path(rest), f"begin {name}")
            time.sleep(0.5)
            outcome = _RUN(order, reporter)
            _log(Path(rest), f"end {name}")
            return outcome
        case "holds":
            free, _, path = rest.removeprefix("all but ").partition(" until ")
            end_s = time.monotonic() + _HOLDS_S
            while name != free and not Path(path).exists() and time.monotonic() < end_s:
                time.sleep(0.05)
    return _RUN(order, reporter)


def _log(path: Path, line: str) -> None:
    with path.open("a") as file:
        file.write(f"{line}\n")


def dask_setup(worker: object) -> None:
    del worker
    setattr(task, "_run", _faulty)  # noqa: B010
