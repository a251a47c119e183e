"""The start-up file of a bash in a live network: the network's names, and `shell.bash`."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from longfat.engine.machine.machine import START_OF_TIME_S
from longfat.live.session import LIVE_ENVIRONMENT
from longfat.live.shell.programs import SEARCH_PATH
from longfat.model.traffic.preload import IPERF3, preload

if TYPE_CHECKING:
    from collections.abc import Iterable

    from longfat.model.network import Network

PLACE = "/run/shell.bash"
"""Its path in the guest."""

PACE_PLACE = "/run/shell.pace"
"""The file in the guest with the pace of `longfat shell`, for the prompt."""

_TEXT = Path(__file__).with_name("shell.bash")


def bashrc(network: Network, *, session: str, notes: bool = False) -> str:
    """Return its text.

    Args:
        network: the network of the shells.
        session: the session's name for `longfat attach`; "" if attaching is not possible.
        notes: report each line that is typed, see `longfat.live.shell.notes`.
    """
    ends = zip(network.links, network.interfaces(), strict=True)
    words = {
        "_lf_start_s": str(START_OF_TIME_S),
        "_lf_rc": PLACE,
        "_lf_pace_file": "/dev/null" if notes else PACE_PLACE,
        "_lf_session": session,
        "_lf_notes": "yes" if notes else "",
        "_lf_shim": preload(IPERF3)["LD_PRELOAD"],
    }
    lists = {
        "_lf_hosts": [host.name for host in network.hosts],
        "_lf_switches": [switch.name for switch in network.switches],
        "_lf_called": list(network.host_addresses()),
        "_lf_links": [
            f"{link.a} {names[0]} {link.b} {names[1]} {'; '.join(link.summary())}"
            for link, names in ends
        ],
    }
    lines = [f"{name}={shlex.quote(text)}" for name, text in words.items()]
    lines += [f"{name}=({_quoted(texts)})" for name, texts in lists.items()]
    return "\n".join(lines) + "\n\n" + _TEXT.read_text(encoding="utf-8")


def _quoted(texts: Iterable[str]) -> str:
    return " ".join(shlex.quote(text) for text in texts)


def environment(node: str, *, term: str | None = None) -> dict[str, str]:
    """Return the environment of a shell.

    Args:
        node: the node of the shell.
        term: the kind of its terminal, if it has one.
    """
    own = {"LONGFAT_NODE": node, "SHELL": "/bin/bash", "PATH": SEARCH_PATH}
    if term is not None:
        # A user may type non-ASCII characters.
        own |= {"TERM": term, "LC_ALL": "C.UTF-8"}
    return {**LIVE_ENVIRONMENT, **own}
