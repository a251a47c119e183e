"""The figures that a study declares."""
