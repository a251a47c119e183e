"""A run of the workspace as the studio's charts show a live one.

A live run keeps what its charts showed (`longfat.studio.live.kept_run`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from longfat.common.decoding import parse_json
from longfat.errors import InputError
from longfat.studio.live.kept_run import RECORDING

if TYPE_CHECKING:
    from longfat.studio.workspace import Workspace

_LARGEST_RECORDING = 16 * 1024**2
_FIELDS = {"flows": list, "series": list, "marks": list, "levels": list, "left_out": list}


def kept_recording(workspace: Workspace, path: str) -> dict[str, Any]:
    """Return what the charts of a live run showed, as `Recording` of the page's `api/types.ts`.

    Args:
        workspace: the workspace.
        path: the run directory, below it.

    Raises:
        InputError: there is no such file, or it is damaged.
    """
    where = f"{path}/{RECORDING}"
    content = workspace.read(where, most_bytes=_LARGEST_RECORDING)
    data = parse_json(content, where=where)
    if not isinstance(data, dict) or not all(
        isinstance(data.get(name), kind) for name, kind in _FIELDS.items()
    ):
        raise InputError(f"{where}: it is not what the studio wrote")
    return data
