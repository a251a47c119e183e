"""Commands that cannot outlive longfat.

Processes that longfat starts (machines, kernel builds) must end when longfat ends,
even by SIGKILL, and a folder of incomplete files must be removed. No process
can guarantee that for itself, so each command runs under a small *guard*
process that holds one end of a pipe, the *lifeline*: when the other end
closes, for whatever reason, the guard kills all its descendants,
removes the scratch folder if it still exists, and exits.

`guardian.py` is that process, or rather two, of which either may be killed;
`Guarded` is the other end of the pipe. A folder that is filled without a command
to guard is removed by another process, `remover.py`, if this one cannot: see `_scratch`.
"""

from longfat.common.guard._guarded import FIRST_INHERITED, Guarded
from longfat.common.guard._scratch import scratch_folder, sweep, temporary_folder
from longfat.common.guard.remover import remove_tree

__all__ = [
    "FIRST_INHERITED",
    "Guarded",
    "remove_tree",
    "scratch_folder",
    "sweep",
    "temporary_folder",
]
