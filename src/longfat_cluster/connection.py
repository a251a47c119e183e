"""The connection to a scheduler of Dask distributed, and messages for its failures.

TLS is Dask's: its `Security` names the certificates, or its configuration does. Dask checks
that a certificate is signed by the cluster's CA. It checks neither the name in it nor its
purpose: every certificate of that CA is valid for a client, a worker and a scheduler.
Source: "TLS/SSL" in Dask distributed's documentation.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING

from distributed import Client
from distributed.comm.core import CommClosedError

from longfat.errors import HostError, InputError
from longfat_cluster.worker import software

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from distributed.security import Security

CONNECT_S = 10.0
_CLOSE_S = 3.0

_LOGGERS = ("distributed.client", "distributed.core", "distributed.comm", "distributed.batched")
_ADDRESSES = (
    "a scheduler without TLS is at tcp://HOST:8786; one with TLS is at tls://HOST:8786, and needs"
    " certificates that its CA has signed: --cluster-ca, --cluster-cert and --cluster-key, or"
    " Dask's configuration (distributed.comm.tls)"
)


@contextlib.asynccontextmanager
async def connected(
    scheduler: str, *, security: Security | Mapping[str, str] | None
) -> AsyncIterator[Client]:
    """Connect to a scheduler for as long as the context lasts.

    Args:
        scheduler: its address, such as `tcp://10.0.0.1:8786` or `tls://10.0.0.1:8786`.
        security: Dask's, or the arguments of it; that of Dask's configuration, if None.

    Raises:
        InputError: it is not an address, or the certificates cannot be used for it.
        HostError: there is no scheduler, or it is incompatible.
    """
    with _quiet():
        client = _client(scheduler, security)
        try:
            await _connect(client, scheduler)
            await _check_scheduler(client, scheduler)
            yield client
        finally:
            with contextlib.suppress(Exception):
                await client.close(timeout=_CLOSE_S)


def _client(scheduler: str, security: Security | Mapping[str, str] | None) -> Client:
    try:
        client: Client = Client(
            scheduler,
            security=dict(security) if isinstance(security, Mapping) else security,
            timeout=CONNECT_S,
            set_as_default=False,
            asynchronous=True,
        )
    except (OSError, ValueError, TypeError) as error:  # an ssl.SSLError is an OSError
        # OpenSSL names no file.
        files = ", ".join(security.values()) if isinstance(security, Mapping) else "Dask's"
        raise InputError(
            f"the certificates for {scheduler} ({files}) cannot be used: {error}; they must be"
            " files in PEM, the key that of the certificate"
        ) from error
    return client


async def _connect(client: Client, scheduler: str) -> None:
    try:
        await client
    except CommClosedError as error:
        raise HostError(
            f"the connection to the scheduler at {scheduler} was closed: {_cause(error)}",
            hint=_ADDRESSES,
        ) from error
    except OSError as error:
        raise HostError(
            f"no scheduler answers at {scheduler} (waited {CONNECT_S:g} s)",
            hint=f"start one with `dask scheduler`, and on each host `dask worker {scheduler}`",
        ) from error
    # Also Tornado's where a scheduler without TLS has sent data before the handshake, and Dask's
    # where there are certificates for an address without TLS, or none for one with it.
    except (ValueError, TypeError, RuntimeError) as error:
        raise InputError(f"cannot connect to {scheduler!r}: {error}; {_ADDRESSES}") from error


def _cause(error: BaseException) -> str:
    """Return the message of the first of the exceptions that have led to one."""
    while (earlier := error.__cause__ or error.__context__) and str(earlier):
        error = earlier
    return str(error)


def lost(scheduler: str) -> HostError:
    """Return the error for a lost connection to the scheduler."""
    return HostError(
        f"the connection to the scheduler at {scheduler} is lost; finished runs are kept",
        hint=f"start it again (`dask scheduler`, `dask worker {scheduler}`) and repeat the command",
    )


async def _check_scheduler(client: Client, scheduler: str) -> None:
    """Check that the scheduler can relay longfat's tasks: it has to import their classes."""
    hint = "start scheduler and workers from an environment like this one's"
    try:
        remote = await client.run_on_scheduler(software)
    except ImportError as error:
        raise HostError(
            f"longfat is not installed where the scheduler at {scheduler} runs: {error}",
            hint=hint,
        ) from error
    except Exception as error:  # another version of Dask may raise anything
        raise HostError(
            f"the scheduler at {scheduler} is incompatible: {error}", hint=hint
        ) from error
    if found := version_differences(remote, software()):
        raise HostError(f"the scheduler at {scheduler}: {', '.join(found)}", hint=hint)


def version_differences(remote: Mapping[str, str], local: Mapping[str, str]) -> list[str]:
    """Return which versions differ, as text.

    Args:
        remote: versions by name, of a scheduler or worker.
        local: those of this host.
    """
    return [
        f"{name}: {remote.get(name, 'not installed')} there,"
        f" must be {local.get(name, 'not installed')} as here"
        for name in sorted({*remote, *local})
        if remote.get(name) != local.get(name)
    ]


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Suppress Dask's log messages about errors that longfat reports."""
    loggers = [logging.getLogger(name) for name in _LOGGERS]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
