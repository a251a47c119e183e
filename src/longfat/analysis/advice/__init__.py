"""Advice on long, fat paths: the arithmetic, what to set, and what limited a flow."""
