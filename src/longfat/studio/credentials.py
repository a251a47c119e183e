"""The credentials of a server: tokens of links, sessions of browsers, and its own proof.

An owner is whoever a link is for: a student of a class by the folder, or the only user.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from longfat.studio.browser_sessions import BrowserSessions

PROOF_PATH = "/api/proof"
"""Where the proof is, as `?session=ID&nonce=NUMBER`; it needs no credentials."""

_KEY_CONTEXT = b"longfat studio: key of a page\n"
_PROOF_CONTEXT = "longfat studio: proof of the server"
_ID = re.compile(r"[0-9a-f]{32}", re.ASCII)
_NONCE = re.compile(r"[0-9a-f]{64}", re.ASCII)


class ServerProof:
    """Proves the identity of a server.

    Args:
        secret: its secret.
    """

    def __init__(self, secret: bytes) -> None:
        self._secret = secret

    def page_key(self, session_id: str) -> str:
        """Return the key of a session's pages, in hexadecimal.

        Args:
            session_id: the session's public id.
        """
        return self._key(session_id).hex()

    def answer(self, *, session_id: str, origin: str, nonce: str) -> str | None:
        """Return the HMAC of a page's number, in hexadecimal; None if the request is malformed.

        Args:
            session_id: the public id of the page's session.
            origin: the origin that the request was sent to.
            nonce: the number, 32 random bytes in hexadecimal.
        """
        if not _ID.fullmatch(session_id) or not _NONCE.fullmatch(nonce):
            return None
        message = "\n".join((_PROOF_CONTEXT, origin, session_id, nonce))
        return hmac.new(self._key(session_id), message.encode(), hashlib.sha256).hexdigest()

    def _key(self, session_id: str) -> bytes:
        return hmac.digest(self._secret, _KEY_CONTEXT + session_id.encode(), "sha256")


ONLY_USER = "user"
"""The owner of a studio that serves no class."""

_BYTES = 32


def new_token() -> str:
    """Return a random token."""
    return secrets.token_urlsafe(_BYTES)


class Tokens:
    """The tokens of links.

    Args:
        tokens: the token of each owner.
        store: stores all of them after a change; None to keep them in memory.
    """

    def __init__(
        self,
        tokens: Mapping[str, str],
        *,
        store: Callable[[Mapping[str, str]], None] | None = None,
    ) -> None:
        self._tokens = dict(tokens)
        self._store = store
        self._owners = {_digest(token): owner for owner, token in tokens.items()}

    def token_of(self, owner: str) -> str:
        """Return the token of an owner."""
        return self._tokens[owner]

    def owner_of(self, token: str) -> str | None:
        """Return the owner of a token; None if it is none.

        The lookup is by the token's hash, so its time reveals nothing about tokens.
        """
        return self._owners.get(_digest(token))

    def fits(self, owner: str, token: str) -> bool:
        """Return whether a text is the token of an owner, in constant time."""
        return secrets.compare_digest(
            token.encode("utf-8", "replace"), self._tokens[owner].encode()
        )

    def renew(self, owner: str) -> str:
        """Replace the token of an owner by a new one, and return it.

        Raises:
            HostError: it cannot be stored; the old one stays then.
        """
        token = new_token()
        tokens = {**self._tokens, owner: token}
        if self._store is not None:
            self._store(tokens)
        self._owners.pop(_digest(self._tokens[owner]), None)
        self._owners[_digest(token)] = owner
        self._tokens = tokens
        return token


@dataclass(frozen=True, slots=True, kw_only=True)
class Credentials:
    """What opens a server, and what it proves itself by.

    Attributes:
        tokens: the tokens of links.
        sessions: the sessions of browsers.
        proof: the proof of the server.
    """

    tokens: Tokens
    sessions: BrowserSessions
    proof: ServerProof

    def renew_link(self, owner: str) -> str:
        """Replace the token of an owner, end all that the old one opened, and return the new one.

        Raises:
            HostError: this cannot be stored.
        """
        token = self.tokens.renew(owner)
        self.sessions.end_all(owner)
        return token


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()
