"""Lines of a script, run by bash in a live network, without a terminal.

All lines are read before the first is run: the time between them has no effect,
so the same lines give the same bytes.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from longfat.live.session import RejectedError
from longfat.live.shell.bashrc import PLACE, bashrc, environment
from longfat.live.shell.work_folder import HOME
from longfat.model.network import ROOT_NAMESPACE

if TYPE_CHECKING:
    from longfat.live import Network

_FILE = "/run/stdin"


def run_script(
    network: Network, script: bytes, *, node: str, folder: str, outputs: tuple[int, int]
) -> int:
    """Run a script to its end, as fast as the machine can unless the network has a pace.

    Args:
        network: the network, built.
        script: the lines.
        node: the host that it runs at, or another node for root.
        folder: its working directory, except at a host with a root of its own.
        outputs: descriptors for its output and its standard error.

    Returns:
        Its exit status, 128 + N after signal N.

    Raises:
        MachineError: the machine ended or stalls.
        BrokenPipeError: the reader of its output is gone.
    """
    session = network.session
    network.session.write_everywhere(PLACE, bashrc(network.model, session="").encode())
    network.session.write_everywhere(_FILE, script)
    place = node if node in [host.name for host in network.model.hosts] else ROOT_NAMESPACE

    def show(is_error: bool, data: bytes) -> None:
        _write_all(outputs[is_error], data)
        session.leave()  # the machine may have had to wait for the reader

    task = session.start(
        ["bash", "--noprofile", _FILE],
        node=place,
        environment={**environment(place), "BASH_ENV": PLACE},
        folder=HOME if place in network.model.roots else folder,
        on_output=show,
    )
    session.run_until(ended=[task])
    if task.status is None:
        raise RejectedError("the script was held before its end")
    return task.status if task.status >= 0 else 128 - task.status


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
