"""The memory of results: what was run once is not run again.

A run is a pure function of its case, the kernel's binary and the host's tools
(law 1), so its result is remembered by the hash of these, `Run.key`, and
recalled for every later case with the same key, whatever study asks for it.

    LONGFAT_MEMORY, or the user's data folder:
    ab/KEY/                 a whole run directory; its time is when it was last used
    ab/KEY/.remembered.json what `entry` says of it: sizes and times of its files
    .KEY-RANDOM.partial/    a result on its way in or out

Files are hard links to those of the run directories where the file system
allows it, so that a remembered result takes its space once.
"""

from longfat.execution.cache.collect import Collected, Rule, collect
from longfat.execution.cache.entry import Entry
from longfat.execution.cache.store import Memory, memory_root

__all__ = ["Collected", "Entry", "Memory", "Rule", "collect", "memory_root"]
