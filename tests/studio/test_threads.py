"""Requests that wait hold no other workspace's, and no end of the server."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from longfat.studio.threads import MAX_THREADS, ThreadMiddleware, run_in_threadpool

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send


def test_a_workspace_whose_requests_wait_holds_no_other_one() -> None:
    go_on = threading.Event()

    async def waits(scope: Scope, receive: Receive, send: Send) -> None:
        del scope, receive, send
        await run_in_threadpool(go_on.wait, 60)

    async def answers(scope: Scope, receive: Receive, send: Send) -> None:
        del scope, receive, send
        await run_in_threadpool(time.sleep, 0)

    async def ask(app: ThreadMiddleware) -> None:
        unused: Any = None
        await app({}, unused, unused)

    async def main() -> None:
        slow, quick = ThreadMiddleware(waits), ThreadMiddleware(answers)
        waiting = [asyncio.ensure_future(ask(slow)) for _ in range(60)]
        await asyncio.sleep(0.1)
        for _ in range(MAX_THREADS + 1):
            await asyncio.wait_for(ask(quick), 20)
        assert not any(one.done() for one in waiting)
        go_on.set()
        await asyncio.gather(*waiting)

    asyncio.run(main())


PROGRAM = """
import sys, time
from pathlib import Path
from longfat.studio import serve
from longfat.studio.address import Address
from longfat.studio.live.session import LiveSessions
serve._END_WITHIN_S = 2
LiveSessions.close = lambda self: time.sleep(1000)
serve.serve(workspace=Path(sys.argv[1]), static=Path(sys.argv[2]), address=Address(),
      query={}, browser=False)
"""


def test_an_end_does_not_wait_for_what_hangs(workspace: Path, static: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(workspace), str(static)],
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        assert process.stderr.readline().startswith("longfat studio: http://")
        process.send_signal(signal.SIGTERM)
        began_s = time.monotonic()
        assert process.wait(60) == 0
        assert time.monotonic() - began_s < 20
        assert process.stderr.read() == (
            "longfat studio: it has ended without waiting for its machines\n"
        )
