"""What the hosts of a machine share because they share one kernel, and limits that must not show.

Some of Linux's limits and tables are those of the kernel and not of a network namespace.
Separate computers would each have theirs.
"""

import os


def allow_congestion_controls() -> None:
    """Allow every congestion control that the kernel has as any host's default.

    Those that may be unfair to others are for the root namespace alone unless it allows them.

    Raises:
        OSError: /proc/sys is not mounted.
    """
    with open("/proc/sys/net/ipv4/tcp_available_congestion_control", encoding="ascii") as file:
        _write("net/ipv4/tcp_allowed_congestion_control", *file.read().split())


def _write(name: str, *values: int | str) -> None:
    path = f"/proc/sys/{name}"
    if os.path.exists(path):  # a kernel of the user's own may lack IPv6 or SCTP
        with open(path, "w", encoding="ascii") as file:
            file.write(" ".join(map(str, values)))
