"""The runner: one case, the cases of a study, or the cases of many studies side by side."""

from longfat.runner.many import Batch, run_batches, run_cases
from longfat.runner.one import Progress, run_case
from longfat.runner.work import Piece

__all__ = ["Batch", "Piece", "Progress", "run_batches", "run_case", "run_cases"]
