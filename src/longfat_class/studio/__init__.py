"""Classes and exercises in the studio."""
