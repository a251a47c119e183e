"""Reports: the terminal's tables, figures, and a standalone page.

Three layers. `windows`, `curves`, `series` and `iperf3_tables` compute; `values`
turns numbers into text; `terminal`, `figures` and `page` show, and
`rendering`, `plots` and `iperf3_plots` write. `files` makes only what does not exist already,
according to `origin` and `record`. Figures over time are drawn by `longfat.output.plot`.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from longfat.output.report.files import ReportFiles, report_page, write_report
    from longfat.output.report.iperf3_tables import iperf3_rich_table
    from longfat.output.report.terminal import print_verdict

# Programs that draw inside a machine import a few modules of this package and not all of it.
_MODULES = {
    "files": {"ReportFiles", "report_page", "write_report"},
    "iperf3_tables": {"iperf3_rich_table"},
    "terminal": {"print_verdict"},
}

__all__ = ["ReportFiles", "iperf3_rich_table", "print_verdict", "report_page", "write_report"]


def __getattr__(name: str) -> object:
    """Load a module when one of its names is first used."""
    for module, names in _MODULES.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
