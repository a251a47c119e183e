"""The data that flows send: a file of zeros, from which sendfile(2) hands out pages."""

from __future__ import annotations

import os

_ZERO_PAGE_SINCE = (6, 5)
_HOLE_BYTES, _WRITTEN_BYTES = 64 << 20, 4 << 20


def open_zeros() -> tuple[int, int]:
    """Return a file of zeros in memory, and its size in bytes.

    What was never written of such a file is sent as references to the kernel's one page of
    zeros, since Linux 6.5 (mm/shmem.c, shmem_file_splice_read). That takes no memory, and no
    page of the file to be locked and counted, so the file is as large as is to be sent by one
    call. An older kernel allocates and clears a page each time; there the file is smaller, and
    written.
    """
    file = os.memfd_create("data")
    release = os.uname().release.split(".")
    if (int(release[0]), int(release[1])) >= _ZERO_PAGE_SINCE:
        os.truncate(file, _HOLE_BYTES)
        return file, _HOLE_BYTES
    return file, os.write(file, bytes(_WRITTEN_BYTES))
