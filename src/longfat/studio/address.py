"""Where the studio listens, and whether that is allowed."""

from __future__ import annotations

import contextlib
import ipaddress
import ssl
from dataclasses import dataclass
from typing import TYPE_CHECKING

from longfat.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

FIRST_PORT = 8765
"""The port that is tried first if none is given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """Where the studio listens.

    Attributes:
        host: a name or address.
        port: the port; None for one that is free.
        i_know: the user accepts that the studio is reachable from other machines.
        tls_cert: the certificate's file; None without TLS.
        tls_key: the file of its key.
    """

    host: str = "127.0.0.1"
    port: int | None = None
    i_know: bool = False
    tls_cert: Path | None = None
    tls_key: Path | None = None

    @property
    def is_loopback(self) -> bool:
        """Return whether only this machine can reach it."""
        return _is_loopback(self.host)

    def check(self) -> None:
        """Check that access to the address is protected.

        Raises:
            InputError: it can be reached from other machines without --i-know or TLS, or the
                TLS files are not a certificate and its key.
        """
        if (self.tls_cert is None) != (self.tls_key is None):
            raise InputError("--tls-cert and --tls-key belong together: name both files")
        if not self.is_loopback:
            self._check_beyond()
        if self.tls_cert is not None:
            try:
                ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(self.tls_cert, self.tls_key)
            except (OSError, ValueError) as error:
                reason = getattr(error, "strerror", None) or str(error)
                raise InputError(
                    f"{self.tls_cert}, {self.tls_key}: not a certificate with its key: {reason}"
                ) from None

    def _check_beyond(self) -> None:
        if not self.i_know or self.tls_cert is None:
            raise InputError(
                f"--host {self.host}: other machines could reach it, and anyone who has the "
                "token can type at a shell: that needs --i-know, and --tls-cert and --tls-key"
            )
        with contextlib.suppress(ValueError):
            if ipaddress.ip_address(self.host).is_unspecified:
                raise InputError(
                    f"--host {self.host}: write the name or the address by which others reach "
                    "this machine, since requests for any other are rejected"
                )


def _is_loopback(host: str) -> bool:
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
