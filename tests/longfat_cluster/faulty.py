"""Loaded into a worker by `dask worker --preload`: it dies of a case, lacks something, or waits.

`LONGFAT_FAULT` says which: `dies of NAME`, `lacks TEXT`, `logs FILE`, where each case lasts for
half a second at least, `returns at most N` bytes of a run, or gives
invalid answers when it `describes` itself or `prepares`.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

from longfat.errors import HostError
from longfat_cluster import worker

_RUN = worker._run


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
        case "returns":
            setattr(worker, "MAX_BLOCK_BYTES", int(rest.removeprefix("at most ")))  # noqa: B010
    return _RUN(order, reporter)


def _log(path: Path, line: str) -> None:
    with path.open("a") as file:
        file.write(f"{line}\n")


def dask_setup(_: object) -> None:
    setattr(worker, "_run", _faulty)  # noqa: B010
    match os.environ["LONGFAT_FAULT"]:
        case "describes":
            setattr(worker, "describe_worker", _nonsense)  # noqa: B010
        case "prepares":
            setattr(worker, "prepare_worker", _no_memory)  # noqa: B010


def _nonsense() -> list[str]:
    return ["nonsense"]


def _no_memory(packed_needs: bytes) -> dict[str, Any]:
    del packed_needs
    return {"problem": "", "memory_bytes": -1.0}
