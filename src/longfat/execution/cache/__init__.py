"""The result cache: a case with a cached result is not run again.

A run is a pure function of its case, the kernel's binary and the host's tools
(law 1), so its result is cached by the hash of these, `Run.key`, and
taken from the cache for every later case with the same key, whatever study asks for it.

    LONGFAT_RESULT_CACHE, or the user's data folder:
    ab/KEY/                 a whole run directory; its time is when it was last used
    ab/KEY/.cached.json its `entry`: sizes and times of its files
    .KEY-RANDOM.partial/    a result that is being cached or retrieved

Files are hard links to those of the run directories where the file system
allows it, so that a cached result takes its space once.
"""

from longfat.execution.cache.collect import Collected, RetentionPolicy, collect
from longfat.execution.cache.entry import Entry
from longfat.execution.cache.ownership import check_private
from longfat.execution.cache.store import ResultCache, result_cache_root

__all__ = [
    "Collected",
    "Entry",
    "ResultCache",
    "RetentionPolicy",
    "check_private",
    "collect",
    "result_cache_root",
]
