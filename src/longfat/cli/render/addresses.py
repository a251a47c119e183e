"""Addresses and routes of a network as tables, and as data."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from rich.text import Text

from longfat.cli.render.tables import plain_table, print_heading, print_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from longfat.model.network.address_table import HostRows

_WRITTEN = "written"


def print_addresses(hosts: Sequence[HostRows], *, title: str, console: Console) -> None:
    """Print the addresses and routes of hosts.

    Args:
        hosts: the hosts.
        title: the study's title.
        console: where to print.
    """
    console.print(Text(title, style="bold"))
    print_heading(console, "Addresses")
    table = plain_table("host", "interface", "address", "towards", "")
    for host in hosts:
        for number, row in enumerate(host.interfaces):
            table.add_row(
                Text("" if number else host.name, style="bold"),
                Text(row.interface),
                Text(row.address or "none"),
                Text(row.peer),
                Text(_WRITTEN if row.is_written else "", style="dim"),
            )
    print_table(table, console=console)
    if not any(host.routes for host in hosts):
        return
    print_heading(console, "Routes")
    table = plain_table("host", "to", "via", "router", "")
    for host in hosts:
        for number, route in enumerate(host.routes):
            for hop, (via, router) in enumerate(zip(route.via, route.routers, strict=True)):
                table.add_row(
                    Text("" if number or hop else host.name, style="bold"),
                    Text("" if hop else route.to),
                    Text(via),
                    Text(router),
                    Text(_WRITTEN if route.is_written and not hop else "", style="dim"),
                )
    print_table(table, console=console)


def addresses_json(hosts: Sequence[HostRows], *, title: str) -> dict[str, Any]:
    """Return the addresses and routes of hosts as plain data."""
    return {"title": title, "hosts": [asdict(host) for host in hosts]}
