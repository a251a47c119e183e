"""The runs that are printed: captured ones of three studies, and made-up ones to compare."""

from tests.analysis.compare.conftest import lossy, made
from tests.output.report.conftest import lab08, many, seeded

__all__ = ["lab08", "lossy", "made", "many", "seeded"]
