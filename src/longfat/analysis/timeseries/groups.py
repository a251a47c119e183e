"""Runs of one case that differ in their seeds only: they make one line each flow."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from longfat.model.probes import Queue
from longfat.model.traffic import Bulk, Cbr, Flow, Ping, Video

if TYPE_CHECKING:
    from longfat.analysis.verdict import Verdict
    from longfat.execution.runs import Run

_KINDS: Mapping[type[Flow], str] = {Ping: "ping", Cbr: "cbr", Video: "video"}


@dataclass(frozen=True, slots=True)
class Group:
    """The runs of one case, one for each seed.

    Attributes:
        label: its label in a figure; empty where there is no other.
        runs: the runs; at least one.
    """

    label: str
    runs: tuple[Run, ...]

    @property
    def first(self) -> Run:
        """Return the run with the first seed."""
        return self.runs[0]

    def flows(self, names: Collection[str] = ()) -> list[Flow]:
        """Return the case's flows of these names that were measured; all, where none are given."""
        return [flow for flow in self.first.measured_case.flows if not names or flow.name in names]

    def bulk(self, names: Collection[str] = ()) -> list[Bulk]:
        """Return those of `flows` that are bulk traffic."""
        return [
            flow for flow in self.first.measured_case.bulk_flows if not names or flow.name in names
        ]

    def things(self, names: Collection[str] = ()) -> list[tuple[str, str]]:
        """Return kind and name of everything that may have a line: flows and queues."""
        case = self.first.case
        flows = [(_KINDS.get(type(f), "tcp"), f.name) for f in self.flows(names)]
        probes = case.probes_of(Queue)
        return flows + [("queue", name) for name in dict.fromkeys(n for p in probes for n in p.of)]


def verdict_groups(verdict: Verdict) -> list[Group]:
    """Return the cases of a study that were run, in the study's order."""
    alone = len(verdict.runs) == 1
    return [Group("" if alone else name, runs) for name, runs in verdict.runs.items()]


def group_runs(runs: Sequence[Run]) -> list[Group]:
    """Put runs of one case with different seeds together, and name the groups.

    A name is the case's; other differences are added only where necessary: the
    kernel, the seeds, the folder.
    """
    unique = {run.folder.resolve(): run for run in runs}.values()
    groups: dict[object, list[Run]] = {}
    for run in unique:
        key = (run.name, dataclasses.replace(run.case, seed=0))
        groups.setdefault(key, []).append(run)
    if len(groups) == 1:
        return [Group("", tuple(*groups.values()))]
    labels = _labels(list(groups.values()))
    return [Group(label, tuple(of)) for label, of in zip(labels, groups.values(), strict=True)]


def _labels(groups: Sequence[Sequence[Run]]) -> list[str]:
    firsts = [runs[0] for runs in groups]
    labels = [run.name for run in firsts]
    additions: tuple[Callable[[Run], str], ...] = (
        lambda run: f"Linux {run.case.kernel}",
        lambda run: f"seed {run.seed}",
        lambda run: str(run.folder),
    )
    for addition in additions:
        texts = [addition(run) for run in firsts]
        texts_by_label: dict[str, set[str]] = {}
        for label, text in zip(labels, texts, strict=True):
            texts_by_label.setdefault(label, set()).add(text)
        # What all groups with one label have in common does not distinguish them.
        labels = [
            f"{label} {text}" if len(texts_by_label[label]) > 1 else label
            for label, text in zip(labels, texts, strict=True)
        ]
    return labels


def seeds_note(groups: Sequence[Group]) -> str:
    """Return the meaning of lines and bands; empty where every group is a single run."""
    counts = sorted({len(group.runs) for group in groups})
    if counts[-1:] in ([], [1]):
        return ""
    many = str(counts[0]) if len(counts) == 1 else f"up to {counts[-1]}"
    return f"line: median of {many} seeds; band: 5-95 %"
