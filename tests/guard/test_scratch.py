from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from longfat.guard import scratch_folder


def test_it_is_there_as_long_as_the_context(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with scratch_folder() as folder:
        assert folder.parent == tmp_path
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        (folder / "sub").mkdir()
        (folder / "sub" / "file").write_text("x")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_it_does_not_outlive_us(tmp_path: Path, number: int) -> None:
    script = (
        "from longfat.guard import scratch_folder\n"
        "with scratch_folder() as folder:\n"
        "    (folder / 'file').write_text('x')\n"
        "    print('there', flush=True)\n"
        "    input()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"there\n"
        assert len(list(tmp_path.iterdir())) == 1
        process.send_signal(number)
        process.wait()
        end_s = time.monotonic() + 10
        while list(tmp_path.iterdir()) and time.monotonic() < end_s:
            time.sleep(0.01)
        assert list(tmp_path.iterdir()) == []
