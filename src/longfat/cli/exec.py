"""`longfat exec`: run a command in a fresh machine, in virtual time."""

from __future__ import annotations

import os
import shlex
import signal
import sys
from pathlib import Path

import click

from longfat.cli.options import bind_option, pace_factor, pace_option, seed_option
from longfat.engine.kernel.version import NEWEST
from longfat.engine.machine.watchdog import STALL_CPU_S
from longfat.errors import ExitCode, InputError
from longfat.live.exec import Order, execute
from longfat.live.exec.pipes import Interrupted
from longfat.live.folders import check_places, folder_inside, hidden_arguments, read_bind
from longfat.live.process import seconds, size_bytes
from longfat.live.task import RejectedError


@click.command(context_settings={"allow_interspersed_args": False})
@click.argument("command", nargs=-1, required=True, metavar="[--] COMMAND [ARGUMENT]...")
@click.option("--kernel", metavar="VERSION", default=NEWEST, show_default=True)
@seed_option("Decides all random numbers in the machine.", default=1)
@click.option("--memory", metavar="SIZE", default="2GB", show_default=True)
@click.option("--ovs", is_flag=True, help="Start Open vSwitch first.")
@click.option(
    "--separate-kernels",
    is_flag=True,
    help="Charge a packet to its socket only until it leaves its network namespace, as on "
    "separate computers.",
)
@bind_option()
@click.option("--cwd", metavar="DIR", help="Where it runs, as it sees it; default: here.")
@click.option(
    "--env",
    "environment",
    multiple=True,
    metavar="NAME[=VALUE]",
    help="Set this variable, or pass it on; repeatable. No other is passed on.",
)
@click.option(
    "--typed",
    is_flag=True,
    help="Give it a terminal, and type the lines of standard input at its prompts.",
)
@click.option(
    "--timeout", metavar="TIME", help="End it after so much virtual time, with exit status 124."
)
@pace_option("Let time pass no faster than FACTOR times real time.")
@click.option(
    "--stall",
    "stall_cpu_s",
    type=click.FloatRange(min=1),
    metavar="SECONDS",
    default=STALL_CPU_S,
    show_default=True,
    help="So much CPU time it may use while no virtual time passes.",
)
@click.option("--time", "prints_time", is_flag=True, help="At the end, print how long it took.")
def exec(  # noqa: A001  the command's name
    command: tuple[str, ...],
    *,
    kernel: str,
    seed: int,
    memory: str,
    ovs: bool,
    separate_kernels: bool,
    binds: tuple[str, ...],
    cwd: str | None,
    environment: tuple[str, ...],
    typed: bool,
    timeout: str | None,
    pace: float | str | None,
    stall_cpu_s: float,
    prints_time: bool,
) -> int:
    """Run COMMAND as root in a fresh machine, in virtual time.

    It sees this host's programs (/usr), and of other files what --bind shows. What it
    writes to /etc, /var, /home, /root, /srv, /opt and /tmp is gone at its end; all else
    is read-only, apart from --bind DIR:rw. There is no network but what it makes. Input,
    outputs and exit status are the command's; with its end the machine ends, and all that
    it left running.
    """
    folders = check_places(read_bind(text) for text in binds)
    if cwd is not None and not cwd.startswith("/"):
        raise InputError(f"--cwd {cwd}: give a whole path, as the command sees it")
    order = Order(
        argv=command,
        kernel=kernel,
        seed=seed,
        memory_bytes=size_bytes(memory),
        folder=cwd if cwd is not None else folder_inside(_here(), folders),
        folders=folders,
        environment=_environment(environment),
        is_typed=typed,
        open_vswitch=ovs,
        separate_kernels=separate_kernels,
        factor=pace_factor(pace),
        timeout_s=None if timeout is None else seconds(timeout),
        stall_cpu_s=stall_cpu_s,
    )
    for word in hidden_arguments(command, here=_here(), shared=folders):
        folder = shlex.quote(str(Path(word).parent))
        _status(f"hint: the machine does not see {word}; show it its folder: --bind {folder}")
    try:
        ending = execute(order)
    except RejectedError as error:
        _status(str(error))
        return error.status
    except Interrupted as interrupted:
        _status(f"the machine was ended by {signal.Signals(interrupted.number).name}")
        return 128 + interrupted.number
    except BrokenPipeError:
        return ExitCode.BROKEN_PIPE
    if prints_time:
        _status(_took(ending.virtual_s, ending.wall_s))
    return ending.status


def _here() -> Path:
    try:
        return Path.cwd()
    except OSError:  # it was removed
        return Path("/")


def _environment(given: tuple[str, ...]) -> dict[str, str]:
    found = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not name:
            raise InputError(f"--env {text}: there is no name before the =")
        if equals:
            found[name] = value
        elif name in os.environ:
            found[name] = os.environ[name]
        else:
            raise InputError(f"--env {name}: it is not set here; give a value: {name}=VALUE")
    return found


def _took(virtual_s: float, wall_s: float) -> str:
    return (
        f"{virtual_s:.6f} s of virtual time in {wall_s:.2f} s,"
        f" {virtual_s / max(wall_s, 1e-9):.3g}x real time"
    )


def _status(words: str) -> None:
    print(f"longfat: {words}", file=sys.stderr, flush=True)
