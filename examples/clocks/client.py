"""A client that writes for as long as it thinks that its lease lasts.

    python3 client.py NAME HOST PORT SECONDS

It asks once a second for SECONDS seconds until it has a lease, and prints when it began and ended
to write, by a clock that all hosts have in common. It compares the store's time with its own clock:
that is the bug to be found.
"""

import socket
import sys
import time


def ask(name: str, host: str, port: int) -> float:
    """Ask for a lease; return when it ends, or 0."""
    with socket.create_connection((host, port)) as connection:
        connection.sendall(f"{name}\n".encode())
        answer = connection.makefile().readline().strip()
        return 0.0 if answer == "no" else float(answer)


name, host, port, patience_s = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
began_s = time.monotonic()
while time.monotonic() - began_s < patience_s:
    until = ask(name, host, port)
    if until > time.time():
        print("begins", time.monotonic(), flush=True)
        while time.time() < until:
            time.sleep(0.1)
        print("ends", time.monotonic(), flush=True)
        break
    time.sleep(1)
else:
    print("nothing", flush=True)
