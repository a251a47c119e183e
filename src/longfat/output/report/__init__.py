"""Reports: the terminal's tables, figures, and a standalone page.

Three layers. `windows`, `curves`, `series` and `iperf3_tables` compute; `values`
turns numbers into text; `terminal`, `figures` and `page` show, and
`rendering` and `plots` write. `files` makes only what does not exist already, according to
`origin` and `record`. Figures over time are drawn by `longfat.output.plot`.
"""

from longfat.output.report.files import ReportFiles, report_page, write_report
from longfat.output.report.iperf3_tables import iperf3_rich_table
from longfat.output.report.terminal import print_verdict

__all__ = ["ReportFiles", "iperf3_rich_table", "print_verdict", "report_page", "write_report"]
