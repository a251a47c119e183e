"""The runner: `run_case` runs one case, `run_cases` runs many side by side."""

from longfat.runner.many import run_cases
from longfat.runner.one import Progress, run_case

__all__ = ["Progress", "run_case", "run_cases"]
