"""A folder that cannot outlive us."""

from __future__ import annotations

import contextlib
import secrets
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

# It waits for the end of the lifeline, which is its standard input.
_REMOVE = 'read -r _; rm -rf -- "$0"'


@contextlib.contextmanager
def scratch_folder() -> Iterator[Path]:
    """Make a folder for as long as the context lasts, or our process lives.

    What removes it is there before the folder is: a small process that waits for our
    end. A machine that still writes there has a guard that removes it once more.

    Yields:
        The folder; nobody else can look into it.
    """
    folder = Path(tempfile.gettempdir()) / f"longfat-{secrets.token_hex(8)}"
    # A session of its own keeps the terminal's Ctrl-C away.
    with subprocess.Popen(
        ["/bin/sh", "-c", _REMOVE, str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ):
        folder.mkdir(mode=0o700)
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)
