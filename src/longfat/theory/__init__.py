"""Formulas, one subject a file, each function with its source, units and a worked example."""
