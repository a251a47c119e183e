"""Proof of the server's identity: a page verifies who has the port before it sends anything.

When a server has ended, another program may take its port. An open page would send it its cookie
and what was drawn. So each page has a key, which came with the page itself. Before a request it
sends a random number without its cookie, and this server answers with the number's HMAC.

The key is derived from the public id of the page's session by a secret of the server's. So there
is an answer for each id, whether there is such a session or not: answers reveal nothing about
sessions, and a page whose session has ended still knows its server, and learns that it has ended.

The HMAC covers the origin that the page is at. A program that has taken the port cannot pass the
number on to the true server, which has moved to another one, and pass the answer back.
"""

from __future__ import annotations

import hashlib
import hmac
import re

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
