"""Requests and responses of many connections: one end of them, as a program of its own.

    requests.py serve ADDRESS PORT [--congestion NAME]
    requests.py ask ADDRESS PORT NAME --OPTION VALUE...

Options of the client: time (for how long requests begin) and drain (for how long those that have
begun are waited for then), in seconds; size (of responses: bytes, a name of
`longfat.guest.sizes`, or the path of a file with such a distribution); request (bytes); fresh (1,
if each request has a connection of its own); either load (bit/s of all responses) or every
(seconds between two requests in the mean), or clients (how many ask one after the other) and
think (seconds between a response and the next request in the mean).

* Open loop (`load`, `every`): requests begin at the times of a Poisson process, whatever has
  become of those before.
* Closed loop (`clients`): each client waits for a response, thinks for an exponentially
  distributed time, and asks again.

A request goes over a connection that is open and idle, the one that was last used, or else over a
new one. It takes as long as from its time, which is before any connection is opened, to the last
byte of its response. With `fresh` the server closes a connection after its response.

All random numbers depend on LONGFAT_SEED in the environment and on NAME; those of times and those
of sizes do not depend on each other.

Each end is one process with one thread, which waits by epoll(7). A response is sent by sendfile(2)
and thrown away by the receiver (MSG_TRUNC), so a request over an open connection costs either end
some three system calls, and one for each time that the kernel wakes it while data moves.

The client's report is JSON on standard output; times are in nanoseconds after its start.

Source of the calls: epoll(7), sendfile(2), recv(2), tcp(7).
"""

import os
import sys

# As for `main`: nothing else of longfat is there in a machine.
sys.path.insert(0, os.path.abspath(f"{__file__}/../../.."))
from longfat.guest import requests_client, requests_server
from longfat.guest.sizes import SizesError


def main(words: list[str]) -> None:
    """Do what the command line says; `words` are those after the program's name."""
    try:
        if words[0] == "serve":
            requests_server.serve(words[1], int(words[2]), congestion=(words[4:] or [""])[0])
        else:
            print(requests_client.ask(words[1], int(words[2]), words[3], words[4:]))
    except (OSError, ValueError, SizesError, requests_client.RequestsError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        sys.exit(f"{' '.join(words[:3])}: {reason}")


if __name__ == "__main__":
    main(sys.argv[1:])
