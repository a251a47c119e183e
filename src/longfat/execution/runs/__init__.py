"""The run: a directory with a manifest, raw tool output, and metrics.

A run directory is complete or absent (law 6): it is filled under a hidden name
and appears by a rename.

    manifest.json   what was run, with what, and the results
    commands.sh     every command in order, with its virtual time
    console.log     the kernel's messages
    raw/            the output of the tools and of the probes
    series/         the probes' samples, as Parquet, decoded from raw/
"""

from longfat.execution.runs.run import (
    RUN_FORMAT,
    EventTime,
    FlowFailure,
    FlowTime,
    Run,
    Tool,
    format_tools,
    load_run,
    result_key,
)
from longfat.execution.runs.staging import GuestReport, Staged, measure, staged_run

__all__ = [
    "RUN_FORMAT",
    "EventTime",
    "FlowFailure",
    "FlowTime",
    "GuestReport",
    "Run",
    "Staged",
    "Tool",
    "format_tools",
    "load_run",
    "measure",
    "result_key",
    "staged_run",
]
