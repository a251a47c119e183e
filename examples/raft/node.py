"""A node of a replicated list: Raft by pysyncobj, and writes from clients by UDP.

    python3 node.py NAME OTHER...

It prints a line for each change of its role: `1.234567 leader 3`, the time since boot in seconds,
the role and the term. A client sends `write TEXT`, and gets `TEXT` when it is committed; `read`
gives all that was applied here, in its order.
"""

from __future__ import annotations

import socket
import sys
import time
from typing import Any

from pysyncobj import SyncObj, SyncObjConf, replicated
from pysyncobj.config import FAIL_REASON

RAFT_PORT, CLIENT_PORT = 7000, 8000
ROLES = {0: "follower", 1: "candidate", 2: "leader"}
TICK_S = 0.05
MAX_BYTES = 60_000


class Store(SyncObj):  # type: ignore[misc]
    """A list to which texts are added; each text once, however often a client repeats it."""

    def __init__(self, name: str, others: list[str]) -> None:
        self.applied: dict[str, None] = {}
        super().__init__(
            f"{name}:{RAFT_PORT}",
            [f"{other}:{RAFT_PORT}" for other in others],
            SyncObjConf(
                autoTick=False,
                bindAddress=f"0.0.0.0:{RAFT_PORT}",
                connectionRetryTime=1.0,
                commandsWaitLeader=False,
                journalFile=f"/tmp/{name}.journal",
                onStateChanged=self._report,
            ),
        )

    @replicated  # type: ignore[untyped-decorator]
    def add(self, text: str) -> None:
        """Add a text."""
        self.applied[text] = None

    def _report(self, _before: int, role: int) -> None:
        # pysyncobj tells of a new candidate before it counts the term up.
        if ROLES[role] != "candidate":
            print(f"{time.monotonic():.6f} {ROLES[role]} {self.raftCurrentTerm}", flush=True)


def serve(store: Store, clients: socket.socket) -> None:
    """Take what clients have sent by now."""
    while True:
        try:
            data, sender = clients.recvfrom(MAX_BYTES)
        except BlockingIOError:
            return
        word, _, text = data.decode().partition(" ")
        if word == "read":
            clients.sendto("\n".join(store.applied).encode(), sender)
            continue

        def answer(_result: Any, error: int, text: str = text, sender: Any = sender) -> None:
            if error == FAIL_REASON.SUCCESS:
                clients.sendto(text.encode(), sender)

        store.add(text, callback=answer)


def main() -> None:
    """Run a node."""
    name, *others = sys.argv[1:]
    store = Store(name, others)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as clients:
        clients.bind(("0.0.0.0", CLIENT_PORT))
        clients.setblocking(False)
        print("ready", flush=True)
        while True:
            store.doTick(TICK_S)
            serve(store, clients)


main()
