"""The claims of studies, as `longfat run` judged them and keeps them beside the runs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from longfat.catalog.listing import VERDICT

SCHEMA = pa.schema(
    [
        ("study", pa.string()),
        ("folder", pa.string()),
        ("text", pa.string()),
        ("expression", pa.string()),
        ("holds", pa.bool_()),
        ("seeds_holding", pa.int64()),
        ("seeds", pa.int64()),
        ("cases_holding", pa.int64()),
        ("cases", pa.int64()),
    ]
)


def read_claims(folders: Sequence[Path]) -> tuple[pa.Table, list[str]]:
    """Read the claims of studies.

    Args:
        folders: where their verdicts lie.

    Returns:
        A row for each claim, and what could not be read.
    """
    rows: list[dict[str, Any]] = []
    problems = []
    for folder in folders:
        try:
            data = json.loads((folder / VERDICT).read_bytes())
            rows += list(_claims(data, str(folder)))
        except OSError as error:
            problems.append(f"{folder / VERDICT}: cannot be read: {error.strerror}")
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            problems.append(f"{folder / VERDICT}: not a verdict: {type(error).__name__} {error}")
    return pa.Table.from_pylist(rows, schema=SCHEMA), problems


def _claims(data: dict[str, Any], folder: str) -> Iterator[dict[str, Any]]:
    for claim in data["claims"]:
        seeds = claim.get("seeds") or {}
        over = claim.get("over_cases") or []
        # Of a claim with several terms over cases no one number speaks.
        cases = over[0] if len(over) == 1 else {}
        yield {
            "study": str(data["study"]),
            "folder": folder,
            "text": str(claim["text"]),
            "expression": str(claim["expression"]),
            "holds": claim["holds"],
            "seeds_holding": seeds.get("holding"),
            "seeds": seeds.get("count"),
            "cases_holding": cases.get("holding"),
            "cases": cases.get("cases"),
        }
