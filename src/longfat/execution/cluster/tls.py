"""TLS to a scheduler: certificates by options or Dask's configuration, and readable errors.

Dask checks that a certificate is signed by the cluster's CA. It checks neither the
name in it nor its purpose: every certificate of that CA is valid for a client, a
worker and a scheduler. Source: "TLS/SSL" in Dask distributed's documentation.
"""

from __future__ import annotations

import socket
import ssl
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from distributed.security import Security

from longfat.errors import HostError, InputError, LongfatError

_PROTOCOL = "tls://"
_PROBE_S = 5.0
_OPTIONS = "--cluster-ca, --cluster-cert and --cluster-key"
_CONFIGURATION = (
    "DASK_DISTRIBUTED__COMM__TLS__CA_FILE, ..__TLS__CLIENT__CERT and ..__TLS__CLIENT__KEY"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificates:
    """The files that a client presents and trusts, in PEM; None for those of Dask's configuration.

    Attributes:
        ca: the certificate of the CA that has signed those of the cluster.
        cert: the client's certificate.
        key: its key; it may be in the file of the certificate instead.
    """

    ca: Path | None = None
    cert: Path | None = None
    key: Path | None = None


def security_of(certificates: Certificates, *, scheduler: str) -> Security:
    """Return Dask's security options for a connection.

    Args:
        certificates: the caller's files.
        scheduler: the scheduler's address.

    Raises:
        InputError: a certificate is missing or invalid, or the scheduler does not use TLS.
    """
    named = {
        "tls_ca_file": certificates.ca,
        "tls_client_cert": certificates.cert,
        "tls_client_key": certificates.key,
    }
    try:
        security = Security(**{field: str(path) for field, path in named.items() if path})
    except (ValueError, TypeError) as error:
        raise InputError(f"Dask's configuration of TLS is wrong: {error}") from error
    if not scheduler.startswith(_PROTOCOL):
        if any(named.values()):
            raise InputError(
                f"certificates are for a scheduler at tls://HOST:8786, which {scheduler!r} is not"
            )
        return security
    files = _files(security)
    if files["ca_file"] is None or files["cert"] is None:
        raise InputError(
            f"{scheduler}: TLS needs the CA's certificate, a certificate of your own and its key:"
            f" {_OPTIONS}, or {_CONFIGURATION}"
        )
    _check(security, [file for file in files.values() if file])
    return security


def explained(error: Exception, *, scheduler: str, security: Security) -> LongfatError | None:
    """Return the TLS error for a failed connection; None if there is none.

    Dask reports it only in some cases, and a timeout otherwise:
    so the handshake is tried once more.

    Args:
        error: the exception of Dask.
        scheduler: the scheduler's address.
        security: as of `security_of`.
    """
    if "encryption required" in str(error):
        return InputError(
            f"Dask is configured to require encryption here, which {scheduler!r} does not have:"
            " write tls://HOST:8786"
        )
    if scheduler.startswith(_PROTOCOL):
        context = security.get_connection_args("client")["ssl_context"]
        return _explained_tls(_handshake(scheduler, context), scheduler, _files(security))
    stranger = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    stranger.check_hostname = False
    stranger.verify_mode = ssl.CERT_NONE
    refusal = _handshake(scheduler, stranger)
    # It requests a certificate, or nothing: both are TLS.
    if refusal is None or "ALERT" not in refusal:
        return None
    return InputError(
        f"the scheduler at {scheduler} uses TLS: write {_with_tls(scheduler)}, and specify"
        f" certificates with {_OPTIONS}"
    )


def _explained_tls(
    refusal: str | None, scheduler: str, files: dict[str, str | None]
) -> LongfatError | None:
    if refusal is None:
        return None
    if "WRONG_VERSION_NUMBER" in refusal:
        plain = scheduler.replace(_PROTOCOL, "tcp://", 1)
        return InputError(
            f"the scheduler at {scheduler} does not use TLS: start it with certificates"
            f" (dask scheduler --protocol tls --tls-ca-file ...), or write {plain}"
        )
    if "CERTIFICATE_VERIFY_FAILED" in refusal:
        reason = refusal.partition("certificate verify failed: ")[2].partition(" (_ssl")[0]
        return HostError(
            f"the certificate of the scheduler at {scheduler} is not accepted:"
            f" {reason or 'it cannot be verified'}",
            hint=f"specify the CA that has signed it: --cluster-ca FILE, instead of"
            f" {files['ca_file']}",
        )
    if "ALERT" in refusal:
        return HostError(
            f"the scheduler at {scheduler} does not accept the certificate in"
            f" {files['cert']}: {_alert(refusal)}",
            hint="use one that the cluster's CA has signed: --cluster-cert, --cluster-key",
        )
    return None


def _handshake(scheduler: str, context: ssl.SSLContext) -> str | None:
    """Start TLS with a server and wait for its response.

    Returns:
        OpenSSL's error; None if there is none, or no server.
    """
    try:
        parts = urlsplit(scheduler if "://" in scheduler else f"tcp://{scheduler}")
        address = (parts.hostname or "", parts.port or 0)
        with (
            socket.create_connection(address, timeout=_PROBE_S) as plain,
            context.wrap_socket(plain) as wrapped,
        ):
            # In TLS 1.3 a server checks our certificate after our side of the handshake is done.
            wrapped.recv(1)
    except ssl.SSLError as error:
        return str(error)
    except (OSError, ValueError):
        pass
    return None


def _alert(refusal: str) -> str:
    """Return the alert of the other end, such as `unknown ca`."""
    name = refusal.partition("ALERT_")[2].partition("]")[0]
    return name.replace("_", " ").lower() or "without a reason"


def _with_tls(scheduler: str) -> str:
    return f"{_PROTOCOL}{urlsplit(scheduler).netloc or scheduler}"


def _files(security: Security) -> dict[str, str | None]:
    """Return the files that a client uses."""
    found = security.get_tls_config_for_role("client")
    return {name: found[name] for name in ("ca_file", "cert", "key")}


def _check(security: Security, files: list[str]) -> None:
    for file in files:
        if "\n" not in file:  # otherwise it is the certificate itself
            try:
                Path(file).read_bytes()
            except OSError as error:
                raise InputError(f"{file}: cannot be read: {error.strerror}") from None
    try:
        security.get_connection_args("client")
    except (OSError, ValueError) as error:  # an ssl.SSLError is an OSError
        reason = str(getattr(error, "reason", None) or error).replace("_", " ").lower()
        raise InputError(
            f"{', '.join(files)}: not certificates in PEM, or not a matching key: {reason}"
        ) from None
