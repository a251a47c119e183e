"""Opens a live network by name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from longfat.common.suggest import listed, nearest
from longfat.engine.kernel.version import NEWEST
from longfat.errors import InputError
from longfat.live.network import Network
from longfat.live.programs import install_programs, package_folders
from longfat.model.case import DEFAULT_MEMORY_BYTES
from longfat.model.network import ROOT_NAMESPACE, Host, Link, LinkImpairments, Switch
from longfat.model.network import Network as Model
from longfat.study import STUDY_FILE
from longfat.study.formats.open import Opened, open_network
from longfat.study.labs import find_study

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from longfat.live.folders import SharedFolder

# Something to send through: TCP over a link without a rate would never be done with a second.
_SHAPE = LinkImpairments(rate_bps=10**9, delay_s=0.001)

PLAIN = Opened(
    network=Model(
        hosts=(Host(name="h1", address="10.0.0.1/8"), Host(name="h2", address="10.0.0.2/8")),
        switches=(Switch(name="s1"),),
        links=tuple(Link(a=host, b="s1", a_to_b=_SHAPE, b_to_a=_SHAPE) for host in ("h1", "h2")),
    )
)
"""The default network: two hosts and a switch."""

PLAIN_NAME = "plain"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A network to open.

    Attributes:
        name: its name.
        opened: the network and what belongs to it.
        kernel: the kernel's version.
        seed: determines random numbers.
    """

    name: str
    opened: Opened
    kernel: str
    seed: int


def plan_session(
    what: str | None, *, case: str | None, kernel: str | None, seed: int | None
) -> Plan:
    """Find and read a study or a network file.

    Args:
        what: a study file, a folder with one, the name of a lab, or a MiniEdit file; the
            plain network, if None.
        case: the case of the study with the network and lines; without it, the network
            for manual work: see `open_network`.
        kernel: the kernel to use in place of the study's.
        seed: likewise the seed.

    Raises:
        InputError: there is no such thing, or something in it is wrong.
    """
    if what is None:
        if case is not None:
            raise InputError(f"the case {case!r} of which study? Specify it before --case")
        name, opened = PLAIN_NAME, PLAIN
    else:
        path = find_study(what)
        name, opened = _name(path), open_network(path, case=case, by_hand=True)
    return Plan(
        name=name,
        opened=opened,
        kernel=kernel or opened.kernel or NEWEST,
        seed=seed if seed is not None else (1 if opened.seed is None else opened.seed),
    )


def open_live(
    plan: Plan, *, node: str, factor: float | None = None, folders: Sequence[SharedFolder] = ()
) -> Network:
    """Boot a machine, build the network in it, and install the programs for people.

    Args:
        plan: what to open.
        node: the node for a shell.
        factor: the pace, see `longfat.live.Clock.pace`; None to control it later.
        folders: folders of the host that the machine sees.

    Raises:
        InputError: there is no such node, two folders have the same path, or a set-up line
            failed.
        HostError: the host lacks the kernel, or what a sandbox needs.
    """
    model = plan.opened.network
    nodes = [
        ROOT_NAMESPACE,
        *(one.name for one in model.switches),
        *(one.name for one in model.hosts),
    ]
    if node not in nodes:
        raise InputError(
            f"{plan.name} has no node {node!r}{nearest(node, nodes)} (it has: {listed(nodes)})"
        )
    network = Network.of(
        model,
        files=plan.opened.files,
        packages=plan.opened.packages,
        setup=plan.opened.setup,
        kernel=plan.kernel,
        seed=plan.seed,
        memory_bytes=plan.opened.memory_bytes or DEFAULT_MEMORY_BYTES,
        shared=(*package_folders(), *folders),
    )
    install_programs(network.session, folders)
    # In this time Linux marks each interface as up.
    network.session.run_until(until_ns=network.session.now_ns + 10**9)
    if factor is not None:
        network.clock.pace(factor)
    return network


def _name(path: Path) -> str:
    if path.is_dir() or path.name == STUDY_FILE:
        folder = path if path.is_dir() else path.parent
        return folder.resolve().name
    return path.stem
