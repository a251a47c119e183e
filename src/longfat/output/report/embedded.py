"""The script, style and data that a page contains for its charts and its table.

Script and style are built from `web/src/report` into `bundle/`, which is not in git: a checkout
in which they were not built has pages without them. The data are stored compressed, as text
that the browser decompresses. So a page loads no external files, and its policy contains the hash
of the one script that may run: no script that was injected into the page can.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

if TYPE_CHECKING:
    from collections.abc import Mapping

BUNDLE = Path(__file__).with_name("bundle")
"""The folder of the built script and style."""

NOT_BUILT = (
    "the script of report pages is not built: charts cannot be zoomed, and tables not sorted"
)
"""What is missing from a report without the bundle."""

HOW_TO_BUILD = "make report-script (it needs node and npm)"


@dataclass(frozen=True, slots=True)
class Embedded:
    """The parts of a page that draw its charts and build its table of cases.

    Attributes:
        policy: the page's content security policy.
        script: the script.
        style: its style.
        parts: the script's data, compressed, in base64, by their names in the page.
    """

    policy: str
    script: Markup
    style: Markup
    parts: tuple[tuple[str, str], ...]


def is_built(bundle: Path = BUNDLE) -> bool:
    """Return whether the script of pages is built."""
    return all((bundle / name).is_file() for name in ("report.js", "report.css"))


def embed(
    charts: Mapping[str, Any] | None,
    *,
    cases: Mapping[str, Any] | None = None,
    tables: Mapping[str, Any] | None = None,
    bundle: Path = BUNDLE,
) -> Embedded | None:
    """Return what draws charts, and what builds tables.

    Args:
        charts: `ChartData.to_json()`; None where the page has no charts.
        cases: `CaseTable.to_json()`; None where it has no such table.
        tables: `Page.folded_tables`; None where it has none.
        bundle: the folder of the built script and style.

    Returns:
        None where there is nothing to draw, or no script to draw it.
    """
    data = {"case-data": cases, "table-data": tables, "chart-data": charts}
    parts = tuple((name, _packed(one)) for name, one in data.items() if one is not None)
    if not parts or not is_built(bundle):
        return None
    # A browser normalizes line ends before it hashes the text.
    script, style = (
        (bundle / name).read_text(encoding="utf-8").replace("\r\n", "\n")
        for name in ("report.js", "report.css")
    )
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return Embedded(
        policy=(
            f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; "
            "img-src data: blob:; base-uri 'none'; form-action 'none'"
        ),
        script=Markup(script),
        style=Markup(style),
        parts=parts,
    )


def _packed(data: Mapping[str, Any]) -> str:
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return base64.b64encode(gzip.compress(text.encode(), compresslevel=9, mtime=0)).decode()
