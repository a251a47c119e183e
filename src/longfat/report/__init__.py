"""Reports: the terminal's tables, figures, and a page that stands alone.

Three layers. `setup_lines`, `path`, `windows`, `series` and `iperf3_tables`
find out; `values` turns numbers into text; `terminal`, `figures`, `drawing`
and `page` show, and `files` writes.
"""

from longfat.report.files import ReportFiles, write_report
from longfat.report.iperf3_tables import iperf3_rich_table
from longfat.report.terminal import print_verdict

__all__ = ["ReportFiles", "iperf3_rich_table", "print_verdict", "write_report"]
