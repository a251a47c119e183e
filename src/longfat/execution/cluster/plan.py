"""The plan of a job on a cluster."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from longfat.engine.kernel import Kernel
    from longfat.execution.executor import RunTask
    from longfat.execution.runs import Tool


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a job runs.

    Attributes:
        name: identifies the job.
        scheduler: the scheduler's address.
        works: what to run.
        tools: the tools of each.
        keys: the key of the result of each.
        kernels: the kernel of each version in the cases.
        storage_url: the storage of results, if there is any.
        use_storage: take results from storage.
        check_share: as of `Cluster`.
        patience_s: likewise.
    """

    name: str
    scheduler: str
    run_tasks: Sequence[RunTask]
    tools: Sequence[dict[str, Tool]]
    keys: Sequence[str]
    kernels: Mapping[str, Kernel]
    storage_url: str | None
    use_storage: bool
    check_share: float
    patience_s: float
