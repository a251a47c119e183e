"""The catalog: the results of many runs, for queries in SQL.

`row_cache` finds the runs below a folder and reads each once, by `readings`. `tables` are the
tables made from these, and `catalog` runs queries in DuckDB, by `database`; `mistakes` explains
the errors of a query.
"""

from longfat.analysis.query.catalog import Catalog, Reported
from longfat.analysis.query.database import Limits
from longfat.analysis.query.tables import METRIC, OF_RUN, Column, Table, number_name, quoted

__all__ = [
    "METRIC",
    "OF_RUN",
    "Catalog",
    "Column",
    "Limits",
    "Reported",
    "Table",
    "number_name",
    "quoted",
]
