"""The tutorial as a page of the site: a notebook's cells, and what they show when they are run."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

_MAX_S = 300
# What a figure of matplotlib has that no page needs, and what Markdown takes for its end.
_HEAD = re.compile(r"<\?xml.*?\?>|<!DOCTYPE.*?>|<metadata>.*?</metadata>", re.DOTALL)
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def run_notebook(path: Path) -> Any:
    """Return a notebook with the output of its cells.

    Args:
        path: the file; it is left as it is.

    Raises:
        CellExecutionError: a cell raises an error.
    """
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(
        notebook, timeout=_MAX_S, kernel_name="python3", resources={"metadata": {"path": "."}}
    ).execute()
    return notebook


def notebook_page(path: Path, *, runs: bool) -> str:
    """Return a notebook as Markdown.

    Args:
        path: the file.
        runs: run it, and show what its cells show; else the cells alone.
    """
    notebook = run_notebook(path) if runs else nbformat.read(path, as_version=4)
    parts = []
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            parts.append(cell.source)
            continue
        parts.append(f"```python\n{cell.source}\n```")
        parts += [shown for output in cell.outputs if (shown := _shown(output))]
    if not runs:
        parts.insert(1, f"(What its cells show is seen where it runs: `jupyter lab {path.name}`.)")
    return "\n\n".join(parts) + "\n"


def _shown(output: Any) -> str:
    data = output.get("data", {})
    for kind in ("text/html", "image/svg+xml"):
        if kind in data:
            # An empty line would end a block of HTML.
            text = re.sub(r"\n\s*\n", "\n", _HEAD.sub("", data[kind]).strip())
            return f'<div class="output">\n{text}\n</div>'
    text = output.get("text") or data.get("text/plain", "")
    return f"```text\n{_COLOUR.sub('', text).rstrip()}\n```" if text.strip() else ""
