"""Runs of the workspace: found by their manifests, and read."""

from __future__ import annotations

import os
import stat
import threading
from http import HTTPStatus
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from longfat.common.decoding import parse_json
from longfat.common.removal import remove_tree
from longfat.errors import InputError
from longfat.execution.runs import load_run
from longfat.execution.runs.run import MANIFEST, read_manifest
from longfat.model.units import format_quantity
from longfat.output.report.record import PAGE
from longfat.studio.http_error import HttpError
from longfat.studio.urls import RUNS, report_url
from longfat.study.files import MAX_CASE_BYTES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from longfat.execution.runs import Run
    from longfat.studio.workspace import Workspace

# It includes the files of a case; JSON takes up to three characters for a byte of text.
_LARGEST_MANIFEST = 4 * 1024**2 + 3 * MAX_CASE_BYTES
_MOST_TOLD = 4
# The metrics that best distinguish runs of a flow, if they have them.
_KEY_METRICS = ("receiver_bps", "avg_s", "retransmits", "loss")


def load_kept(workspace: Workspace, path: str) -> Run:
    """Read a run.

    Args:
        workspace: the workspace.
        path: the run directory, below it.

    Raises:
        InputError: there is no such run, it is incomplete, or contains a link.
    """
    folder = workspace.folder(path)
    for inside, names, files in os.walk(folder):
        for name in (*names, *files):
            mode = Path(inside, name).lstat().st_mode
            if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
                raise InputError(f"{path}: {name} is not a regular file: runs contain no links")
    if not (folder / MANIFEST).is_file():
        raise HttpError(f"{path}: no run: there is no {MANIFEST}", status=HTTPStatus.NOT_FOUND)
    return load_run(folder)


def delete_kept(workspace: Workspace, path: str) -> None:
    """Delete a run; with its study's folder and report, if it was the last one.

    Args:
        workspace: the workspace.
        path: the run directory, below it.

    Raises:
        InputError: there is no such run, or it cannot be deleted.
    """
    folder = workspace.folder(path, unlock=True)
    if not (folder / MANIFEST).is_file():
        raise HttpError(f"{path}: no run: there is no {MANIFEST}", status=HTTPStatus.NOT_FOUND)
    above, _, _ = path.rpartition("/")
    workspace.stores.forget(folder)
    try:
        remove_tree(folder, last=MANIFEST)
        rest = workspace.folder(above) if above.startswith(f"{RUNS}/") else None
        if rest is not None and not any(one.is_dir() for one in rest.iterdir()):
            remove_tree(rest)
    except OSError as error:
        raise InputError(f"{path}: cannot be deleted: {error.strerror}") from None


class KeptRuns:
    """The runs of a workspace, listed quickly: manifests are cached until they change.

    Args:
        workspace: the workspace.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._lock = threading.Lock()
        self._entries: dict[str, tuple[tuple[int, int, int], dict[str, Any] | None]] = {}

    def entries(self, *, search: str = "") -> list[dict[str, Any]]:
        """Return the runs as `RunEntry` of the page's `api/types.ts`, the newest first.

        Args:
            search: words that must all be found in a run's path, names, kernel or figures.
        """
        words = search.casefold().split()
        with self._lock:
            found = [
                {**entry, "report": self._report(entry["path"])}
                for entry in self._all()
                if all(word in _text(entry) for word in words)
            ]
        return sorted(found, key=lambda entry: (-entry["modified_s"], entry["path"]))

    def _report(self, path: str) -> str | None:
        """Return the URL of the report that contains a run; None if there is none."""
        folder = PurePosixPath(path).parent.as_posix()
        there = folder != "." and (self._workspace.root / folder / PAGE).is_file()
        return report_url(folder) if there else None

    def _all(self) -> list[dict[str, Any]]:
        before, self._entries = self._entries, {}
        found = []
        for folder, files in self._workspace.walk():
            manifest = next((entry for entry in files if entry.name == MANIFEST), None)
            if manifest is None or not folder:
                continue
            try:
                about = manifest.stat(follow_symlinks=False)
            except OSError:
                continue  # removed meanwhile
            mark = (about.st_mtime_ns, about.st_size, about.st_ino)
            known = before.get(folder)
            if known is None or known[0] != mark:
                known = (mark, self._entry(folder, about.st_mtime))
            self._entries[folder] = known
            if known[1] is not None:
                found.append(known[1])
        return found

    def _entry(self, folder: str, modified_s: float) -> dict[str, Any] | None:
        """Return the entry of a manifest; None if this version cannot read it."""
        try:
            content = self._workspace.read(f"{folder}/{MANIFEST}", most_bytes=_LARGEST_MANIFEST)
            data = parse_json(content, where=folder)
            run = read_manifest(data, folder=Path(folder))
        except InputError:
            return None
        return {
            "path": folder,
            "study": PurePosixPath(folder).parent.name,
            "case": run.name,
            "seed": run.seed,
            "kernel": run.kernel["release"],
            "digest": run.digest,
            "modified_s": modified_s,
            "results": _key_metrics(run),
        }


def _key_metrics(run: Run) -> list[dict[str, str]]:
    """Return a few metrics of a run: the most important of each flow, then of its probes."""
    known = {flow.name: {one.name: one for one in flow.metrics} for flow in run.case.flows}
    found = [
        (name, of[metric])
        for metric in _KEY_METRICS
        for name, of in known.items()
        if metric in of and f"{name}.{metric}" in run.metrics
    ]
    for probe in run.case.probes:
        found += [
            (probe.name, one) for one in probe.metrics if f"{probe.name}.{one.name}" in run.metrics
        ]
    return [
        {
            "name": f"{name} {metric.title}",
            "text": format_quantity(run.metrics[f"{name}.{metric.name}"], metric.unit),
        }
        for name, metric in found[:_MOST_TOLD]
    ]


def _text(entry: Mapping[str, Any]) -> str:
    figures = " ".join(f"{one['name']} {one['text']}" for one in entry["results"])
    parts = (entry["path"], entry["kernel"], f"seed {entry['seed']}", entry["digest"], figures)
    return " ".join(parts).casefold()
