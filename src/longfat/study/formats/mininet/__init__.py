"""Mininet's Python scripts, run in a machine against a stand-in that records what they make.

A script is a program from an untrusted source: so it runs in a machine without a network
and without access to the user's files (`machine`), against `longfat.guest.mininet` in place
of Mininet. The result is a record of nodes, links and commands, which is decoded as untrusted
input, and becomes a network, set-up lines and notes on what is left out (`read`, `network`).
`write` makes a script that builds a network.

The machine is a bare one of `longfat.engine`: no experiment runs in it, so nothing of
`longfat.execution` is needed, and conversion stays where the other formats are.
"""

from longfat.study.formats.mininet.machine import Typed
from longfat.study.formats.mininet.read import (
    MininetNetwork,
    ScriptRun,
    network_of,
    read_mininet,
)

__all__ = ["MininetNetwork", "ScriptRun", "Typed", "network_of", "read_mininet"]
