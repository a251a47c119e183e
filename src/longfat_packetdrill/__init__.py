"""packetdrill scripts: tests of a TCP/IP stack, run in virtual time.

A script says which packets arrive, which system calls a program makes, and which packets the
kernel must send in answer, each at its time. packetdrill is the tool that the language comes
from (Cardwell et al., "packetdrill: Scriptable Network Stack Testing, from Sockets to Packets",
USENIX ATC 2013); this is an interpreter of its own for the published language. There are two
halves: here a script is read and checked (`parser.parse_script`) and becomes a plain plan, and
`longfat_packetdrill.guest` plays the plan against the kernel of a machine of its own
(`run.run_script`), through a tun device.

* `scanner`: the text, and places in it
* `options`: `--name=value` at the head of a script, and of a command line
* `expressions`: arguments and results of system calls
* `packets`: packets as values, and how they are printed
* `packet_reader`: how they are read
* `calls`: which system calls there are, and what they take
* `parser`: a script as a whole
* `script`: what a script is once it is read
* `run`: a script in a machine, and what came of it
* `find`: the scripts in files and folders
* `report`: a script with its settings, and the report of its run
* `command`: `longfat packetdrill`
* `pytest_plugin`: scripts as tests of pytest
* `product`: the declaration that longfat reads; it imports no other module of these
"""
