"""The connection to a scheduler of Dask distributed, and messages for its failures."""

from __future__ import annotations

import contextlib
import logging
from typing import TYPE_CHECKING

from distributed import Client
from distributed.comm.core import CommClosedError

from longfat.errors import HostError, InputError
from longfat.execution.cluster.admission import version_differences
from longfat.execution.cluster.tls import explained, security_of
from longfat.execution.cluster.workers import software

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from distributed.security import Security

    from longfat.execution.cluster.tls import Certificates

CONNECT_S = 10.0
_CLOSE_S = 3.0

_LOGGERS = ("distributed.client", "distributed.core", "distributed.comm", "distributed.batched")


@contextlib.asynccontextmanager
async def connected(scheduler: str, *, certificates: Certificates) -> AsyncIterator[Client]:
    """Connect to a scheduler for as long as the context lasts.

    Args:
        scheduler: its address, such as `tcp://10.0.0.1:8786` or `tls://10.0.0.1:8786`.
        certificates: for TLS.

    Raises:
        InputError: it is not an address, or the certificates are invalid for it.
        HostError: there is no scheduler, or it is incompatible.
    """
    security = security_of(certificates, scheduler=scheduler)
    with _quiet():
        client: Client = Client(
            scheduler,
            security=security,
            timeout=CONNECT_S,
            set_as_default=False,
            asynchronous=True,
        )
        try:
            await _connect(client, scheduler, security)
            await _check_scheduler(client, scheduler)
            yield client
        finally:
            with contextlib.suppress(Exception):
                await client.close(timeout=_CLOSE_S)


async def _connect(client: Client, scheduler: str, security: Security) -> None:
    try:
        await client
    except (ValueError, TypeError) as error:
        # Tornado's message where a scheduler without TLS has sent data before the handshake.
        if "not idle" in str(error):
            wrong = explained(error, scheduler=scheduler, security=security)
            if wrong is not None:
                raise wrong from error
        raise InputError(
            f"{scheduler!r} is not a scheduler's address; write tcp://HOST:8786: {error}"
        ) from error
    except (OSError, CommClosedError, RuntimeError) as error:
        if wrong := explained(error, scheduler=scheduler, security=security):
            raise wrong from error
        if isinstance(error, RuntimeError):
            raise
        raise HostError(
            f"no scheduler answers at {scheduler} (waited {CONNECT_S:g} s)",
            hint=f"start one with `dask scheduler`, and on each host `dask worker {scheduler}`",
        ) from error


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
