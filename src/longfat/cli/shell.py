"""`longfat shell`: a prompt in a live network."""

from __future__ import annotations

import io
import sys
import time
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
from longfat.cli.render.losses import print_losses
from longfat.common.terminal_console import TerminalConsole
from longfat.common.terminal_text import relative_path
from longfat.live.folders import check_places, read_bind
from longfat.live.shell import REAL_TIME, hold, open_live, plan_session, run_script
from longfat.live.shell.terminal import end_orderly
from longfat.live.shell.work_folder import holds_files, work_folder
from longfat.model.network import ROOT_NAMESPACE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from longfat.analysis.losses import Loss
    from longfat.live.folders import SharedFolder
    from longfat.live.shell import Plan
    from longfat.live.shell.work_folder import WorkFolder


@click.command()
@click.argument("network", required=False, shell_complete=complete_study)
@click.argument("node", default=ROOT_NAMESPACE)
@case_option()
@study_kernel_option()
@seed_option("Use this seed in place of the study's.")
@bind_option()
@pace_option(
    "While a command runs, let virtual time pass no faster than FACTOR times real time, or as fast "
    "as it can (max). Without it: 1 at a terminal, max for a script."
)
def shell(
    network: str | None,
    node: str,
    *,
    case: str | None,
    kernel: str | None,
    seed: int | None,
    binds: tuple[str, ...],
    pace: float | str | None,
) -> int:
    """Open NETWORK and give a prompt at NODE, a host or root.

    The switches are at root.

    NETWORK is a study file, a folder with a study.yaml, a lab's name or a MiniEdit file;
    without it, two hosts and a switch. Virtual time does not pass at the prompt. While a
    command runs it passes no faster than real time; Ctrl-] skips to the command's end.
    `longfat attach` opens another terminal in the same network.

    Shells work in a new folder runs/shell-NETWORK-1, or in the first of --bind DIR:rw; files
    that are made in it are kept.

    Where standard input is no terminal, its lines are run as a script, and the
    exit status is the script's.
    """
    end_orderly()
    plan = plan_session(network, case=case, kernel=kernel, seed=seed)
    for warning in plan.opened.warnings:
        _status(f"warning: {warning}")
    folders = check_places(read_bind(text) for text in binds)
    with work_folder(plan.name, folders) as work:
        if work.problem:
            _status(f"warning: files that shells make are not kept: {work.problem}")
        if work.is_new and work.shared is not None:
            folders = (*folders, work.shared)
        run = _run_terminal if sys.stdin.isatty() else _run_script
        try:
            return run(plan, folders, work, node=node, pace=pace)
        finally:
            if holds_files(work) and work.shared is not None:
                _status(f"files are in {relative_path(work.shared.path)}")


def _run_script(
    plan: Plan,
    folders: Sequence[SharedFolder],
    work: WorkFolder,
    *,
    node: str,
    pace: float | str | None,
) -> int:
    script = sys.stdin.buffer.read()
    with open_live(plan, node=node, factor=pace_factor(pace), folders=folders) as live:
        outputs = (sys.stdout.fileno(), sys.stderr.fileno())
        return run_script(live, script, node=node, folder=work.place, outputs=outputs)


def _run_terminal(
    plan: Plan,
    folders: Sequence[SharedFolder],
    work: WorkFolder,
    *,
    node: str,
    pace: float | str | None,
) -> int:
    started_s = time.monotonic()
    _status(f"{_summary(plan)}; booting ...")
    with open_live(plan, node=node, folders=folders) as live:

        def welcome(name: str) -> None:
            took = f"ready after {time.monotonic() - started_s:.1f} s"
            _status(f"{took}, Linux {live.session.kernel.release}; type help for the commands")
            _status(f"for another terminal: longfat attach {name}")
            if work.shared is not None:
                _status(f"files that you make are kept in {relative_path(work.shared.path)}")
            if pace is None:
                _status("a command takes its real time; Ctrl-] skips to its end")

        try:
            return hold(
                live,
                name=plan.name,
                node=node,
                folder=work.place,
                factor=pace_factor(pace, default=REAL_TIME),
                welcome=welcome,
                format_losses=_losses_text,
            )
        finally:
            virtual_s, wall_s = live.session.now_s, time.monotonic() - started_s
            _status(f"ended at {virtual_s:.6f} s of virtual time, after {wall_s:.1f} s")


def _losses_text(losses: Sequence[Loss], columns: int) -> str:
    if not losses:
        return "No packet was lost.\n"
    console = TerminalConsole(file=io.StringIO(), width=columns, no_color=True, highlight=False)
    with console.capture() as text:
        print_losses(losses, console=console)
    return text.get()


def _summary(plan: Plan) -> str:
    model = plan.opened.network
    counts = (
        (len(model.hosts), "host", "hosts"),
        (len(model.switches), "switch", "switches"),
        (len(model.links), "link", "links"),
    )
    parts = ", ".join(f"{count} {one if count == 1 else many}" for count, one, many in counts)
    return f"{plan.name}: {parts}, seed {plan.seed}"


def _status(words: str) -> None:
    print(f"longfat: {words}", file=sys.stderr, flush=True)
