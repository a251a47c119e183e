"""The options of `longfat run` for a cluster."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from longfat.cli.executors import ExecutorOptions
from longfat.common.extras import need

if TYPE_CHECKING:
    from longfat_cluster.executor import Cluster

_PEM = click.Path(path_type=Path, dir_okay=False)
# The arguments of Dask's `Security`, by the parameters of our options.
_SECURITY = {
    "cluster_ca": "tls_ca_file",
    "cluster_cert": "tls_client_cert",
    "cluster_key": "tls_client_key",
}


def _check(values: Mapping[str, Any]) -> None:
    if _security(values) and values["cluster"] is None:
        raise click.UsageError("--cluster-ca, -cert and -key are for a cluster; add --cluster")


def _make(values: Mapping[str, Any], warn: Callable[[str], None]) -> Cluster | None:
    if values["cluster"] is None:
        return None
    need("cluster")
    # Dask takes a while to load.
    from longfat_cluster.executor import Cluster  # noqa: PLC0415

    return Cluster(scheduler=values["cluster"], security=_security(values) or None, warn=warn)


def _security(values: Mapping[str, Any]) -> dict[str, str]:
    """Return the arguments of Dask's `Security` that differ from Dask's configuration."""
    return {
        argument: str(values[name])
        for name, argument in _SECURITY.items()
        if values[name] is not None
    }


OPTIONS = ExecutorOptions(
    options={
        "cluster": click.option(
            "--cluster",
            metavar="URL",
            help="Run on a Dask cluster: its scheduler, tcp://HOST:PORT or tls://.",
        ),
        "cluster_ca": click.option(
            "--cluster-ca",
            type=_PEM,
            metavar="FILE",
            help="Of a cluster at tls://: the certificate of its CA, in PEM; default: as Dask is "
            "configured, like the next two.",
        ),
        "cluster_cert": click.option(
            "--cluster-cert", type=_PEM, metavar="FILE", help="Likewise: your certificate."
        ),
        "cluster_key": click.option(
            "--cluster-key", type=_PEM, metavar="FILE", help="Likewise: its key."
        ),
    },
    check=_check,
    make=_make,
)
"""The options and the executor that they select."""
