"""All that runs inside a machine: standard library only, nothing of the host side.

`main.py` is the guest's PID 1, started by path in an isolated interpreter that
is shown this folder and nothing else of longfat. It reads a *job* that the
host compiled, plays it, writes what came of it, and turns the machine off. It
knows command lines, namespaces and times; it knows no tool and parses no
output.

* `system`: the system calls that the standard library lacks
* `mounts`: the guest's file systems
* `script`: the record of what was done, for people
* `shell`: one command line at a node, to its end
* `play`: the traffic: processes that start at their times
* `job`: the job's steps in order
* `transfer`: a program of its own, that sends or receives bulk data
"""
