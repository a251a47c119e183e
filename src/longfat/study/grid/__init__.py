"""Grids: parameters, their values, and the cases that come of them."""
