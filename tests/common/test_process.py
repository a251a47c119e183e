"""What /proc is asked about the processes of a machine."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator

import pytest

from longfat.common import process

SHELLS = "sleep 60 & sh -c 'sleep 60 & sleep 60 & echo ready; wait' & wait"
THREAD = """
import subprocess, threading
started = threading.Event()
def run():
    subprocess.Popen(["sleep", "60"])
    print("ready", flush=True)
    started.wait()
threading.Thread(target=run).start()
"""


@pytest.fixture(params=[["sh", "-c", SHELLS], ["python3", "-c", THREAD]], ids=["tree", "thread"])
def family(request: pytest.FixtureRequest) -> Iterator[tuple[int, int]]:
    """A process, and how many descend from it."""
    with subprocess.Popen(request.param, stdout=subprocess.PIPE, start_new_session=True) as first:
        assert first.stdout is not None
        assert first.stdout.readline() == b"ready\n"
        yield first.pid, 4 if request.param[0] == "sh" else 1
        os.killpg(first.pid, signal.SIGKILL)


@pytest.mark.parametrize("lists_children", [True, False])
def test_descendants(
    family: tuple[int, int], lists_children: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "_LISTS_CHILDREN", lists_children)
    root, count = family
    found = process.descendants(root)
    assert len(found) == count
    # Parents before their children.
    known = {root}
    for one in found:
        assert one.parent in known
        known.add(one.pid)


def test_nothing_descends_from_a_process_that_is_gone() -> None:
    with subprocess.Popen(["true"]) as gone:
        pass
    assert process.descendants(gone.pid) == []
    assert process.family(gone.pid) == []
