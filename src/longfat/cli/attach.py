"""`longfat attach`: another terminal in a session of `longfat shell`."""

from __future__ import annotations

import json
import sys
from typing import Any

import click
from rich.table import Table

from longfat.cli.console import echo, stdout
from longfat.cli.options import json_option
from longfat.common.suggest import listed, nearest
from longfat.errors import InputError
from longfat.live.shell import attach as attach_terminal
from longfat.live.shell import session_info, session_names
from longfat.live.shell.terminal import end_orderly
from longfat.model.network import ROOT_NAMESPACE


@click.command()
@click.argument("session", required=False)
@click.argument("node", required=False)
@click.option("--list", "lists", is_flag=True, help="List the sessions.")
@json_option("With --list: print a JSON list.")
def attach(session: str | None, node: str | None, *, lists: bool, as_json: bool) -> int:
    """Open a shell at NODE of a SESSION of another terminal.

    Where there is one session only, its name can be left out. NODE is a host, or
    root, which it is if left out, too.
    """
    if lists:
        if session is not None:
            raise click.UsageError("--list lists all sessions: name none")
        _list(as_json=as_json)
        return 0
    if as_json:
        raise click.UsageError("--json goes with --list")
    if not sys.stdin.isatty():
        raise InputError(
            "attach needs a terminal, and standard input is none; longfat shell runs the lines "
            "of a script"
        )
    end_orderly()
    name, place = _choose(session_names(), session, node)
    return attach_terminal(name, node=place, report=_status)


def _choose(names: list[str], session: str | None, node: str | None) -> tuple[str, str]:
    """Return the session and the node that the argument names."""
    if not names:
        raise InputError("there is no session; longfat shell opens one")
    if session in names:
        return session or "", node or ROOT_NAMESPACE
    if len(names) == 1 and node is None:
        # Of the only session its name can be left out: then this is a node.
        return names[0], session or ROOT_NAMESPACE
    if session is None:
        raise InputError(f"there are several sessions, name one: {listed(names)}")
    raise InputError(
        f"there is no session {session!r}{nearest(session, names)} (there are: {listed(names)})"
    )


def _list(*, as_json: bool) -> None:
    found = [about for name in session_names() if (about := session_info(name)) is not None]
    if as_json:
        echo(json.dumps(found, indent=2))
        return
    if not found:
        _status("there is no session; longfat shell opens one")
        return
    table = Table(box=None, pad_edge=False)
    for title in ("session", "kernel", "virtual time", "terminals", "nodes"):
        table.add_column(title, justify="right" if title == "virtual time" else "left")
    for about in found:
        table.add_row(*_row(about))
    stdout().print(table)


def _status(words: str) -> None:
    print(f"longfat: {words}", file=sys.stderr, flush=True)


def _row(about: dict[str, Any]) -> tuple[str, ...]:
    if "pid" not in about:
        return about["name"], "", "", "", "does not answer now"
    nodes = " ".join([*about["switches"], *about["hosts"]])
    time_s = f"{about['virtual_s']:.6f} s"
    return about["name"], about["kernel"], time_s, " ".join(about["terminals"]), nodes
