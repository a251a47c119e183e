"""The access check of requests, and the security headers of responses.

Anybody with the token can run commands on the hosts of machines and write studies, so every
request needs it, even those for the page's images. It is passed once, in the URL that
`longfat studio` printed, and stored by the browser in a cookie that no script can read and
no other site can send. A program may send it as `Authorization: Bearer` instead.

A token alone is not enough. Another site could have a name that resolves to this machine
(DNS rebinding): so Host is checked. Another site could send a request or open a WebSocket:
so Origin is checked whenever there is one, and every request that changes anything must
have one.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, quote, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

PAGE_POLICY = "; ".join(
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
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)
"""The policy of the studio's own page: everything comes from this server."""

_HEADERS = {
    "Content-Security-Policy": PAGE_POLICY,
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
_FORBIDDEN = 403
_SEE_OTHER = 303
_POLICY_VIOLATION = 1008

_NO_TOKEN = (
    "This is longfat studio, and it needs its token.\n\n"
    "Open the URL that `longfat studio` printed in its terminal: it holds the token, and this\n"
    "browser then keeps it until it is closed.\n"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Keys:
    """The credentials that grant access.

    Attributes:
        token: the token.
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

    token: str = field(repr=False)
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
        scheme = "https" if self.secure else "http"
        return frozenset(f"{scheme}://{host}" for host in self.hosts)

    def fits(self, found: str) -> bool:
        """Return whether a text is the token, in constant time."""
        return secrets.compare_digest(found.encode("utf-8", "replace"), self.token.encode())


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
    """ASGI middleware that admits requests with the token, and adds the security headers.

    Args:
        app: the protected application.
        keys: the credentials.
    """

    def __init__(self, app: ASGIApp, *, keys: Keys) -> None:
        self._app = app
        self._keys = keys

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Respond, or pass the request on to the application."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        refused = self._refused(scope)
        if scope["type"] == "websocket":
            if refused is None:
                await self._app(scope, receive, send)
            else:
                await send({"type": "websocket.close", "code": _POLICY_VIOLATION, "reason": ""})
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        await (refused or self._app)(scope, receive, send_with_headers)

    def _refused(self, scope: Scope) -> Response | None:
        """Return the error response; None if the request is admitted."""
        headers = Headers(scope=scope)
        host = headers.get("host", "").lower()
        if host not in self._keys.hosts:
            return _forbidden(
                "longfat studio: the request's Host is not an address of this server.\n"
                "Open the URL that `longfat studio` printed.\n"
            )
        origin = headers.get("origin")
        must_have = scope["type"] == "websocket" or scope["method"] not in _READING
        if (origin is not None or must_have) and origin not in self._keys.origins:
            return _forbidden(
                "longfat studio: the request comes from another site, or has no Origin header.\n"
            )
        if not self._is_of_us(scope, headers):
            return _ANOTHER_WORKSPACE
        if self._knows(headers):
            return None if scope["type"] == "websocket" else self._tidied(scope, host)
        if scope["type"] == "http" and scope["method"] in _READING:
            return self._welcome(scope, host) or _forbidden(_NO_TOKEN)
        return _forbidden(_NO_TOKEN)

    def _is_of_us(self, scope: Scope, headers: Headers) -> bool:
        """Return whether the request names this workspace, or none."""
        sent = headers.get(WORKSPACE_HEADER)
        if sent is None and scope["type"] == "websocket":  # browsers cannot set its headers
            query = dict(parse_qsl(scope.get("query_string", b"").decode("latin-1")))
            sent = query.get("workspace")
        return sent is None or sent == self._keys.workspace

    def _knows(self, headers: Headers) -> bool:
        scheme, _, sent = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer" and self._keys.fits(sent.strip()):
            return True
        cookies = cookie_parser(headers.get("cookie", ""))
        return self._keys.fits(cookies.get(self._keys.cookie, ""))

    def _tidied(self, scope: Scope, host: str) -> Response | None:
        """Return a redirect to the URL without its token, if it has one."""
        return self._welcome(scope, host) if scope["method"] in _READING else None

    def _welcome(self, scope: Scope, host: str) -> Response | None:
        """Move the token from the URL into a cookie; return None if the URL has no valid one."""
        query = parse_qsl(scope.get("query_string", b"").decode("latin-1"), keep_blank_values=True)
        tokens = [value for name, value in query if name == "token"]
        if not any(self._keys.fits(token) for token in tokens):
            return None
        rest = urlencode([(name, value) for name, value in query if name != "token"])
        scheme = "https" if self._keys.secure else "http"
        # With scheme and host: a path that begins with two slashes would name another server.
        url = f"{scheme}://{host}{quote(scope['path'])}" + (f"?{rest}" if rest else "")
        answer = RedirectResponse(url, status_code=_SEE_OTHER)
        answer.set_cookie(
            self._keys.cookie,
            self._keys.token,
            httponly=True,
            samesite="strict",
            secure=self._keys.secure,
        )
        return answer


_ANOTHER_WORKSPACE = JSONResponse(
    {
        "error": "This address now serves another workspace. This page's drafts are kept with "
        "its own workspace.",
        "problem": None,
    },
    status_code=421,  # Misdirected Request
)


def _forbidden(text: str) -> Response:
    return PlainTextResponse(text, status_code=_FORBIDDEN)
