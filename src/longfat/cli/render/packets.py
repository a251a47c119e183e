"""The packets, streams and payload of a capture, as `longfat packets` prints them."""

from __future__ import annotations

import itertools
import json
from typing import TYPE_CHECKING, Any

from longfat.cli.console import echo, stderr, stdout
from longfat.cli.render.tables import plain_table, print_table

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    from numpy.typing import NDArray
    from rich.console import Console

    from longfat.analysis.packets.decoded_capture import DecodedCapture

MAX_ROWS = 1000
"""How many packets are printed to a terminal, unless `--first` says how many."""

_HEADS = ("no.", "time", "source", "target", "protocol", "bytes", "what")
_GAP = "  "


def print_decoder(opened: DecodedCapture) -> None:
    """Print to standard error which decoder is used, and whether it decodes all packets."""
    decoder = opened.decoder
    words = f"decoded by {decoder.name} {decoder.version}"
    stderr().print(f"{words}: {decoder.why}" if decoder.why else words, style="dim")
    if opened.about()["is_cut"]:
        stderr().print(f"only the first {len(opened.table):,} packets are decoded")


def _echo_json(found: Any) -> None:
    echo(json.dumps(found, indent=2))


def print_details(opened: DecodedCapture, number: int, as_json: bool) -> None:
    """Print all that is known of a packet, by its number."""
    found = opened.details(number)
    if as_json:
        _echo_json({"number": number, "text": found})
    else:
        echo(found.rstrip())


def print_followed(opened: DecodedCapture, stream: int, as_json: bool) -> None:
    """Print the payload of a TCP stream, by its number: `>` from its client, `<` to it."""
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


def print_streams(opened: DecodedCapture, as_json: bool) -> None:
    """Print the TCP streams of a capture."""
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


def print_packets(
    opened: DecodedCapture,
    text: str,
    first: int | None,
    as_json: bool,
    *,
    console: Console,
    total: int,
) -> None:
    """Print the packets that pass a filter.

    Args:
        opened: the capture.
        text: the filter; empty for none.
        first: how many to print at most; all if `None`.
        as_json: print JSON in place of a table.
        console: where to print.
        total: how many packets pass, printed or not.
    """
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


def _cells(opened: DecodedCapture, shown: NDArray[np.intp]) -> Iterator[tuple[str, ...]]:
    """Yield the cells of packets' rows."""
    wholes, texts = opened.table.wholes, opened.table.texts
    columns = (texts[name] for name in ("source", "target", "protocol", "info"))
    source, target, protocol, info = columns
    numbers = (wholes[name][shown].tolist() for name in ("number", "time", "length"))
    for index, number, time_ns, length in zip(shown.tolist(), *numbers, strict=True):
        time = f"{(time_ns - opened.epoch_ns) / 1e9:.9f}"
        ends = (source[index], target[index])
        yield (str(number), time, *ends, protocol[index], str(length), info[index])


def _write_lines(opened: DecodedCapture, shown: NDArray[np.intp]) -> None:
    """Print packets as they come, in columns that are as wide as they need to be."""
    widths = [len(head) for head in _HEADS]
    for cells in _cells(opened, shown):
        widths = list(map(max, widths, map(len, cells)))
    for cells in itertools.chain([_HEADS], _cells(opened, shown)):
        print(_GAP.join(map(str.ljust, cells, widths)).rstrip())


def _write_json(opened: DecodedCapture, shown: NDArray[np.intp], total: int) -> None:
    """Print packets as JSON, a line for each."""
    head = json.dumps({**opened.about(), "total": total}, indent=2)
    print(head.removesuffix("\n}"), end=',\n  "rows": [')
    before = ""
    for index in shown.tolist():
        row = opened.table.row(index, epoch_ns=opened.epoch_ns)
        print(f"{before}\n    {json.dumps(row)}", end="")
        before = ","
    print("\n  ]\n}")
