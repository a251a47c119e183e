"""The lines of commands.sh that write a case's files, run by a real shell."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from longfat.guest.files import typed
from longfat.model.case import File


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n",
        b"\n\n",
        b"one line\n",
        b"no end",
        b"ends in a blank line\n\n",
        b"$HOME `id` \\ 'quotes' \"more\" $(id)\n",
        b"EOF\nEOF_\n",
        b"a\n\nEOF",
        "\ufeffäöü \u2028 \U0001f600\n".encode(),
        b"\0\xff\r\n",
        bytes(range(256)) * 3,
    ],
)
def test_a_shell_writes_the_same_bytes(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "it's new" / "file"
    file = File(path=str(path), content=content, executable=content.startswith(b"a"))
    script = "\n".join([*typed(file.to_json()), "echo done", ""])
    done = subprocess.run(["sh"], input=script.encode(), capture_output=True, check=True)
    assert done.stdout + done.stderr == b"done\n"
    assert path.read_bytes() == content
    assert path.stat().st_mode & 0o777 == (0o755 if file.executable else 0o644)
