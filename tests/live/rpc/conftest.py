"""A session as a program has it: lines to a child process, and lines from it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from longfat.live.rpc import session_schema
from tests.command import Command


class Program:
    """What a program has of its session."""

    def __init__(self, *arguments: str) -> None:
        self.child = Command(
            *("longfat", "session", "--memory", "512MB", "--kernel", "6.1", *arguments),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.messages: list[dict[str, Any]] = []
        self.sent: list[dict[str, Any]] = []
        self._last = 0

    def write(self, line: bytes) -> None:
        """Write a line, whatever it is."""
        assert self.child.stdin is not None
        self.child.stdin.write(line + b"\n")
        self.child.stdin.flush()

    def read(self) -> dict[str, Any]:
        """Read a line."""
        assert self.child.stdout is not None
        line = self.child.stdout.readline()
        assert line, self.child.stderr.read() if self.child.stderr else ""
        found: dict[str, Any] = json.loads(line)
        self.messages.append(found)
        return found

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a request, and return its answer."""
        self._last += 1
        request = {"jsonrpc": "2.0", "id": self._last, "method": method, "params": params}
        self.sent.append(request)
        self.write(json.dumps(request).encode())
        while (answer := self.read()).get("id") != self._last:
            assert "method" in answer
        return answer

    def call(self, method: str, **params: Any) -> Any:
        """Send a request, and return its result."""
        answer = self.ask(method, **params)
        assert "result" in answer, answer
        return answer["result"]

    def fail(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a request that cannot be done, and return the error."""
        error: dict[str, Any] = self.ask(method, **params)["error"]
        return error

    def end(self) -> int:
        """Close the input, and return the exit status."""
        assert self.child.stdin is not None
        self.child.stdin.close()
        return self.child.wait(timeout=30)


@pytest.fixture
def start() -> Iterator[Callable[..., Program]]:
    """Start sessions, which end with the test; every line is then held against the schema."""
    started: list[Program] = []

    def begin(*arguments: str) -> Program:
        started.append(Program(*arguments))
        assert started[-1].read()["method"] == "ready"
        return started[-1]

    yield begin
    schema = session_schema()
    answers = Draft202012Validator({"$ref": "#/$defs/answer", "$defs": schema["$defs"]})
    for program in started:
        program.child.kill()
        program.child.__exit__(None, None, None)
        for message in program.messages:
            # Its result's own schema is looked at below.
            plain = {**message, "result": None} if "result" in message else message
            assert answers.is_valid(plain), message
        _check_results(program, schema)


def _check_results(program: Program, schema: dict[str, Any]) -> None:
    results = {one["id"]: one["result"] for one in program.messages if "result" in one}
    for request in program.sent:
        if request["id"] in results:
            name = request["method"]
            (of,) = (one for one in schema["$defs"]["request"]["oneOf"] if one["title"] == name)
            assert Draft202012Validator(of).is_valid(request), request
            result = Draft202012Validator(schema["$defs"]["results"][name])
            assert result.is_valid(results[request["id"]]), (name, results[request["id"]])
