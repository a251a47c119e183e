"""Paths in the workspace, and their URLs."""

from urllib.parse import quote

from longfat.output.report.record import PAGE

RUNS = "runs"
"""The folder of the runs, with a folder for each study in it, as `longfat run` has it."""


def report_url(folder: str) -> str:
    """Return the path of the URL at which the report of a folder of runs is read.

    Args:
        folder: the folder, below the workspace.
    """
    return f"/api/report/{quote(folder)}/{PAGE}"
