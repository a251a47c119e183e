"""Readers of messages (host channel, shell, studio, sessions) and of the studio's state."""

from __future__ import annotations

import json
import logging
import re
import tempfile
from pathlib import Path
from typing import Any

import pytest

from longfat.common.decoding import decode
from longfat.engine.machine.host_channel import Frame
from longfat.errors import InputError, MachineError
from longfat.live.build import Done
from longfat.live.rpc import read_request
from longfat.live.shell.connection import WireError, fields_of, size_of
from longfat.studio.browser_sessions import BrowserSessions
from longfat.studio.drafts import ChangeDraftRequest, Drafts
from longfat.studio.http import json_text
from longfat.studio.live.messages import read_command
from longfat.studio.state import VARIABLE, PrivateFile, WorkspaceState
from tests.mutations.kind import write


def check_frame(folder: Path, content: bytes) -> None:
    del folder
    message = Frame(b"a", 1, content).message()
    for name in ("now_ns", "status", "pid"):
        if name in message:
            message.number(name)
    if "times_ns" in message:
        message.all(Done, besides=("now_ns",))
    if "processes" in message:
        message.get("processes", list[int])


FRAMES = (
    {"now_ns": 5, "status": 0},
    {"now_ns": 5, "times_ns": [1, 2], "failed": {"line": "a", "words": "b", "status": None}},
    {"now_ns": 5, "processes": [1, 2], "pid": 7, "x": {"y": None}},
)


def check_wire(folder: Path, content: bytes) -> None:
    del folder
    try:
        size_of(fields_of(content))
    except WireError as error:
        raise MachineError(str(error)) from None


def check_command(folder: Path, content: bytes) -> None:
    del folder
    read_command(content.decode(errors="replace"))


def check_request(folder: Path, content: bytes) -> None:
    del folder
    request = read_request(content)
    assert set(request.params) <= set(request.call.parameters) or request.call.takes_more


def session_requests() -> list[bytes]:
    """Return requests of a session, one for each kind of parameters."""
    section = {
        "hosts": {"h1": "10.0.0.1/8", "h2": {"address": "10.0.0.2/8", "nat": None}},
        "switches": ["s1"],
        "links": [["h1", "s1", {"rate": "10mbit"}], ["h2", "s1"]],
    }
    calls: list[tuple[str, dict[str, Any]]] = [
        ("network.add", {"network": section}),
        ("network.link", {"a": "h1", "b": "h2", "rate": 1e6, "reverse": {"loss": "1%"}}),
        ("network.partition", {"groups": [["h1"], ["h2", "s1"]]}),
        ("node.run", {"node": "h1", "command": ["ls"], "env": {"A": "b"}, "timeout": "5s"}),
        ("node.write_file", {"node": "h1", "path": "/a", "data": {"base64": "AA=="}, "mode": 1}),
        ("host.iperf3", {"host": "h1", "target": "h2", "time": 5, "parallel": 2}),
        ("host.start", {"host": "h1", "target": "h2", "tool": "ping", "count": 3}),
        ("clock.now", {}),
    ]
    return [
        json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
        for method, params in calls
    ]


def drafts() -> list[bytes]:
    """The file of a draft, with its steps of undo."""
    with tempfile.TemporaryDirectory() as name:
        request = {
            "page": "a",
            "steps": [{"set": "title: a\n"}, {"set": "title: b\n"}, {"undo": True}],
            "fields": {
                "name": "x",
                "imported": {"source": "x.mn", "at_s": 1.0, "messages": ["c0: left out"]},
            },
        }
        Drafts(Path(name, "drafts")).change(
            "0123456789abcdef", decode(ChangeDraftRequest, request, where="a change")
        )
        (file,) = Path(name, "drafts").glob("*.json")
        return [file.read_bytes()]


def check_draft(folder: Path, content: bytes) -> None:
    """Start with a draft that is not as it was written; the studio begins all the same."""
    write(folder / "drafts", "0123456789abcdef.json", content)
    logging.disable()
    try:
        found = Drafts(folder / "drafts")
        json_text(found.all())
        if not found.all():
            raise InputError("it is left alone")
    finally:
        logging.disable(logging.NOTSET)


_SESSION, _OWNER = "the value of a cookie", "alice"


def sessions_of_browsers() -> list[bytes]:
    with tempfile.TemporaryDirectory() as folder:
        file = PrivateFile(path=Path(folder) / "sessions.json")
        sessions = BrowserSessions(file)
        for owner in (_OWNER, "bob"):
            sessions.begin(owner)
        return [file.path.read_bytes()]


def check_sessions(folder: Path, content: bytes) -> None:
    """Start where the stored sessions were changed: none opens without its value."""
    file = PrivateFile(path=folder / "sessions.json")
    file.path.write_bytes(content)
    file.path.chmod(0o600)
    sessions = BrowserSessions(file, owners=[_OWNER, "bob"])
    taken = json.loads(file.path.read_text())
    for value in (_SESSION, "", *re.findall(r'"([^"]*)"', content.decode(errors="replace"))):
        assert sessions.find(value, owner=_OWNER) is None
    value = sessions.begin(_OWNER)
    if BrowserSessions(file, owners=[_OWNER]).find(value, owner=_OWNER) is None:
        raise AssertionError("a new session was not stored")
    if not taken:
        raise InputError("they are taken for none")


def check_state(folder: Path, content: bytes) -> None:
    """Start where the note of the last studio is not as it was written."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, str(folder))
        with WorkspaceState(folder) as state:
            (state.folder / "running.json").write_bytes(content)
            (state.folder / "running.json").chmod(0o600)
            if state.last_port is None:
                raise InputError("it is taken for none")
            assert 0 < state.last_port < 2**16
