"""Advice on long, fat paths: the arithmetic, what to set, and what held a flow back."""
