"""Where things lie in the workspace."""

RUNS = "runs"
"""The folder of the runs, with a folder for each study in it, as `longfat run` has it."""
