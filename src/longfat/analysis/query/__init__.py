"""The catalog: the results of many runs, for queries in SQL.

`listing` finds the runs below a folder, and `kept` reads each once: `entry` from its
manifest, `rows` from its tools' output. `tables` and `series` are the tables made from
these, and `catalog` runs queries in DuckDB, by `database`.
"""

from longfat.analysis.query.catalog import Catalog, Reported
from longfat.analysis.query.columns import METRIC, Column, number_name, quoted
from longfat.analysis.query.database import Limits
from longfat.analysis.query.tables import OF_RUN, Table

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
