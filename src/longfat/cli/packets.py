"""`longfat packets`: show a capture's packets, streams and payload."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from longfat.analysis.packets.capture import MAX_PACKETS, frames_of, open_capture
from longfat.analysis.packets.decoded_capture import (
    capture_path,
    captures_of,
    opaque_ports,
    open_packets,
    start_of,
)
from longfat.analysis.packets.decoders import choose_decoder
from longfat.cli.completion import complete_folder
from longfat.cli.console import echo, stdout, write_target
from longfat.cli.options import json_option
from longfat.cli.render.packets import (
    MAX_ROWS,
    print_decoder,
    print_details,
    print_followed,
    print_packets,
    print_streams,
)
from longfat.errors import InputError
from longfat.execution.runs import load_run

if TYPE_CHECKING:
    from longfat.analysis.packets.decoded_capture import DecodedCapture


@click.command()
@click.argument(
    "source", metavar="RUN|FILE", type=click.Path(path_type=Path), shell_complete=complete_folder
)
@click.option("--probe", metavar="NAME", help="Which capture of RUN; not needed where it has one.")
@click.option(
    "--filter", "text", metavar="FILTER", default="", help="A display filter, as in Wireshark."
)
@click.option("--streams", is_flag=True, help="Print the TCP streams, not the packets.")
@click.option(
    "--follow",
    metavar="N",
    type=click.IntRange(min=0),
    help="Print the payload of TCP stream N.",
)
@click.option(
    "--details",
    metavar="N",
    type=click.IntRange(min=1),
    help="Print all that is known of packet N.",
)
@click.option(
    "--first",
    metavar="N",
    type=click.IntRange(min=0),
    help="Print at most N packets; by default a terminal gets 1000, a pipe all.",
)
@click.option(
    "--save",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Write the packets that pass as a pcapng file.",
)
@click.option("--decoder", metavar="NAME", help="tshark or dpkt; tshark where it is installed.")
@json_option()
def packets(
    source: Path,
    *,
    probe: str | None,
    text: str,
    streams: bool,
    follow: int | None,
    details: int | None,
    first: int | None,
    save: Path | None,
    decoder: str | None,
    as_json: bool,
) -> None:
    """Print the packets of a capture, decoded.

    RUN is a run directory with a capture probe, FILE a pcap or pcapng file. Times are
    seconds after the traffic's start in a run, after the first packet in a file. Such as:

    \b
    longfat packets runs/lab05/default-seed1 --filter tcp.analysis.retransmission
    longfat packets trace.pcap --follow 0
    """  # noqa: D301  \b keeps click from filling the lines up
    console = stdout()
    lists = save is None and details is None and follow is None and not streams
    if first is None and lists and console.is_terminal and not as_json:
        first = MAX_ROWS
    # Without a filter, what is not printed need not be decoded, which takes most of the time.
    count = None if first is None or not lists or text or as_json else max(1, first)
    opened = _opened(source, probe, decoder, count)
    print_decoder(opened)
    if save is not None:
        write_target(save, b"".join(opened.saved(text)), force=True)
        echo(f"{len(opened.chosen(text))} packets in {save}", err=True)
    elif details is not None:
        print_details(opened, details, as_json)
    elif follow is not None:
        print_followed(opened, follow, as_json)
    elif streams:
        print_streams(opened, as_json)
    else:
        total = len(opened.chosen(text))
        if count is not None:
            total = sum(1 for _ in frames_of(opened.capture))
        print_packets(opened, text, first, as_json, console=console, total=total)


def _opened(
    source: Path, probe: str | None, wanted: str | None, count: int | None
) -> DecodedCapture:
    """Open a capture; COUNT is the number of packets to decode, all if None."""
    options: dict[str, Any] = {} if count is None else {"count": min(count, MAX_PACKETS)}
    options["decoder"] = choose_decoder(wanted)
    if not source.is_dir():
        if probe is not None:
            raise InputError(f"{source}: a file has no probes: leave --probe out")
        epoch_ns = start_of(open_capture(source))
        return open_packets(source, name=str(source), epoch_ns=epoch_ns, **options)
    run = load_run(source)
    names = list(captures_of(run))
    if probe is None and len(names) > 1:
        raise InputError(f"{source}: it has {len(names)} captures: choose by --probe {names[0]}")
    name = probe or (names[0] if names else "")
    path = capture_path(run, name)
    epoch_ns = round(run.epoch_s * 1e9)
    options["opaque_ports"] = opaque_ports(run.case)
    return open_packets(path, name=f"{source}: {name}", epoch_ns=epoch_ns, **options)
