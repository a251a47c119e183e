"""The run: a directory with a manifest, raw tool output, and metrics.

A run directory is whole or absent (law 6): it is filled under a hidden name
and appears by a rename.

    manifest.json   what was run, with what, and what came of it
    commands.sh     every command in order, with its virtual time
    console.log     what the kernel said
    raw/            what the tools printed, and what the probes kept
    series/         what the probes saw, as Parquet, decoded from raw/
"""

from longfat.execution.runs.run import (
    RUN_FORMAT,
    EventTime,
    FlowTime,
    Run,
    Tool,
    format_tools,
    load_run,
    result_key,
)
from longfat.execution.runs.staging import Played, Staged, measure, staged_run

__all__ = [
    "RUN_FORMAT",
    "EventTime",
    "FlowTime",
    "Played",
    "Run",
    "Staged",
    "Tool",
    "format_tools",
    "load_run",
    "measure",
    "result_key",
    "staged_run",
]
