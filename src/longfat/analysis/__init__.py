"""Evaluation of runs: verdicts, advice, comparisons, queries."""
