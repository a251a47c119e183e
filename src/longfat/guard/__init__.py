"""Commands that cannot outlive us.

Whatever longfat starts (machines, kernel builds) must end when longfat ends,
even by SIGKILL, and a folder of half-made files must go with it. No process
can promise that for itself, so each command runs under a small *guard*
process that holds one end of a pipe, the *lifeline*: when the other end
closes, for whatever reason, the guard kills all that descends from it,
removes the scratch folder if it is still there, and goes.

`guardian.py` is that process; `Guarded` is the near end of the pipe.
"""

from longfat.guard._guarded import Guarded

__all__ = ["Guarded"]
