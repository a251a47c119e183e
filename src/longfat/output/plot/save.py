"""Figures as the bytes of files: equal bytes for equal figures."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMS = ("pdf", "png", "svg")
"""The formats, which are also the suffixes of the files."""

# A date would make two figures of the same run differ, and a version those of two installations.
_METADATA: dict[str, dict[str, None]] = {
    "png": {"Software": None},
    "pdf": {"Creator": None, "Producer": None, "CreationDate": None},
    "svg": {"Creator": None, "Date": None, "Format": None, "Type": None},
}


def saved(figure: Figure, form: str, *, transparent: bool = False) -> bytes:
    """Return a figure as a file's bytes.

    Args:
        figure: the figure.
        form: one of `FORMS`.
        transparent: omit the background, for a page that has its own.
    """
    stream = io.BytesIO()
    figure.savefig(stream, format=form, metadata=_METADATA[form], transparent=transparent)
    return stream.getvalue()
