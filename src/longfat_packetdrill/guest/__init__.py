"""The player of packetdrill scripts: PID 1 of a machine for one script.

It knows plans and no language: `longfat_packetdrill` reads scripts on the host.

* `main`: mount, play, write down what came of it
* `player`: the events, one after the other, and their times
* `waiting`: the one place where time passes
* `worker`, `program`: system calls that may block, and commands
* `device`: the tun interface
* `wire`: packets as bytes
* `flow`: what the connection's numbers are, in the script and on the wire
* `expecting`, `compare`: what the kernel sent against what it was to send
* `calls`, `structures`: system calls, and the memory that they are given
* `failures`: why a script fails
* `assertions`: the Python code of a script
"""
