"""A recording stand-in of Mininet's API, and what runs a script against it in a machine.

The script is run as it is. Nothing is built: the stand-in answers as Mininet 2.3 does
where a script's course may depend on it (names, ports, addresses, order), and notes
nodes, links, addresses and what is typed. What it does not know is noted as left out.

`main` is PID 1, `run` runs the script in a process of its own, `record` takes notes,
`nodes` and `net` are the API, and `modules` says which of Mininet's modules has what.

Source: Mininet 2.3 (net.py, topo.py, topolib.py, link.py, node.py, util.py).
"""
