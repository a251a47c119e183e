"""Real builds that are killed on the way: nothing may be left of them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from longfat.engine.kernel import locate

pytestmark = pytest.mark.slow

# The source of the host's own cache, since the test's cache is empty.
_SOURCE = locate.here("6.1")
# Ctrl-C is ignored in what a shell starts in the background, as the tests may be.
_BUILD = """
import signal
import sys
from pathlib import Path
from longfat.engine.kernel.build import build
signal.signal(signal.SIGINT, signal.default_int_handler)
def tell(report):
    print(report.step, report.done, flush=True)
build("6.1", source=Path(sys.argv[1]), jobs=2, progress=tell)
"""
_GONE_WITHIN_S = 60.0


@contextmanager
def _building(step: str) -> Iterator[subprocess.Popen[str]]:
    """Start a build, and give it when it is well into a step."""
    if _SOURCE is None:
        pytest.skip("no source of 6.1 is on this host")
    command = [sys.executable, "-c", _BUILD, str(_SOURCE.path)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as it:
        try:
            assert it.stdout is not None
            for line in it.stdout:
                if line.startswith(f"{step} ") and not line.endswith(" 0\n"):
                    break
            else:
                pytest.fail(f"the build ended before {step}")
            yield it
        finally:
            it.kill()


def _processes_of(folder: Path) -> list[str]:
    """Return the command lines of processes that work in a folder."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            with suppress(OSError):
                command = (entry / "cmdline").read_bytes().decode(errors="replace")
                if str(folder) in command or (entry / "cwd").readlink().is_relative_to(folder):
                    found.append(command)
    return found


# Not all pairs: compiling takes long to come to.
@pytest.mark.parametrize(
    ("step", "end"),
    [
        ("unpack", signal.SIGKILL),
        ("unpack", signal.SIGINT),
        ("unpack", signal.SIGTERM),
        ("compile", signal.SIGKILL),
        ("compile", signal.SIGINT),
    ],
)
def test_nothing_is_left_of_a_killed_build(
    empty_cache: Path, step: str, end: signal.Signals
) -> None:
    with _building(step) as it:
        assert _processes_of(empty_cache), "the test sees the processes of a build"
        it.send_signal(end)
        it.wait(_GONE_WITHIN_S)
        left_at_s = time.monotonic() + _GONE_WITHIN_S
        while _processes_of(empty_cache) or len(list((empty_cache / "kernels").iterdir())) > 1:
            assert time.monotonic() < left_at_s, _processes_of(empty_cache)
            time.sleep(0.05)
    assert [path.name for path in (empty_cache / "kernels").iterdir()] == [".lock"]
    # What ccache has of the files that were compiled stays, and is used by the next build.
    assert {path.name for path in empty_cache.iterdir()} <= {"kernels", "objects"}
