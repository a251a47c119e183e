"""Reports: the terminal's tables, figures, and a page that stands alone.

Three layers. `windows`, `curves`, `series` and `iperf3_tables` find out; `values`
turns numbers into text; `terminal`, `drawing`, `exhibits` and `page` show, and
`rendering` and `plots` write. `files` has only that made which is not there already, as
`origin` and `record` say. Figures over time are drawn by `longfat.output.plot`.
"""

from longfat.output.report.files import ReportFiles, report_page, write_report
from longfat.output.report.iperf3_tables import iperf3_rich_table
from longfat.output.report.terminal import print_verdict

__all__ = ["ReportFiles", "iperf3_rich_table", "print_verdict", "report_page", "write_report"]
