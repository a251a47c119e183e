"""Mininet's Python scripts, read without running them.

A script is parsed and followed line by line, as far as what it does is known: its own
functions, classes and loops, texts and numbers, and of Mininet what makes a network
(`addHost`, `addSwitch`, `addLink`, a `Topo`'s `build`) and what is typed at nodes
(`cmd`). All else is unknown, and so is what comes of it; where a node or a link
depends on that, the script is refused, and else it is told what is left out. Nothing
of a script is ever run: it may come from a stranger.

`values` are what names stand for, `plain` are Python's own operators and functions,
`expressions`, `calls` and `follow` walk through the script, `draft` is the network as
it is asked for, and `finish` makes one of ours of it.

Source: Mininet 2.3 (net.py, topo.py, link.py, node.py), and the scripts that MiniEdit
2.2 exports.
"""

from longfat.study.formats.mininet.read import MininetNetwork, read_mininet

__all__ = ["MininetNetwork", "read_mininet"]
