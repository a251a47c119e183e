"""The shell's limit of file sizes, `ulimit -f`: what needs larger files ends with a hint to it.

Python ignores the signal SIGXFSZ, and gets the error EFBIG; a program that we start is ended.
Source: setrlimit(2), RLIMIT_FSIZE.
"""

from __future__ import annotations

import errno
import resource
import signal

from longfat.errors import HostError

HINT = "raise it in this shell: ulimit -f unlimited (where it refuses: in a new shell)"

SIGNAL_STATUS = 128 + signal.SIGXFSZ
"""The exit status of a process that the limit has ended."""


def file_size_limit() -> int | None:
    """Return the limit in bytes, None where there is none."""
    limit, _ = resource.getrlimit(resource.RLIMIT_FSIZE)
    return None if limit == resource.RLIM_INFINITY else limit


def is_file_size_error(error: BaseException) -> bool:
    """Return whether a file that became too large is behind an error."""
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, OSError) and seen.errno == errno.EFBIG:
            return True
        seen = seen.__cause__ or seen.__context__
    return False


def check_file_size(needed_bytes: int, *, what: str) -> None:
    """Check that a file may become as large as needed.

    Raises:
        HostError: it may not.
    """
    limit = file_size_limit()
    if limit is not None and limit < needed_bytes:
        raise file_size_error(f"{what} takes a file of {needed_bytes:,} bytes")


def file_size_error(words: str) -> HostError:
    """Return the error of something that hit the limit.

    Args:
        words: what it was.
    """
    limit = file_size_limit()
    size = "" if limit is None else f" ({limit:,} bytes)"
    return HostError(f"{words}: the limit of file sizes, ulimit -f{size}, was hit", hint=HINT)
