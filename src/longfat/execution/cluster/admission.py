"""Which workers may take part: those like this host, with the kernels, that boot a machine.

Each is asked what it is (`look`), gets the kernels and images that it lacks, and boots each
kernel once (`make_ready`). The questions are Dask tasks that only this worker may run.
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
from longfat.execution.cluster.workers import format_tools, look, software

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from distributed import Client

    from longfat.execution.cluster.plan import Plan
    from longfat.model.host_root import HostRoot

# Before any case, also those of others.
_FIRST = 10**9
_SHOWN = 12


class NotAdmittedError(Exception):
    """A worker may not take part; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A worker that may take part.

    Attributes:
        threads: how many cases it runs at once.
        host: what workers of one host have in common.
        memory_bytes: how much memory its machines may take together.
    """

    threads: int
    host: str
    memory_bytes: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What a worker must be like: as the client is.

    Attributes:
        software: versions by name, of what both sides must have in common.
        longfat: the digest of longfat's code.
        tools: for each case that is asked about, its tools: version and digest by name.
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
        plan: what the job is to do; its name is that of the token in storage, too.
    """

    def __init__(self, client: Client, plan: Plan) -> None:
        self._client = client
        self._plan = plan
        self._kernels = {kernel.digest: kernel for kernel in plan.kernels.values()}
        self._images = {
            image.digest: image for work in plan.works for image in work.case.network.roots.values()
        }
        # One case for each set of tools is enough to have a worker look at all of them.
        kinds = {frozenset(of_it): index for index, of_it in enumerate(plan.tools)}
        self._cases = [json.dumps(plan.works[index].case.to_json()) for index in kinds.values()]
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
        """Ask a worker what it is, and make it ready.

        Args:
            worker: its address.
            threads: how many cases it runs at once.

        Raises:
            NotAdmittedError: it may not take part.
        """
        answer = await self._ask(
            worker,
            look,
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
            lacking = [digest for digest in self._kernels if digest not in answer["kernels"]]
            no_images = [digest for digest in self._images if digest not in answer["images"]]
        except (LookupError, TypeError, ValueError, AttributeError):
            raise NotAdmittedError("it does not tell what it is as it should") from None
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
            blocks=await self._packed(lacking),
            images=images,
        )
        match ready:
            case {"problem": "", "memory_bytes": float(memory_bytes)} if memory_bytes > 0:
                return Member(threads=threads, host=host, memory_bytes=memory_bytes)
            case {"problem": str(problem)} if problem:
                raise NotAdmittedError(problem)
        raise NotAdmittedError("it does not tell whether it is ready as it should")

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
    """Return how a worker differs from what it must be; an empty list if it does not.

    Args:
        answer: what `look` told of the worker.
        wanted: what it must be.
    """
    found = version_differences(answer["software"], wanted.software)
    if found:
        return found  # all else may follow from that
    if answer["loaded"] != answer["longfat"]:
        return ["longfat has been changed there since the worker was started; start it anew"]
    if answer["lacks"]:
        return [answer["lacks"]]
    if answer["longfat"] != wanted.longfat:
        version = wanted.software.get("longfat", "")
        return [f"longfat has other code there, though both are {version}"]
    found += _tool_differences(answer["tools"], wanted.tools)
    for digest, content in answer["kernels"].items():
        if wanted.kernels[digest] != content:
            short = digest[:_SHOWN]
            found.append(
                f"kernel {short} has other bytes there; there: longfat kernel remove {short}"
            )
    if answer["storage"]:
        found.append(answer["storage"])
    return found


def version_differences(theirs: Mapping[str, str], ours: Mapping[str, str]) -> list[str]:
    """Return which versions differ, in words."""
    return [
        f"{name} {theirs.get(name, 'is not installed')} there, {ours.get(name, 'none')} here"
        for name in sorted({*theirs, *ours})
        if theirs.get(name) != ours.get(name)
    ]


def _tool_differences(
    theirs: Sequence[Mapping[str, Sequence[str]]], ours: Sequence[Mapping[str, Sequence[str]]]
) -> list[str]:
    told: dict[str, str] = {}
    for one, other in zip(theirs, ours, strict=True):
        for name in sorted({*one, *other}):
            if difference := _tool_difference(name, one.get(name), other.get(name)):
                told[name] = difference
    return list(told.values())


def _tool_difference(
    name: str, theirs: Sequence[str] | None, ours: Sequence[str] | None
) -> str | None:
    if theirs is None or ours is None:
        where, not_where = ("here", "there") if theirs is None else ("there", "here")
        return f"{name} is installed {where} and not {not_where}"
    if theirs[1] == ours[1]:
        return None
    if theirs[0] != ours[0]:
        return f"{name}: {theirs[0]} there, {ours[0]} here"
    same = f", though both are {ours[0]}" if ours[0] else ""
    return f"{name}, or a library that it loads, has other bytes there{same}"
