"""The routes of packets: of a run's captures, and of a live session's.

A capture is decoded once, and again when its file has changed; the page gets it by pages of the
list, and filters, streams and plots are made here.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, TypedDict

from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Route

from longfat.analysis.packets.capture import open_capture
from longfat.analysis.packets.decoded_capture import (
    MAX_ROWS,
    DecodedCapture,
    capture_path,
    captures_of,
    opaque_ports,
    open_packets,
)
from longfat.analysis.packets.decoders import choose_decoder
from longfat.analysis.packets.display_filter import MAX_CHARACTERS
from longfat.engine.machine import START_OF_TIME_S
from longfat.errors import InputError
from longfat.live.running import FIRST_PORT
from longfat.model.traffic.bulk import DEFAULT_PORT
from longfat.studio.http import HttpError, query_text, query_texts
from longfat.studio.saved_runs import load_saved
from longfat.studio.threads import run_in_threadpool

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from starlette.requests import Request

    from longfat.analysis.packets.records import PacketPage, TimeSequence
    from longfat.studio.live.session import LiveSessions
    from longfat.studio.workspace import Workspace

_NAMING = ("session", "capture", "start", "run", "probe", "script")
"""The parameters of the URL's query that name a capture."""

_LIVE_PORTS = (*range(DEFAULT_PORT, DEFAULT_PORT + 10), *range(FIRST_PORT, FIRST_PORT + 10))
"""Ports of the first flows of a live session: played ones, and started ones."""

_MAX_OPENED = 3
_MAX_VALUE = 2**53


class SavedCapture(TypedDict):
    """A saved capture of a run.

    Attributes:
        name: the probe's name.
        interface: the interface.
    """

    name: str
    interface: str


class PacketPlace(TypedDict):
    """Where a packet is in the list.

    Attributes:
        row: its row, from 0.
    """

    row: int


class PacketText(TypedDict):
    """All that is known of a packet.

    Attributes:
        text: as `longfat packets --details` prints it.
    """

    text: str


class DecodedCaptures:
    """Recently decoded captures; one is decoded at a time.

    Args:
        workspace: where the runs are.
        sessions: the live sessions.
    """

    def __init__(self, workspace: Workspace, sessions: LiveSessions) -> None:
        self._workspace = workspace
        self._sessions = sessions
        self._lock = threading.Lock()
        self._known: OrderedDict[Any, DecodedCapture] = OrderedDict()

    def of_request(self, request: Request) -> DecodedCapture:
        """Return the capture that a request names: of a run and a probe, or of a session.

        Raises:
            InputError: there is none, or it cannot be decoded.
        """
        wanted = [request.query_params.get(name) for name in _NAMING]
        with self._lock:
            # Further pages of the list are of the same state of the file as the first one.
            key = (*wanted, query_text(request, "version"))
            if key not in self._known:
                name, path, epoch_ns, ports = self._file(request)
                capture = open_capture(path, name=name)
                key = (*wanted, capture.version)
                for other in [one for one in self._known if one[:-1] == key[:-1]]:
                    if other != key:
                        del self._known[other]
                if key not in self._known:
                    self._known[key] = open_packets(
                        path,
                        name=name,
                        epoch_ns=epoch_ns,
                        decoder=choose_decoder(),
                        opaque_ports=ports,
                    )
            self._known.move_to_end(key)
            while len(self._known) > _MAX_OPENED:
                self._known.popitem(last=False)
            return self._known[key]

    def names(self, path: str) -> list[SavedCapture]:
        """Return the captures of a run: each probe's name and its interface."""
        with self._workspace.relative_paths():
            run = load_saved(self._workspace, path)
        return [{"name": name, "interface": of} for name, of in captures_of(run).items()]

    def _file(self, request: Request) -> tuple[str, Path, int, tuple[int, ...]]:
        session = query_text(request, "session")
        if session is not None:
            number = _whole(request, "capture")
            live = self._sessions.find(session)
            found = None if live is None else live.capture(number)
            if found is None:
                raise HttpError("there is no such capture", status=HTTPStatus.NOT_FOUND)
            start_s = _number(request, "start", default=0.0)
            epoch_ns = START_OF_TIME_S * 10**9 + round(start_s * 1e9)
            return f"{found[0]}.pcap", found[1], epoch_ns, _LIVE_PORTS
        (path, *_) = query_texts(request, "run")
        (probe, *_) = query_texts(request, "probe")
        with self._workspace.relative_paths():
            run = load_saved(self._workspace, path)
            ports = opaque_ports(run.case)
            return f"{path}: {probe}", capture_path(run, probe), round(run.epoch_s * 1e9), ports


def packet_routes(workspace: Workspace, sessions: LiveSessions) -> list[BaseRoute]:
    """Return the routes of packets; the arguments are those of `DecodedCaptures`."""
    opened = DecodedCaptures(workspace, sessions)

    async def named(request: Request) -> Response:
        (path, *_) = query_texts(request, "run")
        return JSONResponse(await run_in_threadpool(opened.names, path))

    def answering(make: Callable[[DecodedCapture, Request], Any], path: str) -> Route:
        async def answer(request: Request) -> Response:
            def work() -> Any:
                return make(opened.of_request(request), request)

            return JSONResponse(await run_in_threadpool(work))

        return Route(path, answer, methods=["GET"])

    async def saved(request: Request) -> Response:
        text = _filter(request)
        found = await run_in_threadpool(opened.of_request, request)
        parts = await run_in_threadpool(found.saved, text)
        headers = {"Content-Disposition": 'attachment; filename="packets.pcapng"'}
        return StreamingResponse(parts, media_type="application/x-pcapng", headers=headers)

    return [
        Route("/api/captures", named, methods=["GET"]),
        Route("/api/packets.pcapng", saved, methods=["GET"]),
        answering(lambda one, _: one.about(), "/api/packets"),
        answering(_page, "/api/packet-rows"),
        answering(_place, "/api/packet-place"),
        answering(_details, "/api/packet"),
        answering(lambda one, ask: one.followed(_whole(ask, "stream")), "/api/packet-stream"),
        answering(_sequence, "/api/packet-sequence"),
    ]


def _page(opened: DecodedCapture, request: Request) -> PacketPage:
    count = _whole(request, "count")
    if count > MAX_ROWS:
        raise InputError(f"count: at most {MAX_ROWS} packets at once")
    return opened.page(_filter(request), start=_whole(request, "from"), count=count)


def _details(opened: DecodedCapture, request: Request) -> PacketText:
    return {"text": opened.details(_whole(request, "number"))}


def _place(opened: DecodedCapture, request: Request) -> PacketPlace:
    """Return the row of the list that has a time, or a packet."""
    text = _filter(request)
    if query_text(request, "number") is not None:
        return {"row": opened.row_of(text, number=_whole(request, "number"))}
    return {"row": opened.row_at(text, time_s=_number(request, "time"))}


def _sequence(opened: DecodedCapture, request: Request) -> TimeSequence:
    words = query_text(request, "reverse")
    reverse = None if words is None else words == "true"
    return opened.time_sequence(_whole(request, "stream"), reverse=reverse)


def _filter(request: Request) -> str:
    text = query_text(request, "filter") or ""
    if len(text) > MAX_CHARACTERS:
        raise InputError(f"filter: {len(text)} characters: at most {MAX_CHARACTERS}")
    return text


def _whole(request: Request, name: str) -> int:
    text = query_text(request, name) or ""
    if not (text.isascii() and text.isdecimal()) or len(text) > 16 or int(text) > _MAX_VALUE:
        raise InputError(f"the URL's query needs {name}=N, a whole number")
    return int(text)


def _number(request: Request, name: str, *, default: float | None = None) -> float:
    text = query_text(request, name)
    if text is None and default is not None:
        return default
    try:
        value = float(text or "")
    except ValueError:
        raise InputError(f"the URL's query needs {name}=N, a number") from None
    if not -1e9 <= value <= 1e9:
        raise InputError(f"{name}: a number of seconds up to 1e9")
    return value
