"""`longfat query`: query all runs and series in SQL."""

from __future__ import annotations

from pathlib import Path

import click

from longfat.cli.options import json_option
from longfat.common.extras import need


@click.command()
@click.argument("sql", required=False)
@click.option(
    "--runs",
    "folders",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Query the runs below this folder; repeatable; default: runs.",
)
@click.option("--cache", is_flag=True, help="Query the cached results.")
@click.option("--tables", is_flag=True, help="List all tables and columns, and run no query.")
@json_option("Print a list of JSON objects.")
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV.")
@click.option(
    "--parquet",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write a Parquet file.",
)
@click.option(
    "--time-limit", default="60s", metavar="TIME", help="End a query after this time; default: 60s."
)
@click.option(
    "--memory-limit",
    default="1GB",
    metavar="SIZE",
    help="End a query that needs more memory; its answer may have a quarter of it; default: 1GB.",
)
@click.option("--all", "show_all", is_flag=True, help="Print all rows to a terminal too.")
def query(
    sql: str | None,
    *,
    folders: tuple[Path, ...],
    cache: bool,
    tables: bool,
    as_json: bool,
    as_csv: bool,
    parquet: Path | None,
    time_limit: str,
    memory_limit: str,
    show_all: bool,
) -> None:
    """Query all runs and series in SQL.

    Without SQL it lists the tables and columns that there are. A query reads these
    tables only; it can read no other file and change nothing, and it ends when it has
    taken the time or the memory that it may take.
    """
    need("sql")
    # The catalog is made of Arrow's types.
    from longfat.cli.query_run import QueryOptions, run_query  # noqa: PLC0415

    options = QueryOptions(
        folders=folders,
        cache=cache,
        tables=tables,
        as_json=as_json,
        as_csv=as_csv,
        parquet=parquet,
        time_limit=time_limit,
        memory_limit=memory_limit,
        show_all=show_all,
    )
    run_query(sql, options)
