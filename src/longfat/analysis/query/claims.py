"""The claims of studies, as `longfat run` evaluated them and keeps them beside the runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from longfat.analysis.query.listing import VERDICT
from longfat.common.decoding import Decoder, read_json
from longfat.errors import InputError

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
        where = str(folder / VERDICT)
        try:
            data = read_json(folder / VERDICT)
            verdict = _VERDICT.decode(data, where=f"{where}: not a verdict")
            rows += [_row(verdict.study, claim, str(folder)) for claim in verdict.claims]
        except OSError as error:
            problems.append(f"{where}: cannot be read: {error.strerror}")
        except InputError as error:
            problems.append(error.message)
    return pa.Table.from_pylist(rows, schema=SCHEMA), problems


@dataclass(frozen=True, slots=True, kw_only=True)
class _Seeds:
    holding: int
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Over:
    holding: int
    cases: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Claim:
    text: str
    expression: str
    holds: bool | None
    seeds: _Seeds | None = None
    over_cases: list[_Over] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Verdict:
    """The fields of a verdict that are read; it has more."""

    study: str
    claims: list[_Claim]


_VERDICT = Decoder(_Verdict, foreign=True)


def _row(study: str, claim: _Claim, folder: str) -> dict[str, Any]:
    # Of a claim with several terms over cases no one number speaks.
    over = claim.over_cases or []
    cases = over[0] if len(over) == 1 else None
    return {
        "study": study,
        "folder": folder,
        "text": claim.text,
        "expression": claim.expression,
        "holds": claim.holds,
        "seeds_holding": claim.seeds and claim.seeds.holding,
        "seeds": claim.seeds and claim.seeds.count,
        "cases_holding": cases and cases.holding,
        "cases": cases and cases.cases,
    }
