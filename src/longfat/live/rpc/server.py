"""A session for a program: its requests are executed one after the other, and answered.

A request is read when the previous one was answered, so a flood of them waits in the pipe. When
the input ends, so does the session; when the answers are not read any more, it ends at once.
"""

from __future__ import annotations

import json
import os
import select
from typing import TYPE_CHECKING, Any

from longfat import __version__
from longfat.errors import LongfatError, MachineError
from longfat.live.process import CommandFailed, TimedOut
from longfat.live.rpc.calls import Handles, completed
from longfat.live.rpc.requests import (
    JSONRPC,
    MAX_LINE_BYTES,
    PROTOCOL_VERSION,
    Request,
    RequestError,
    code_of,
    read_request,
    where_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from longfat.live.network import Network

_CHUNK = 1 << 16


def serve(
    open_network: Callable[[Callable[[], None]], Network], *, requests: int, answers: int
) -> None:
    """Execute the requests from a descriptor, until its end.

    Args:
        open_network: opens the network of the session; it is given what to call while it waits.
        requests: the descriptor that requests come from.
        answers: the one that answers go to.

    Raises:
        MachineError: the machine has failed; the request that met it was answered.
        BrokenPipeError: the reader of the answers is gone.
    """
    client = _Answers(answers)
    with open_network(client.check_reader) as network:
        client.notify(
            "ready",
            {
                "protocol": PROTOCOL_VERSION,
                "longfat": __version__,
                "kernel": network.session.kernel.release,
                "seed": network.case().seed,
                "now_s": network.clock.now,
            },
        )
        handles = Handles(network)
        for line in read_lines(requests):
            _answer(line, handles, client)


def _answer(line: bytes, handles: Handles, answers: _Answers) -> None:
    number: Any = None
    try:
        request = read_request(line)
        number = request.id
        result = _do(request, handles, answers)
    except MachineError as error:
        answers.fail(number, error)
        raise
    except LongfatError as error:
        answers.fail(error.id if isinstance(error, RequestError) else number, error)
    else:
        answers.succeed(number, result)


def _do(request: Request, handles: Handles, answers: _Answers) -> Any:
    params = dict(request.params)
    if "on_output" in params:
        params["on_output"] = answers.passes_on(request.id) if params["on_output"] else None
    return request.call.do(handles, params)


def read_lines(descriptor: int) -> Iterator[bytes]:
    """Return the lines of a descriptor until its end, as they come.

    Of one that is too long, no more than a little above `MAX_LINE_BYTES` is kept.
    """
    kept, is_full = bytearray(), False
    while data := os.read(descriptor, _CHUNK):
        *ends, rest = data.split(b"\n")
        for end in ends:
            line = bytes(kept) if is_full else bytes(kept + end)
            kept, is_full = bytearray(), False
            if line.strip():
                yield line
        if not is_full:
            kept += rest
            is_full = len(kept) > MAX_LINE_BYTES
    if kept.strip():
        yield bytes(kept)


class _Answers:
    """The output to the program.

    Args:
        output: the descriptor that it goes to.
    """

    def __init__(self, output: int) -> None:
        self._output = output
        self._poll = select.poll()
        self._poll.register(output, 0)

    def check_reader(self) -> None:
        """Check that there is a reader.

        Raises:
            BrokenPipeError: there is none.
        """
        if self._poll.poll(0):
            raise BrokenPipeError

    def passes_on(self, number: str | int) -> Callable[[str], None]:
        """Return the callback that notifies the program of output of a request's command."""
        return lambda text: self.notify("output", {"request": number, "text": text})

    def notify(self, method: str, params: dict[str, Any]) -> None:
        """Write a message that answers no request."""
        self._write({"method": method, "params": params})

    def succeed(self, number: str | int, result: Any) -> None:
        """Answer a request."""
        self._write({"id": number, "result": result})

    def fail(self, number: str | int | None, error: LongfatError) -> None:
        """Answer a request that failed, or a line that is not a request."""
        code = code_of(error)
        data: dict[str, Any] = {"kind": code.name.lower(), "where": where_of(error)}
        if isinstance(error, CommandFailed):
            data["completed"] = completed(error.done)
        if isinstance(error, TimedOut):
            data["stdout"] = (error.output or b"").decode(errors="replace")
            data["stderr"] = (error.stderr or b"").decode(errors="replace")
        if error.hint:
            data["hint"] = error.hint
        self._write({"id": number, "error": {"code": code, "message": error.message, "data": data}})

    def _write(self, message: dict[str, Any]) -> None:
        line = json.dumps({"jsonrpc": JSONRPC, **message}, allow_nan=False).encode() + b"\n"
        rest = memoryview(line)
        while rest:
            rest = rest[os.write(self._output, rest) :]
