"""The results of a study's runs, for the page's tables.

The numbers are formatted in `longfat.output.report.values`, as for the terminal and the
report, so that the three cannot differ.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from longfat.output.report.values import (
    claim_rows,
    comparison_columns,
    comparison_groups,
    metric_grid,
)

if TYPE_CHECKING:
    from longfat.analysis.verdict import Verdict


def claims_json(verdict: Verdict) -> list[dict[str, Any]]:
    """Return the claims as `ClaimRow` of the page's `api/types.ts`."""
    rows = zip(verdict.claims, claim_rows(verdict), strict=True)
    return [
        {
            "text": row.text,
            "expression": judged.claim.expression,
            "holds": judged.passed,
            "detail": ", ".join(
                [f"{name} = {value}" for name, value in row.readings]
                + ([row.seeds] if row.seeds else [])
            ),
        }
        for judged, row in rows
    ]


def published_json(verdict: Verdict) -> dict[str, Any] | None:
    """Return published and measured values as `Table` of the page; None if there are none.

    The rows' group is the title of their case.
    """
    groups = comparison_groups(verdict)
    if not groups:
        return None
    return {
        "columns": ["", *comparison_columns(verdict)],
        "rows": [
            {"group": group.title, "cells": [row.label, *row.cells]}
            for group in groups
            for row in group.rows
        ],
    }


def measured_json(verdict: Verdict) -> dict[str, Any] | None:
    """Return the metrics of the cases without published values as `Table` of the page."""
    grid = metric_grid(verdict)
    if grid is None:
        return None
    return {
        "columns": ["", *grid.columns],
        "rows": [{"group": "", "cells": [row.label, *row.cells]} for row in grid.rows],
    }
