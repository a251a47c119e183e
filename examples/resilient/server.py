"""A server that hands out one file, from wherever a client wants to go on.

    python server.py FILE [PORT]

A client sends the number of bytes that it has, as one line of text; the server
answers with the file's size and digest as one line, and then with the rest.
"""

import hashlib
import pathlib
import socketserver
import sys

DEFAULT_PORT = 7000


class Handler(socketserver.StreamRequestHandler):
    """One connection."""

    def handle(self) -> None:
        """Answer one request."""
        content = pathlib.Path(sys.argv[1]).read_bytes()
        have = int(self.rfile.readline())
        digest = hashlib.sha256(content).hexdigest()
        self.wfile.write(f"{len(content)} {digest}\n".encode())
        self.wfile.write(content[have:])


class Server(socketserver.ThreadingTCPServer):
    """A server whose port is free again as soon as it has ended."""

    allow_reuse_address = True
    daemon_threads = True


def main() -> None:
    """Serve until somebody ends us."""
    port = int(sys.argv[2]) if len(sys.argv) > 2 else DEFAULT_PORT
    with Server(("", port), Handler) as server:
        print("ready", flush=True)
        server.serve_forever()


if __name__ == "__main__":
    main()
