"""The figures that a study asks for."""
