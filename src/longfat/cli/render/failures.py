"""Failures of runs, printed at the end, each with the command that reruns it."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from rich.text import Text

from longfat.cli.render.number_text import format_count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from longfat.cli.selection import Part
    from longfat.execution import Failure


def print_failures(failures: Sequence[Failure], parts: Sequence[Part], *, console: Console) -> None:
    """Print failures, grouped by message.

    Args:
        failures: the failures.
        parts: what was run, one for each batch.
        console: where to print them.
    """
    by_message: dict[str, list[Failure]] = {}
    for failure in failures:
        by_message.setdefault(_common(failure), []).append(failure)
    for message, alike in by_message.items():
        text = message if len(alike) > 1 else str(alike[0].error)
        console.print(Text(f"longfat: {text}"), soft_wrap=True)
        lines = [again(failure, parts) for failure in alike]
        head = "to run it alone" if len(lines) == 1 else f"{format_count(len(lines), 'run')}, alone"
        console.print(Text(f"  {head}:"))
        for line in lines:
            console.print(Text(f"    {line}"), soft_wrap=True)


def _common(failure: Failure) -> str:
    """Return the message of an error without its case; failures of a grid often share it."""
    run_id = failure.run_id
    text = str(failure.error).replace(f"with seed {run_id.seed}: ", "", 1)
    return text.replace(f"case {run_id.name!r}: ", "", 1)


def again(failure: Failure, parts: Sequence[Part]) -> str:
    """Return the command line that runs just what failed."""
    run_id = failure.run_id
    part = parts[run_id.batch]
    words = ["longfat", "run", part.typed, "--case", run_id.name, "--seed", str(run_id.seed)]
    if part.study.cases[run_id.name].seeds > 1 or part.batch.cases[run_id.name].seeds > 1:
        words += ["--seeds", "1"]
    if part.kernel is not None:
        words += ["--kernel", part.kernel]
    return shlex.join(words)


def failures_json(failures: Sequence[Failure], parts: Sequence[Part]) -> list[dict[str, Any]]:
    """Return failures as plain data."""
    return [
        {
            "case": failure.run_id.name,
            "seed": failure.run_id.seed,
            "error": str(failure.error),
            "line": again(failure, parts),
        }
        for failure in failures
    ]
