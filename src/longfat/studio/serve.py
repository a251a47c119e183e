"""The process of the studio: a socket, a token, a browser, and a clean shutdown.

By default it listens on the loopback address only. Elsewhere it requires TLS: anyone who has
the token can run commands.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import signal
import socket
import sys
import threading
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import uvicorn

from longfat.errors import HostError, InputError
from longfat.studio.address import FIRST_PORT, Address
from longfat.studio.app import STATIC, make_app
from longfat.studio.auth import Keys, our_hosts
from longfat.studio.browser_sessions import BrowserSessions
from longfat.studio.connections import Connections, HeadDeadlineProtocol, accept_all
from longfat.studio.credentials import ONLY_USER, Credentials, ServerProof, Tokens, new_token
from longfat.studio.extension import Extension
from longfat.studio.state import WorkspaceState, workspace_id
from longfat.studio.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from starlette.types import ASGIApp

_MAX_MESSAGE_BYTES = 4 * 1024**2
_GRACE_S = 3
_END_WITHIN_S = 10.0
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def serve(
    *,
    workspace: Path,
    address: Address,
    query: Mapping[str, str],
    browser: bool,
    anew: bool = False,
    extend: Callable[[Path, Path], Extension] | None = None,
    static: Path = STATIC,
) -> None:
    """Run the studio until a signal ends it.

    Args:
        workspace: the one folder that is read and written.
        address: where to listen.
        query: parameters of the page's URL, such as a file to open.
        browser: open the URL in a browser.
        anew: generate a new token, even if the last one could be used; all sessions end.
        extend: called with the workspace and the folder of its state; returns what a product
            adds. None for a studio without an extension.
        static: the folder of the built page.

    Raises:
        InputError: a lab of the extension is invalid, the address is not allowed or not local, or
            there is no such workspace.
        HostError: the page is not built, the port is taken, or a studio of this workspace
            is already running.
    """
    address.check()
    check_page(static)
    root = Workspace(workspace).root
    own_state = WorkspaceState(root)
    extension = None if extend is None else extend(root, own_state.folder)
    with own_state as state, listening_at(address, state.last_port) as listening:
        port = listening.getsockname()[1]
        secure = address.tls_cert is not None
        credentials = _credentials(state, address, anew=anew)
        keys = Keys(
            credentials=credentials,
            owner=ONLY_USER,
            hosts=our_hosts(address.host, port, secure=secure),
            port=port,
            secure=secure,
            workspace=workspace_id(root),
        )
        app = make_app(
            workspace=root,
            keys=keys,
            static=static,
            drafts=state.folder / "drafts",
            extension=extension,
        )
        token = credentials.tokens.token_of(ONLY_USER)
        url = url_of(address.host, port, secure=secure, query={**query, "token": token})
        state.note_running(url=url, port=port)
        stop = app.state.stop
        run_server(app, listening=listening, address=address, url=url, browser=browser, stop=stop)


def check_page(static: Path, *, names: Sequence[str] = ("index.html",)) -> None:
    """Check that the page is built.

    Args:
        static: its folder.
        names: the files that are needed.

    Raises:
        HostError: it is not built.
    """
    for name in names:
        if not (static / name).is_file():
            raise HostError(
                f"the studio's page is not built: there is no static/{name} in longfat.studio",
                hint="make web",
            )


def run_server(
    app: ASGIApp,
    *,
    listening: socket.socket,
    address: Address,
    url: str,
    browser: bool,
    stop: Callable[[], None],
) -> None:
    """Serve an application until a signal ends it.

    Args:
        app: the application.
        listening: the socket that takes connections.
        address: where that is.
        url: the URL to print, and to open.
        browser: open it in a browser.
        stop: called at the signal.
    """
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        lifespan="on",
        proxy_headers=False,
        server_header=False,
        ws_max_size=_MAX_MESSAGE_BYTES,
        timeout_graceful_shutdown=_GRACE_S,
        ssl_certfile=address.tls_cert,
        ssl_keyfile=address.tls_key,
        http=HeadDeadlineProtocol,
    )

    def announce() -> None:
        # Users and programs wait for this line: connections and signals are handled from now on.
        print(f"longfat studio: {url}", file=sys.stderr, flush=True)
        if browser:
            # Some browser commands block until the browser exits.
            threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()

    server = _Server(config, listening=listening, on_start=announce, on_end=stop)
    asyncio.run(server.serve())


def _credentials(state: WorkspaceState, address: Address, *, anew: bool) -> Credentials:
    """Return the credentials: those of before if only this machine can reach the studio."""
    # A token that was used from other machines must not stay valid forever.
    token = None if anew or not address.is_loopback else state.token()
    owners = () if token is None else (ONLY_USER,)
    # Whatever ends here, sessions end no later than the token.
    sessions = BrowserSessions(state.sessions_file(of_class=False), owners=owners)
    if token is None:
        token = new_token()
        if address.is_loopback:
            state.keep_token(token)
        else:
            state.forget_token()
    return Credentials(
        tokens=Tokens({ONLY_USER: token}),
        sessions=sessions,
        proof=ServerProof(state.proof_secret()),
    )


class _Server(uvicorn.Server):
    """A server for which a signal is a normal shutdown, and which limits connections.

    Args:
        config: uvicorn's configuration.
        listening: the socket that takes connections.
        on_start: called when connections and signals are handled.
        on_end: called at the signal.
    """

    def __init__(
        self,
        config: uvicorn.Config,
        *,
        listening: socket.socket,
        on_start: Callable[[], None],
        on_end: Callable[[], None],
    ) -> None:
        super().__init__(config)
        self._listening = listening
        self._on_start = on_start
        self._on_end = on_end
        self._accepting: asyncio.Task[None] | None = None
        # It is not cancelled: also the end of the interpreter waits for threads.
        self._deadline = threading.Timer(_END_WITHIN_S, _end_at_once)
        self._deadline.daemon = True

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start the application, and begin to accept connections."""
        del sockets
        await super().startup(sockets=[])
        self._listening.setblocking(False)
        accepting = accept_all(self._listening, self.config, Connections(), self._make_protocol)
        self._accepting = asyncio.get_running_loop().create_task(accepting)
        if not self.should_exit:  # a signal came first
            self._on_start()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Accept no more, and end all connections and the application."""
        del sockets
        if self._accepting is not None:
            self._accepting.cancel()
        self._listening.close()
        await super().shutdown(sockets=[])

    def _make_protocol(self) -> asyncio.Protocol:
        return HeadDeadlineProtocol(
            config=self.config, server_state=self.server_state, app_state=self.lifespan.state
        )

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        loop = asyncio.get_running_loop()
        for number in _SIGNALS:
            loop.add_signal_handler(number, self._end)
        try:
            yield
        finally:
            for number in _SIGNALS:
                loop.remove_signal_handler(number)

    def _end(self) -> None:
        # A second Ctrl-C does not wait for connections.
        self.force_exit = self.should_exit
        if not self.should_exit:
            self._deadline.start()
        self.should_exit = True
        self._on_end()


def _end_at_once() -> None:
    """End the process, whatever it waits for; the guards of its machines end them."""
    print("longfat studio: it has ended without waiting for its machines", file=sys.stderr)
    sys.stderr.flush()
    os._exit(0)


def listening_at(address: Address, last_port: int | None) -> socket.socket:
    """Return a socket that takes connections.

    Args:
        address: where.
        last_port: the last port, which pages that are still open use.

    Raises:
        InputError: the host is not an address of this machine.
        HostError: the port is taken.
    """
    host = "127.0.0.1" if address.host.lower() == "localhost" else address.host
    free = dict.fromkeys((last_port or FIRST_PORT, FIRST_PORT, 0))
    ports = tuple(free) if address.port is None else (address.port,)
    for port in ports:
        try:
            family, kind, protocol, _, place = socket.getaddrinfo(
                host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
            )[0]
            found = socket.socket(family, kind, protocol)
            try:
                found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                found.bind(place)
                found.listen(128)
            except BaseException:
                found.close()
                raise
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                if port != ports[-1]:
                    continue
                raise HostError(
                    f"port {port} of {address.host} is taken by another program; "
                    "without --port the studio takes a free one"
                ) from None
            raise InputError(
                f"--host {address.host} --port {port}: cannot listen there: {error.strerror}"
            ) from None
        return found
    raise AssertionError("a free port was requested, but not found")


def url_of(host: str, port: int, *, secure: bool, query: Mapping[str, str], path: str = "/") -> str:
    """Return the URL of a page, with parameters."""
    scheme = "https" if secure else "http"
    place = f"[{host}]" if ":" in host else host
    return f"{scheme}://{place}:{port}{path}?{urlencode(query)}"
