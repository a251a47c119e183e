"""Formulas, one subject a file, each with its source, units and a worked example.

They know no runs, machines or files: numbers go in, numbers come out. Rates are in bit/s, times
in seconds, sizes in bytes and losses are fractions from 0 to 1, unless a name says otherwise. An
argument that makes no sense raises ValueError.

* `bdp`: what a path holds, and the windows and buffers that fill it
* `loss`: the throughput that a loss rate allows, and the loss rate that a throughput needs
* `cubic`: the throughput that a loss rate allows CUBIC
* `buffers`: how much a router should hold
* `e_model`: how good people find a call
* `fairness`: how evenly flows share
* `tbf`: the token bucket filter's burst, limit and delay
"""
