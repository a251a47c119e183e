"""packetdrill scripts: tests of a TCP/IP stack, run in virtual time.

A script says which packets arrive, which system calls a program makes, and which packets the
kernel must send in answer, each at its time. packetdrill is the tool that the language comes
from (Cardwell et al., "packetdrill: Scriptable Network Stack Testing, from Sockets to Packets",
USENIX ATC 2013); this is an interpreter of its own for the published language. There are two
halves: here a script is read and checked (`parse_script`) and becomes a plain plan, and
`longfat.guest.packetdrill` plays the plan against the kernel of a machine of its own
(`run_script`), through a tun device.

* `scanner`: the text, and places in it
* `options`: `--name=value` at the head of a script, and of a command line
* `symbols`: what constants such as `SOL_TCP` are
* `expressions`: arguments and results of system calls
* `packets`: packets as values, and how they are printed
* `packet_reader`: how they are read
* `calls`: which system calls there are, and what they take
* `parser`: a script as a whole
* `script`: what a script is once it is read
* `run`: a script in a machine, and what came of it
* `find`: the scripts in files and folders
* `report`: a script with its settings, and the report of its run
"""

from longfat.packetdrill.find import ScriptFile, find_scripts
from longfat.packetdrill.options import IP_VERSIONS, Settings
from longfat.packetdrill.parser import parse_script
from longfat.packetdrill.report import Report, Task, exit_code, tasks_of
from longfat.packetdrill.run import Result, run_script
from longfat.packetdrill.script import Script

__all__ = [
    "IP_VERSIONS",
    "Report",
    "Result",
    "Script",
    "ScriptFile",
    "Settings",
    "Task",
    "exit_code",
    "find_scripts",
    "parse_script",
    "run_script",
    "tasks_of",
]
