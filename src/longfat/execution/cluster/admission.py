"""Admission of workers: those like this host, with the kernels, that can boot a machine.

Each describes itself (`describe_worker`), gets the kernels and images that it lacks, and boots each
kernel once (`make_ready`). These calls are Dask tasks restricted to this worker.
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from longfat.engine.images import image_folder
from longfat.engine.images.parcel import fingerprint as image_fingerprint
from longfat.engine.images.parcel import pack_image
from longfat.engine.kernel.parcel import fingerprint
from longfat.errors import HostError
from longfat.execution.cluster.messages import MOST_BYTES_BY_SCHEDULER, ImageBlock
from longfat.execution.cluster.packing import packed
from longfat.execution.cluster.task import make_ready
from longfat.execution.cluster.workers import describe_worker, format_tools, software

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from distributed import Client

    from longfat.execution.cluster.plan import Plan
    from longfat.model.host_root import HostRoot

# Before any case, including those of others.
_FIRST = 10**9
_SHOWN = 12


class NotAdmittedError(Exception):
    """A worker is not admitted; the message is the reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A worker that was admitted.

    Attributes:
        threads: how many cases it runs at once.
        host: identifies the host of the worker.
        memory_bytes: how much memory its machines may use together.
    """

    threads: int
    host: str
    memory_bytes: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """The requirements of a worker: to match the client.

    Attributes:
        software: versions by name, which must be equal on both sides.
        longfat: the digest of longfat's code.
        tools: for each requested case, its tools: version and digest by name.
        kernels: the fingerprints of the kernels by their digests.
    """

    software: Mapping[str, str]
    longfat: str
    tools: Sequence[Mapping[str, Sequence[str]]]
    kernels: Mapping[str, str]


class Admission:
    """Admits workers to a job.

    Args:
        client: the connection.
        plan: the plan of the job; its name is that of the token in storage, too.
    """

    def __init__(self, client: Client, plan: Plan) -> None:
        self._client = client
        self._plan = plan
        self._kernels = {kernel.digest: kernel for kernel in plan.kernels.values()}
        self._images = {
            image.digest: image
            for run_task in plan.run_tasks
            for image in run_task.case.network.roots.values()
        }
        # One case for each set of tools is enough to have a worker examine all of them.
        kinds = {frozenset(tools): index for index, tools in enumerate(plan.tools)}
        self._cases = [json.dumps(plan.run_tasks[index].case.to_json()) for index in kinds.values()]
        self._wanted = Wanted(
            software=software(),
            longfat=plan.tools[0]["longfat"].digest,
            tools=[format_tools(plan.tools[index]) for index in kinds.values()],
            kernels={digest: fingerprint(one.folder) for digest, one in self._kernels.items()},
        )
        self._blocks: dict[str, bytes] = {}
        self._image_blocks: dict[str, ImageBlock] = {}
        self._packing = asyncio.Lock()

    async def admit(self, worker: str, *, threads: int) -> Member:
        """Get a worker's description, and make it ready.

        Args:
            worker: its address.
            threads: how many cases it runs at once.

        Raises:
            NotAdmittedError: it is not admitted.
        """
        answer = await self._ask(
            worker,
            describe_worker,
            job=self._plan.name,
            cases=self._cases,
            kernel_digests=list(self._kernels),
            image_digests=list(self._images),
            storage=self._plan.storage_url,
            token=self._plan.name,
        )
        try:
            found = differences(answer, self._wanted)
            host = str(answer["host"])
            missing = [digest for digest in self._kernels if digest not in answer["kernels"]]
            no_images = [digest for digest in self._images if digest not in answer["images"]]
        except (LookupError, TypeError, ValueError, AttributeError):
            raise NotAdmittedError("its description of itself is invalid") from None
        if found:
            raise NotAdmittedError("; ".join(found))
        try:
            images = await self._packed_images(no_images)
        except HostError as error:
            raise NotAdmittedError(str(error)) from None
        ready = await self._ask(
            worker,
            make_ready,
            job=self._plan.name,
            contents=dict(self._wanted.kernels),
            blocks=await self._packed(missing),
            images=images,
        )
        match ready:
            case {"problem": "", "memory_bytes": float(memory_bytes)} if memory_bytes > 0:
                return Member(threads=threads, host=host, memory_bytes=memory_bytes)
            case {"problem": str(problem)} if problem:
                raise NotAdmittedError(problem)
        raise NotAdmittedError("its answer about its readiness is invalid")

    async def _ask(self, worker: str, question: Callable[..., Any], **arguments: Any) -> Any:
        try:
            return await self._client.submit(
                question,
                **arguments,
                key=f"longfat-{question.__name__}-{self._plan.name}-{worker}",
                workers=[worker],
                allow_other_workers=False,
                pure=False,
                priority=_FIRST,
            )
        except Exception as error:
            reason = f"it cannot answer: {type(error).__name__}: {error}"
            raise NotAdmittedError(reason) from error

    async def _packed(self, digests: Sequence[str]) -> dict[str, bytes]:
        async with self._packing:
            for digest in digests:
                if digest not in self._blocks:
                    folder = self._kernels[digest].folder
                    self._blocks[digest] = await asyncio.to_thread(packed, folder)
        return {digest: self._blocks[digest] for digest in digests}

    async def _packed_images(self, digests: Sequence[str]) -> list[ImageBlock]:
        async with self._packing:
            for digest in digests:
                if digest not in self._image_blocks:
                    image = self._images[digest]
                    self._image_blocks[digest] = await asyncio.to_thread(_pack_image, image)
        return [self._image_blocks[digest] for digest in digests]


def _pack_image(image: HostRoot) -> ImageBlock:
    return ImageBlock(
        image=image,
        content=image_fingerprint(image_folder(image)),
        block=pack_image(image, most_bytes=MOST_BYTES_BY_SCHEDULER),
    )


def differences(answer: Mapping[str, Any], wanted: Wanted) -> list[str]:
    """Return how a worker differs from the requirements; an empty list if it does not.

    Args:
        answer: the answer of `describe_worker`.
        wanted: the requirements.
    """
    found = version_differences(answer["software"], wanted.software)
    if found:
        return found  # everything else may follow from that
    if answer["loaded"] != answer["longfat"]:
        return ["longfat was changed there since the worker was started; restart it"]
    if answer["missing"]:
        return [answer["missing"]]
    if answer["longfat"] != wanted.longfat:
        version = wanted.software.get("longfat", "")
        return [f"longfat has other code there, although both are {version}"]
    found += _tool_differences(answer["tools"], wanted.tools)
    for digest, content in answer["kernels"].items():
        if wanted.kernels[digest] != content:
            short = digest[:_SHOWN]
            found.append(
                f"kernel {short} has other bytes there; run there: longfat kernel remove {short}"
            )
    if answer["storage"]:
        found.append(answer["storage"])
    return found


def version_differences(remote: Mapping[str, str], local: Mapping[str, str]) -> list[str]:
    """Return which versions differ, as text."""
    return [
        f"{name} {remote.get(name, 'is not installed')} there, {local.get(name, 'none')} here"
        for name in sorted({*remote, *local})
        if remote.get(name) != local.get(name)
    ]


def _tool_differences(
    remote: Sequence[Mapping[str, Sequence[str]]], local: Sequence[Mapping[str, Sequence[str]]]
) -> list[str]:
    found: dict[str, str] = {}
    for one, other in zip(remote, local, strict=True):
        for name in sorted({*one, *other}):
            if difference := _tool_difference(name, one.get(name), other.get(name)):
                found[name] = difference
    return list(found.values())


def _tool_difference(
    name: str, remote: Sequence[str] | None, local: Sequence[str] | None
) -> str | None:
    if remote is None or local is None:
        where, not_where = ("here", "there") if remote is None else ("there", "here")
        return f"{name} is installed {where} but not {not_where}"
    if remote[1] == local[1]:
        return None
    if remote[0] != local[0]:
        return f"{name}: {remote[0]} there, {local[0]} here"
    same = f", although both are {local[0]}" if local[0] else ""
    return f"{name}, or a library that it loads, has other bytes there{same}"
