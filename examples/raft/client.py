"""A client of node.py: writes one text after the other, and prints when each was committed.

    python3 client.py PREFIX NODE...     # write PREFIX-1, PREFIX-2, ... until it is ended
    python3 client.py --read NODE        # print what a node has applied

Each line is `1.234567 PREFIX-1`: the time since boot in seconds, and the text. A node that does
not answer within half a second is given up for the next.
"""

from __future__ import annotations

import itertools
import socket
import sys
import time

PORT = 8000
PATIENCE_S = 0.5
PAUSE_S = 0.1
MAX_BYTES = 60_000


def write(sock: socket.socket, text: str, nodes: list[str]) -> None:
    """Write a text: to the first node, or to the next ones until one has committed it."""
    while True:
        sock.sendto(f"write {text}".encode(), (nodes[0], PORT))
        until_s = time.monotonic() + PATIENCE_S
        while (left_s := until_s - time.monotonic()) > 0:
            sock.settimeout(left_s)
            try:
                if sock.recv(MAX_BYTES).decode() == text:
                    return
            except TimeoutError:
                break
            except OSError:  # nobody listens there
                time.sleep(PAUSE_S)
        nodes.append(nodes.pop(0))


def main() -> None:
    """Write, or read."""
    first, *nodes = sys.argv[1:]
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        if first == "--read":
            sock.settimeout(PATIENCE_S)
            for _ in range(20):
                sock.sendto(b"read", (nodes[0], PORT))
                try:
                    print(sock.recv(MAX_BYTES).decode())
                except TimeoutError:
                    continue
                return
            sys.exit(f"{nodes[0]} does not answer")
        for number in itertools.count(1):
            write(sock, f"{first}-{number}", nodes)
            print(f"{time.monotonic():.6f} {first}-{number}", flush=True)
            time.sleep(PAUSE_S)


main()
