"""The credentials of a server: tokens of links, sessions of browsers, and its own proof.

An owner is whoever a link is for: a student of a class by the folder, or the only user.
"""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from longfat.studio.browser_sessions import BrowserSessions
    from longfat.studio.server_proof import ServerProof

SHORTEST_TOKEN = 32
"""The least number of characters of a stored token that is used again."""

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
