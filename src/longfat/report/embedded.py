"""What a page carries to draw its charts: the library, our script, the data.

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
    """The parts of a page that draw its charts.

    Attributes:
        policy: the page's content security policy.
        script: our script.
        library: the library, compressed, in base64.
        data: the charts' data, likewise.
    """

    policy: str
    script: Markup
    library: str
    data: str


def embed(data: Mapping[str, Any]) -> Embedded:
    """Return what draws charts.

    Args:
        data: `ChartData.to_json()`.
    """
    script = resources.files("longfat.report").joinpath("charts.js").read_text(encoding="utf-8")
    library, library_hash = _library()
    hashes = f"'{_hash(script.encode())}' '{library_hash}'"
    return Embedded(
        policy=(
            f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; "
            "img-src data: blob:; base-uri 'none'; form-action 'none'"
        ),
        script=Markup(script),
        library=library,
        data=_packed(json.dumps(data, separators=(",", ":"), allow_nan=False).encode()),
    )


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
