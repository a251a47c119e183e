"""Commands that cannot outlive us.

Whatever longfat starts (machines, kernel builds) must end when longfat ends,
even by SIGKILL, and a folder of half-made files must go with it. No process
can promise that for itself, so each command runs under a small *guard*
process that holds one end of a pipe, the *lifeline*: when the other end
closes, for whatever reason, the guard kills all that descends from it,
removes the scratch folder if it is still there, and goes.

`guardian.py` is that process; `Guarded` is the near end of the pipe. A folder
that is filled before there is a command to guard has a guard of its own, see
`scratch_folder`.
"""

from longfat.guard._guarded import FIRST_INHERITED, Guarded
from longfat.guard._scratch import scratch_folder

__all__ = ["FIRST_INHERITED", "Guarded", "scratch_folder"]
