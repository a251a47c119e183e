"""The run that the tests of the computing part watch."""

from tests.analysis.timeseries.conftest import Growing, case, growing, plan, whole

__all__ = ["Growing", "case", "growing", "plan", "whole"]
