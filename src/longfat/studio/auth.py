"""The access check of requests, and the security headers of responses.

Anybody with the token can run commands on the hosts of machines and write studies, so every
request needs credentials, even those for the page's images. A browser sends the token once, in
the URL that `longfat studio` printed, and gets a session for it (`browser_sessions`), in a cookie
that no script can read and no other site can send. A program sends the token as
`Authorization: Bearer` instead.

Credentials alone are not enough. Another site could have a name that resolves to this machine
(DNS rebinding): so Host is checked. Another site could send a request or open a WebSocket:
so Origin is checked whenever there is one, and every request that changes anything must
have one.

Two paths need no credentials: the proof of the server (`server_proof`), and the page after a
logout.
"""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, quote, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.responses import (
    HTMLResponse,
    JSONResponse,
    PlainTextResponse,
    RedirectResponse,
    Response,
)

from longfat.errors import HostError
from longfat.studio.credentials import PROOF_PATH

if TYPE_CHECKING:
    from collections.abc import Coroutine
    from typing import Any

    from starlette.requests import Request
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from longfat.studio.browser_sessions import BrowserSession
    from longfat.studio.credentials import Credentials

LOGGED_OUT_PATH = "/logged-out"
"""Where a browser is sent after a logout; the page needs no credentials."""

_PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<title>{title}: longfat studio</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ margin: 0 auto; padding: 12vh 24px 24px; max-width: 34em;
  background: light-dark(#fff, #14181f); color: light-dark(#1b2230, #e4e8ef);
  font: 15px/1.6 system-ui, "Noto Sans", "DejaVu Sans", sans-serif; }}
h1 {{ font-size: 22px; margin: 0 0 12px; }}
p {{ margin: 0 0 12px; }}
</style>
</head>
<body>
<main>
<h1>{title}</h1>
<p>{first}</p>
<p>To continue, open your link again: the URL that <code>longfat studio</code> printed in its
terminal, or in a class the link that your teacher gave you.</p>
</main>
</body>
</html>
"""


def logged_out_page() -> str:
    """Return the page after a logout."""
    return _PAGE.format(
        title="You are logged out",
        first="This browser has no access to the studio any more. Networks, runs and progress are "
        "kept, and machines that run go on.",
    )


def refused_page() -> str:
    """Return the page for a browser that has no session, or one that has ended."""
    return _PAGE.format(
        title="This browser is not logged in",
        first="This is longfat studio. It needs the token of your link; a login ends by itself "
        "after some time, by a logout, and when you get a new link.",
    )


POLICY_VIOLATION = 1008
"""The status of a WebSocket that nothing entitles to any more."""


async def serve_until(
    ended: Coroutine[Any, Any, None], app: ASGIApp, scope: Scope, receive: Receive, send: Send
) -> None:
    """Serve a WebSocket by an application, and close it at once when its credentials end.

    From then on the application receives that the client has disconnected, and what it sends is
    dropped, so it need not know about credentials.

    Args:
        ended: returns at the end of the credentials.
        app: the application.
        scope: the scope of the WebSocket.
        receive: receives a message of the client.
        send: sends one to it.
    """
    end = asyncio.ensure_future(ended)

    async def close() -> None:
        await asyncio.wait([end])
        # The client may have gone at the same moment.
        with contextlib.suppress(RuntimeError, OSError):
            await send({"type": "websocket.close", "code": POLICY_VIOLATION, "reason": ""})

    closing = asyncio.ensure_future(close())

    async def receive_until() -> Message:
        message = asyncio.ensure_future(receive())
        try:
            await asyncio.wait([message, end], return_when=asyncio.FIRST_COMPLETED)
            if end.done():
                return {"type": "websocket.disconnect", "code": POLICY_VIOLATION}
            return message.result()
        finally:
            message.cancel()

    async def send_until(message: Message) -> None:
        if not end.done():
            await send(message)

    try:
        await app(scope, receive_until, send_until)
        if end.done():
            await closing
    finally:
        for task in (end, closing):
            task.cancel()


def page_policy(*, form_action: str = "'none'") -> str:
    """Return the Content-Security-Policy of a page: everything comes from this server.

    Args:
        form_action: where its forms may be sent to.
    """
    return "; ".join(
        (
            "default-src 'self'",
            "script-src 'self'",
            # The canvas positions its nodes by style attributes.
            "style-src 'self' 'unsafe-inline'",
            "img-src 'self' data: blob:",
            "font-src 'self' data:",
            "connect-src 'self'",
            "object-src 'none'",
            "base-uri 'none'",
            f"form-action {form_action}",
            "frame-ancestors 'none'",
        )
    )


_HEADERS = {
    "Content-Security-Policy": page_policy(),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}

WORKSPACE_HEADER = "x-longfat-workspace"
"""The header with the workspace of the page, sent with each request. A WebSocket has it in the
query, as `workspace`."""

_READING = ("GET", "HEAD")
_SESSION = "longfat.browser_session"

_NO_CREDENTIALS = (
    "This is longfat studio, and it needs its token.\n\n"
    "Open the URL that `longfat studio` printed in its terminal, or in a class your link: it\n"
    "holds the token, and this browser is then logged in until it is closed.\n"
)
_NO_PROOF = (
    "longfat studio: a proof needs ?session=ID&nonce=NUMBER, of 32 and 64 hexadecimal digits\n"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Keys:
    """What grants access to an application.

    Attributes:
        credentials: the credentials of the server.
        owner: whose credentials open the application.
        hosts: the accepted values of Host, in lower case, such as `127.0.0.1:8765`.
        port: the port, which is part of the cookie's name: browsers do not keep the
            cookies of two ports separately.
        secure: the server uses TLS.
        workspace: the id of the workspace (`state.workspace_id`). A page sends the id of its
            own, which is also part of the cookie's name: so a page that is still open after
            another workspace's studio has taken the port shows nothing of that one and writes
            nothing into it.
        jar: replaces the workspace in the cookie's name where several workspaces share a
            server: opening the link of another one replaces the cookie.
    """

    credentials: Credentials
    owner: str
    hosts: frozenset[str]
    port: int
    secure: bool = False
    workspace: str = ""
    jar: str = ""

    @property
    def cookie(self) -> str:
        """Return the cookie's name."""
        name = self.jar or self.workspace
        return f"longfat-studio-{self.port}" + (f"-{name}" if name else "")

    @property
    def origins(self) -> frozenset[str]:
        """Return the accepted values of Origin."""
        return frozenset(self.origin_at(host) for host in self.hosts)

    def origin_at(self, host: str) -> str:
        """Return the origin of a page of this server.

        Args:
            host: the value of Host by which it was requested.
        """
        return f"{'https' if self.secure else 'http'}://{host}"

    def fits(self, token: str) -> bool:
        """Return whether a text is the owner's token, in constant time."""
        return self.credentials.tokens.fits(self.owner, token)

    def session_of(self, value: str) -> BrowserSession | None:
        """Return the owner's session that a cookie's value opens; None if it opens none."""
        return self.credentials.sessions.find(value, owner=self.owner)

    def set_cookie(self, response: Response, value: str) -> None:
        """Store a session's value in the browser, until that is closed."""
        response.set_cookie(
            self.cookie, value, httponly=True, samesite="strict", secure=self.secure
        )

    def delete_cookie(self, response: Response) -> None:
        """Remove the session's value from the browser."""
        response.delete_cookie(self.cookie, httponly=True, samesite="strict", secure=self.secure)


def key_tag(request: Request, keys: Keys) -> str:
    """Return the element of a page's head with the key by which it verifies its server.

    Args:
        request: the admitted request for the page.
        keys: what has admitted it.

    Returns:
        The element; nothing if the request has no session.
    """
    session = session_of(request)
    if session is None:
        return ""
    key = keys.credentials.proof.page_key(session.id)
    return f'<meta name="longfat-session" content="{session.id} {key}">'


def session_of(request: Request) -> BrowserSession | None:
    """Return the browser's session of an admitted request; None if a token admitted it."""
    session: BrowserSession | None = request.scope[_SESSION]
    return session


def our_hosts(host: str, port: int, *, secure: bool) -> frozenset[str]:
    """Return the accepted values of Host for a server.

    Args:
        host: the name or address that it listens at.
        port: its port.
        secure: it uses TLS, whose default port browsers leave out.
    """
    given = f"[{host}]" if ":" in host else host
    names = {"127.0.0.1", "localhost", "[::1]", given.lower()}
    usual = 443 if secure else 80
    bare = names if port == usual else set()
    return frozenset({f"{name}:{port}" for name in names} | bare)


class AuthMiddleware:
    """ASGI middleware that admits requests with credentials, and adds the security headers.

    Args:
        app: the protected application.
        keys: what grants access.
    """

    def __init__(self, app: ASGIApp, *, keys: Keys) -> None:
        self._app = app
        self._keys = keys

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Respond, or pass the request on to the application."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        response = self._response(scope)
        if scope["type"] == "websocket":
            if response is None:
                await self._serve_socket(scope, receive, send)
            else:
                await send({"type": "websocket.close", "code": POLICY_VIOLATION, "reason": ""})
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        await (response or self._app)(scope, receive, send_with_headers)

    async def _serve_socket(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a WebSocket until its end, or that of what opened it."""
        sessions = self._keys.credentials.sessions
        session: BrowserSession | None = scope[_SESSION]
        with sessions.connected(self._keys.owner, session) as connection:
            ended = sessions.until_ended(connection)
            await serve_until(ended, self._app, scope, receive, send)

    def _response(self, scope: Scope) -> Response | None:
        """Return the response of this check; None if the request is admitted."""
        headers = Headers(scope=scope)
        host = headers.get("host", "").lower()
        is_reading = scope["type"] == "http" and scope["method"] in _READING
        if (refused := self._elsewhere(headers, host, is_reading=is_reading)) is not None:
            return refused
        if is_reading and scope["path"] == PROOF_PATH:
            return self._prove(scope, host)
        if is_reading and scope["path"] == LOGGED_OUT_PATH:
            return HTMLResponse(logged_out_page())
        scope[_SESSION] = session = self._session(headers)
        # A URL with a token leads to the same one without it.
        if is_reading and (response := self._welcome(scope, host, session)) is not None:
            return response
        if session is not None or self._has_token(headers):
            return None if self._is_of_us(scope, headers) else _ANOTHER_WORKSPACE
        if is_reading and "text/html" in headers.get("accept", ""):
            return HTMLResponse(refused_page(), status_code=HTTPStatus.FORBIDDEN)
        return _forbidden(_NO_CREDENTIALS)

    def _elsewhere(self, headers: Headers, host: str, *, is_reading: bool) -> Response | None:
        """Return the error of a request to another name, or from another site."""
        if host not in self._keys.hosts:
            return _forbidden(
                "longfat studio: the request's Host is not an address of this server.\n"
                "Open the URL that `longfat studio` printed.\n"
            )
        origin = headers.get("origin")
        if (origin is not None or not is_reading) and origin not in self._keys.origins:
            return _forbidden(
                "longfat studio: the request comes from another site, or has no Origin header.\n"
            )
        return None

    def _prove(self, scope: Scope, host: str) -> Response:
        """Return the server's proof for a page, whatever its session."""
        query = dict(_query(scope))
        proof = self._keys.credentials.proof.answer(
            session_id=query.get("session", ""),
            origin=self._keys.origin_at(host),
            nonce=query.get("nonce", ""),
        )
        if proof is None:
            return PlainTextResponse(_NO_PROOF, status_code=HTTPStatus.BAD_REQUEST)
        return JSONResponse({"proof": proof})

    def _is_of_us(self, scope: Scope, headers: Headers) -> bool:
        """Return whether the request names this workspace, or none."""
        sent = headers.get(WORKSPACE_HEADER)
        if sent is None and scope["type"] == "websocket":  # browsers cannot set its headers
            sent = dict(_query(scope)).get("workspace")
        return sent is None or sent == self._keys.workspace

    def _session(self, headers: Headers) -> BrowserSession | None:
        value = cookie_parser(headers.get("cookie", "")).get(self._keys.cookie)
        return None if value is None else self._keys.session_of(value)

    def _has_token(self, headers: Headers) -> bool:
        scheme, _, sent = headers.get("authorization", "").partition(" ")
        return scheme.lower() == "bearer" and self._keys.fits(sent.strip())

    def _welcome(self, scope: Scope, host: str, session: BrowserSession | None) -> Response | None:
        """Exchange the token of a URL for a session; return None if the URL has no valid one.

        A browser that has a session keeps it: another tab may be loading its page with it.
        """
        query = _query(scope)
        if not any(name == "token" and self._keys.fits(value) for name, value in query):
            return None
        rest = urlencode([(name, value) for name, value in query if name != "token"])
        # With scheme and host: a path that begins with two slashes would name another server.
        url = f"{self._keys.origin_at(host)}{quote(scope['path'])}" + (f"?{rest}" if rest else "")
        response = RedirectResponse(url, status_code=HTTPStatus.SEE_OTHER)
        if session is None:
            try:
                value = self._keys.credentials.sessions.begin(self._keys.owner)
            except HostError as error:
                text = f"longfat studio: this browser cannot be logged in: {error}\n"
                return PlainTextResponse(text, status_code=HTTPStatus.SERVICE_UNAVAILABLE)
            self._keys.set_cookie(response, value)
        return response


def _query(scope: Scope) -> list[tuple[str, str]]:
    text = scope.get("query_string", b"").decode("latin-1")
    return parse_qsl(text, keep_blank_values=True)


_ANOTHER_WORKSPACE = JSONResponse(
    {
        "error": "This address now serves another workspace. This page's drafts are kept with "
        "its own workspace.",
        "problem": None,
    },
    status_code=HTTPStatus.MISDIRECTED_REQUEST,
)


def _forbidden(text: str) -> Response:
    return PlainTextResponse(text, status_code=HTTPStatus.FORBIDDEN)
