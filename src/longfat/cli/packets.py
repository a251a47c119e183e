"""`longfat packets`: show a capture's packets, streams and payload."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from longfat.analysis.packets.capture import MAX_PACKETS, frames_of, open_capture
from longfat.analysis.packets.decoders import choose_decoder
from longfat.analysis.packets.opened import capture_path, captures_of, open_packets, start_of
from longfat.cli.completion import complete_folder
from longfat.cli.console import echo, stderr, stdout
from longfat.cli.options import json_option
from longfat.cli.tables import plain_table, print_table
from longfat.cli.target import write_target
from longfat.errors import InputError
from longfat.execution.runs import load_run

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    from numpy.typing import NDArray
    from rich.console import Console

    from longfat.analysis.packets.opened import OpenedCapture

MAX_ROWS = 1000
"""How many packets are printed to a terminal, unless `--first` says how many."""

_HEADS = ("no.", "time", "source", "target", "protocol", "bytes", "what")
_GAP = "  "


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
    _print_decoder(opened)
    if save is not None:
        write_target(save, b"".join(opened.saved(text)), force=True)
        echo(f"{len(opened.chosen(text))} packets in {save}", err=True)
    elif details is not None:
        _print_details(opened, details, as_json)
    elif follow is not None:
        _print_followed(opened, follow, as_json)
    elif streams:
        _print_streams(opened, as_json)
    else:
        total = len(opened.chosen(text))
        if count is not None:
            total = sum(1 for _ in frames_of(opened.capture))
        _print_packets(opened, text, first, as_json, console=console, total=total)


def _opened(
    source: Path, probe: str | None, wanted: str | None, count: int | None
) -> OpenedCapture:
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
    return open_packets(path, name=f"{source}: {name}", epoch_ns=epoch_ns, **options)


def _print_decoder(opened: OpenedCapture) -> None:
    decoder = opened.decoder
    words = f"decoded by {decoder.name} {decoder.version}"
    stderr().print(f"{words}: {decoder.why}" if decoder.why else words, style="dim")
    if opened.about()["is_cut"]:
        stderr().print(f"only the first {len(opened.table):,} packets are decoded")


def _echo_json(found: Any) -> None:
    echo(json.dumps(found, indent=2))


def _print_details(opened: OpenedCapture, number: int, as_json: bool) -> None:
    found = opened.details(number)
    if as_json:
        _echo_json({"number": number, "text": found})
    else:
        echo(found.rstrip())


def _print_followed(opened: OpenedCapture, stream: int, as_json: bool) -> None:
    found = opened.followed(stream)
    if as_json:
        _echo_json({"stream": stream, "pieces": found})
        return
    for piece in found:
        if piece["more"]:
            echo("... (more is not shown)")
            continue
        arrow = "<" if piece["from"] else ">"
        lacks = piece["length"] - piece["captured"]
        gap = f" ({lacks} of {piece['length']} bytes were not captured)" if lacks > 0 else ""
        lines = piece["text"].splitlines() or [""]
        if lacks > 0 and not piece["text"]:
            echo(f"{arrow} ({piece['length']} bytes, not captured)")
            continue
        for line in lines:
            echo(f"{arrow} {line}")
        if gap:
            echo(f"{arrow}{gap}")


def _print_streams(opened: OpenedCapture, as_json: bool) -> None:
    found = opened.about()["streams"]
    if as_json:
        _echo_json({"streams": found})
        return
    table = plain_table("stream", "from", "to", "packets", "bytes →", "bytes ←", "retransmissions")
    for one in found:
        ends = [f"{end['address']}:{end['port']}" for end in one["ends"]]
        counts = (one["packets"], *one["bytes"], one["repeated"])
        table.add_row(str(one["number"]), *ends, *(f"{count:,}" for count in counts))
    print_table(table, console=stdout())


def _print_packets(
    opened: OpenedCapture,
    text: str,
    first: int | None,
    as_json: bool,
    *,
    console: Console,
    total: int,
) -> None:
    shown = opened.chosen(text)[:first]
    if as_json:
        _write_json(opened, shown, total)
        return
    if console.is_terminal and len(shown) <= MAX_ROWS:
        table = plain_table(*_HEADS)
        for cells in _cells(opened, shown):
            table.add_row(*cells)
        print_table(table, console=console)
    else:
        _write_lines(opened, shown)
    if len(shown) < total:
        echo(f"{total - len(shown):,} more packets pass: --first N prints N", err=True)


def _cells(opened: OpenedCapture, shown: NDArray[np.intp]) -> Iterator[tuple[str, ...]]:
    """Yield the cells of packets' rows."""
    wholes, texts = opened.table.wholes, opened.table.texts
    columns = (texts[name] for name in ("source", "target", "protocol", "info"))
    source, target, protocol, info = columns
    numbers = (wholes[name][shown].tolist() for name in ("number", "time", "length"))
    for index, number, time_ns, length in zip(shown.tolist(), *numbers, strict=True):
        time = f"{(time_ns - opened.epoch_ns) / 1e9:.9f}"
        ends = (source[index], target[index])
        yield (str(number), time, *ends, protocol[index], str(length), info[index])


def _write_lines(opened: OpenedCapture, shown: NDArray[np.intp]) -> None:
    """Print packets as they come, in columns that are as wide as they need to be."""
    widths = [len(head) for head in _HEADS]
    for cells in _cells(opened, shown):
        widths = list(map(max, widths, map(len, cells)))
    for cells in itertools.chain([_HEADS], _cells(opened, shown)):
        print(_GAP.join(map(str.ljust, cells, widths)).rstrip())


def _write_json(opened: OpenedCapture, shown: NDArray[np.intp], total: int) -> None:
    """Print packets as JSON, a line for each."""
    head = json.dumps({**opened.about(), "total": total}, indent=2)
    print(head.removesuffix("\n}"), end=',\n  "rows": [')
    before = ""
    for index in shown.tolist():
        row = opened.table.row(index, epoch_ns=opened.epoch_ns)
        print(f"{before}\n    {json.dumps(row)}", end="")
        before = ","
    print("\n  ]\n}")
