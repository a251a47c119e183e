"""`longfat session`: a live network for a program in any language, by JSON-RPC."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from longfat.cli.completion import complete_study
from longfat.cli.options import (
    bind_option,
    case_option,
    pace_factor,
    pace_option,
    seed_option,
    study_kernel_option,
)
from longfat.engine.kernel.version import NEWEST
from longfat.errors import InputError
from longfat.live.folders import check_places, read_bind
from longfat.live.network import Network
from longfat.live.process import size_bytes
from longfat.live.rpc import serve
from longfat.live.shell.terminal import end_orderly
from longfat.model.case import DEFAULT_MEMORY_BYTES
from longfat.model.network import Network as Model
from longfat.study.formats.open import Opened, open_network
from longfat.study.labs import find_study

if TYPE_CHECKING:
    from collections.abc import Callable

_NO_NODES = Opened(network=Model(hosts=(), switches=(), links=()))


@click.command()
@click.argument("network", required=False, shell_complete=complete_study)
@case_option()
@study_kernel_option()
@seed_option("Use this seed in place of the study's.")
@click.option("--memory", metavar="SIZE", help="Of the machine; default: the study's, or 2GB.")
@pace_option("Let time pass no faster than FACTOR times real time.")
@bind_option()
def session(
    network: str | None,
    *,
    case: str | None,
    kernel: str | None,
    seed: int | None,
    memory: str | None,
    pace: float | str | None,
    binds: tuple[str, ...],
) -> None:
    """Hold a live network for a program, by JSON-RPC 2.0 on a pipe.

    NETWORK is a study file, a folder with a study.yaml, a lab's name, a MiniEdit file or a
    Mininet script; without it, the network has no nodes yet. Each line of standard input is
    a request, and each of standard output an answer; virtual time does not pass between
    them. The machine ends at the end of standard input. `longfat schema session` prints the
    JSON Schema of the lines.
    """
    end_orderly()
    if network is None and case is not None:
        raise InputError(f"the case {case!r} of which study? Name it before --case")
    opened = None if network is None else open_network(find_study(network), case=case, by_hand=True)
    for warning in () if opened is None else opened.warnings:
        print(f"longfat: warning: {warning}", file=sys.stderr)
    folders = check_places(read_bind(text) for text in binds)

    def open_live(on_wait: Callable[[], None]) -> Network:
        found = opened or _NO_NODES
        default_bytes = found.memory_bytes or DEFAULT_MEMORY_BYTES
        live = Network.of(
            found.network,
            files=found.files,
            packages=found.packages,
            setup=found.setup,
            kernel=kernel or found.kernel or NEWEST,
            seed=next((one for one in (seed, found.seed) if one is not None), 1),
            memory_bytes=default_bytes if memory is None else size_bytes(memory),
            shared=folders,
            on_wait=on_wait,
        )
        live.clock.pace(pace_factor(pace))
        return live

    serve(open_live, requests=sys.stdin.fileno(), answers=sys.stdout.fileno())
