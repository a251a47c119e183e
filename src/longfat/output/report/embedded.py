"""What a page carries to draw its charts and build its table: library, our scripts, data.

Library and data stand there compressed, as text that the browser unpacks: a
third of the size, and a page that loads nothing from anywhere. The page's
policy names the hashes of the two scripts that may run, so that nothing else
that found its way into the page can.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Embedded:
    """The parts of a page that draw its charts and build its table of cases.

    Attributes:
        policy: the page's content security policy.
        script: our script.
        parts: what the script unpacks, compressed, in base64, by the names it has in the page.
    """

    policy: str
    script: Markup
    parts: tuple[tuple[str, str], ...]


def embed(charts: Mapping[str, Any] | None, *, cases: Mapping[str, Any] | None = None) -> Embedded:
    """Return what draws charts, and what builds a table of cases.

    Args:
        charts: `ChartData.to_json()`; None where the page has no charts.
        cases: `CaseTable.to_json()`; None where it has no such table.
    """
    files = ["unpack.js"]
    parts: list[tuple[str, str]] = []
    hashes: list[str] = []
    if cases is not None:
        files.append("cases.js")
        parts.append(("case-data", _packed(_json(cases))))
    if charts is not None:
        files += ["multiples.js", "charts.js"]
        library, library_hash = _library()
        parts += [("chart-library", library), ("chart-data", _packed(_json(charts)))]
        hashes.append(library_hash)
    folder = resources.files("longfat.output.report")
    script = "\n".join(folder.joinpath(name).read_text(encoding="utf-8") for name in files)
    allowed = " ".join(f"'{one}'" for one in (_hash(script.encode()), *hashes))
    return Embedded(
        policy=(
            f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; "
            "img-src data: blob:; base-uri 'none'; form-action 'none'"
        ),
        script=Markup(script),
        parts=tuple(parts),
    )


def _json(data: Mapping[str, Any]) -> bytes:
    return json.dumps(data, separators=(",", ":"), allow_nan=False).encode()


@cache
def _library() -> tuple[str, str]:
    # Read as a file: to import the package's Python would take longer.
    code = resources.files("plotly").joinpath("package_data", "plotly.min.js").read_bytes()
    # The browser reads text with line ends of its own.
    code = code.replace(b"\r\n", b"\n")
    return _packed(code), _hash(code)


def _packed(content: bytes) -> str:
    return base64.b64encode(gzip.compress(content, compresslevel=9, mtime=0)).decode()


def _hash(content: bytes) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(content).digest()).decode()}"
