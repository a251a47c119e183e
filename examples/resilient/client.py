"""A client that fetches a file whatever the network does.

    python client.py HOST FILE [PORT]

After 30 s without a byte it gives the connection up, waits a little longer
each time, and goes on where it stopped.
"""

import hashlib
import pathlib
import socket
import sys
import time

SILENCE_S = 30.0
FIRST_WAIT_S = 1.0
MAX_WAIT_S = 60.0
MAX_TRIES = 20


def fetch(host: str, port: int, content: bytearray) -> bool:
    """Fetch what is still missing over one connection; tell whether all is there."""
    with socket.create_connection((host, port), timeout=SILENCE_S) as connection:
        connection.sendall(f"{len(content)}\n".encode())
        head = connection.makefile("rb").readline().split()
        size, digest = int(head[0]), head[1].decode()
        while len(content) < size:
            data = connection.recv(65536)
            if not data:
                raise ConnectionError("the server hung up")
            content += data
    if hashlib.sha256(content).hexdigest() != digest:
        content.clear()
        raise ConnectionError("what came is not what was sent")
    return True


def main() -> int:
    """Fetch the file, however often it takes."""
    host, path = sys.argv[1:3]
    port = int(sys.argv[3]) if len(sys.argv) > 3 else 7000
    content = bytearray()
    wait_s = FIRST_WAIT_S
    for attempt in range(1, MAX_TRIES + 1):
        before = len(content)
        try:
            if fetch(host, port, content):
                pathlib.Path(path).write_bytes(content)
                print(f"done: {len(content)} bytes, {attempt} connections", flush=True)
                return 0
        except (OSError, ValueError, IndexError) as error:
            print(f"lost the connection at {len(content)} bytes: {error}", flush=True)
        wait_s = FIRST_WAIT_S if len(content) > before else min(2 * wait_s, MAX_WAIT_S)
        time.sleep(wait_s)
    print("gave up", flush=True)
    return 1


if __name__ == "__main__":
    sys.exit(main())
