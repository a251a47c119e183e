"""Code that runs on a worker: describes the worker, and prepares it for its first case.

Requests and answers are plain data: the worker's longfat may be another
version than the client's, and must be able to report that.
"""

from __future__ import annotations

import contextlib
import functools
import platform
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from longfat import __version__
from longfat.common.decoding import parse_json
from longfat.common.guard import scratch_folder
from longfat.engine import kernel as kernels
from longfat.engine.images import is_unpacked
from longfat.engine.kernel.parcel import fingerprint
from longfat.engine.kernel.version import NEWEST
from longfat.engine.machine import current_sandbox
from longfat.errors import HostError, InputError, LongfatError
from longfat.execution.case_runner import run_case
from longfat.execution.cluster.storage import Storage
from longfat.execution.tools import Toolbox
from longfat.model.case import Case
from longfat.model.network import Network

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from longfat.execution.runs import Tool

SOFTWARE = ("dask", "distributed", "cloudpickle", "msgpack")
"""The packages whose versions must be equal on client, scheduler and workers."""

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


@functools.lru_cache(maxsize=4)
def toolbox_of(job: str) -> Toolbox:
    """Return the toolbox of a client's job: the host's tools are examined once for each."""
    del job
    return Toolbox()


def software() -> dict[str, str]:
    """Return the versions that must be equal on client, scheduler and workers."""
    found = {"python": platform.python_version(), "longfat": __version__}
    for name in SOFTWARE:
        with contextlib.suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    return found


def _own_digest() -> str:
    """Return the digest of longfat's own code on the disk; empty if the host lacks a tool."""
    bare = Case(kernel=NEWEST, network=Network(hosts=(), switches=(), links=()))
    try:
        return Toolbox().of(bare)["longfat"].digest
    except HostError:
        return ""


# A worker runs for long: the code it has loaded may be older than that on its disk.
_LOADED = _own_digest()


def describe_worker(
    *,
    job: str,
    cases: Sequence[str],
    kernel_digests: Sequence[str],
    image_digests: Sequence[str],
    storage: str | None,
    token: str,
) -> dict[str, Any]:
    """Describe this worker.

    Args:
        job: the client's job.
        cases: some cases, as JSON, that together use all tools of the job's cases.
        kernel_digests: the kernels that the job needs.
        image_digests: the images of the job's hosts.
        storage: the storage of results, if there is any.
        token: the name of a token that the client has written to the storage.

    Returns:
        The input of `admission.differences`.
    """
    answer: dict[str, Any] = {
        "software": software(),
        "longfat": _own_digest(),
        "loaded": _LOADED,
        "host": _host(),
        "missing": _missing(),
        "tools": [],
        "kernels": {},
        "images": [digest for digest in image_digests if is_unpacked(digest)],
        "storage": "",
    }
    if answer["missing"]:
        return answer
    try:
        for case in cases:
            found = toolbox_of(job).of(Case.from_json(parse_json(case.encode(), where="a case")))
            answer["tools"].append({name: [t.version, t.digest] for name, t in found.items()})
        there = {kernel.digest: kernel for kernel in kernels.kernels()}
        for digest in kernel_digests:
            if digest in there:
                answer["kernels"][digest] = fingerprint(there[digest].folder)
    except HostError as error:
        answer["missing"] = error.message
    except InputError as error:  # a case of another format: longfat's digest differs, too
        answer["missing"] = error.message
    if storage is not None:
        answer["storage"] = _storage_trouble(storage, token)
    return answer


def _host() -> str:
    """Return what identifies the host of a worker."""
    try:
        return _BOOT_ID.read_text(encoding="ascii").strip()
    except OSError:
        return platform.node()


def _missing() -> str:
    """Return why machines cannot run here; empty if they can."""
    if (platform.system(), platform.machine()) != ("Linux", "x86_64"):
        return f"it is {platform.system()} on {platform.machine()}, and must be Linux on x86-64"
    try:
        current_sandbox()
    except HostError as error:
        return error.message
    return ""


def _storage_trouble(url: str, token: str) -> str:
    try:
        storage = Storage(url)
        if not storage.has_token(token):
            return f"storage {url} is not the same there as here: a file written here is not there"
        storage.write_token(f"{token}-seen")
    except HostError as error:
        return error.message
    return ""


def boot_each(found: Sequence[kernels.Kernel], tools: Toolbox) -> str:
    """Boot each kernel once.

    Args:
        found: the kernels.
        tools: the host's tools.

    Returns:
        The error; empty if there is none.
    """
    for kernel in found:
        case = Case(kernel=kernel.release, network=Network(hosts=(), switches=(), links=()))
        with scratch_folder() as folder:
            try:
                run_case(case, name="look", out=folder, kernel=kernel, toolbox=tools)
            except LongfatError as error:
                return f"it cannot boot kernel {kernel.release}: {error.message}"
    return ""


def format_tools(tools: Mapping[str, Tool]) -> dict[str, list[str]]:
    """Return tools in the format of the answer of `describe_worker`."""
    return {name: [tool.version, tool.digest] for name, tool in tools.items()}
