"""Readers of folders with checksums: cached results, run directories and kernels.

A changed file must be found, whichever it is.
"""

from __future__ import annotations

import json
import random
import shutil
import tempfile
from functools import cache
from pathlib import Path

from longfat.common.checksum import SUMS, folder_damage
from longfat.engine.kernel import manifest as kernel_manifest
from longfat.errors import MachineError
from longfat.execution.cache import ResultCache
from longfat.execution.cache.entry import NOTE
from longfat.execution.runs import Run, load_run
from longfat.execution.runs.run import MANIFEST
from tests.mutations.kernel_manifests import kernel
from tests.mutations.kind import LAB, WrongError, write
from tests.mutations.mutators import flip_bytes
from tests.mutations.results import known_runs


def _tree(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def packed_tree(files: dict[str, bytes]) -> bytes:
    head = json.dumps([[name, len(content)] for name, content in files.items()]).encode()
    return head + b"\n" + b"".join(files.values())


def _unpacked_tree(content: bytes) -> dict[str, bytes]:
    head, _, rest = content.partition(b"\n")
    found = {}
    for name, size in json.loads(head):
        found[name], rest = rest[:size], rest[size:]
    return found


def change_file(chance: random.Random, content: bytes) -> bytes:
    """Change one file of a folder, remove it, or swap it with another."""
    files = _unpacked_tree(content)
    name = chance.choice(list(files))
    match chance.randrange(12):
        case 0:
            del files[name]
        case 1:
            other = chance.choice(list(files))
            files[name], files[other] = files[other], files[name]
        case _:
            files[name] = flip_bytes(chance, files[name])
    return packed_tree(files)


@cache
def cached() -> dict[str, bytes]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copytree(LAB / "default-seed1", folder / "run")
        run = load_run(folder / "run")
        cache = ResultCache(folder / "memory")
        cache.put(run)
        return _tree(cache.place(run.key))


def get_cached(folder: Path, content: bytes) -> None:
    """Take a result from the cache of which a file was changed; its key is its folder's name."""
    files = cached()
    key = json.loads(files[NOTE])["key"]
    messages: list[str] = []
    cache = ResultCache(folder / "memory", report=messages.append)
    for name, one in _unpacked_tree(content).items():
        write(cache.place(key), name, one)
    run = cache.get(key, out=folder / "out", name="again", study="s", parameters={})
    if run is None:
        if not messages:
            raise WrongError("nothing was messages")
        if cache.has(key):
            raise WrongError("it is still there")
        raise MachineError(messages[0])
    whole = _known_run(key)
    found = {name: data for name, data in _tree(run.folder).items() if name != MANIFEST}
    expected = {name: data for name, data in files.items() if name not in (MANIFEST, NOTE)}
    if (run.metrics, run.case, run.tools) != (whole.metrics, whole.case, whole.tools):
        raise WrongError("its metrics or its case are others")
    if found != expected:
        raise WrongError("its files are others")


@cache
def _known_run(key: str) -> Run:
    return next(run for run in known_runs() if run.key == key)


@cache
def run_folder() -> dict[str, bytes]:
    return _tree(LAB / "default-seed1")


def check_run(folder: Path, content: bytes) -> None:
    """Read a run directory of which a file was changed."""
    for name, one in _unpacked_tree(content).items():
        write(folder, name, one)
    run = load_run(folder)
    raw = run.checked_raw
    found = {flow.name: flow.measure(raw) for flow in run.case.flows}
    measured = {f"{flow}.{name}": value for flow, of in found.items() for name, value in of.items()}
    whole = load_run(LAB / "default-seed1")
    found = {flow.name: flow.measure(whole.raw) for flow in whole.case.flows}
    expected = {f"{flow}.{name}": value for flow, of in found.items() for name, value in of.items()}
    if (run.metrics, measured) != (whole.metrics, expected):
        raise WrongError("its metrics are others")
    for probe in run.case.probes:
        if not run.series(probe.name).equals(whole.series(probe.name)):
            raise WrongError("a series is another")


def check_kernel(folder: Path, content: bytes) -> None:
    for name, one in _unpacked_tree(content).items():
        write(folder, name, one)
    if problem := folder_damage(folder):
        raise MachineError(problem)
    if kernel_manifest.read(folder) is None:
        raise MachineError("no manifest")
    kept = {**kernel()}
    if {**_tree(folder), SUMS: b""} != {**kept, SUMS: b""}:
        raise WrongError("a kernel with other bytes came as good")
