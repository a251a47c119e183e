"""A virtual computer that knows no networks: kernels, sandboxes, machines."""
