"""A store that gives one client at a time a lease: the right to write.

    python3 store.py PORT

A client says `NAME`, and hears when its lease ends, as a time of day, or `no`.
"""

import socketserver
import sys
import time

LEASE_S = 10.0


class Store(socketserver.StreamRequestHandler):
    """One request."""

    holder, until = "", 0.0

    def handle(self) -> None:
        """Give a lease, if nobody has one."""
        name, now = self.rfile.readline().decode().strip(), time.time()
        if Store.holder in ("", name) or now >= Store.until:
            Store.holder, Store.until = name, now + LEASE_S
            self.wfile.write(f"{Store.until}\n".encode())
        else:
            self.wfile.write(b"no\n")


with socketserver.TCPServer(("", int(sys.argv[1])), Store) as server:
    print("ready", flush=True)
    server.serve_forever()
