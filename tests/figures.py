"""Figures of texts beside a verdict that a test has just got."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tools.figure_record import read_record
from tools.figures import Setting, Texts


def different_from_record(folder: Path, verdict: Mapping[str, Any]) -> list[str]:
    """Return the figures whose stored values are not those of a verdict.

    Only figures of the study's own kernel and seeds are compared, and of the cases that were run.
    Where nothing is stored yet, they are compared as the text has them.

    Args:
        folder: the folder of the study.
        verdict: what `longfat run --json` printed.
    """
    record = read_record(folder)
    results = {name: case["metrics"] for name, case in verdict["cases"].items()}
    differences = []
    for figure in Texts().figures_of_study(folder):
        if figure.setting != Setting() or not figure.comes_from_runs:
            continue
        if not figure.cases <= set(results):
            continue
        value = figure.value([results])
        if not record.settings:
            if figure.formatted(value) != figure.written:
                differences.append(f"{figure.place}: {figure.written} is written, {value} measured")
        elif value != record.value(figure):
            stored = record.value(figure)
            differences.append(f"{figure.expression}: {stored} is stored, {value} measured")
    return differences
