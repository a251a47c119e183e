"""What the hosts of a machine share because they share one kernel, and limits that must not show.

Some of Linux's limits and tables are those of the kernel and not of a network namespace.
Separate computers would each have theirs. Here one host's sockets, packets or neighbours
would count against another's, so these limits are raised until none of a machine's size
reaches them. docs/limits.md has the list, with what is shared all the same.
"""

import contextlib
import os

from longfat.guest.system import write_line

# More neighbours than a machine's hosts can have; a table below the first of the three
# limits is not tidied, which on a computer with few neighbours never happens either.
_MAX_NEIGHBOURS = 1 << 20
# A CPU that is infinitely fast takes in at one moment whatever is sent at that moment, and
# a frame that a bridge of a thousand ports floods is a thousand packets.
_MAX_BACKLOG = 1_000_000
# Closed TCP sockets that still have something to send. The kernel derives it from the size
# of its socket table, which is small here (`longfat.engine.kernel.manifest`).
_MAX_ORPHANS = 1 << 18
_MAX_WATCHERS = 1 << 16


def open_limits() -> None:
    """Raise the limits that all hosts of this machine share.

    Raises:
        OSError: /proc/sys is not mounted.
    """
    pages = os.sysconf("SC_PHYS_PAGES")
    _write("net/core/netdev_max_backlog", _MAX_BACKLOG)
    _write("net/ipv4/tcp_max_orphans", _MAX_ORPHANS)
    for family in ("ipv4", "ipv6"):
        for number in (3, 2, 1):
            _write(f"net/{family}/neigh/default/gc_thresh{number}", _MAX_NEIGHBOURS)
    # The kernel gives the sockets of a protocol a sixteenth or an eighth of its memory. A
    # packet's data is charged to its sender and its receiver and is there once, so half of
    # the memory can be charged, and more is not to be had.
    for name in ("net/ipv4/tcp_mem", "net/ipv4/udp_mem", "net/sctp/sctp_mem"):
        _write(name, pages * 3 // 8, pages * 7 // 16, pages // 2)
    for name in ("max_user_instances", "max_queued_events"):
        _write(f"fs/inotify/{name}", _MAX_WATCHERS)


def allow_congestion_controls() -> None:
    """Allow every congestion control that the kernel has as any host's default.

    Those that may be unfair to others are for the root namespace alone unless it allows them.

    Raises:
        OSError: /proc/sys is not mounted.
    """
    with open("/proc/sys/net/ipv4/tcp_available_congestion_control", encoding="ascii") as file:
        _write("net/ipv4/tcp_allowed_congestion_control", *file.read().split())


def _write(name: str, *values: int | str) -> None:
    # A kernel of the user's own may lack IPv6 or SCTP.
    with contextlib.suppress(FileNotFoundError):
        write_line(f"/proc/sys/{name}", " ".join(map(str, values)))
