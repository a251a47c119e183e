"""The catalog: what many runs gave, to be asked in SQL.

`listing` says which runs lie below a folder, and `kept` reads of each what is
wanted, once: `entry` what its manifest says, `rows` what its tools wrote.
`tables` and `series` are the tables that are made of it, and `catalog` has queries
answered, by a process of their own: `isolated`.
"""

from longfat.analysis.query.catalog import Catalog, Reported
from longfat.analysis.query.columns import METRIC, Column, number_name, quoted
from longfat.analysis.query.isolated import Limits
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
