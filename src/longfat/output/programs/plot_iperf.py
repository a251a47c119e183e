"""`plot_iperf.sh REPORT`: the figures of an iperf3 report, and its rows as tables.

Files and columns are those of the script of the same name by the labs' authors
(https://github.com/ekfoury/iperf3_plotter): into `results`, a figure for each quantity and a
file `N.dat` for each stream; `iperf.csv` beside the report.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from longfat.errors import InputError
from longfat.model.traffic.iperf3_any import read_any_report
from longfat.output.programs.paths import check_arguments, path_outside, run
from longfat.output.report.figure_files import PlotRequest
from longfat.output.report.iperf3_files import draw_reports

if TYPE_CHECKING:
    from longfat.model.traffic.bulk import Interval

_NAME = "plot_iperf.sh"
_RESULTS = Path("results")
_CSV = Path("iperf.csv")
_CSV_COLUMNS = (
    "stream,start,end,seconds,bytes,bits_per_second,retransmits,snd_cwnd,rtt,rttvar,pmtu,omitted"
)


def main(arguments: list[str]) -> int:
    """Run it with these arguments; return its exit status."""
    return run(_NAME, lambda: _plot(arguments))


def _plot(arguments: list[str]) -> int:
    check_arguments(arguments, "plot_iperf.sh REPORT, a file that `iperf3 -J` wrote")
    report = read_any_report(Path(arguments[0]))
    request = PlotRequest(forms=("pdf",), font_subsets=False, constants=True)
    plotted = draw_reports([report], request, out=_RESULTS)
    try:
        tables = _write_tables(report.streams)
    except OSError as error:
        raise InputError(f"{_RESULTS}: cannot be written: {error.strerror}") from None
    for note in plotted.notes:
        print(note)
    names = [path.name for path in (*plotted.files, *tables)]
    print(f"{_RESULTS}: {', '.join(names)}")
    if (outside := path_outside(str(_RESULTS))) is not None:
        print(f"on your computer: {outside}")
    return 0


def _write_tables(streams: tuple[tuple[Interval, ...], ...]) -> list[Path]:
    """Write the tables; those of more streams of an earlier report are removed.

    Returns:
        The tables in `results`.
    """
    rows = [
        _csv_row(number, row) for number, stream in enumerate(streams, start=1) for row in stream
    ]
    _CSV.write_text("\n".join([_CSV_COLUMNS, *rows, ""]), encoding="ascii")
    for path in _RESULTS.iterdir():
        if re.fullmatch(r"[0-9]+\.dat", path.name):
            path.unlink()
    paths = []
    for number, stream in enumerate(streams, start=1):
        path = _RESULTS / f"{number}.dat"
        lines = [_dat_row(number, row) for row in stream]
        path.write_text("\n".join([*lines, ""]), encoding="ascii")
        paths.append(path)
    return paths


def _csv_row(number: int, row: Interval) -> str:
    values = [
        *(row.start_s, row.end_s, row.end_s - row.start_s, row.bytes, row.bps),
        *(row.retransmits, row.cwnd_bytes, _scaled(row.rtt_s, 1e6)),
        *(_scaled(row.rttvar_s, 1e6), row.pmtu_bytes),
    ]
    return ",".join([str(number), *(_text(value, "") for value in values), _flag(row.omitted)])


def _dat_row(number: int, row: Interval) -> str:
    """Return a line of a table for gnuplot, which takes `nan` for a value that is missing.

    Columns: stream, start and end in s, MBytes (2**20), Mbit/s (10**6), retransmitted segments,
    congestion window in KBytes (2**10), RTT and its variation in µs, MTU in bytes, omitted.
    """
    cwnd_kbytes = None if row.cwnd_bytes is None else row.cwnd_bytes / 1024
    values = [
        *(row.start_s, row.end_s, row.bytes / 2**20, row.bps / 1e6, row.retransmits, cwnd_kbytes),
        *(_scaled(row.rtt_s, 1e6), _scaled(row.rttvar_s, 1e6), row.pmtu_bytes),
    ]
    return " ".join([str(number), *(_text(value, "nan") for value in values), _flag(row.omitted)])


def _scaled(value: float | None, factor: float) -> float | None:
    return None if value is None else value * factor


def _text(value: float | None, missing: str) -> str:
    """Return a number with a resolution of a millionth and without trailing zeros."""
    if value is None:
        return missing
    return f"{value:.6f}".rstrip("0").rstrip(".")


def _flag(value: bool) -> str:
    return "1" if value else "0"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
